"""Runs written by hand, a number a cell, so that what comes out can be worked out on paper."""

import tempfile
from pathlib import Path

from runs import scratch

from compactlab.records import Block, Manifest, Record
from compactlab.results import Results, Writer
from compactlab.summary.pool import Pool

MANIFEST = Manifest(
    compactlab="0.1.0",
    scorer="1",
    counter="o200k_base",
    counter_version="toktok-rs 0.3.0",
    seed=7,
    cuts=("0.4", "0.7"),
    strategies=(),
    corpus="0123456789ab",
    sessions=(),
    families=("path",),
    plugins={},
)
WEIGHT = 1_000
NEEDED = 100


def pool(rows, *, floor=10, budgets=None, model=""):
    """Make the pool of a run from {(session, cut, strategy, size_of, budget): (tokens after, facts kept of 100)}.

    A session's story is its name up to the first digit. Each cell weighs 1,000 tokens before; `null` keeps *floor* of
    them. A cell may have a third number: how many facts were needed.
    """
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    used = sorted({key[4] for key in rows if key[4]}, key=float) if budgets is None else budgets
    writer = Writer(folder / "run", Manifest(**{**_fields(), "budgets": tuple(used)}), lambda _: "")
    places = dict.fromkeys((session, cut) for session, cut, *_ in rows)
    for place in places:
        needed = next(of[2] for key, of in _whole(rows) if key[:2] == place)
        cells = {(*place, "null", "", ""): (floor, 0, needed)}
        cells |= {key: of for key, of in _whole(rows) if key[:2] == place}
        writer.write(_block((*place, "facts", "", ""), [], ""))
        for key, (after, kept, of) in cells.items():
            scores = [("tokens_before", WEIGHT, 1), ("tokens_after", after, 1)]
            scores += [("needed_bound", kept, of), ("needed_loose", kept, of)] if of else []
            writer.write(_block(key, scores, model))
    writer.close()
    return Pool(Results(folder / "run"))


def _fields():
    return {name: getattr(MANIFEST, name) for name in MANIFEST.__struct_fields__}


def _whole(rows):
    return [(key, (*cell, NEEDED)[:3]) for key, cell in rows.items()]


def _block(key, scores, model):
    session, cut, strategy, size_of, budget = key
    base = {"session": session, "agent_type": "primary", "cluster": session.rstrip("0123456789"), "cut": cut}
    base |= {"index": 3, "strategy": strategy, "size_of": size_of, "budget": budget}
    where = {"family": "path", "use": "action", "home": "irrecoverable"}
    rows = [Record(**base, metric=m, value=v, n=n, **(where if m.startswith("needed") else {})) for m, v, n in scores]
    head = Record(**base, metric="outcome", n=len(rows), outcome="applied", model=model if strategy != "null" else "")
    return Block((head, *rows))


def sweep(strategy, values, *, size_of="", after=None):
    """Rows at one cut of stories a, b, c ...: {budget: facts kept, one a story}, of the budget's size or *after*."""
    return {
        (story, "0.4", strategy, size_of, budget): (after if after is not None else int(float(budget) * 10), kept)
        for budget, counts in values.items()
        for story, kept in zip("abcdefghij", counts, strict=False)
    }


def told(scores, **manifest):
    """Make the pool of a run at one cut from {(session, strategy, replicate): [(metric, value, n, other fields)]}.

    A session's story is its name up to the first digit. `null` stands in each, and needs what the first row does.
    """
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    writer = Writer(folder / "run", Manifest(**{**_fields(), **manifest}), lambda _: "")
    for session in dict.fromkeys(session for session, *_ in scores):
        of = {key[1:]: rows for key, rows in scores.items() if key[0] == session}
        first = next(iter(of.values()))
        of = {("facts", 0): [], **of, ("null", 0): [(m, 0, n, f) for m, _, n, f in first if m.startswith("needed")]}
        for (strategy, replicate), rows in of.items():
            base = {"session": session, "agent_type": "primary", "cluster": session.rstrip("0123456789"), "cut": "0.4"}
            base |= {"index": 3, "strategy": strategy, "replicate": replicate}
            made = [Record(**base, metric=metric, value=value, n=n, **fields) for metric, value, n, fields in rows]
            writer.write(Block((Record(**base, metric="outcome", n=len(made), outcome="applied"), *made)))
    writer.close()
    return Pool(Results(folder / "run"))
