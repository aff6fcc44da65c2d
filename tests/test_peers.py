"""What every peer keeps to, found by its file alone; what its raw and guarded passes say; how a run takes peers."""

import ast
import re
import subprocess
import sys
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path

import pytest
from histories import messages, user
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as replaced
from peers import SPECS, held, steps, talk
from test_conformance import UNUSUAL, WRONG, impurities

from compactlab import catalog
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError, UnknownName
from compactlab.harness import Settings, run
from compactlab.history import protected, repair
from compactlab.llm.extractive import Extractive
from compactlab.peers import Peer
from compactlab.policy import policy
from compactlab.receipt import Receipt
from compactlab.replay import Session, replay
from compactlab.tokens import Meter
from compactlab.transcript import Transcript
from compactlab.validity import broken

ROOT = Path(__file__).parent.parent
SHORT = ROOT / "fixtures" / "short" / "subagent-loop.jsonl"
NAMES = catalog.names("peers")
BY_CHARACTERS = Guard(Meter("chars/4"), model=Extractive())

every_peer = pytest.mark.parametrize("name", NAMES)
every_spec = pytest.mark.parametrize("spec", SPECS)


def module_of(name):
    return catalog.load("peers", name)


def off(spec):
    return replace(catalog.strategy(spec), guard="off")


def test_peers_were_found():
    assert {"openharness", "jcode", "hermes", "letta", "letta_code", "claw_code", "souveraine"} <= set(NAMES)
    assert not set(NAMES) & set(catalog.names("strategies"))
    assert set(NAMES) <= set(SPECS)


# ---- what it is


@every_peer
def test_it_is_one_frozen_dataclass_whose_fields_have_defaults(name):
    cls = catalog.strategy_class(name)
    assert is_dataclass(cls)
    assert issubclass(cls, Peer)
    assert cls.__dataclass_params__.frozen
    assert all(field.default is not MISSING for field in fields(cls))
    hash(cls())


@every_peer
def test_it_says_what_it_follows_as_of_when_what_it_leaves_out_and_what_is_wrong_with_it(name):
    module = module_of(name)
    assert module.__doc__.startswith(f"`{name}`: ")
    shared = {getattr(value, "__module__", "") for value in vars(module).values()}
    parts = sorted(part for part in shared if part.startswith("compactlab.peers._"))
    told = "\n\n".join(sys.modules[part].__doc__ for part in (*parts, module.__name__))
    assert re.search(r"\bFollows .*?\b20\d\d\b", told.partition("Known faults")[0], re.DOTALL)
    assert "Leaves out: " in told
    assert re.search(r"Known faults:\n\n- ", told)


@every_spec
def test_its_spec_reads_back_with_and_without_the_guard(spec):
    built = catalog.strategy(spec)
    assert repr(built) == spec
    assert built.guarded
    assert repr(off(spec)).startswith(f"{built.name}(guard='off'")
    assert catalog.strategy(repr(off(spec))) == off(spec)
    assert not off(spec).guarded


def wrong_values(field):
    """Literals that are none for a field; two words for one that is a choice of words."""
    is_choice = str(field.type).startswith("Literal") or field.name == "guard"
    return ("'nowhere'", "3", "('on',)") if is_choice else WRONG.get(str(field.type), ())


@every_peer
def test_a_value_of_the_wrong_type_is_refused(name):
    wrong = [(field.name, v) for field in fields(catalog.strategy_class(name)) for v in wrong_values(field)]
    assert len(wrong) >= 3
    for parameter, value in wrong:
        with pytest.raises(SpecError, match=parameter):
            catalog.strategy(f"{name}({parameter}={value})")


@every_peer
def test_it_has_no_clock_no_chance_no_files_and_no_network(name):
    folder = Path(module_of(name).__file__).parent
    for path in (folder / f"{name}.py", *folder.glob("_[a-z]*.py")):
        assert impurities(ast.parse(path.read_text(encoding="utf-8"))) == []


# ---- what it does


AS_PUBLISHED = ("ModelError: ", "ValueError: ", "IndexError: the stretch from message 1 to ")
"""Where the original ends in an error of its own, a peer raises one of these."""


@every_spec
@pytest.mark.parametrize("target", [None, 500])
def test_it_takes_unusual_lists_under_the_guard_and_without(spec, target):
    for label, history in UNUSUAL:
        for strategy in (catalog.strategy(spec), off(spec)):
            done = compact(history, strategy, target=target, guard=BY_CHARACTERS).receipt
            assert done.outcome != "failed" or done.reason.startswith(AS_PUBLISHED), (label, strategy, done.reason)


@settings(max_examples=150)
@given(spec=st.sampled_from(SPECS), given_messages=messages(min_events=4), target=st.none() | st.integers(1, 1_000))
def test_guarded_it_breaks_nothing_and_raw_the_receipt_says_what_it_broke(spec, given_messages, target):
    base = repair(given_messages).messages
    on = compact(base, spec, target=target, guard=BY_CHARACTERS)
    assert on.receipt.broken == ()
    assert broken(on.messages) <= broken(base)
    if on.receipt.outcome == "applied":
        assert on.receipt.tokens_after < on.receipt.tokens_before
        assert [m for i, m in enumerate(base) if i in protected(base) and m not in on.messages] == []
    raw = compact(base, off(spec), target=target, guard=BY_CHARACTERS)
    assert raw.receipt.restored == ()
    assert set(raw.receipt.broken) == broken(raw.messages) - broken(base)
    assert raw.receipt.outcome in {"applied", "skipped", "failed", "deferred"}


