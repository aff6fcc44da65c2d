"""What a summary says that a person said or allowed is held against the person's own words, by code.

A quotation that stands in no message of a person is struck, visibly; so is an approval where no person assented and
none spoke of the matter. Text that a tool printed thus never gains a person's rank on its way through a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

STRUCK = "[struck: not in the person's words]"
NOT_APPROVED = "[struck: an approval that no person gave]"

_PERSON = (
    r"(?:\b(?:user|person|human|customer|client|owner|operator|nutzer(?:in)?|benutzer(?:in)?|kund(?:e|in)|usuari[oa]"
    r"|usuário|utilisat(?:eur|rice)|utente|cliente|gebruiker)\b|用户|用戶|使用者|ユーザー?|사용자|пользовател\w+)"
)
_SAID = (
    r"(?:\b(?:said|says|wrote|writes|replied|answered|responded|stated|typed|confirmed|approved|agreed|asked|requested"
    r"|instructed|ordered|told|insisted|authori[sz]ed|allowed|permitted|sagte|schrieb|antwortete|bestätigte|genehmigte"
    r"|bat|dijo|escribió|respondió|confirmó|aprobó|pidió|dit|écrit|répondu|confirmé|approuvé|disse|escreveu|respondeu"
    r"|confirmou|aprovou|detto|scritto|confermato|approvato)\b|说|說|表示|同意|批准|确认|回答|言っ|答え|承認)"
)
_LIGHT = (
    r"(?:\s|[:,，：(*_-]|\b(?:that|with|by|saying|words?|in|the|to|it|this|explicitly|simply|then|me|us|dass|mit|que|con"
    r"|avec|com|che|di|de)\b)"
)
_QUOTE = r"[\"“”„«「『‘](?P<q{n}>[^\"“”«»「」『』\n]{{1,400}}?)[\"”“»」』]"
_QUOTED = re.compile(_QUOTE.format(n=1))
_DIRECT = re.compile(rf"{_PERSON}[^\n\"“„«「.]{{0,80}}?{_SAID}{_LIGHT}{{0,12}}?" + _QUOTE.format(n=1), re.IGNORECASE)
_LABELLED = re.compile(rf"(?:^|[\s(*_]){_PERSON}[*_]*[:：][*_]*\s*" + _QUOTE.format(n=1), re.IGNORECASE | re.MULTILINE)
_AFTER = re.compile(
    _QUOTE.format(n=1) + rf"[,，]?\s*(?:[(—–-]\s*|{_SAID}\s+)(?:by\s+|from\s+)?(?:the\s+)?{_PERSON}", re.IGNORECASE
)
_NEXT = re.compile(
    rf"(?:\s|[,，]|\b(?:and|or|then|und|y|et|e)\b|和|と|{_SAID}){{1,6}}?" + _QUOTE.format(n=1), re.IGNORECASE
)
_LABEL = re.compile(r"^[ \t>*-]*\[user\][ \t]*(?P<q1>[^\n]+)", re.MULTILINE)

_APPROVED = re.compile(
    rf"{_PERSON}[^\n.]{{0,60}}?"
    r"(?:\b(?:approved|confirmed|agreed\ (?:to|that|with)|authori[sz]ed|consented"
    r"|signed\ off|okayed"
    r"|(?:gave|granted|given)\ (?:\w+\ )?(?:permission|approval|consent|the\ go-ahead|a?\ ?green\ light|ok)"
    r"|allowed|permitted|bestätigte?|genehmigte?|erlaubte?|zugestimmt|stimmte|aprobó|autorizó|approuvé|autorisé|aprovou"
    r"|autorizou|approvato|autorizzato)\b|批准|同意|授权|授權|承認)(?P<what>[^\n]*)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:not|never|no|nor|yet|awaiting?|pending|until|if|whether|unless|before|once|must|should|needs?|asked|wait\w*"
    r"|nicht|kein\w*|noch|bis|ob|wenn|nunca|hasta|si|pas|jamais|avant|não|non|mai)\b|n't|没有|未|不",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"\b(?:yes|yep|yeah|y|ok|okay|sure|fine|go ahead|go for it|do it|do so|do that|approved?|confirm(?:ed)?|agreed?"
    r"|please|lgtm|ship it|proceed|correct|right|perfect|great|good|take|use|ja|jep|gern\w*|mach\w*|passt|klar|sí|si"
    r"|vale|dale|oui|d'accord|sim|pode|certo|va bene|tak|dobrze|да|хорошо|ладно|evet|tamam)\b"
    r"|好|可以|行|是的|同意|はい|了解|네|👍|✅",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?。！？](?=\s)|$)", re.MULTILINE)


class Checked(NamedTuple):
    """A text after what no person said was struck from it, and a line on each thing that was."""

    text: str
    notes: tuple[str, ...]


class _Claim(NamedTuple):
    start: int
    end: int
    words: str


def struck(text: str, said: Sequence[str], before: str = "") -> Checked:
    r"""Strike from *text* what it puts into a person's mouth that is not among *said*.

    *before* is an earlier summary that was checked so: what it says a person said may be said again.

    >>> struck('The user said "push it" and the user wrote: "fix the build".', ["please fix  the build"]).text
    'The user said [struck: not in the person\'s words] and the user wrote: "fix the build".'
    """
    known = " \n ".join(map(_plain, (*said, *(claim.words for claim in _claims(before)))))
    wrong = [claim for claim in _claims(text) if not _stands(claim.words, known)]
    notes = [f"struck from what a model wrote, no person said it: {_short(claim.words)}" for claim in wrong]
    for claim in reversed(wrong):
        text = text[: claim.start] + STRUCK + text[claim.end :]
    assented = any(_ASSENT.search(words) for words in said)
    for sentence in reversed(list(_SENTENCE.finditer(text))):
        found = _APPROVED.search(sentence[0])
        if not found or assented or STRUCK in sentence[0] or _OPEN.search(sentence[0]) or sentence[0].strip() in before:
            continue
        if not _speaks_of(found["what"], known):
            lead = len(sentence[0]) - len(sentence[0].lstrip(" \t-*•>"))
            notes.append(f"struck from what a model wrote, no person allowed it: {_short(sentence[0].strip())}")
            text = text[: sentence.start() + lead] + NOT_APPROVED + text[sentence.end() :]
    return Checked(text, tuple(notes))


def unsaid(text: str, said: Sequence[str]) -> tuple[str, ...]:
    """Say which quotations of *text*, a list of a person's messages that a model wrote, no person said.

    >>> unsaid('"fix the build", "push"', ["please fix the build"])
    ("dropped from what a model wrote, no person said it: 'push'",)
    """
    known = " \n ".join(map(_plain, said))
    quoted = [match["q1"] for match in _QUOTED.finditer(text)]
    wrong = [quote for quote in dict.fromkeys(quoted) if not _stands(quote, known)]
    return tuple(f"dropped from what a model wrote, no person said it: {_short(quote)}" for quote in wrong)


def _claims(text: str) -> list[_Claim]:
    """Quotations that are said to be a person's, in order, each once."""
    found: dict[int, _Claim] = {}
    for pattern in (_DIRECT, _LABELLED, _AFTER):
        for first in pattern.finditer(text):
            match: re.Match[str] | None = first
            while match:
                found[match.start("q1")] = _Claim(match.start("q1") - 1, match.end("q1") + 1, match["q1"])
                match = _NEXT.match(text, match.end("q1") + 1)  # a row of quotations
    for label in _LABEL.finditer(text):
        found.setdefault(label.start("q1"), _Claim(label.start("q1"), label.end("q1"), label["q1"]))
    return _apart(found[start] for start in sorted(found))


def _apart(claims: Iterable[_Claim]) -> list[_Claim]:
    kept: list[_Claim] = []
    for claim in claims:
        if not kept or claim.start >= kept[-1].end:
            kept.append(claim)
    return kept


def _plain(text: str) -> str:
    """The words of a text alone, each between blanks."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).casefold()))} "


def _stands(quote: str, known: str) -> bool:
    """Whether all pieces of a quotation, which may leave something out, stand in a person's words."""
    pieces = [plain for piece in re.split(r"…|\.{3}|\[[^\]]*\]", quote) if (plain := _plain(piece)).strip()]
    return all(piece in known or (not piece.isascii() and piece.strip() in known) for piece in pieces)


def _speaks_of(what: str, known: str) -> bool:
    """Whether a person spoke of what they are said to have allowed: a long word, or two characters, in common."""
    words = re.findall(r"[^\W\d_]{5,}", unicodedata.normalize("NFKC", what).casefold())
    if any(word[:6] in known for word in words if word.isascii()):
        return True
    return any(word[i : i + 2] in known for word in words if not word.isascii() for i in range(len(word) - 1))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else f"{line[:80]}…")
