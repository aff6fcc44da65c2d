"""Small cases and what is left of them: for the metrics that read tool traffic."""

import importlib
import json

from histories import agent, call, user

from compactlab.history import repair
from compactlab.metrics import Case, Trial
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolResult

METER = Meter("chars/4")


def case_of(history):
    return Case(AtRisk(repair(history).messages, (), matcher_of(())), {}, HandProbes(()), (), METER)


def session(*steps):
    """Make a history of (tool, arguments, result) steps and words of the agent, with a closing turn that is protected.

    A result that is a tuple is an error.
    """
    made = [user("Please look after it.")]
    for at, step in enumerate(steps):
        if isinstance(step, str):
            made.append(agent(step))
            continue
        name, arguments, answer = step
        failed = isinstance(answer, tuple)
        text = Text(answer[0] if failed else answer)
        made.append(agent(call(f"c{at}", name, json.dumps(arguments))))
        made.append(Message("tool", (ToolResult(f"c{at}", (text,), is_error=failed),)))
    return (*made, user("Go on."), agent("Yes."))


def note(text):
    """What a compaction writes."""
    return user(text, synthetic=True)


def scores(metric, case, kept):
    """Give value and n of each score of a metric by name, family and group."""
    module = importlib.import_module(f"compactlab.metrics.{metric}")
    made = module.measure(Trial(case, tuple(kept)))
    return {(score.metric, score.family, score.group): (score.value, score.n) for score in made}