@settings(max_examples=60)
@given(spec=st.sampled_from(SPECS), given_messages=messages(min_events=4), data=st.data())
def test_labels_and_times_of_the_recording_change_nothing(spec, given_messages, data):
    order = data.draw(st.permutations(range(len(given_messages))))
    relabelled = [replaced(m, source=1_000 + order[i], timestamp="2026-01-01") for i, m in enumerate(given_messages)]
    plain, other = (compact(m, off(spec), guard=BY_CHARACTERS) for m in (given_messages, relabelled))
    assert [(m.role, m.blocks) for m in plain.messages] == [(m.role, m.blocks) for m in other.messages]


DIGEST = """
import sys
import compactlab
from compactlab import catalog
from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
from compactlab.tokens import Meter
[transcript] = compactlab.read(sys.argv[1])
for spec in sys.argv[2:]:
    done = compactlab.compact(transcript.messages, spec, guard=Guard(Meter("chars/4"), model=Extractive()))
    print(spec, hash("a") == 0, done.receipt.result)
"""


def test_processes_with_different_hash_seeds_agree():
    found = [
        subprocess.run(
            [sys.executable, "-c", DIGEST, str(SHORT), *SPECS],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    ]
    assert found[0] == found[1]
    assert len(found[0].splitlines()) == len(SPECS)


# ---- the guard switched off


def test_without_the_guard_a_result_stands_as_it_was_given():
    done = held(off("letta(mode='all')"), talk(20), "short")
    assert done.receipt.outcome == "applied"
    assert len(done.messages) == 1
    assert done.receipt.count("dropped") == 20
    assert done.receipt.count("made") == 1


def test_a_receipt_says_to_people_what_no_provider_takes():
    history = [user(), *(m for i in range(8) for m in (*steps(1)[:1], *steps(1)[1:])), user()]
    receipt = held(off("souveraine(strategy='summary', preserve_recent=2)"), history, "short").receipt
    assert isinstance(receipt, Receipt)
    assert "no provider takes it: anthropic:late_system" in receipt.to_text()
    assert held(off("openharness"), talk(2)).receipt.outcome == "skipped"


def test_a_replay_tells_a_peer_its_window_and_takes_what_it_gave():
    said = Transcript("t", "", tuple(talk(120)))
    session = Session(said, Meter("chars/4"))
    done = replay(session, policy("openharness(guard='off')"), 3_000, BY_CHARACTERS)
    assert done.fires
    assert {fire.outcome for fire in done.fires} == {"applied"}
    assert all(fire.tokens_after < 1_800 for fire in done.fires)


# ---- in a run


def test_a_name_that_is_neither_a_strategy_nor_a_peer_is_told_from_both():
    with pytest.raises(UnknownName, match="did you mean 'openharness'"):
        catalog.strategy("openharnes")
    with pytest.raises(SpecError, match=r"none is no peer; expected all or one of .*claw_code"):
        Settings(peers=("none",))
    with pytest.raises(SpecError, match="guard 'half'"):
        Settings(peers=("jcode",), guard="half")


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("on", ("none", "jcode")),
        ("off", ("none", "jcode(guard='off')")),
        ("both", ("none", "jcode", "jcode(guard='off')")),
    ],
)
def test_peers_stand_behind_ours_under_the_guard_without_or_both(guard, expected):
    assert Settings(strategies=("none",), peers=("jcode",), guard=guard).labels == expected
    replayed = Settings(strategies=("none",), peers=("jcode",), guard=guard, mode="replay", window=9_000)
    assert replayed.labels == expected


def test_all_means_every_peer_with_its_variants():
    rest = [spec for spec in SPECS if spec != "openhands_attention"]  # it asks for JSON: named alone, with a real model
    assert sorted(Settings(strategies=("none",), peers=("all",)).labels) == sorted(["none", *rest])


def test_a_run_shows_the_validity_of_each_peer(tmp_path):
    peers = ("openharness", "souveraine(strategy='summary')", "claw_code(trident=True)")
    results = run(SHORT, tmp_path / "run", Settings(("none",), cuts=(0.85,), peers=peers, guard="both", jobs=1))
    valid = {record.strategy: record.value for record in results.records if record.metric == "valid"}
    assert valid["openharness"] == valid["openharness(guard='off')"] == 1
    assert valid["souveraine(strategy='summary')"] == 1
    assert valid["souveraine(guard='off', strategy='summary')"] == 0
    report = [sys.executable, "-m", "compactlab", "report", tmp_path / "run"]
    shown = subprocess.run(report, capture_output=True, text=True, check=True).stdout
    lines = [line.split("  ")[0] for line in shown.splitlines()]
    assert lines.index("none") < lines.index("openharness") < lines.index("bag")
    assert "peers are other harnesses' strategies" in shown
