"""Reported faults of measuring: noise taken for truth, errors that vanish (K30), one blind number for all (K32)."""

from collections import Counter

import pytest
import runs
from histories import agent, call, user
from pools import pool
from reports import METER, compacted, row, rows, sketch
from test_report import Made, needed
from test_reports_models import SUMMARY
from trials import case_of, note, session
from trials import scores as scored

from compactlab import metrics
from compactlab.cli import main
from compactlab.compaction import Guard, compact
from compactlab.facts import mine
from compactlab.harness import Settings, run
from compactlab.history import repair
from compactlab.llm.scripted import Scripted
from compactlab.metrics import Case, Trial
from compactlab.metrics.distortion import mutated
from compactlab.metrics.rederivation import replayed
from compactlab.policy import policy
from compactlab.probes.hand import HandProbes, Probe, load
from compactlab.probes.mined import AtRisk, mask, matcher_of
from compactlab.replay import Session, replay
from compactlab.replay import Window as Room
from compactlab.report import Report, distribution
from compactlab.report.distribution import spread
from compactlab.report.table import COLUMNS
from compactlab.results import Results
from compactlab.statements import mine_statements
from compactlab.statements.judging import Judge
from compactlab.stats import clustered, detectable
from compactlab.strategies import Strategy
from compactlab.summary import summarise, summary_of
from compactlab.transcript import Message, Text, ToolResult, Transcript

# ---- K30: noise, errors, gates


def kept(strategy, shares):
    """One cell a story: tokens left, facts kept of a hundred."""
    return {(story, "0.4", strategy, "", ""): (300, share) for story, share in zip("abcdefgh", shares, strict=False)}


NOISE = {
    "K30-D1": ((62, 58, 61, 60, 59, 63), (60, 61, 59, 62, 60, 58), False),
    "K30-D1 a real difference": ((82, 78, 81, 80, 79, 83), (60, 61, 59, 62, 60, 58), True),
}


@rows(("one", "other", "apart"), NOISE)
def test_a_difference_within_the_noise_is_no_verdict_and_each_session_stays_in_the_rows(one, other, apart):
    made = pool(kept("one", one) | kept("other", other))
    first, second = (made.headline(group) for group in made.strategies)
    assert list(first.values()) == [share / 100 for share in one]
    difference = clustered([(story, first[story] - second[story]) for story in first])
    assert (difference.low > 0 or difference.high < 0) is apart
    limit = clustered(list(first.items()))
    assert (limit.low < 0.6 < limit.high) is not apart


@row("K30-D2")
def test_the_smallest_difference_that_a_table_could_see_comes_from_the_measured_spread():
    quiet, loud = ([(story, by * (i % 2)) for i, story in enumerate("abcdefgh")] for by in (0.01, 0.2))
    assert detectable(loud) == pytest.approx(20 * detectable(quiet))
    assert detectable(quiet) < 0.02
    assert detectable(loud) > 0.1
    made = summary_of(pool(kept("one", (84, 88, 85, 87, 86)) | kept("other", (85, 85, 85, 85, 85))))
    assert made.detectable > 0.01


PLACES = [(f"{story}1", "0.4") for story in "abcdefghijklmno"]


def with_errors(folder):
    """Ten sessions that keep all, five in which the strategy fails."""
    made = Made(folder)
    for number, place in enumerate(PLACES):
        made.block(place, "facts", [])
        made.block(place, "null", needed(0, 10))
        if number < 10:
            made.block(place, "slide", needed(10, 10))
        else:
            made.block(place, "slide", [], "failed", reason="ValueError: no room")
    return made


@row("K30-D3")
def test_cells_that_failed_are_no_zeros_and_no_ones_and_are_counted_and_shown(tmp_path):
    summary = with_errors(tmp_path / "run").summary()
    slide = next(found for found in summary.rows if found.label == "slide")
    assert (slide.bound.mean, slide.bound.n, slide.errors) == (1.0, 10, 5)
    assert len(summary.errors) == 5
    assert all("no room" in line for line in summary.errors)
    report = Report(Results(tmp_path / "run"))
    shown = dict(zip(distribution.COLUMNS, next(r for r in lying(report) if r[0] == "slide"), strict=True))
    assert (shown["n"], shown["at 1"], shown["errors"]) == ("10", "10", "5")
    assert "error: k1 at 0.4, slide: ValueError: no room" in report.markdown()


