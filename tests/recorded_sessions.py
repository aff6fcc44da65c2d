"""Sessions with a compaction that a harness recorded, whose fate of every fact is known, and runs over them."""

import json

from histories import agent, call, result, system, user
from msgspec.structs import replace

from compactlab import catalog
from compactlab.facts import FAMILIES, mine
from compactlab.harness.places import places
from compactlab.harness.recorded import RecordedJob, made_by
from compactlab.records import Manifest
from compactlab.results import Results, Writer
from compactlab.settings import Project
from compactlab.transcript import Message, RecordedCompaction, Transcript

COUNTER = "chars/4"
NUMBERS = {"kept": 14_021, "lost": 15_033, "fetched": 16_047, "idle": 17_059, "unread": 18_061}
"""What becomes of each number: fetched again and used; fetched again and left; in a result that nobody had read."""
BOXES = "/srv/store/boxes.toml"


def step(name, tool, answer, **arguments):
    """Make a call and what came back."""
    return agent(call(name, tool, json.dumps(arguments))), Message("tool", (result(name, answer),))


def summary(text):
    return user(text, synthetic=True)


KEPT = summary(f"The crate counter stands at {NUMBERS['kept']}.")
BEFORE = (
    system(),
    user("Please look after the boxes."),
    *step("c1", "read", f"crate counter = {NUMBERS['kept']}", path="/srv/store/crates.toml"),
    *step("c2", "bash", f"the pallet counter shows {NUMBERS['lost']} today", command="./count --pallets"),
    *step("c3", "read", f"shelf counter = {NUMBERS['fetched']}\nladder counter = {NUMBERS['idle']}", path=BOXES),
    *(message for n in range(8) for message in (user(f"Mind the rain. {'It pours. ' * 120}"), agent(f"I do. {n}"))),
    *step("c4", "bash", f"the drawer counter shows {NUMBERS['unread']}", command="./count --drawers"),
)
AFTER = (
    user("Go on."),
    *step("d1", "bash", "ok", command=f"./set --crate-counter {NUMBERS['kept']}"),
    *step("d2", "bash", "ok", command=f"./set --pallet-counter {NUMBERS['lost']}"),
    *step("d3", "bash", "ok", command=f"./set --drawer-counter {NUMBERS['unread']}"),
    *step("d4", "read", f"shelf counter = {NUMBERS['fetched']}\nladder counter = {NUMBERS['idle']}", path=BOXES),
    *step("d5", "bash", "ok", command=f"./set --shelf-counter {NUMBERS['fetched']}"),
    agent("All set."),
)


def session(name="one", left=(0, KEPT), before=BEFORE, after=AFTER, **more):
    """Make a session in which a harness left *left* between *before* and *after*."""
    messages = tuple(replace(message, source=i) for i, message in enumerate((*before, *after)))
    compaction = RecordedCompaction(len(before), after=left, summary=KEPT.text, trigger="auto")
    return Transcript(name, more.pop("format", "compactlab"), messages, compactions=(compaction,), **more)


def job(transcript, *strategies, unrelated=()):
    built = tuple(catalog.strategy(strategy) for strategy in strategies or ("none", "sliding_window"))
    project = Project()
    made = made_by(built, project)
    facts, cuts = mine(transcript.messages), places(transcript)
    more = {"common": frozenset(), "unrelated": unrelated, "strategies": built, "budgets": (), "project": project}
    return RecordedJob(transcript, facts, cuts, (), counter=COUNTER, seed=0, made_by=made, **more)


def rows(transcript, *strategies):
    """Give all records of a session."""
    return [record for block in job(transcript, *strategies).blocks() for record in block.records]


def run(folder, transcripts, *strategies):
    """Write a run over sessions, each held against the next two as the unrelated ones."""
    jobs = [
        job(t, *strategies, unrelated=tuple(o for o in transcripts if o.cluster != t.cluster)[:2]) for t in transcripts
    ]
    manifest = Manifest(
        compactlab="0.1.0",
        scorer="1",
        counter=COUNTER,
        counter_version="-",
        seed=0,
        cuts=("recorded",),
        strategies=tuple(map(repr, jobs[0].strategies)),
        corpus="0123456789ab",
        sessions=tuple(t.id for t in transcripts),
        families=FAMILIES,
        plugins={},
        mode="recorded",
    )
    writer = Writer(folder, manifest, lambda key: jobs[0].made_by[key.strategy, key.size_of])
    for one in (each.without(writer.done) for each in jobs):
        made = one.blocks()
        for key in one.keys:
            writer.keep(key) if key in writer.done else writer.write(next(made))
    writer.close()
    return Results(folder)
