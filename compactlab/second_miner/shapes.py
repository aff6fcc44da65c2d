"""Facts of one token by its shape: URL, path, date, number, hash, identifier; nothing for a plain word.

A token is first tried whole, then split at characters that stand in no value, then at commas and colons that do not
belong to a number, a clock time or a path with its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from compactlab.facts.fact import Fact, fact
from compactlab.facts.words import STOP_WORDS
from compactlab.second_miner.days import clock, day

LONGEST = 300
"""Characters over which a token is a blob."""

ENDINGS = frozenset(
    """py pyi ipynb md rst txt log json jsonl ndjson yaml yml toml ini cfg conf env lock csv tsv parquet sql db sqlite
    js jsx ts tsx mjs cjs css scss html htm xml svg sh bash zsh ps1 bat rs go java kt c h cc cpp hpp cs rb php pl lua
    swift r jl tex bib pdf png jpg jpeg gif webp doc docx xls xlsx odt ods ppt pptx ics eml zip gz tar tgz bz2 xz whl
    diff patch service""".split()
)
UNNAMED = frozenset("__init__.py README.md index.js index.ts index.html main.py setup.py conftest.py".split())
"""Base names that many folders hold."""

_EVERYWHERE = frozenset("/dev/null /dev/stdin /dev/stdout /dev/stderr /usr/bin/env /bin/bash /bin/sh".split())
_KNOWN_WORDS = frozenset(
    "sha1 sha256 sha512 base64 utf-8 utf8 latin1 latin-1 x86_64 amd64 arm64 python3 rfc3339".split()
)
_HARD = dict.fromkeys(map(ord, "\"'`()[]{}<>|;=*!?&^\\“”„‘’«»…—–→←•·$€£%#"), " ")
_IN_PATH = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~+@/")
_HEX = frozenset("0123456789abcdef")
_ENDS_URL = "\"'`<>|\\^{}“”"
_LONGEST_UNIT = 4


def facts_of(token: str) -> tuple[Fact, ...]:
    """Give the facts that a token without white space holds, in order.

    >>> [(f.family, f.value) for f in facts_of('src/app.py:118,ord_9f8e7d="1,204.50ms"')]
    [('path', 'src/app.py'), ('identifier', 'ord_9f8e7d'), ('number', '1204.50ms')]
    """
    if len(token) > LONGEST or _is_plain(token):
        return ()
    if "://" in token:
        return tuple(_urls(token))
    if token[1:3] == ":\\" and token[0].isalpha():
        return (fact("path", token.rstrip("\\.,;:!?\"'`)]")),)
    if "\\" in token:
        token = token.replace("\\n", " ").replace("\\t", " ").replace("\\r", " ")
    return tuple(made for piece in token.translate(_HARD).split() for part in _at_commas(piece) for made in _of(part))


def _is_plain(word: str) -> bool:
    """True for letters alone that have no capital inside, or no small letter."""
    return word.isalpha() and (word[1:].islower() or word.isupper() or len(word) == 1)


def _urls(token: str) -> Iterator[Fact]:
    start = token.index("://")
    while start > 0 and token[start - 1].isalpha():
        start -= 1
    end = next((i for i in range(start, len(token)) if token[i] in _ENDS_URL), len(token))
    url = token[start:end].rstrip(".,;:!?*_")
    for opening, closing in ("()", "[]"):
        while url.count(closing) > url.count(opening):
            url = url.rpartition(closing)[0].rstrip(".,;:!?*_")
    scheme, _, rest = url.partition("://")
    if scheme and len(rest) >= 4 and ("." in rest or ":" in rest or "/" in rest):
        yield fact("url", url, url.rstrip("/"), exact=True)


def _at_commas(piece: str) -> Iterator[str]:
    """The piece itself if its commas group the digits of a number, else what stands between them."""
    if "," not in piece:
        yield piece
        return
    bare = piece.strip(",.:")
    whole = bare.partition(".")[0].lstrip("+-")
    groups = whole.split(",")
    if len(groups) > 1 and len(groups[0]) <= 3 and all(g.isdigit() for g in groups) and _threes(groups[1:]):
        yield bare
    else:
        yield from filter(None, piece.split(","))


def _threes(groups: list[str]) -> bool:
    return all(len(group) == 3 for group in groups)


def _of(piece: str) -> Iterator[Fact]:
    """Facts of a piece, which may still hold colons."""
    bare = piece.strip(":,").rstrip(".")
    if ":" not in bare:
        yield from _single(bare)
        return
    time = clock(bare)
    if time:
        yield time
        return
    head, _, rest = bare.partition(":")
    yield from _single(head)
    if "/" in head or head.rpartition(".")[2] in ENDINGS:
        rest = _behind_a_line_number(_behind_a_line_number(rest))
    yield from _of(rest)


def _behind_a_line_number(rest: str) -> str:
    """What stands behind `path:`, without a line or a column."""
    number, _, behind = rest.partition(":")
    return behind if number.isdigit() and len(number) <= 6 else rest


def _single(piece: str) -> Iterator[Fact]:
    """The fact of a piece without colons."""
    piece = piece.rstrip(".,-").lstrip(",+")
    if len(piece) < 2 or _is_plain(piece):
        return
    made = day(piece) or _path(piece) or _number(piece) or _hash(piece) or _identifier(piece)
    if made:
        yield made


def _path(piece: str) -> Fact | None:
    if "/" not in piece:
        stem, dot, ending = piece.rpartition(".")
        is_file = bool(dot and stem.strip(".") and ending in ENDINGS and _IN_PATH.issuperset(piece))
        return fact("path", piece) if is_file and piece not in UNNAMED else None
    if not _IN_PATH.issuperset(piece) or "//" in piece or piece in _EVERYWHERE:
        return None
    value = piece.removeprefix("./").rstrip("/")
    if value.startswith(("a/", "b/")) and value.count("/") > 1:
        value = value[2:]  # as a diff writes it
    parts = [part for part in value.split("/") if part]
    if len(parts) < 2 or not any(c.isalpha() for c in value) or all(len(part) < 2 for part in parts):
        return None
    if parts[0].replace(".", "").isdigit() and len(parts) == 2 and "." not in parts[1]:
        return None  # a rate, such as 436/s
    is_rooted = piece.startswith(("/", "./", "../", "~/")) and not piece.startswith("/s/")
    is_file = "." in parts[-1].strip(".") and parts[-1].rpartition(".")[2].isalnum()
    is_named = len(parts) > 2 or any("_" in part or part[-1].isdigit() for part in parts) or piece.endswith("/")
    return fact("path", value) if is_rooted or is_file or (is_named and _no_list(parts)) else None


def _no_list(parts: list[str]) -> bool:
    """False for alternatives such as `yes/no/maybe`: function words, capitals and numbers are no folders."""
    short = any(len(part) < 2 or part[0] in ".-+" for part in parts)  # a quotient, or a pattern for sed
    return not short and not parts[-1].isdigit() and not any(p[0].isupper() or p in STOP_WORDS for p in parts)


def _number(piece: str) -> Fact | None:
    """A number with an optional sign before and a unit behind; short and round ones need an anchor or are none."""
    bare = piece.lstrip("+-~@")
    cut = next((i for i, c in enumerate(bare) if not (c.isdigit() or c in ".,")), len(bare))
    digits, unit = bare[:cut].rstrip(".,"), bare[cut:]
    if not digits[:1].isdigit() or not digits.isascii() or digits.count(".") > 1:
        return _version(bare)
    if unit and not (unit.isalpha() and len(unit) <= _LONGEST_UNIT and len(bare) - len(digits) == len(unit)):
        return None
    plain = digits.replace(",", "")
    whole, point, fraction = plain.partition(".")
    meaning = (whole + fraction).strip("0") if point else whole.rstrip("0")
    if len(meaning) < 2 or len(whole) > 16:
        return None
    is_bare = not point and not unit
    if is_bare and (len(whole) < 3 or 1900 <= int(whole) <= 2100):
        return None  # numbers under 100 and years recur by chance, anchored or not (metric study 6)
    is_short = len(whole + fraction) < (3 if point else 4)
    grouped = f"{int(whole):,}" + point + fraction
    ways = [way + unit for way in (plain, grouped)] + ([f"{way} {unit}" for way in (plain, grouped)] if unit else [])
    return fact("number", *ways, needs_anchor=is_short)


def _version(piece: str) -> Fact | None:
    parts = piece.removeprefix("v").split(".")
    is_one = 3 <= len(parts) <= 4 and all(part.isdigit() and len(part) <= 4 for part in parts)
    return fact("number", piece) if is_one and len(set(parts) - {"0", "1"}) else None


def _hash(piece: str) -> Fact | None:
    folded = piece.lower()
    plain = folded.replace("-", "")
    if not _HEX.issuperset(plain) or not any(c.isdigit() for c in plain) or not any(c.isalpha() for c in plain):
        return None
    is_uuid = [len(part) for part in piece.split("-")] == [8, 4, 4, 4, 12]
    is_digest = "-" not in piece and 7 <= len(piece) <= 64 and piece in {folded, piece.upper()}
    return fact("hash", piece) if is_uuid or is_digest else None


def _identifier(piece: str) -> Fact | None:
    """A ticket, an address, a name with `_`, with capitals inside, or with a digit: what no prose would hold."""
    bare = piece.strip("._-~/+@")
    if "@" in bare:
        user, _, host = bare.partition("@")
        return fact("identifier", bare) if user and "." in host and "/" not in bare else None
    last = bare.rpartition(".")[2] if "." in bare else bare
    if not 4 <= len(last) <= 80 or not last.replace("_", "").replace("-", "").isalnum() or not last.isascii():
        return None
    if last.casefold() in _KNOWN_WORDS or not _is_coined(last):
        return None
    return fact("identifier", last)


def _is_coined(word: str) -> bool:
    has_digit = any(c.isdigit() for c in word)
    if "_" in word.strip("_"):
        return sum(c.isalpha() for c in word) >= 4 or has_digit
    if has_digit:
        return sum(c.isalpha() for c in word) >= 2 and (len(word) >= 6 or "-" in word)
    is_humped = any(a.islower() and b.isupper() for a, b in pairwise(word)) or (
        word[:2].isupper() and not word.isupper()
    )
    return "-" not in word and is_humped and len(word) >= 6
