"""Plug-ins: what comes out of a framework is what `compact` gives, message by message, in the framework's own Python.

The frameworks lie in environments of their own, made by `compactlab peers install langchain inspect_ai`; where one is
missing its tests are skipped and say so. What needs no framework is tested without.
"""

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from histories import agent, answering, calling, messages, user
from hypothesis import HealthCheck, given, settings

import compactlab
from compactlab.compaction import Guard, compact
from compactlab.environments import is_installed, python_of
from compactlab.errors import SpecError
from compactlab.plugins import Plan, Shape, checked, passed
from compactlab.plugins.langchain import CompactlabEdit, compactlab_middleware
from compactlab.readers.inspect_log._chat import chat_messages
from compactlab.readers.inspect_log._write import wires
from compactlab.shapes import langchain
from compactlab.strategies.sliding_window import KeepRecent
from compactlab.tokens import Meter

ROOT = Path(__file__).parent.parent
SESSIONS = ("primary-boatyard", "subagent-incident", "subconscious-novel")
PASSES = (
    ("microcompact", None),
    ("sliding_window(preserve_recent=20)", None),
    ("key_value", 3_000),
    ("ladder", 0.2),
    ("defer", None),
)
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8"), re.DOTALL)


def worked(environment, job):
    """What the worker says in the Python of a framework; skipped, with the reason, where that cannot be."""
    if not is_installed(environment):
        pytest.skip(f"compactlab peers install {environment} was not done")
    python = str(python_of(environment))
    version = [python, "-c", "import sys; print(*sys.version_info[:2])"]
    if subprocess.check_output(version, text=True).split() != [str(part) for part in sys.version_info[:2]]:
        pytest.skip(f"the environment {environment} has another version of Python: our packages do not load there")
    command = [python, str(ROOT / "tests" / "plugin_worker.py"), str(ROOT), sysconfig.get_path("purelib")]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout)


def session(name):
    [transcript] = compactlab.read(ROOT / "fixtures" / "transcripts" / f"{name}.jsonl")
    return transcript.messages


def told(read):
    return [(message.role, message.blocks, message.synthetic) for message in read]


def expected(name, spec, target):
    base = session(name)
    tokens = int(target * Meter().messages(base)) if target and target < 1 else target
    return compact(base, spec, target=tokens)


def from_langchain(dicts):
    return langchain.from_wire([langchain.fields(one) for one in dicts])


@pytest.fixture(scope="module")
def in_langchain():
    history = langchain.to_wire(session("subagent-incident"))
    growing = {"steps": 12, "policy": "microcompact@0.6+summary@0.9", "window": 5_000}
    return worked(
        "langchain",
        {
            "langchain_passes": {"histories": [langchain.to_wire(session(n)) for n in SESSIONS], "passes": PASSES},
            "langchain_agent": growing,
            "langchain_edit": {"strategy": "microcompact", "trigger": 1_000, "histories": [history]},
            "langchain_example": {"code": EXAMPLES[0]},
        },
    )


@pytest.fixture(scope="module")
def in_inspect(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("logs"))
    growing = {"steps": 12, "strategy": "summary", "target": 3_000, "threshold": 5_000, "folder": folder}
    return worked(
        "inspect_ai",
        {
            "inspect_passes": {"histories": [list(wires(session(n))) for n in SESSIONS], "passes": PASSES},
            "inspect_eval": growing,
            "inspect_example": {"code": EXAMPLES[1], "folder": folder},
        },
    )


every_pass = pytest.mark.parametrize(("at", "name", "spec", "target"), [
    (at, name, spec, target)
    for at, (name, (spec, target)) in enumerate((name, one) for name in SESSIONS for one in PASSES)
])  # fmt: skip


# ---- LangChain


@every_pass
def test_langchains_messages_come_out_as_ours_do(in_langchain, at, name, spec, target):
    out, said, ids = in_langchain["langchain_passes"][at]
    want = expected(name, spec, target)
    assert told(from_langchain(out)) == told(want.messages)
    assert said["outcome"] == want.receipt.outcome
    kept = [name for name in ids if name]  # what was made has no id yet: LangChain gives it one
    assert len(set(kept)) == len(kept)
    assert said["stayed"] > 0


def test_an_agent_of_langchains_is_compacted_at_the_marks_and_never_passes_its_window(in_langchain):
    seen = in_langchain["langchain_agent"]
    left = from_langchain(seen["wires"])
    assert len(seen["weights"]) == 13
    assert max(seen["weights"]) < 5_000 < 12 * 800  # what was read alone is twice the window
    assert any(later < earlier for earlier, later in zip(seen["weights"], seen["weights"][1:], strict=False))
    assert left[0].text == "Read all files."
    assert left[-1].text == "Done."
    assert "compactlab_armed" not in seen["keys"]  # private to the middleware
    assert any(compactlab.transcript.ToolResult in map(type, message.blocks) for message in left)


