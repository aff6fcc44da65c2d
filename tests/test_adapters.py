"""Adapters: what becomes of what a worker says, by a small one; and the real packages, where they are installed."""

import json
import sys
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import ClassVar

import pytest
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import HealthCheck, given, settings
from peers import held, raw, steps
from test_conformance import WRONG

import compactlab
from compactlab import catalog
from compactlab.adapters import Adapter, adapter, adapters
from compactlab.compaction import Guard, compact
from compactlab.environments import is_installed
from compactlab.environments.process import Worker, served
from compactlab.errors import SpecError, UnknownName
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.llm.scripted import Scripted
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Reasoning, Text, ToolResult
from compactlab.validity import broken

ROOT = Path(__file__).parent.parent
NAMES = sorted(adapters())
TOY = """
def versions():
    return {"toy": "1.0"}

CALLS = {"said": lambda job: job.options["entries"] or [{"at": n} for n, _ in enumerate(job.messages)]}
"""
every_adapter = pytest.mark.parametrize("name", NAMES)


@dataclass(frozen=True, repr=False)
class Said(Adapter):
    """Gives what it is told to give."""

    entries: str = "[]"

    environment: ClassVar[str] = "toy"
    call: ClassVar[str] = "said"
    file: ClassVar[str] = ""
    kept: ClassVar[list] = []

    def _check(self, name, default):
        pass

    def options(self, context, weight):  # noqa: ARG002
        return {"entries": json.loads(self.entries)}

    @property
    def process(self):
        return self.kept[0]


@pytest.fixture(scope="module", autouse=True)
def toy(tmp_path_factory):
    file = tmp_path_factory.mktemp("toy") / "toy.py"
    file.write_text(TOY, encoding="utf-8")
    Said.kept.append(Worker(served(sys.executable, file)))
    yield
    Said.kept.pop().close()


def said(*entries):
    return Said(json.dumps(entries), guard="off")


SESSION = [
    system(),
    user("Move it."),
    agent(Reasoning("hm"), "I look.", call("a"), call("b")),
    Message("tool", (result("a", "first"), result("b", "second"))),
    user("And?"),
    agent(call("c")),
    Message("user", (Text("Look."), Image("image/png"))),
]


# ---- what becomes of what a worker says


def test_what_a_worker_leaves_as_it_was_comes_back_as_it_was():
    assert list(raw(said(), SESSION).messages) == list(raw(catalog.strategy("none"), SESSION).messages)
    assert raw(said(), SESSION).notes == ("toy 1.0",)


def test_the_system_prompt_stands_beside_and_results_one_by_one():
    given_ = raw(said({"at": 0}, {"at": 1}, {"at": 3}), SESSION)
    assert [m.role for m in given_.messages] == ["system", "user", "assistant", "tool"]
    assert given_.messages[3].results == (result("b", "second"),)


@pytest.mark.parametrize(
    ("entry", "blocks"),
    [
        ({"at": 1, "content": "short"}, (Reasoning("hm"), Text("short"), call("a"), call("b"))),
        ({"at": 1, "content": ""}, (Reasoning("hm"), call("a"), call("b"))),
        ({"at": 1, "calls": ["b"]}, (Reasoning("hm"), Text("I look."), call("b"))),
        ({"at": 1, "reasoning": False}, (Text("I look."), call("a"), call("b"))),
        (
            {"at": 1, "arguments": {"b": '{"n": 1}'}},
            (Reasoning("hm"), Text("I look."), call("a"), call("b", arguments='{"n": 1}')),
        ),
        ({"at": 2, "content": "(gone)"}, (result("a", "(gone)"),)),
        ({"at": 5, "content": "I call."}, (Text("I call."), call("c"))),  # words stand before a call
        ({"at": 6, "content": "(a picture)", "images": False}, (Text("(a picture)"),)),
        ({"at": 6, "content": "Look!"}, (Text("Look!"), Image("image/png"))),
    ],
)
def test_an_edit_changes_what_it_names_and_no_more(entry, blocks):
    assert raw(said(entry), SESSION).messages[1].blocks == blocks


@pytest.mark.parametrize(("role", "becomes"), [("user", "user"), ("assistant", "assistant"), ("summary", "user")])
def test_a_message_that_the_package_made_is_marked_as_made(role, becomes):
    made = raw(said({"role": role, "content": "so far"}), SESSION).messages[1]
    assert (made.role, made.text, made.synthetic, made.source) == (becomes, "so far", True, None)


@pytest.mark.parametrize("entries", [[{"at": 99}], [{"at": "x"}], [{}], [{"role": "user"}]])
def test_what_makes_no_sense_is_a_failed_pass(entries):
    assert held(said(*entries), SESSION).receipt.outcome == "failed"


@given(messages())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_every_list_goes_over_the_pipe_and_comes_back_the_same(drawn):
    base = repair(drawn).messages
    assert list(raw(said(), base).messages) == list(raw(catalog.strategy("none"), base).messages)


# ---- the catalog


def test_adapters_were_found():
    assert len(NAMES) >= 24
    assert {"peer:langchain.trim_messages", "peer:inspect_ai.summary", "peer:strands.sliding_window"} <= set(NAMES)
    assert {"peer:pydantic_ai.tiered", "peer:openhands.no_op", "peer:hermes_agent.compress"} <= set(NAMES)


