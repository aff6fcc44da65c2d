"""Small sessions that would fool a scorer, and what a compaction left of them."""

import json

from histories import agent, call, result, system, user
from msgspec.structs import replace

from compactlab import catalog
from compactlab.compaction import Guard, compact
from compactlab.facts import mine
from compactlab.harness.fates import verdict
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.llm.scripted import Scripted
from compactlab.metrics import Case, Trial
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text

METER = Meter("chars/4")
FILLER = "The weather was fine and nobody had anything to add to what had been said before, so they went on."
SLIDE = "sliding_window(preserve_recent=2)"


def case(history, future=(), probes=()):
    """Prepare a history before a cut: repaired, mined together with what follows, with its hand-made probes."""
    base = repair(tuple(replace(message, source=i) for i, message in enumerate(history))).messages
    facts = mine((*base, *future))
    risk = AtRisk(base, facts, matcher_of(facts))
    hand = HandProbes(probes)
    made = Case(risk, risk.future(future).uses, hand, (), METER)
    return Case(risk, made.needed, hand, hand.admitted(len(history), made.protected), METER)


def compacted(of, strategy, *replies):
    """What a strategy of the catalog leaves of a case; *replies* are a model's, else its text is extracted by code."""
    guard = Guard(METER, model=Scripted(replies) if replies else Extractive())
    messages, receipt = compact(of.base, catalog.strategy(strategy), guard=guard)
    return Trial(of, messages, receipt)


def written(of, text):
    """The protected set of a case and a text that a compaction made of all the rest."""
    return Trial(of, (*of.protected, Message("user", (Text(text),), synthetic=True)))


def fate(trial, value):
    """What became of the fact at risk with this value; its absence from the set at risk is an error."""
    risk = trial.case.risk
    [index] = [i for i in risk.anchors if risk.facts[i].value == value]
    return verdict(trial.presence, index)


def at_risk(of):
    return {of.risk.facts[i].value for i in of.risk.anchors}


def long(*told):
    """A session: a task, what was *told*, and enough words after it for the strategies to have something to drop."""
    return (
        system(),
        user("Please set up the service."),
        *told,
        *(message for n in range(12) for message in (agent(f"{FILLER} {FILLER} Step {n}."), user("Go on."))),
        agent(f"{FILLER} Now for the rest."),
    )


def read(call_id, path, text):
    arguments = json.dumps({"path": path})
    return agent(call(call_id, "read", arguments)), Message("tool", (result(call_id, text),))
