"""Families `url` and `path`: web addresses, mail addresses, hosts with a port, files and folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import Rule, Rules

# Endings that make a bare `name.ending` a file. Those of the second kind are attribute names as well, so the rest of
# the name must look like a file's: a digit, a capital, a hyphen or an underscore in it.
EXTENSIONS: frozenset[str] = frozenset(
    """
    bak bash bat bib bmp bz2 cfg cjs conf cpp crt css csv diff docx dtd eml epub erl ex exs feather gif gz hpp
    hs htm html ico ics ini ipynb j2 java jinja jpeg jpg js json jsonl jsx kt kts lua mbox md mdx mjs ml mp3
    mp4 ndjson odt orc parquet patch pb pdf php pl plist png po pptx proto ps1 psv py pyi pyx rb rst rtf scala
    scss sh sql sqlite sqlite3 srt svelte svg swift tar tex tf tgz toml tpl ts tsv tsx ttf txt vue wav webp
    wasm whl xls xlsx xml xsd yaml yml zig zip zsh
    """.split()
)
DOUBTFUL_EXTENSIONS: frozenset[str] = frozenset(
    """
    bin c cc cs dat data db env go h in key list lock log m out pem pid pyc r rs s so sock sum tmp
    """.split()
)
# Guessable without having read anything, or names of products that look like files.
GUESSABLE_PATHS: frozenset[str] = frozenset(
    """
    / . .. ./ ../ ~ /tmp /var /usr /etc /bin /home /root /opt /dev /proc /sys /dev/null /usr/bin /usr/local
    /bin/sh /bin/bash /usr/bin/env /usr/local/bin /var/log /etc/hosts /dev/stdin /dev/stdout /dev/stderr
    /workspace /app /src index.html index.js index.ts main.py main.js main.ts main.rs main.c app.py app.js
    app.ts setup.py setup.cfg __init__.py __main__.py conftest.py test.py tests.py utils.py package.json
    package-lock.json pyproject.toml tsconfig.json cargo.toml requirements.txt readme.md readme.rst readme.txt
    changelog.md license.txt license.md node.js vue.js next.js react.js express.js three.js d3.js nuxt.js
    ember.js chart.js socket.io
    """.split()
)
MEDIA_KINDS: frozenset[str] = frozenset(
    """
    application text image audio video multipart font message
""".split()
)
OBJECTS: frozenset[str] = frozenset(
    """
    self cls this response resp res req request args np pd os sys
