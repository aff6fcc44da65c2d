"""Constraints and preferences: standing rules that a person set, in one clause each.

Precision comes before recall: a clause is a rule where its form says so (an imperative that forbids, a modal that
speaks to the agent, a limit with its number), not where it merely holds `must` or `only`. Stories are full of those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from compactlab.statements import cues
from compactlab.statements.spoken import Sentence, spoken_sentences
from compactlab.statements.statement import Kind, Polarity, Statement
from compactlab.statements.wording import clauses, is_number, plain, tokens

IMPERATIVES = frozenset(
    """add adapt aim answer append apply ask build call change check cite close come commit compare confirm copy count
    cut delete deploy do draft edit end enter explain extract fetch fill find finish fix follow format get give hold
    include install keep leave let limit list log look make mark mention merge move name note number open order pick
    place prefix print propose push put read record remove rename replace reply report reset return round run save say
    send set show sort speak start state stay stick stop store switch talk tell test treat try turn update use verify
    wait work wrap write""".split()
)
_GERMAN_IMPERATIVES = (
    r"(?:ändere?|benutze?|verwende|nutze?|fasse?|lösche?|schreibe?|lasse?|committe|pushe|deploye|antworte"
    r"|sprich|nimm|mache?"
    r"|teste|führe?|starte|installiere|rühre?|behalte|halte|sage?|frage?|nenne?|lege?|gib|verschiebe|überschreibe|baue?"
    r"|kopiere|öffne|stelle?)"
)
_LEAD = (
    r"^(?:[-*•·]+\s+|\d{1,2}[.)]\s+|\(\w\)\s+)?(?:(?:and|but|so|also|then|ok|okay|well|yes|right|again|second"
    r"|first|third"
    r"|please|note|important|rules?|constraints?|conditions?|one (?:more )?thing|from now on|for now|today"
    r"|again|aber|und"
    r"|bitte|regel|wichtig|either way|whatever happens|\w+ly)\b[,:.]*\s*){0,3}"
)
_NO_ORDER = (
    r"(?!\s+(?:mind|worry|know|think|laugh|answer\b|you\b|we\b|they\b|i\b|get me wrong|be silly|be sorry"
    r"|start\b|look at me"
    r"|ask how|even (?:know|think)|suppose|bother|care\b|care\.|have\b|want\b|need\b|really|understand|remember|like\b"
    r"|believe|see\b|feel|quite|seem))"
)
_NARRATES = re.compile(r"\b(?:i|i've|i'd|he|she|was|were|had|did|said|told|thought|says|ich|er|hat|hatte|war)\b")
_MARKED = re.compile(
    r"\b(?:ever|except|until|till|anywhere|at all|longer than|more than|beyond|please|new|whatsoever|before"
    r"|after|unless"
    r"|under|outside|inside|other|only|between|for|mehr|ohne|außer|neuen?|bitte)\b|\b\w+/"
)


class Form(NamedTuple):
    """A way to put a demand: its pattern, what it says of its object, whether it insists."""

    pattern: re.Pattern[str]
    polarity: Polarity
    is_strong: bool = True


def _form(pattern: str, polarity: Polarity, *, is_strong: bool = True) -> Form:
    return Form(re.compile(pattern), polarity, is_strong)


_VERB = "(?:" + "|".join(sorted(IMPERATIVES)) + r")\b"
_SUBJECT = (
    r"(?:you|it|they|everyone|nobody|each \w+|every \w+|all(?: \w+){1,3}|(?:the|a|any|no"
    r"|its) [\w./'-]+(?: [\w./-]+){0,3}"
    r"|(?!(?:that|which|there|someone|somebody|people|what|this)\b)[\w-]{4,})"
)
_NOT_EPISTEMIC = (
    r"(?! (?:have|be (?:very|so|an?|the|some|nice|hard|quite|why|how|true|about|like|in|at|because"
    r"|\d+|one|two|three))\b)"
)
_FORMS = (
    _form(
        _LEAD
        + r"(?:never(?! (?:in|on|at|mind|again\b|once|been|had|was|in my|one|any|an?|the|\w+ed)\b)|do not|don't|dont)\b"
        + _NO_ORDER,
        "must_not",
    ),
    _form(
        r"\byou(?:'re| are)? (?:must not|mustn't|may not|are not to|not to|must never|shall not|should never)\b"
        r"|\byou are never to\b",
        "must_not",
    ),
    _form(rf"\b{_SUBJECT} (?:must not|mustn't|must never|may never|may not|shall not)\b", "must_not"),
    _form(r"\b(?:nobody|no one)(?:'s| is| may| must| should) (?:allowed|to)\b", "must_not"),
    _form(r"\b(?:is|are) (?:off[- ]limits|forbidden|not allowed|frozen|taboo|banned|not to be \w+)\b", "must_not"),
    _form(r"^(?:\w+ ){0,2}not to (?:suggest|touch|change|use|do|mention)\b", "must_not"),
    _form(
        r"\bi (?:really )?(?:don't|do not|never) (?:ever )?want (?:you to |to (?:talk|hear|be told)|any\b"
        r"|anything|anybody)",
        "must_not",
    ),
    _form(
        r"^(?:on \w+ )?we (?:don't|do not|never) (?:\w+ ){0,3}(?:about|talk|touch|deploy|commit|push|discuss)\b",
        "must_not",
    ),
    _form(
        _LEAD + r"avoid\b(?!ed)|" + _LEAD + r"try not to\b|\byou (?:shouldn't|should not)\b",
        "must_not",
        is_strong=False,
    ),
    _form(
        _LEAD + r"(?:(?:don't|do not|never) forget to|make sure|ensure|be sure to|remember to|take care (?:to|that))\b",
        "must",
    ),
    _form(_LEAD + r"always\b(?! (?:been|was|had|said|the|a)\b)", "must"),
    _form(rf"\b{_SUBJECT} must(?!n't)\b{_NOT_EPISTEMIC}", "must"),
    _form(r"\byou(?: will)? have to\b|\bha(?:ve|s) to \w+(?: \w+){0,3} exactly\b|\byou (?:may|can) only\b", "must"),
    _form(_LEAD + rf"only (?:\w+ly )?{_VERB}|{_LEAD}only\b.*\bplease\b", "must"),
    _form(rf"{_LEAD}{_VERB}(?:(?!\b(?:i|he|she)\b).)*\bonly\b", "must"),
    _form(
        r"^(?!(?:which|i|he|she|it|they|we)\b)(?:[\w/-]+ ){1,4}(?:only (?:from|in|with|by|on)\b|in \w+ only\b)"
        r"|^every \w+ with\b",
        "must",
    ),
    _form(
        _LEAD + r"(?:leave|keep)\b.*\b(?:alone|as (?:it is|they are|is)|unchanged|untouched|at \d[\d.,]*|out of (?:it"
        r"|this))(?!\w)",
        "must",
    ),
    _form(
        r"(?<!will )(?<!\bit )(?<!\bhe )(?<!she )(?<!that )(?<!which )(?<!who )\bstays? (?:at \d|as (?:it|they"
        r"|is)|in force"
        r"|out\b|free\b|untouched|unchanged|none\b)",
        "must",
    ),
    _form(r"\bfrom now on\b", "must"),
    _form(_LEAD + r"(?:ideally|try to|if possible)\b|\byou should(?!n't| not)\b", "must", is_strong=False),
)
_BARE_ONLY = re.compile(r"^only (?:[^\W\d]+ ){0,2}[^\W\d]+\.?$")
_LIMIT = re.compile(
    r"\b(?:at most|no more than|not more than|at least|no longer than|not longer than|höchstens|mindestens|maximal)"
    r"(?: \w+){0,2}? (?:€ ?|£ ?|\$ ?)?(?:\d|one|two|three|four|five|six|seven|eight|ten|twelve|twenty|a (?:dozen|week))"
    r"|\band not an? \w+ more\b"
)
_THAN = re.compile(r"\b(?:more|less|fewer|\w{3,}er) than (?=(?:€ ?|£ ?|\$ ?)?\d)")
_NOUN = re.compile(
    _LEAD
    + r"(?:no|nothing)(?! (?:one|idea|doubt|problem|matter|wonder|thanks|news|need|luck|hurry|rush|worries|way|longer"
    r"|more|number|trouble|answer|sign|reply|surprise|else|wrong|happen\w*|came|changed|was|is|it|i|he|she|we"
    r"|they|not|that"
    r"|this|you|thank)\b)[ -][\w·]"
)
_GERMAN = (
    _form(
        _LEAD + r"(?:nie|niemals|auf keinen fall|unter keinen umständen|nicht|keine?n?|nichts)\b(?=.* \w+(?:en|ern"
        r"|eln)\b|.*\b(?:mehr|ohne|neuen?)\b)",
        "must_not",
    ),
    _form(
        r"\b(?:du|ihr|sie|man|es|\w+) (?:darfst|dürft|dürfen|darf|sollst|sollt) (?:[\w.-]+ ){0,6}?(?:nicht|nie"
        r"|niemals|nichts|keine?n?|keinesfalls)\b",
        "must_not",
    ),
    _form(
        _LEAD + _GERMAN_IMPERATIVES + r" (?:[\w./-]+ ){0,5}?(?:nie|niemals|nicht|nichts|keine?n?|keinesfalls)\b",
        "must_not",
    ),
    _form(_LEAD + _GERMAN_IMPERATIVES + r" (?:[\w./-]+ ){0,5}?(?:nur|immer|ausschließlich|stets|unbedingt)\b", "must"),
    _form(_LEAD + r"(?:immer|nur|stets|unbedingt)\b(?=.* \w+(?:en|ern|eln)\b)", "must"),
    _form(r"\b(?!ich|er|wir|das|es)\w+ (?:musst|müsst|müssen|muss)\b", "must"),
)
_IS_GERMAN = re.compile(
    r"\b(?:nie|niemals|nicht|nichts|keine?[nmrs]?|immer|nur|stets|unbedingt|ausschließlich"
    r"|muss\w*|müss\w+)\b"
)
_LISTS = re.compile(r"\b(?:please|ever|rules?|constraints?|conditions?|bitte|regeln?)\b")
_LIKES = Form(re.compile(""), "must", is_strong=False)
_WIDE_FORMS = (
    _form(r"不要|不得|请勿|請勿|切勿|禁止|不可以|别(?=[改动删用碰])|しないで|してはいけ|するな", "must_not"),
    _form(r"必须|必須|务必|務必|一定要|只能|总是|總是|始终|必ず|常に", "must"),
)
_PREFERS = re.compile(
    r"\b(?:i|we)(?:'d| would)? (?:much |really |still )?(?:prefer|rather(?! (?:like|liked|enjoy))|sooner)\b"
    r"|\bi (?:really )?(?:hate|can't stand|can't bear|dislike|love|like)\b(?! (?:that|this|it|him|her|them|how"
    r"|to think|the (?:question|idea|sound|look)|you)\b)"
    r"|\bi take my\b|\bpreferably\b|\bich (?:\w+ ){0,3}lieber\b|\bich (?:bevorzuge|mag)\b|\bam liebsten\b"
    r"|我喜欢|我更喜欢"
)


def mine_rules(text: str) -> tuple[Statement, ...]:
    """The constraints and preferences in a person's text, in order, without homes.

    >>> [(s.text, s.polarity, s.objects) for s in mine_rules("ok, but never touch the prod database")]
    [('never touch the prod database', 'must_not', ('touch', 'prod', 'databas'))]
    """
    return _mined(text)


@lru_cache(maxsize=4_096)
def _mined(text: str) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for sentence in spoken_sentences(text):
        found += _of_sentence(sentence, after_rule=bool(found))
    return tuple(found)


def _of_sentence(sentence: Sentence, *, after_rule: bool) -> Iterator[Statement]:
    whole = plain(sentence.unquoted)
    if len(whole) > 600 or whole.endswith(("?", "？")) or is_cancel(whole):
        return
    is_listed = after_rule or _LISTS.search(whole) is not None
    for start, end in clauses(sentence.unquoted):
        said = plain(sentence.unquoted[start:end])
        form = demand(said, is_listed=is_listed)
        kind: Kind = "constraint" if form else "preference"
        if not form and not _PREFERS.search(said):
            continue
        made = statement(kind, sentence.text[start:end], sentence.text, form or _LIKES)
        if len(made.objects) + len(made.numbers) + len(made.scope) >= (1 if form and is_listed else 2):
            is_listed = is_listed or form is not None
            yield made


def demand(said: str, *, is_listed: bool = False) -> Form | None:
    """Tell in which form a plain clause demands something; `is_listed` means that it stands among other demands.

    >>> demand("never touch prod").polarity, demand("it never rains"), demand("no new dependencies").polarity
    ('must_not', None, 'must_not')
    """
    for form in (*_FORMS, *_WIDE_FORMS):
        if form.pattern.search(said):
            return form
    scope = cues.SCOPE.search(said)
    narrates = _NARRATES.search(said[: scope.start()] if scope else said)
    if not narrates and (_LIMIT.search(said) or (is_listed and _BARE_ONLY.match(said))):
        return Form(_LIMIT, "must")
    if _NOUN.match(said) and not narrates and (is_listed or _MARKED.search(said)):
        return Form(_NOUN, "must_not")
    if narrates or not _IS_GERMAN.search(said):
        return None
    return next((form for form in _GERMAN if form.pattern.search(said)), None)


def is_cancel(said: str) -> bool:
    """Tell whether a plain sentence takes something back: it says so, and does not forbid to.

    >>> is_cancel("forget ··········"), is_cancel("don't forget the tests")
    (True, False)
    """
    found = cues.CANCELS.search(said)
    return found is not None and cues.FORBIDS.search(said[max(0, found.start() - 20) : found.start()]) is None


def statement(kind: Kind, clause: str, sentence: str, form: Form | None = None) -> Statement:
    """Make a statement of a clause: its objects, scope and numbers are read off it."""
    said = plain(clause)
    scoped = [match.span() for match in cues.SCOPE.finditer(said)] if kind == "constraint" else []
    cued = [m.span() for cue in (cues.FORBIDS, cues.DEMANDS, _THAN) for m in cue.finditer(said)] if form else []
    words = [word for word in tokens(said) if not any(a <= word.start < b for a, b in cued)]
    inside = [word for word in words if any(a <= word.start < b for a, b in scoped)]
    outside = [word for word in words if word not in inside]
    if not any(word.stem for word in outside):
        inside, outside = [], words
    return Statement(
        kind,
        clause,
        sentence,
        objects=tuple(dict.fromkeys(word.stem for word in outside if word.stem)),
        scope=tuple(dict.fromkeys(word.stem for word in inside if word.stem)),
        numbers=tuple(dict.fromkeys(word.word for word in words if is_number(word.word))),
        polarity=form.polarity if form else "",
        is_strong=form.is_strong if form else True,
    )
