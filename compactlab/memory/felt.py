"""What an agent hears after a pass: in her own register, as something felt, and where the record rests. No tally.

The tally is in the receipt. The words are data, `wordings.toml`, of which a file of one's own may replace any kind.
"""

from __future__ import annotations

import tomllib
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

from compactlab.errors import SpecError
from compactlab.receipt import Receipt

Kind = Literal[
    "nothing", "unmoved", "blurred", "gathered", "released", "returned", "declined", "first", "later", "last", "rests"
]
"""What happened, as `wordings.toml` has it."""
NAME = "wordings.toml"
PLACE = "{path}"

Wordings = dict[Kind, tuple[str, ...]]


def wordings(path: str | Path | None = None) -> Wordings:
    """Read the words of the package, or those with the kinds that a file replaces.

    `SpecError` for what cannot be read, a kind that is unknown, one without texts, and an ending without `{path}`.

    >>> sorted(wordings()) == sorted(get_args(Kind))
    True
    """
    own = _parsed(resources.files("compactlab.memory").joinpath(NAME).read_text(encoding="utf-8"), NAME)
    if path is None:
        return own
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})") from error
    return own | _parsed(text, str(path))


def _parsed(text: str, where: str) -> Wordings:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{where}: is not TOML ({error})") from error
    found: Wordings = {}
    kinds: tuple[Kind, ...] = get_args(Kind)
    for name, texts in tables.items():
        kind = next((kind for kind in kinds if kind == name), None)
        if kind is None:
            raise SpecError(f"{where}: unknown kind {name!r}; expected one of {', '.join(kinds)}")
        fine = isinstance(texts, list) and texts and all(isinstance(said, str) and said.strip() for said in texts)
        if not fine or (kind == "rests" and not all(PLACE in said for said in texts)):
            wanted = f", each with {PLACE}" if kind == "rests" else ""
            raise SpecError(f"{where}: {kind} = {texts!r}; expected a list of texts{wanted}")
        found[kind] = tuple(texts)
    return found


def kind_of(receipt: Receipt, summary: str) -> Kind:
    """Say what a pass was, by its receipt and the text that it made.

    Detail is blurred where every message is still there; a stretch that went is gathered where its text was written.
    """
    if receipt.outcome == "deferred":
        return "declined"
    if receipt.outcome in {"failed", "rejected"}:
        return "unmoved"
    if receipt.outcome == "skipped":
        return "nothing"
    if not receipt.count("dropped"):
        return "blurred"
    return "gathered" if summary else "released"


def said(words: Wordings, kind: Kind, seed: str, path: str = "") -> str:
    r"""Say it, always the same for the same *seed*; where a record was made, *path* ends it on a line of its own.

    >>> said({"nothing": ("All is still here.",), "rests": ("It rests in {path}",)}, "nothing", "", "journal/a.md")
    'All is still here.\nIt rests in journal/a.md'
    """
    lines = [_chosen(words[kind], f"{kind}|{seed}")]
    if path:
        lines.append(_chosen(words["rests"], f"rests|{seed}").replace(PLACE, path))
    return "\n".join(lines)


def pressing(fired: tuple[float, ...], marks: tuple[float, ...]) -> Kind:
    """Say which warning a crossing gives: by the highest of the marks that fired.

    >>> pressing((0.8, 0.9), (0.8, 0.9, 0.95)), pressing((0.95,), (0.8, 0.9, 0.95)), pressing((0.8,), (0.8, 0.9))
    ('later', 'last', 'first')
    """
    highest = max(fired)
    if highest == marks[0] and len(marks) > 1:
        return "first"
    return "last" if highest == marks[-1] else "later"


def _chosen(texts: tuple[str, ...], seed: str) -> str:
    return texts[int.from_bytes(sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8]) % len(texts)]