""".split()
)
GUESSABLE_HOSTS: frozenset[str] = frozenset("""localhost 127.0.0.1 0.0.0.0 ::1 example.com example.org""".split())
GUESSABLE_PORTS: frozenset[str] = frozenset(["80", "443", "8080"])

_TRAILING = ".,;:!?'\"*_)]}>-"
_URL = re.compile(r"(?<![\w+.-])(?:https?|ftp|sftp|ssh|git|wss?|s3|gs|file|postgres(?:ql)?|redis|mysql|amqp|mongodb"
                  r"|sqlite|kafka|jdbc:\w+)://[^\s\"'<>`\\^{}|\ufffc]{3,500}")  # fmt: skip
_MAIL = re.compile(r"(?<![\w.+@/-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,12}(?![\w@])")
_HOST = re.compile(r"(?<![\w.@/:-])(?:\d{1,3}(?:\.\d{1,3}){3}|[A-Za-z][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){0,5})"
                   r"(?::\d{2,5})?(?![\w:-]|\.\w)")  # fmt: skip
HOST_ENDINGS: frozenset[str] = frozenset("com org net io dev internal example cloud".split())
_PATH = re.compile(
    r"((?<!\w)[A-Za-z]:[\\/](?:[\w.+~-]{1,255}[\\/]){0,40}[\w.+~-]{0,255}|[\w.~@+%$*/-]+)(:\d++(?::\d++)?(?![\w/]))?"
)
_SEGMENT = re.compile(r"\.{0,2}[\w@+~-][\w.@+~-]*")
_UP = re.compile(r"^(?:\.\./)+")
_NAMED_FILE = re.compile(r"(?<=[\w/-])\.([A-Za-z][A-Za-z0-9]{0,7})$")
_FILE_LIKE = re.compile(r"[-_0-9A-Z]")
_ARGUMENT = re.compile(
    r"^(?:\w*path|file|\w*_file|\w*filename|folder|dir|cwd|workdir|directory): ([^\n\ufffc]{2,200})$", re.MULTILINE
)


def _url(match: re.Match[str]) -> Sequence[Fact]:
    value = match[0].rstrip(_TRAILING)
    rest = value.partition("://")[2]
    if rest.partition("/")[0].partition(":")[0] in GUESSABLE_HOSTS and "/" not in rest.rstrip("/"):
        return (fact("url", value),) if _port(rest.rstrip("/")) else ()
    shown = value.rstrip("/")
    return (fact("url", shown, shown + "/"),)


def _port(host: str) -> bool:
    """Tell whether *host* names a port that nobody would guess."""
    port = host.rpartition(":")[2] if ":" in host else ""
    return bool(port) and port not in GUESSABLE_PORTS


def _host(match: re.Match[str]) -> Sequence[Fact]:
    value = match[0]
    name, _, port = value.partition(":")
    labels = name.split(".")
    if name[0].isdigit():
        known = len(labels) == 4 and all(int(label) < 256 for label in labels)
        good = known and (name not in GUESSABLE_HOSTS or _port(value))
    elif len(labels) > 1:
        ending = labels[-1] in HOST_ENDINGS and labels[0] not in OBJECTS and len(name) > 6
        good = name not in GUESSABLE_HOSTS and (ending or (_port(value) and len(port) > 3 and not _is_bare_file(name)))
    else:
        good = _port(value) and len(port) >= 4 and (name == "localhost" or "-" in name)
    return (fact("url", value),) if good else ()


def _argument(match: re.Match[str]) -> Sequence[Fact]:
    value = match[1].strip()
    if " " not in value or not ("/" in value or _NAMED_FILE.search(value)) or "  " in value:
        return ()
    return (fact("path", value),)


def _path(match: re.Match[str]) -> Sequence[Fact]:
    value = path_of(match[1])
    if value is None:
        return ()
    text, start = match.string, match.start()
    before = text[start - 1] if start else " "
    after = text[match.end() : match.end() + 1]
    if before in "}<)&[" or (after == "(" and "/" not in value):
        return ()
    if value.endswith("/"):
        return (fact("path", value),) if before in " \n\t\"'`(" else ()
    return (fact("path", value, f"{value}/") if match[1].endswith("/") else fact("path", value),)


@lru_cache(maxsize=65_536)
def path_of(token: str) -> str | None:
    """Give the path that *token* names, without marks around it; None if it is none or anybody would guess it.

    >>> path_of("./src/app.py."), path_of("and/or"), path_of("stage.py"), path_of("/workspace/memory/")
    ('src/app.py', None, 'stage.py', '/workspace/memory')
    """
    token = token.rstrip(_TRAILING + "~@%$+").removeprefix("./")
    if len(token) < 4 or len(token) > 400 or token.lower() in GUESSABLE_PATHS or "//" in token:
        return None
    if token[1:3] in {":\\", ":/"} and token[0].isalpha():
        return token.rstrip("\\/") if len(re.split(r"[\\/]", token)[1]) > 2 else None
    if "/" not in token:
        return token if _is_bare_file(token) else None
    shown = token.rstrip("/")
    segments = _UP.sub("", shown.removeprefix("~")).lstrip("/").split("/")
    if shown.lower() in GUESSABLE_PATHS or not all(_SEGMENT.fullmatch(segment) for segment in segments):
        return None
    good = _is_absolute(shown, segments) if token.startswith(("/", "~/")) else _is_relative(token, segments)
    single = len(segments) == 1 and token[0] not in "/~."
    return (f"{shown}/" if single else shown) if good else None


def _is_bare_file(token: str) -> bool:
    ending = _NAMED_FILE.search(token)
    stem = token[: ending.start()] if ending else ""
    if not ending or stem in OBJECTS or not _SEGMENT.fullmatch(token) or token.startswith(("-", "@", "+")):
        return False
    kind = ending[1].lower()
    if len(stem) < 2:
        return False
    return kind in EXTENSIONS or (kind in DOUBTFUL_EXTENSIONS and _FILE_LIKE.search(stem) is not None)


def _is_absolute(shown: str, segments: list[str]) -> bool:
    if not any(c.isalpha() for c in shown) or (not segments[0][0].isalpha() and segments[0][0] not in "._"):
        return False
    return shown[0] == "~" or (len(segments) > 1 and min(len(segments[0]), len(segments[-1])) > 1)


def _is_relative(token: str, segments: list[str]) -> bool:
    """A relative path needs an ending, a closing slash, or a folder that people name so; `and/or` has none."""
    first = segments[0]
    if first.lower() in MEDIA_KINDS or first in {"s", "a", "b"} or not any(c.isalpha() for c in first + segments[-1]):
        return False
    ending = _NAMED_FILE.search(token)
    if ending and (ending[1].lower() in EXTENSIONS or ending[1].lower() in DOUBTFUL_EXTENSIONS):
        return True
    if min(map(len, segments)) < 2 or any(segment.endswith(".") for segment in segments):
        return False
    if len(segments) == 1:
        return len(first) > 4 and first.islower() and first not in FOLDERS | STATES and "." not in first
    return (first in FOLDERS and len(segments[-1]) > 3) or token.startswith("../")


# Words that searches and programs put between slashes, and folders that every project has.
STATES: frozenset[str] = frozenset(
    """failed passed closed started finished error value other __pycache__ .pytest_cache .mypy_cache .ruff_cache
    node_modules""".split()
)
# Where a name with a slash but no ending stands in one of these, it is a folder.
FOLDERS: frozenset[str] = frozenset(
    """src lib tests test docs doc data app apps bin config conf scripts packages fixtures logs tmp
    workspace memory inbox notes internal cmd pkg crates examples assets public static templates migrations .github .git
    .ci benchmarks tools build dist services server client components orders
    """.split()
)

# Whole arguments named path, which may hold blanks.
ARGUMENTS = Rules(Rule(_ARGUMENT, _argument, (":",)), across=True)
# Addresses with a scheme, mail addresses, hosts with a port or a known ending; files and folders, with their `:line`.
ADDRESSES = Rules(
    Rule(_URL, _url, ("/", ":")),
    Rule(_MAIL, lambda match: (fact("url", match[0]),), ("@", ".")),
    Rule(_HOST, _host, (":.",)),
    Rule(_PATH, _path, ("/.\\",)),
)