@every_adapter
def test_its_spec_is_its_name_and_reads_back(name):
    built = catalog.strategy(name)
    assert repr(built) == name
    assert catalog.strategy(f"{name}(guard='off')").guarded is False
    assert all(field.default is not MISSING for field in fields(built))
    assert adapter(name).__doc__.startswith("`")


@every_adapter
def test_a_value_of_the_wrong_type_is_refused(name):
    for field in fields(adapter(name)):
        for value in WRONG.get(str(field.type), ()):
            with pytest.raises(SpecError, match=field.name):
                catalog.strategy(f"{name}({field.name}={value})")


def test_a_name_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"did you mean 'peer:langchain.trim_messages'"):
        catalog.strategy("peer:langchain.trim_message")


# ---- the real packages

needs = {
    name: pytest.mark.skipif(
        not is_installed(adapter(name).environment),
        reason=f"compactlab peers install {adapter(name).environment} was not done",
    )
    for name in NAMES
}
every_real_one = pytest.mark.parametrize("name", [pytest.param(name, marks=needs[name]) for name in NAMES])
BY_TOKENS = Guard(Meter(), model=Extractive())


def recorded(name="subagent-incident"):
    [transcript] = compactlab.read(ROOT / "fixtures" / "transcripts" / f"{name}.jsonl")
    return transcript.messages[:93]


@every_real_one
def test_it_compacts_a_recorded_session(name):
    done = compact(recorded(), name, guard=BY_TOKENS)
    assert done.receipt.outcome == ("skipped" if name.endswith(".no_op") else "applied"), done.receipt.reason
    assert broken(done.messages) <= broken(recorded())
    assert any(character.isdigit() for character in done.receipt.notes[0])  # says its version


@every_real_one
@pytest.mark.parametrize("target", [None, 500])
def test_it_takes_odd_lists_and_says_what_it_cannot(name, target):
    odd = [
        [user()],
        [system(), user(), agent()],
        [user(), calling("a", "b"), answering("a", "b")],
        [user(""), agent("", call("a", arguments="not json")), answering("a"), user()],
        [user("請 \ud83d"), Message("assistant", (Reasoning(opaque="x"),)), user()],
        [user(), calling("a"), Message("tool", (ToolResult("a"),)), agent()],
    ]
    for history in odd:
        done = compact(history, name, target=target, guard=BY_TOKENS)
        assert done.receipt.outcome in {"applied", "skipped", "rejected", "failed"}
        assert "worker" not in done.receipt.reason, done.receipt.reason  # the process itself holds


@needs["peer:langchain.clear_tool_uses"]
@pytest.mark.parametrize("options", ["", "keep=10", "clear_tool_inputs=True", "keep=0,clear_tool_inputs=True"])
def test_our_clearing_of_tool_uses_is_that_of_langchain_message_by_message(options):
    theirs = f"peer:langchain.clear_tool_uses(placeholder='[Old tool result content cleared]',{options})"
    history = recorded()
    ours, real = (compact(history, spec, guard=BY_TOKENS).messages for spec in (f"clear_tool_uses({options})", theirs))
    assert ours == real


@needs["peer:langchain.trim_messages"]
def test_langchain_counts_as_the_run_does_and_meets_its_target():
    done = compact(recorded(), "peer:langchain.trim_messages(guard='off')", target=8_000, guard=BY_TOKENS)
    assert 0.8 * 8_000 < done.receipt.tokens_after <= 8_000


@needs["peer:langchain.trim_messages"]
def test_fault_langchain_begins_with_a_result_whose_call_went_and_the_guard_mends_that():
    history = [user(), *steps(12), user()]
    guard = Guard(Meter("chars/4"))
    specs = [f"peer:langchain.trim_messages(max_tokens={most}" for most in range(300, 900, 30)]
    raw_ = [compact(history, f"{spec},guard='off')", guard=guard).receipt for spec in specs]
    assert any("orphan_result" in rule for receipt in raw_ for rule in receipt.broken)
    assert all(compact(history, f"{spec})", guard=guard).receipt.broken == () for spec in specs)


@needs["peer:langchain.summarization"]
def test_langchain_asks_the_model_of_the_run_in_its_own_words_about_the_newest_of_what_goes():
    model = Scripted("The port is 5433.")
    history = [*steps(40, 1_200), user("Move the orders table."), *steps(18, 400), user()]
    done = compact(history, "peer:langchain.summarization", guard=Guard(Meter("chars/4"), model=model))
    assert "The port is 5433." in next(m.text for m in done.messages if m.synthetic)
    [request] = model.requests
    assert "Move the orders table." in request.prompt
    assert "result 39" not in request.prompt


@needs["peer:langchain.summarization"]
def test_fault_langchain_drops_a_long_stretch_of_work_without_asking_anyone():
    model = Scripted("The port is 5433.")
    history = [user("Move the orders table."), *steps(60, 1_200), user()]
    done = compact(history, "peer:langchain.summarization(guard='off')", guard=Guard(Meter("chars/4"), model=model))
    assert model.requests == []
    assert done.receipt.count("dropped") == 101
    assert "too long to summarize" in done.messages[0].text


@needs["peer:openharness.microcompact"]
def test_the_first_step_of_openharness_is_ours_where_its_own_names_are_used():
    history = [system(), user(), *steps(9, 60, name="read_file"), user()]
    real, ours = (compact(history, spec, guard=BY_TOKENS) for spec in ("peer:openharness.microcompact", "openharness"))
    assert real.messages == ours.messages