def lying(report):
    return distribution.section(report.pool, report.summary).rows


@row("K30-D4")
def test_a_session_that_loses_all_does_not_hide_behind_those_that_keep_all():
    made = pool(kept("some", (0, 100, 100, 100, 100, 100)) | kept("even", (83, 83, 84, 84, 83, 83)))
    found = {texts[0]: dict(zip(distribution.COLUMNS, texts, strict=True)) for texts in section_of(made).rows}
    assert (found["some"]["lowest"], found["some"]["at 0"], found["some"]["at 1"]) == (".00", "1", "5")
    assert (found["even"]["lowest"], found["even"]["at 0"], found["even"]["highest"]) == (".83", "0", ".84")
    means = {group.strategy: clustered(made.by_cluster(made.headline(group))).mean for group in made.strategies}
    assert means["some"] == pytest.approx(means["even"], abs=0.01)


def section_of(made):
    return distribution.section(made, summary_of(made))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], None),
        ([0.25], (1, 0.25, 0.25, 0.25, 0.25, 0.25, 0, 0)),
        ([0, 1], (2, 0, 0.25, 0.5, 0.75, 1, 1, 1)),
        ([1, 0.5, 0, 0.75, 0.25], (5, 0, 0.25, 0.5, 0.75, 1, 1, 1)),
    ],
)
def test_quartiles_are_linear_between_the_sorted_values(values, expected):
    assert spread(values) == expected


class Fails(Strategy):
    """A strategy that breaks each time."""

    def compact(self, _messages, _context):
        raise ValueError("not today")


@row("K30-D5")
def test_a_run_ends_well_when_cases_fail_and_says_how_many(tmp_path, capsys):
    out = tmp_path / "run"
    spec = f"{__name__}:Fails"
    arguments = ["run", str(runs.short_transcripts()), "--strategies", "none", spec, "--out", str(out), "--jobs", "1"]
    assert main(arguments) == 0
    assert "not today" in capsys.readouterr().out
    outcomes = Counter(r.outcome for r in Results(out).records if r.metric == "outcome" and "Fails" in r.strategy)
    assert outcomes["failed"] > 3
    row_of = {found.label: found for found in summarise(Results(out)).rows}
    assert row_of["none"].errors == 0
    assert sum(found.errors for name, found in row_of.items() if "Fails" in name) == outcomes["failed"]


# ---- K32: fidelity measured blindly

PLANTED = session(
    "We chose SQLite over Postgres because the kiosk has no server.",
    ("read", {"path": "/srv/kiosk/limits.toml"}, "cache_megabytes = 48213"),
    ("bash", {"command": "make seed-kiosk TARGET=north"}, ("KioskError: no seat 90417",)),
)
PLANTED = (user("Never restart the north kiosk."), *PLANTED)
CLASSES = {
    "K32-D1 all": (None, {"path", "number", "error", "constraint", "decision"}),
    "K32-D1 the decision alone": ("We chose SQLite over Postgres.", {"decision"}),
    "K32-D1 the rule alone": ("Never restart the north kiosk.", {"constraint"}),
    "K32-D1 the path alone": ("The limits are read from /srv/kiosk/limits.toml.", {"path"}),
    "K32-D1 the number alone": ("The cache_megabytes of the limits: 48213", {"number"}),
}


@rows(("text", "expected"), CLASSES)
def test_each_class_has_its_own_score(text, expected):
    history = (user("Hello."), agent("Good morning."), *PLANTED)
    left = repair(history).messages if text is None else (history[0], note(text), *history[-2:])
    case = of(history)
    found = {s.family for s in measured("retention", case, left) if s.metric == "retention_loose" and s.value}
    found |= {s.family for s in measured("statements", case, left) if s.group == "kept" and s.value}
    classes = {"path", "number", "error", "constraint", "decision"}
    assert found & classes == expected


