"""Families `name` and `quote`: proper names in prose, and phrases that stand in quotation marks.

Whether a capitalised word is a name is decided over a whole session: it stands capitalised inside a sentence, and
nowhere in small letters. Where a sentence begins, and in German, where every noun has a capital, it says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from compactlab.facts.commands import is_usual
from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import Look
from compactlab.facts.merging import Place
from compactlab.facts.sheet import Sheet
from compactlab.facts.text import canonical
from compactlab.facts.words import GERMAN_WORDS, NO_NAMES, STOP_WORDS

LONGEST_NAME = 8  # words
LONG_QUOTE = 4  # words that nobody puts together by chance
RARE = 3  # other lines of a session in which a word of a shorter quotation may stand
LONGEST_WORD = 40  # letters; a longer one is none

_WORD = re.compile(r"(?<!\w)[^\W\d_]++(?:['’-][^\W\d_]++)*+(?!\w)")
_CLITIC = re.compile(r"['’](?:s|d|ll|re|ve|m|t)$")
# Behind one of these a sentence or an entry may begin: also behind a written line end, and a single opening quote.
_SENTENCE = re.compile(r"[.!?:;\n\"“”„«»(|*#>•–—-]|''|(?<=\Ws)/\Z|(?<!\ufffc)\ufffc\ufffc(?!\ufffc)|(?<![^\W_])['‘]\Z")
_VERBAL = re.compile(r"[ ](?:by|to|from|into|as|at|when|if|with|on|in|for|through|and)\b")
_GERMAN = GERMAN_WORDS | {way for word in GERMAN_WORDS for way in (word.capitalize(), word.upper())}
_NEVER = STOP_WORDS | NO_NAMES | {"mon-fri", "sat-sun"}
JOINTS: frozenset[str] = frozenset((" of ", " de ", " von ", " van ", " der ", " du ", " la ", " of the "))
_GAPS = JOINTS | {" "}
_PARTS = re.compile(r"['’-]|(?<=Mc)|(?<=Mac)")
_QUOTED = re.compile(
    r"(?<![\w\"])\"(?=[^\s\"])([^\"\n\ufffc]{6,160})(?<=[^\s\"])\"(?!\w)|“(?=\S)([^“”\n\ufffc]{6,160})”"
    r"|„(?=\S)([^„“”\n\ufffc]{6,160})[“”]|«\s?([^«»\n\ufffc]{6,160})»|(?<!`)`(?=[^\s`])([^`\n\ufffc]{6,120})`(?!`)"
)
_CODE_MARK = re.compile(r"[{}()\[\]<>=\\/|$_#@*+^~]|--|::|\.\w|\w:\w")


class Run(msgspec.Struct, frozen=True, gc=False):
    """Capitalised words side by side: where they stand, whether a sentence begins with them, whether a line is all.

    `led` if a preposition follows, as it follows a verb.
    """

    start: int
    words: tuple[str, ...]
    text: str
    opening: bool
    title: bool
    led: bool


_Trimmed = tuple[Place, Run, tuple[str, ...], str]


class _Line(msgspec.Struct, frozen=True, gc=False):
    """What a line of prose holds: how many words, how many German ones, and its runs."""

    words: int
    german: int
    runs: tuple[Run, ...]


class Names:
    """Gathers the capitalised words of a session block by block; `facts` gives the names among them."""

    def __init__(self) -> None:
        self._runs: list[tuple[Place, Run]] = []
        self._small: Counter[str] = Counter()
        self._known: dict[str, _Line] = {}

    def read(self, index: int, sheet: Sheet) -> None:
        """Take in what is left of the prose of the block at *index*."""
        for start, end in sheet.prose:
            self._read(index, start, sheet.text[start:end])

    def _read(self, index: int, start: int, paragraph: str) -> None:
        found: list[tuple[Place, Run]] = []
        german = words = 0
        for text in paragraph.split("\n"):
            line = self._known.get(text) or self._learn(text)
            german, words = german + line.german, words + line.words
            found += [((index, start + run.start), run) for run in line.runs]
            start += len(text) + 1
        if german <= 2 or german <= 0.15 * words:
            self._runs += found

    def _learn(self, text: str) -> _Line:
        words = list(_WORD.finditer(text))
        shown = [match[0] for match in words]
        if max(map(len, shown), default=0) >= LONGEST_WORD:
            words = [match for match in words if len(match[0]) < LONGEST_WORD]
            shown = [match[0] for match in words]
        self._small.update(filter(str.islower, shown))
        german = sum(map(_GERMAN.__contains__, shown))
        self._known[text] = line = _Line(len(words), german, tuple(_runs(text, words, shown)))
        return line

    def facts(self) -> list[tuple[Place, Fact]]:
        """Give the names, each at every place where it stands."""
        inside = Counter(word for _, run in self._runs if not run.title for word in run.words[run.opening :])
        known = {word for word in inside if word not in self._small and word.lower() not in self._small}
        trimmed = [(place, run, *self._trimmed(run, known)) for place, run in self._runs]
        trimmed = _mended(trimmed)
        whole = Counter(text for _, run, _, text in trimmed if not run.title)
        led = Counter(text for _, run, _, text in trimmed if not run.title and run.led)
        return [
            (place, fact("name", text, *_shouted(text), needs_anchor=True))
            for place, run, words, text in trimmed
            if words and _is_name(words, known, whole[text], led[text]) and (not run.title or known.issuperset(words))
        ]

    def is_telling(self, quote: str, times: int) -> bool:
        """Tell whether anybody would know a quotation again that was made *times*.

        By its length, by a capital, or by a word that hardly stands anywhere else.
        """
        words = quote.split()
        if len(words) >= LONG_QUOTE or any(word[0].isupper() for word in words[1:]):
            return True
        bare = [word.strip(",.?!;:'’\"").lower() for word in words]
        return any(self._small[word] <= RARE + times for word in bare if len(word) > 3 and word not in STOP_WORDS)

    def _trimmed(self, run: Run, known: set[str]) -> tuple[tuple[str, ...], str]:
        """Leave out the first word of a sentence unless it is a name elsewhere, and stop words at both ends."""
        words, text = list(run.words), run.text
        if run.opening and words[0] not in known:
            text = text[len(words.pop(0)) :]
        while words and words[0].lower() in _NEVER and words[0] not in {"Mr", "Mrs", "Ms", "Dr"}:
            text = text.lstrip()[len(words.pop(0)) :]
        while words and words[-1].lower() in _NEVER:
            text = text.rstrip()[: -len(words.pop())]
        shown = text.split()
        while shown and shown[0].islower():
            shown.pop(0)
        while shown and shown[-1].islower():
            shown.pop()
        return tuple(words), " ".join(shown)


def _runs(text: str, words: list[re.Match[str]], shown: list[str]) -> Iterator[Run]:
    """Give the runs of capitalised words of a line; `X of Y` is one run."""
    group: list[re.Match[str]] = []
    opening = True
    for position in [i for i, word in enumerate(shown) if not word.islower() and _is_capitalised(word)]:
        match = words[position]
        joined = (
            0 < len(group) < LONGEST_NAME and text[group[-1].end() : match.start()] in _GAPS and not _ends(group[-1])
        )
        if not joined:
            if group:
                yield _run(text, group, opening=opening)
            before = words[position - 1].end() if position else 0
            group, opening = [], position == 0 or bool(_SENTENCE.search(text, before, match.start()))
        group.append(match)
    if group:
        yield _run(text, group, opening=opening)


def _run(text: str, group: list[re.Match[str]], *, opening: bool) -> Run:
    words = [match[0] for match in group]
    shown = text[group[0].start() : group[-1].end()]
    if _ends(group[-1]):
        words[-1], shown = _CLITIC.sub("", words[-1]), _CLITIC.sub("", shown)
    title = opening and text[group[-1].end() : group[-1].end() + 1] in {"", ":", "*", "|"}
    led = _VERBAL.match(text, group[-1].end()) is not None
    return Run(group[0].start(), tuple(words), shown, opening, title, led)


def _ends(match: re.Match[str]) -> bool:
    """A genitive or a shortened verb ends a name."""
    return _CLITIC.search(match[0]) is not None


@lru_cache(maxsize=65_536)
def _is_capitalised(word: str) -> bool:
    """A capital first, small letters after it, and no stop word with a shortened verb; `McKay` and `O'Neill` may."""
    if not word[0].isupper():
        return False
    parts = _PARTS.split(word)
    if parts[0].lower() in {"i", "you", "we", "they", "he", "she", "it"}:
        return False
    return all(part[1:].islower() or len(part) < 2 for part in parts)


def _mended(trimmed: list[_Trimmed]) -> list[_Trimmed]:
    """Give a name the first word back that it lost at the beginning of a sentence, if it never stands without it."""
    cut = [run.opening and len(words) == len(run.words) - 1 > 0 for _, run, words, _ in trimmed]
    alone = {text for (_, _, _, text), is_cut in zip(trimmed, cut, strict=True) if not is_cut}
    longer = Counter(run.text for (_, run, _, _), is_cut in zip(trimmed, cut, strict=True) if is_cut)
    return [
        (place, run, run.words, run.text)
        if is_cut
        and text not in alone
        and run.words[0].lower() not in _NEVER
        and (run.text in alone or longer[run.text] > 1)
        else (place, run, words, text)
        for (place, run, words, text), is_cut in zip(trimmed, cut, strict=True)
    ]


def _shouted(name: str) -> tuple[str, ...]:
    """The name in capitals, as headings write it."""
    return (name.upper(),) if len(name) > 3 else ()


def _is_name(words: tuple[str, ...], known: set[str], times: int, led: int) -> bool:
    """Tell whether *words* are a name that stands *times* in sentences, *led* of them before a preposition."""
    if len(words) == 1:
        verb = words[0].endswith(("ed", "ing")) and (times == 1 or led > times / 2)
        return words[0] in known and len(words[0]) > 2 and not verb
    return any(word in known for word in words) or times > 1


def _quote(match: re.Match[str]) -> Sequence[Fact]:
    value = canonical(next(group for group in match.groups() if group)).rstrip(",.;:").lstrip("'‘ ")
    words = value.split()
    telling = [word for word in words if len(word) > 3 and word.strip(",.?!").lower() not in STOP_WORDS]
    if (
        not 2 <= len(words) <= 12
        or not telling
        or not value[0].isalnum()
        or _CODE_MARK.search(value)
        or is_usual(value)
    ):
        return ()
    return (fact("quote", value, exact=False, needs_anchor=len(words) < 4),)


# Phrases of two to twelve words in quotation marks or backticks, in prose.
QUOTES = (Look(_QUOTED, _quote, ('"', "“", "„", "«", "`")),)
