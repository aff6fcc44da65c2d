"""Reader and judge: a model answers hand-made probes from a compacted history alone, and the answers are graded.

Presence says that a value still stands; a reader says that a model finds it. The reader is asked each probe that is
admitted at a cut, on its own, with the history as text. An answer is graded by exact and alias match first, and by a
judge with a published rubric (`wording`) only where that cannot decide; the judge also grades one in four of the
decided answers, so that the agreement of the two can be told. A call that fails is a failed answer, never a wrong one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from compactlab.answering import wording
from compactlab.answering.grades import Exact, exact, grades, passes
from compactlab.llm import FINISHED, Model, ModelError, NotAsked, Request
from compactlab.llm.checks import Rejected, is_no_answer, without_thoughts
from compactlab.llm.prompts import rendered
from compactlab.matching import Verdict as Presence
from compactlab.probes.hand import Probe
from compactlab.redaction import known_secrets, redacted, redacted_messages
from compactlab.transcript import Messages, readable

T = TypeVar("T")
Verdict = Literal["right", "wrong", "unknown", "stale", "undecided", "failed"]
MAX_ANSWER = 1_024
"""Tokens that a reader and a judge may write; what a model thinks counts among them."""
ONE_IN = 4
"""Of the answers that exact match decides, the judge grades one in so many."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer to one probe: what was said, and how it was graded.

    `present` is the verdict of the probe by presence. `exact` says what match alone could tell, `grades` are those of
    the judge where it was asked. `failed` is why there is no answer, `ungraded` why the judge gave no grades.
    """

    probe: str
    kind: str
    present: Presence
    replicate: int = 0
    text: str = ""
    exact: Exact = "undecided"
    grades: dict[str, int] = {}
    failed: str = ""
    ungraded: str = ""

    @property
    def verdict(self) -> Verdict:
        """What became of the question: exact match first, the judge where that could not tell."""
        if self.failed:
            return "failed"
        if self.exact != "undecided" or not self.grades:
            return self.exact
        return "right" if passes(self.grades) else "wrong"

    @property
    def is_present(self) -> bool:
        """True if a right value stands in the history by presence."""
        return self.present in {"kept", "both"}


class Question(NamedTuple):
    """A probe to be asked, and its verdict by presence."""

    probe: Probe
    present: Presence


class Examined(NamedTuple):
    """The answers in the order of the probes, each as often as repeated; or the reply that is lacking."""

    answers: tuple[Answer, ...]
    lacks: ModelError | None = None


@dataclass(frozen=True)
class Examiner:
    """A reader, and a judge or none; each question is asked *replicates* times, *parallel* calls at once."""

    reader: Model
    judge: Model | None = None
    replicates: int = 1
    seed: int = 0
    parallel: int = 1

    def examine(self, messages: Messages, questions: Sequence[Question], name: str = "") -> Examined:
        """Ask all questions about *messages*, without secrets, and grade the answers; *name* tells the case.

        All requests are made before a reply that is lacking is told of, so that a batch can answer them at once.
        """
        context = _shown(messages)
        wanted = [(question, number) for question in questions for number in range(self.replicates)]
        read = self._all(partial(self._read, context), wanted)
        lacking = next((one for one in read if isinstance(one, ModelError)), None)
        if lacking is not None:
            return Examined((), lacking)
        answers = [one for one in read if isinstance(one, Answer)]
        probes = [question.probe for question, _ in wanted]
        judged = self._all(partial(self._judge, name), list(zip(answers, probes, strict=True)))
        lacking = next((one for one in judged if isinstance(one, ModelError)), None)
        return Examined(tuple(one for one in judged if isinstance(one, Answer)), lacking)

    def _all(self, ask: Callable[[T], Answer | ModelError], wanted: Sequence[T]) -> list[Answer | ModelError]:
        if self.parallel <= 1:
            return [ask(one) for one in wanted]
        with ThreadPoolExecutor(self.parallel) as pool:
            return list(pool.map(ask, wanted))

    def _read(self, context: str, wanted: tuple[Question, int]) -> Answer | ModelError:
        (probe, present), replicate = wanted
        prompt = wording.asking(redacted(probe.question), context)
        request = self._request("answer", wording.READER_SYSTEM, prompt, replicate)
        answer = Answer(probe.id, probe.kind, present, replicate)
        try:
            said = _text(self.reader, request)
        except ModelError as error:
            return error if _is_lacking(error) else replace(answer, failed=redacted(str(error)))
        return replace(answer, text=said, exact=exact(said, probe))

    def _judge(self, name: str, wanted: tuple[Answer, Probe]) -> Answer | ModelError:
        answer, probe = wanted
        if self.judge is None or answer.failed or not (answer.exact == "undecided" or _is_checked(name, answer)):
            return answer
        request = self._request("judge", wording.JUDGE_SYSTEM, wording.grading(probe, answer.text), answer.replicate)
        try:
            return replace(answer, grades=_graded(self.judge, request))
        except ModelError as error:
            return error if _is_lacking(error) else replace(answer, ungraded=redacted(str(error)))

    def _request(self, purpose: Literal["answer", "judge"], system: str, prompt: str, replicate: int) -> Request:
        return Request(purpose, system, prompt, (), MAX_ANSWER, 0.0, self.seed + replicate, replicate, wording.VERSION)


def _shown(messages: Messages) -> str:
    """A history as the reader is shown it: labelled lines, no secrets."""
    known = known_secrets(readable(block) for message in messages for block in message.blocks)
    return rendered(redacted_messages(messages, known))


def _text(model: Model, request: Request) -> str:
    """The words of a reply, without thoughts; blank, cut off, or of another kind is a failure."""
    reply = model.reply(request)
    if reply.finish_reason not in FINISHED:
        raise Rejected(f"{reply.model}: no usable reply (finish reason {reply.finish_reason!r})")
    said = redacted(without_thoughts(reply.text)).strip()
    if not said:
        raise Rejected(f"{reply.model}: the reply is blank")
    return said


def _graded(judge: Model, request: Request) -> dict[str, int]:
    """The grades of a judge, who is asked once more where the first reply holds none."""
    try:
        return grades(_text(judge, request))
    except Rejected as error:
        again = f"{request.system}\n\nYour reply before this one could not be used: {error}."
    return grades(_text(judge, replace(request, system=again)))


def _is_lacking(error: ModelError) -> bool:
    return is_no_answer(error) or isinstance(error, NotAsked)


def _is_checked(name: str, answer: Answer) -> bool:
    """Whether the judge grades an answer that match has decided: one in `ONE_IN`, by a digest, the same each time."""
    text = f"{name}|{answer.probe}|{answer.replicate}"
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), 16) % ONE_IN == 0
