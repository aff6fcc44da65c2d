"""Families `identifier` and `hash`: names that code, tickets and machines give to things.

A token is one if its shape says so: snake_case, camelCase, CONSTANT_CASE, dotted names, codes such as `ETL-727`,
hyphenated names with digits, UUIDs and hexadecimal digests. A plain word never is, except where it is defined
(`def discover(`): such a fact stands for the word with its bracket.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import Look, Rule, Rules

# Known to every model from its training, or the same in every project.
GUESSABLE_IDENTIFIERS: frozenset[str] = frozenset(
    """
    utf-8 utf-16 iso-8601 iso-8859-1 sha-1 sha-256 sha-512 sha256 sha1 md5 base64 utf8 http2 ascii85 covid-19
    x86_64 iso8601 rfc3339 p50 p90 p95 p99 h2o mp3 mp4 gpt-4 latin-1 cp1252 unicode_escape test_ is_error
    file_path old_string new_string max_tokens tool_use tool_result call_id tool_call_id github gitlab
    javascript typescript youtube postgresql mysql sqlite graphql openai iphone ipad macos linkedin powershell
    devops dataframe readme whatsapp paypal ebay latex wordpress stackoverflow fastapi keyerror valueerror
    typeerror assertionerror attributeerror importerror indexerror runtimeerror oserror nameerror
    filenotfounderror modulenotfounderror zerodivisionerror notimplementederror syntaxerror stopiteration
    unicodedecodeerror jsondecodeerror permissionerror timeouterror connectionerror keyboardinterrupt
    systemexit tmp_path sys_path add_argument parse_args set_default group_by order_by created_at updated_at
    user_id setup_method tear_down read_text write_text exist_ok parents_ok read_csv to_csv from_dict to_dict
    from_json to_json pull_request work_in_progress not_found
    """.split()
)
# First parts of dotted names that belong to a language or a well-known library.
LIBRARIES: frozenset[str] = frozenset(
    """
    os sys re json time math datetime pathlib collections subprocess logging np pd plt numpy pandas random
    itertools functools typing argparse csv io shutil tempfile unittest pytest mock string struct socket
    threading asyncio copy hashlib base64 uuid decimal fractions statistics sqlite3 urllib http requests glob
    textwrap traceback inspect dataclasses contextlib enum console document window math object array promise
    process module fmt strings strconv errors ctx context std self cls this super args kwargs e.g i.e app req
    res request response
    """.split()
)
# Words before a hyphen and a number that make no name of the two.
ORDINARY_STARTS: frozenset[str] = frozenset(
    """
    top mid pre post late early under over first sub page line step day week year level type grade class
    section chapter part round phase non plus minus about up a an and to the version python
    """.split()
)

GUESSABLE_FUNCTIONS: frozenset[str] = frozenset(
    """format update remove delete insert append extend filter reduce render handle process execute create connect
    commit rollback result results request response parser reader writer loader setup_ teardown assert_ handler wrapper
    decorator inner outer replace""".split()
)

_RUN = re.compile(r"[\w.#-]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?=.*\d)(?=.*[a-fA-F])(?:[0-9a-f]{7,64}|[0-9A-F]{7,64})")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,8}")
_FLOAT = re.compile(r"\d+[eE]\d+")
_CODE = re.compile(r"(?=.*\d)[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+|[A-Z]{1,5}\d{2,}[A-Z0-9]*")
_KEBAB = re.compile(r"(?=.*\d)[A-Za-z]{2}\w*(?:-\w+)+")
_SNAKE = re.compile(r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_{0,2}")
_CAMEL = re.compile(r"[a-z]+[a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[A-Z]{2,}[a-z]{2,}\w*")
_DOTTED = re.compile(r"[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+")
_MISSING_BLANK = re.compile(r"[^\W\d_]+\.[A-Z][a-z]+")
_ZONE = re.compile(
    r"(?<![\w/])(?:Europe|America|Asia|Africa|Australia|Pacific|Atlantic)/[A-Z][a-z]+(?:_[A-Z][a-z]+)*(?!\w)"
)
_ISSUE = re.compile(r"#\d{2,7}")
_DEFINED = re.compile(r"\b(?:def|function|fn|func)\s+([A-Za-z_]\w{5,60})\s?(?=\()")


def _defined(match: re.Match[str]) -> Sequence[Fact]:
    name = match[1]
    if of_token(name) or name.startswith("__") or name in GUESSABLE_FUNCTIONS:
        return ()
    return (fact("identifier", f"{name}()", f"{name}("),)


@lru_cache(maxsize=65_536)
def of_token(token: str, called: bool = False) -> tuple[Fact, ...]:
    """Give the digests and identifiers that *token* is, or is made of; *called* if a bracket follows it.

    >>> [f.value for f in of_token("load.fold_key")], [f.value for f in of_token("PX-55121")]
    (['fold_key'], ['PX-55121'])
    """
    option = token.startswith("-")
    token = token.strip(".-")
    if len(token) < 3 or len(token) > 120 or token.lower() in GUESSABLE_IDENTIFIERS:
        return ()
    whole = None if option or "a-z" in token.lower() else _whole(token)
    if whole:
        return (whole,)
    parts = [] if "-" in token else _dotted(token, called=called)
    return tuple(made for part in parts if (made := _word(part)))


def _whole(token: str) -> Fact | None:
    if _ISSUE.fullmatch(token):
        return fact("identifier", token, needs_anchor=len(token) < 5)
    if _UUID.fullmatch(token) or _ADDRESS.fullmatch(token):
        return fact("hash", token)
    if _HEX.fullmatch(token) and not _FLOAT.fullmatch(token):
        return fact("hash", token)
    if _CODE.fullmatch(token):
        return fact("identifier", token, needs_anchor=len(token) < 5)
    if _KEBAB.fullmatch(token) and len(token) >= 6:
        first, _, rest = token.partition("-")
        ordinary = first.lower() in ORDINARY_STARTS and re.fullmatch(r"\d+s?", rest)
        return None if ordinary else fact("identifier", token)
    return None


def _dotted(piece: str, *, called: bool) -> list[str]:
    """Give a dotted name of three parts and more whole; of other dotted names, and of methods, the parts."""
    if not _DOTTED.fullmatch(piece) or _MISSING_BLANK.fullmatch(piece):
        return piece.split(".")
    parts = piece.split(".")
    if parts[0] in {"self", "cls", "this"}:
        parts = parts[1:]
    if parts[0].lower() in LIBRARIES:
        return []
    whole = len(parts) > 2 and not called and piece.islower() and min(map(len, parts)) > 2
    return [".".join(parts)] if whole else parts


def _word(part: str) -> Fact | None:
    if len(part) < 6 or part.lower() in GUESSABLE_IDENTIFIERS or (part.startswith("__") and part.endswith("__")):
        return None
    letters = sum(c.isalpha() for c in part)
    if letters >= 4 and (_SNAKE.fullmatch(part) or _CAMEL.fullmatch(part) or "." in part):
        return fact("identifier", part)
    if _HEX.fullmatch(part) or _CODE.fullmatch(part):
        return _whole(part)
    return None


IDENTIFIERS = Rules(
    Rule(_ZONE, lambda match: (fact("identifier", match[0]),), ("/", "A")),
    Rule(
        _RUN,
        lambda match: of_token(match[0], match.string[match.end() : match.end() + 1] == "("),
        ("0A_.#", "Aamx#"),
    ),
)
DEFINED = (Look(_DEFINED, _defined, ("def", "fn", "func")),)