def test_a_summary_in_an_agent_asks_the_model_that_was_given(in_langchain):
    seen = in_langchain["langchain_agent"]
    assert seen["asked"] >= 1
    assert "5433" in " ".join(message.text for message in from_langchain(seen["wires"]) if message.synthetic)


def test_an_edit_shortens_what_is_sent_and_leaves_the_state_alone(in_langchain):
    seen = in_langchain["langchain_edit"]
    base = session("subagent-incident")
    assert told(from_langchain(seen["wires"])) == told(compact(base, "microcompact").messages)
    assert seen["left"] == len(langchain.to_wire(base))


def test_the_example_for_langchain_runs(in_langchain):
    assert in_langchain["langchain_example"]["left"] < 20
    assert in_langchain["langchain_example"]["first"] == "step 0"


# ---- Inspect AI


@every_pass
def test_inspects_messages_come_out_as_ours_do(in_inspect, at, name, spec, target):
    out, said, ids = in_inspect["inspect_passes"][at]
    want = expected(name, spec, target)
    assert told(chat_messages(out)) == told(want.messages)
    assert said["outcome"] == want.receipt.outcome
    assert len(set(ids)) == len(ids)  # Inspect tells messages apart by their ids
    assert all(ids)
    assert said["stayed"] > 0


def test_an_evaluation_of_inspects_is_compacted_and_its_own_model_writes_the_summary(in_inspect):
    seen = in_inspect["inspect_eval"]
    assert seen["status"] == "success", seen["error"]
    assert sum(by_us for by_us, _, _ in seen["seen"]) >= 1
    assert max(weight for by_us, _, weight in seen["seen"] if not by_us) < 5_000
    assert seen["receipt"].startswith("summary: applied")


def test_our_reader_finds_the_compactions_in_inspects_log(in_inspect):
    transcripts = compactlab.read(in_inspect["inspect_eval"]["file"])
    assert sum(len(transcript.compactions) for transcript in transcripts) >= 1


def test_the_example_for_inspect_runs(in_inspect):
    assert in_inspect["inspect_example"]["status"] == "success", in_inspect["inspect_example"]["error"]


# ---- without a framework: a message of its own is a pair of our message and a mark


SHAPE = Shape(
    read=lambda history: tuple(
        compactlab.Message(m.role, m.blocks, n, m.synthetic, m.pinned) for n, (m, _) in enumerate(history)
    ),
    write=lambda message, was: [(message, "edited" if was else "made")],
)


def marked(history):
    return [(message, f"own {n}") for n, message in enumerate(history)]


@given(messages())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_what_stays_is_the_very_object_that_came(drawn):
    history = marked(drawn)
    done = passed(history, SHAPE, Plan(KeepRecent(preserve_recent=2), None, Guard()))
    want = compact(drawn, KeepRecent(preserve_recent=2))
    assert told(message for message, _ in done.messages) == told(want.messages)
    assert done.receipt.outcome == want.receipt.outcome
    assert all(any(own is one for one in history) for own in done.messages if own[1].startswith("own"))
    assert history == marked(drawn)


def test_what_is_edited_is_written_anew_and_what_is_made_too():
    history = [user(), *(m for n in range(9) for m in (calling(f"c{n}"), answering(f"c{n}"))), agent(), user()]
    cleared = passed(marked(history), SHAPE, Plan(compactlab.catalog.strategy("microcompact"), None, Guard()))
    slid = passed(marked(history), SHAPE, Plan(KeepRecent(preserve_recent=2), None, Guard()))
    assert cleared.receipt.outcome in {"applied", "skipped"}
    assert [mark for _, mark in slid.messages if not mark.startswith("own")] == ["made"]


@pytest.mark.parametrize("target", [0, -5, True, "many"])
def test_a_target_that_is_none_is_refused(target):
    with pytest.raises(SpecError, match="target"):
        checked(target)


def test_a_policy_that_asks_a_model_needs_one():
    with pytest.raises(SpecError, match="asks a model"):
        compactlab_middleware("microcompact@0.8+summary@0.9", 10_000)
    with pytest.raises(SpecError, match="would at each call"):
        CompactlabEdit("summary", trigger=10)


def test_a_window_without_tokens_is_refused():
    with pytest.raises(SpecError, match="window"):
        compactlab_middleware("microcompact", 0)
