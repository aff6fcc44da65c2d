"""Reported faults of when to act: marks, windows, reserves and settings (K13)."""

import json

import pytest
from reports import METER, compacted, repeated, row, rows, sketch, sliding, sources
from test_reports_models import GOOD, SUMMARY, TALK, Window, both, dropped, unread

from compactlab.cli import main
from compactlab.cli.inspect_command import inspected
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.harness.cuts import planned
from compactlab.llm.build import Adjusted
from compactlab.llm.recorded import Recorded
from compactlab.llm.scripted import Scripted
from compactlab.pressure import Marks, allowance, crossed, first_reached, pressure, weights_in_view
from compactlab.readers import read, write
from compactlab.settings import load
from compactlab.summary.budgets import budget_tokens
from compactlab.transcript import Transcript


def session(text):
    return Transcript("s", "compactlab", sketch(text))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with one session in it."""
    monkeypatch.chdir(tmp_path)
    write(session(f"S U {TALK} U A"), tmp_path / "s.jsonl")
    return tmp_path


# ---- reserves and unknown windows


@both
@rows(("window",), {f"K13-D2 {window}": (window,) for window in (2_000, 4_000, 16_000)})
def test_what_is_set_aside_for_output_is_never_most_of_a_window(window, spec):
    model = Window(window)
    done = compacted(sketch(f"S U {TALK} U A"), spec, model=model)
    assert done.receipt.outcome == "applied"
    assert max(request.max_output for request in model.requests) <= window // 4
    asked = len(model.requests)
    assert compacted(done.messages, spec, model=model).receipt.outcome == "skipped"
    assert len(model.requests) == asked


@row("K13-D2 the marks")
def test_the_marks_of_a_small_window_are_shares_of_it_whatever_the_output_may_be():
    weights = [100 * n for n in range(1, 200)]
    assert weights[first_reached(weights, 16_000, Marks().values[0])] == 12_800
    assert [allowance(0.99, Marks(), limit) for limit in (8_192, 32_000)] == [1_638, 6_400]


class Unstated(Window):
    """A model that reads so much and does not say how much it is."""

    def __init__(self, limit):
        super().__init__(None)
        self.limit = limit

    def reply(self, request):
        self.window = self.limit
        try:
            return super().reply(request)
        finally:
            self.window = None


@both
@rows(("limit",), {"K13-D3": (6_000,), "K13-D3 none at all": (None,)})
def test_a_window_that_nobody_knows_keeps_no_model_from_its_work(limit, spec):
    given = sketch(f"S U {TALK} U A")
    model = Unstated(limit)
    done = compacted(given, spec, model=model)
    assert done.receipt.outcome == "applied"
    assert unread(dropped(given, done), model) == []
    assert (len(model.requests) > 1) == (limit is not None)


@row("K13-D3 of an agent")
@pytest.mark.usefixtures("folder")
def test_a_window_that_was_not_given_is_a_stated_one(capsys):
    assert main(["inspect", "s.jsonl"]) == 0
    assert "of 128,000" in capsys.readouterr().out
    assert main(["inspect", "s.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["window"] == 128_000


# ---- which value holds, and who says so

GIVEN = {
    "K13-D4": (1_000_000, 32_768, 32_768),
    "K13-D4 a larger one": (32_768, 1_000_000, 1_000_000),
    "K13-D4 none": (32_768, None, 32_768),
}


@rows(("known", "given", "holds"), GIVEN)
def test_a_window_that_is_set_wins_over_one_that_is_known_and_is_shown(folder, capsys, known, given, holds):
    compacted(sketch(f"S U {TALK} U A"), SUMMARY, model=Recorded("store", Scripted(GOOD, window=known)))
    text = f"[llm]\nkind = 'replay:store'\n{f'window = {given}' if given else ''}\n"
    (folder / "compactlab.toml").write_text(text, encoding="utf-8")
    assert load().model().window == holds
    assert main(["llm", "status"]) == 0
    assert (f"window={given}" in capsys.readouterr().out) == (given is not None)


BOUNDED = {
    "K13-D5": ("summary(preserve_recent=2, max_summary_tokens=9000)", None, 8_192),
}


@rows(("spec", "given", "window"), BOUNDED)
def test_a_value_that_was_bounded_is_told_with_its_bound(spec, given, window):
    model = Window(window)
    done = compacted(sketch(f"S U {TALK} U A"), spec, model=Adjusted(model, max_output=given))
    assert {request.max_output for request in model.requests} <= {2_048, 9_000}
    if model.requests[0].max_output == 2_048:
        assert "2,048" in "\n".join(done.receipt.notes)


@rows(("mark",), {f"K13-D5 a mark of {mark}": (mark,) for mark in (0.5, 0.83, 0.95, 0.99)})
def test_a_mark_may_be_lowered_and_raised(folder, mark):
    (folder / "compactlab.toml").write_text(f"[compaction]\nmarks = [{mark}]\n", encoding="utf-8")
    assert load().marks.of("primary").values == (mark,)
    assert crossed(load().marks, load().marks.armed, mark - 0.01).fired == ()
    assert crossed(load().marks, load().marks.armed, mark).fired == (mark,)


@rows(("window",), {f"K13-D6 {window}": (window,) for window in (1_000, 8_000, 200_000)})
def test_no_floor_replaces_a_mark(window):
    weights = [window * share // 100 for share in range(100)]
    assert first_reached(weights, window, 0.5) == 50


@row("K13-D6")
def test_the_marks_that_are_shown_are_those_that_hold(folder, capsys):
    (folder / "compactlab.toml").write_text("[compaction]\nmarks = [0.5]\n", encoding="utf-8")
    assert main(["inspect", "s.jsonl", "--window", "8000", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)[0]["marks"]) == ["0.50"]


FORMS = ["0", "-1", "'high'", "nan", "'85%'"]
TAKEN = ["85", "1", "true"]
MARKS = [pytest.param(form, id=f"K13-D13 {form}") for form in FORMS]
MARKS += [pytest.param(form, id=f"K13-D13 {form}") for form in TAKEN]


@pytest.mark.parametrize("form", MARKS)
def test_a_mark_is_a_share_and_all_else_is_refused(folder, form):
    (folder / "compactlab.toml").write_text(f"[compaction]\nmarks = [{form}]\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"line 2: \[compaction\] marks"):
        load()


@rows(("form",), {f"K13-D13 a cut of {form}": (form,) for form in ("85", "85%", "1", "0", "-1", "high", "nan")})
@pytest.mark.usefixtures("folder")
def test_a_cut_is_a_share_and_all_else_is_refused(capsys, form):
    assert main(["run", "s.jsonl", f"--cut={form}"]) == 2
    assert "between 0 and 1" in capsys.readouterr().err


@row("K13-D13 what is taken")
def test_shares_are_written_in_one_form(folder):
    assert main(["run", "s.jsonl", "--cut=0.85", "--strategies", "none", "--jobs", "1", "--out", "run"]) == 0
    (folder / "compactlab.toml").write_text("[compaction]\nmarks = [0.85]\n", encoding="utf-8")
    assert load().marks.values == (0.85,)


# ---- what is weighed, and when


@row("K13-D7")
def test_the_whole_context_is_weighed_and_not_its_newest_message():
    given = session(repeated(5, "U~20k A~20k"))
    weights = weights_in_view(given, METER)
    assert weights[-1] == METER.messages(given.messages)
    assert first_reached(weights, 192_000, 0.8) == 7
    assert inspected(given, METER, 192_000)["curve"][-1]["pressure"] == round(200_040 / 192_000, 3)


@row("K13-D8")
def test_a_result_is_weighed_as_it_arrives_and_what_follows_is_after_it():
    given = session(f"S U {repeated(11, 'U~5k A~5k')} U A[c1] T[c1]~30k A")
    [cut] = planned(given, (), 128_000, Marks((0.9,)), METER)
    assert [m.role for m in given.messages[cut.before - 1 : cut.before + 1]] == ["tool", "assistant"]
    before = given.messages[: cut.before]
    assert pressure(METER.messages(before[:-1]), 128_000) < 0.9
    assert pressure(METER.messages(before), 128_000) > 1
    done = compacted(before, SUMMARY, model=Window(128_000))
    assert done.receipt.outcome == "applied"
    assert done.messages[-1] == before[-1]
    assert pressure(done.receipt.tokens_after, 128_000) < 0.4


@sliding
@row("K13-D9")
def test_forty_calls_in_one_turn_are_forty_units_and_weigh_what_they_weigh(spec):
    given = session(f"S U {repeated(40, 'A[c#] T[c#]~500')} A")
    assert first_reached(weights_in_view(given, METER), 16_000, 0.8) < 60
    done = compacted(given.messages, spec)
    assert done.receipt.outcome == "applied"
    assert sources(done.messages)[-3:] == [80, 81, 82]
    assert len(dropped(given.messages, done)) >= 70


@both
@rows(("turns",), {"K13-D10": (19,), "K13-D10 full": (20,), "K13-D10 over full": (24,)})
def test_a_pass_by_the_agents_own_model_still_fits_at_the_last_mark_and_over_it(turns, spec):
    given = sketch(f"S U {repeated(turns, 'U~5k A~5k')} U A")
    assert pressure(METER.messages(given), 200_000) >= Marks().last
    model = Window(200_000)
    done = compacted(given, spec.replace(")", ", max_summary_tokens=12000)") if spec == SUMMARY else spec, model=model)
    assert done.receipt.outcome == "applied"
    assert unread(dropped(given, done), model) == []
    assert all(METER.text(r.system + r.prompt) + r.max_output <= 200_000 for r in model.requests)


@row("K13-D11")
def test_a_mark_that_stays_reached_after_every_pass_is_told_once():
    armed, told = Marks().armed, []
    for use in (0.96, *(0.95, 0.96) * 8):
        step = crossed(Marks(), armed, use)
        armed = step.armed
        told += [step.fired] if step.fired else []
    assert told == [(0.8, 0.9, 0.95)]


@sliding
@row("K13-D12")
def test_a_budget_is_the_share_that_is_kept(spec):
    given = sketch(f"S U {repeated(49, 'U~100 A~100')} U")
    assert len(given) == 101
    weight = METER.messages(given)
    kept = []
    for share in (10, 30, 90):
        done = compacted(given, spec, budget_tokens(str(share), weight))
        assert done.receipt.tokens_after / weight <= share / 100
        if spec.startswith("sliding_window"):  # the others set room aside for what they write
            assert done.receipt.tokens_after / weight > share / 100 - 0.03
        assert {0, 1, 100} <= set(sources(done.messages))
        kept.append(len(done.messages))
    assert kept == sorted(kept)
    assert kept[0] < kept[2]


@rows(("spec",), {"K13-D14": ("defer",), "K13-D14 a slide": ("sliding_window(preserve_recent=2)",)})
def test_a_strategy_does_the_same_wherever_it_is_called_and_changes_nothing_that_is_stored(folder, spec):
    stored = (folder / "s.jsonl").read_bytes()
    given = read("s.jsonl")[0].messages
    done = compact(given, spec, guard=Guard(METER))
    assert given == read("s.jsonl")[0].messages
    assert main(["compact", "s.jsonl", "--strategy", spec]) == 0
    assert [path.name for path in folder.iterdir()] == ["s.jsonl"]
    assert main(["compact", "s.jsonl", "--strategy", spec, "-o", "out.jsonl"]) == 0
    assert (folder / "s.jsonl").read_bytes() == stored
    assert [m.blocks for m in read("out.jsonl")[0].messages] == [m.blocks for m in done.messages]