def of(history):
    base = repair(history).messages
    facts = mine(base)
    return Case(AtRisk(base, facts, matcher_of(facts)), {}, HandProbes(()), (), METER)


def measured(metric, case, left):
    return list(metrics.measure(Trial(case, tuple(left)), (metric,)))


FILE = session(
    ("write", {"path": "/srv/notes.md", "content": "x"}, "ok"), ("bash", {"command": "rm /srv/notes.md"}, "")
)


@row("K32-D2")
def test_a_file_that_is_gone_is_no_file_though_its_name_stands():
    case = case_of(FILE)
    left = (FILE[0], *FILE[1:3], *FILE[-2:])
    whole, less = (scored("artifacts", case, messages) for messages in (FILE, left))
    told = ("artifact_found", "", "deleted")
    assert (whole[told], less[told]) == ((1, 1), (0, 1))
    assert of(FILE).risk.presence(left).loose


@row("K32-D2 stale")
def test_what_only_used_to_be_so_is_stale_and_not_lost():
    first, second = user("At most 20 rules per log."), user("At most 30 rules per log.")
    history = (user("Hello."), agent("Yes."), first, agent("Yes."), second, agent("Yes."), *FILE)
    judge = Judge(mine_statements(history), {block for message in history for block in message.blocks})
    assert [judge.verdicts(left)[0] for left in ((*history[:4],), (*history[:2],))] == ["stale", "lost"]


@row("K32-D3")
def test_look_ups_that_would_have_to_be_made_again_are_counted_from_the_whole_record():
    text = "S U'look after it' A[read:c1] T[c1]~300 " + " ".join(f"A[c{at}] T[c{at}]~200" for at in range(2, 9))
    messages = [*sketch(text), agent(call("c9", "edit", '{"n": "c1", "path": "/a/limits.toml"}')), user("Thanks.")]
    messages[2] = agent(call("c1", "read", '{"path": "/a/limits.toml"}'), source=2)
    talk = Session(Transcript("s", "", tuple(messages)), METER)
    made = replay(talk, policy("sliding_window(preserve_recent=2)"), Room(1_500), Guard(METER))
    assert made.fires
    found = {score.metric: score.value for score in replayed(made)}
    assert (found["debts"], found["debt"] >= 300) == (1, True)


WORDS = ("copper", "violet", "walnut", "amber", "saffron", "indigo")
SIX = " ".join(f"U'the {word} shed has number {70_101 + at}' A'noted {at}'" for at, word in enumerate(WORDS))


@row("K32-D4")
def test_what_reached_the_model_and_what_reached_the_summary_are_two_scores():
    given = (*sketch(f"S U'hello' A {SIX} "), *sketch("U~40 A~200 U A U A"))
    model = Scripted("<summary>The copper shed has number 70101, the amber shed number 70104.</summary>")
    done = compacted(given, SUMMARY, model=model)
    case = of(given)
    sheds = {i for i in case.risk.anchors if case.risk.facts[i].value.startswith("7010")}
    sent = case.risk.presence([user(request.prompt) for request in model.requests]).loose & mask(sheds)
    left = case.risk.presence([m for m in done.messages if m.source is None]).loose & mask(sheds)
    assert len(sheds) == 6
    assert sent.bit_count() == 6 >= left.bit_count() >= 2


FIVE = {
    "K32-D5 kept": ("Rule: never restart the north kiosk.", "constraint", "kept"),
    "K32-D5 a caveat softened": ("Try not to restart the north kiosk.", "constraint", "weakened"),
    "K32-D5 missing": ("All is well.", "constraint", "lost"),
    "K32-D5 turned round": ("Restart the north kiosk.", "constraint", "contradicted"),
    "K32-D5 a rejected way revived": ("Decided: we use Postgres.", "rejected", "contradicted"),
    "K32-D5 a rejected way": ("We decided on SQLite over Postgres.", "rejected", "kept"),
}


@rows(("text", "kind", "expected"), FIVE)
def test_a_statement_has_one_of_a_closed_list_of_verdicts(text, kind, expected):
    history = (user("Hello."), agent("Good morning."), *PLANTED)
    judge = Judge(mine_statements(history), {block for message in history for block in message.blocks})
    index = next(i for i, one in enumerate(judge.statements) if one.kind == kind)
    assert judge.verdicts((history[0], note(text)))[index] == expected


@row("K32-D5 recoverable")
def test_what_a_read_brings_back_is_told_apart_from_what_is_gone():
    case = of((user("Hello."), agent("Good morning."), *PLANTED))
    home = {case.risk.facts[i].value: case.risk.home(i) for i in case.risk.anchors}
    assert home["48213"] == "reobtainable"
    assert home["90417"] == "irrecoverable"


@row("K32-D5 a failure told as success")
def test_a_search_that_failed_and_is_told_as_success_is_contradicted():
    case = case_of(PLANTED)
    left = (PLANTED[0], note("make seed-kiosk TARGET=north worked."), *PLANTED[-2:])
    assert scored("outcomes", case, left)["status", "failed", "contradicted"] == (1, 1)


@row("K32-D6")
def test_questions_lie_with_the_transcript_and_are_the_same_in_every_run(tmp_path):
    kinds = {probe.kind for path in runs.FIXTURES.glob("*.probes.jsonl") for probe in load(path)}
    assert {"recall", "artifact", "continuation", "decision"} <= kinds
    settings = Settings(strategies=("none", "sliding_window"), cuts=(0.6,), jobs=1)
    one, other = (run(runs.short_transcripts(), tmp_path / name, settings) for name in ("one", "other"))
    asked = [[r for r in results.records if r.metric.startswith("probe_")] for results in (one, other)]
    assert asked[0] == asked[1] != []
    assert one.manifest.corpus == other.manifest.corpus


MERGED = {
    "K32-D7": ("port81", "lost"),
    "K32-D7 a digit less": ("The gear box listens on port 801.", "lost"),
    "K32-D7 digits turned": ("The gear box listens on port 8018.", "mutated"),
    "K32-D7 whole": ("The gear box listens on port 8081.", "kept"),
}


@rows(("text", "expected"), MERGED)
def test_a_value_that_was_merged_or_changed_is_not_kept(text, expected):
    history = (user("Hello."), agent("Yes."), user("The gear box listens on port 8081."), agent("Yes."), *FILE)
    case = of(history)
    index = next(i for i in case.risk.anchors if case.risk.facts[i].value == "8081")
    trial = Trial(case, (history[0], note(text), *history[-2:]))
    found = "kept" if trial.presence.loose >> index & 1 else "mutated" if index in mutated(trial) else "lost"
    assert found == expected


@row("K32-D7 words")
def test_words_melted_into_one_answer_no_question():
    probes = HandProbes((Probe("p", "Which part broke?", "gear box", (2,), 2),))
    assert probes.verdicts([note("The part that broke: gearx")]) == ["lost"]
    assert probes.verdicts([note("The part that broke: gear box")]) == ["kept"]


@row("K32-D8")
def test_what_is_kept_and_what_it_costs_stand_in_one_row():
    history = [user("Hello."), agent("Yes.")]
    for at in range(1, 9):
        text = Text(f"line {at} " * 60 + ("The pump is PUMP-77419." if at == 5 else ""))
        history += [agent(call(f"c{at}", "read")), Message("tool", (ToolResult(f"c{at}", (text,)),))]
    history += [user("Go on."), agent("Yes.")]
    case = of(history)
    fact = next(i for i in case.risk.anchors if "PUMP-77419" in case.risk.facts[i].forms)
    model = Scripted("<summary>The pump is PUMP-77419.</summary>")
    cheap = compact(tuple(history), "microcompact(keep_recent=1)", guard=Guard(METER))
    dear = compacted(tuple(history), SUMMARY, model=model)
    assert [case.risk.presence(done.messages).loose >> fact & 1 for done in (cheap, dear)] == [0, 1]
    assert (cheap.receipt.model_calls, dear.receipt.model_calls) == (0, 1)
    assert {"before", "after", "saved", "bound", "probes", "errors"} <= set(COLUMNS)
