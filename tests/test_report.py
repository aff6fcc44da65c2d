"""From records to the numbers of a table, and the table itself."""

import re
from dataclasses import replace
from statistics import mean

import pytest
import runs
from rich.console import Console

from compactlab.records import Block, Manifest, Record
from compactlab.report import Report, publish
from compactlab.report.table import COLUMNS, cells, legend, to_frame, to_markdown, to_rich
from compactlab.results import Results, Writer
from compactlab.signature import signature
from compactlab.stats import Estimate
from compactlab.summary import summarise
from compactlab.summary.pool import CONTROLS, OF_A_SIZE

MANIFEST = Manifest(
    compactlab="0.1.0",
    scorer="1",
    counter="o200k_base",
    counter_version="toktok-rs 0.3.0",
    seed=7,
    cuts=("0.4", "0.7"),
    strategies=("none", "slide"),
    corpus="0123456789ab",
    sessions=("one", "two"),
    families=("path", "number", "date"),
    plugins={},
)


class Made:
    """Blocks written one after the other, as a run writes them."""

    def __init__(self, folder):
        self.folder = folder
        self.writer = Writer(folder, MANIFEST, lambda _: "")

    def block(self, place, strategy, scores, outcome="applied", **more):
        """Write a block at *place* (session, cut), with scores as (metric, value, n, other fields)."""
        session, cut = place
        base = {"session": session, "agent_type": "primary", "cluster": session[0], "cut": cut, "index": 3}
        base |= {"strategy": strategy, "size_of": more.pop("size_of", "")}
        rows = [Record(**base, metric=metric, value=value, n=n, **fields) for metric, value, n, fields in scores]
        head = Record(**base, metric="outcome", n=len(rows), outcome=outcome, **more)
        self.writer.write(Block((head, *rows)))

    def summary(self):
        self.writer.close()
        return summarise(Results(self.folder))


def needed(bound, n, use="action", home="irrecoverable", family="path"):
    where = {"use": use, "home": home, "family": family}
    return [("needed_loose", n, n, where), ("needed_bound", bound, n, where)]


def weights(before, after):
    return [("tokens_before", before, 1, {}), ("tokens_after", after, 1, {}), ("valid", 1, 1, {})]


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "run")


def table_row(summary, label):
    return next(row for row in summary.rows if row.label == label)


def test_a_session_is_the_mean_of_its_cuts_and_a_row_the_mean_of_its_sessions(made):
    for place, bound, n in ((("one", "0.4"), 1, 2), (("one", "0.7"), 3, 3), (("two", "0.4"), 1, 4)):
        made.block(place, "facts", [])
        made.block(place, "slide", [*needed(bound, n), *weights(100, 40 if place[0] == "one" else 80)])
        made.block(place, "null", needed(0, n))
    row = table_row(made.summary(), "slide")
    assert row.bound == Estimate(pytest.approx(mean([mean([1 / 2, 1]), 1 / 4])), None, 2, 2)
    assert row.loose == Estimate(1.0, None, 2, 2)
    assert row.saved == Estimate(pytest.approx(mean([0.6, 0.2])), None, 2, 2)
    assert (row.before, row.after) == (100, pytest.approx(160 / 3))


def test_facts_of_a_cell_are_pooled_over_families_and_homes(made):
    scores = [*needed(1, 1, home="irrecoverable"), *needed(0, 3, home="reobtainable"), *needed(2, 2, family="number")]
    made.block(("one", "0.4"), "facts", [])
    made.block(("one", "0.4"), "slide", scores)
    made.block(("one", "0.4"), "null", scores)
    row = table_row(made.summary(), "slide")
    assert row.bound.mean == pytest.approx(3 / 6)
    assert row.irrecoverable.mean == pytest.approx(3 / 3)
    assert row.reobtainable.mean == 0


def test_the_headline_counts_action_uses_and_the_others_stand_apart(made):
    scores = [*needed(1, 2), *needed(3, 4, use="bulk"), *needed(5, 5, use="text")]
    made.block(("one", "0.4"), "facts", [])
    made.block(("one", "0.4"), "slide", scores)
    made.block(("one", "0.4"), "null", scores)
    summary = made.summary()
    row = table_row(summary, "slide")
    assert row.bound.mean == 0.5
    assert {use: estimate.mean for use, estimate in row.by_use.items()} == {"action": 0.5, "bulk": 0.75, "text": 1}
    assert summary.needed == 2


def chance(value, n, family):
    return ("needed_by_chance", value, n, {"family": family})


def test_a_family_that_unrelated_sessions_need_as_well_is_refused(made):
    scores = [*needed(1, 10), *needed(4, 4, family="number"), *needed(1, 1, family="date")]
    made.block(("one", "0.4"), "facts", [chance(1, 10, "path"), chance(1, 4, "number"), ("supplied_again", 5, 20, {})])
    made.block(("one", "0.4"), "slide", scores)
    made.block(("one", "0.4"), "null", scores)
    summary = made.summary()
    assert summary.chance["path"] == (10, 0.1)
    assert not summary.chance["path"].refused
    assert summary.chance["number"] == (4, 0.25)
    assert summary.chance["number"].refused
    assert summary.chance["date"] == (1, None)
    assert not summary.chance["date"].refused
    assert summary.families == ("path", "date")
    row = table_row(summary, "slide")
    assert row.bound.mean == pytest.approx(2 / 11)
    assert summary.overall_chance == pytest.approx(0.1)
    assert row.over_chance.mean == pytest.approx((2 / 11 - 0.1) / 0.9)
    assert summary.supplied_again == 0.25
    text = " ".join(legend(summary))
    assert "Refused for a rate over 10 %: number 25%" in text
    assert "25% of the facts that recur were supplied again" in text


def test_probes_are_counted_over_all_cells(made):
    for cut in ("0.4", "0.7"):
        probes = [
            (f"probe_{v}", n, 4, {"family": "recall"}) for v, n in (("kept", 1), ("both", 1), ("stale", 0), ("lost", 2))
        ]
        made.block(("one", cut), "facts", [])
        made.block(("one", cut), "slide", probes)
    row = table_row(made.summary(), "slide")
    assert (row.probes, row.asked) == ({"kept": 2, "both": 2, "stale": 0, "lost": 4}, 8)
    texts = dict(zip(COLUMNS, cells(row), strict=True))
    assert (texts["probes"], texts["stale"], texts["lost"]) == (".50", ".00", ".50")


def test_controls_of_a_size_stand_beside_their_strategy_and_make_no_row(made):
    made.block(("one", "0.4"), "facts", [])
    made.block(("one", "0.4"), "slide", needed(1, 2))
    for n, control in enumerate(OF_A_SIZE):
        made.block(("one", "0.4"), control, needed(n, 4), size_of="slide")
    made.block(("one", "0.4"), "bag", needed(0, 2))
    made.block(("one", "0.4"), "null", needed(0, 2))
    summary = made.summary()
    assert [row.label for row in summary.rows] == ["slide", "bag", "null"]
    found = {name: estimate.mean for name, estimate in summary.rows[0].same_size.items()}
    assert found == {control: n / 4 for n, control in enumerate(OF_A_SIZE)}
    assert set(summary.rows[1].same_size.values()) == {None}


def test_failures_and_skipped_sessions_are_named_and_never_count_as_zero(made):
    made.block(("one", "0.4"), "facts", [])
    made.block(("one", "0.4"), "slide", needed(2, 2))
    made.block(("one", "0.4"), "null", needed(0, 2))
    made.block(("two", "0.4"), "facts", [])
    made.block(("two", "0.4"), "slide", [], "failed", reason="ValueError: no")
    made.block(("two", "0.4"), "null", needed(0, 2))
    made.block(("three", "none"), "facts", [], "skipped", reason="too short")
    summary = made.summary()
    row = table_row(summary, "slide")
    assert row.bound == Estimate(1.0, None, 1, 1)
    assert (row.errors, row.outcomes) == (1, {"applied": 1, "failed": 1})
    assert summary.errors == ("two at 0.4, slide: ValueError: no",)
    assert summary.skipped == ("three: too short",)
    assert (summary.sessions, summary.cuts, summary.clusters) == (3, 2, 2)
    assert {"skipped: three: too short", "error: two at 0.4, slide: ValueError: no"} <= set(legend(summary))


def test_the_interval_is_over_stories_and_needs_five(made):
    for story in "abcde":
        for strategy, bound in (("none", 4), ("slide", "abcde".index(story))):
            made.block((story, "0.4"), strategy, [*needed(bound, 4), *weights(100, 50)])
        made.block((story, "0.4"), "facts", [])
        made.block((story, "0.4"), "null", needed(0, 4))
    summary = made.summary()
    assert table_row(summary, "none").bound == Estimate(1.0, 0.0, 5, 5)
    assert table_row(summary, "slide").bound.half == pytest.approx(2.776445 * (2.5 / 16) ** 0.5 / 5**0.5)
    assert summary.detectable > table_row(summary, "slide").bound.half
    assert "could not be told apart here" in " ".join(legend(summary))


def test_a_run_with_nothing_in_it_has_an_empty_table(made):
    summary = made.summary()
    assert summary.rows == ()
    assert to_markdown(summary).splitlines()[0].startswith("| strategy |")
    assert "chance was not measured" in to_markdown(summary)


def parsed(markdown):
    """Cells of a Markdown table as a renderer sees them: an escaped bar is no border."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_markdown_table_holds_the_summary_cell_by_cell():
    summary = runs.short().summary
    head, rule, *body = parsed(to_markdown(summary))
    assert tuple(head) == COLUMNS
    assert all(re.fullmatch(r":?-+:?", cell) for cell in rule)
    assert [tuple(row) for row in body] == [cells(row) for row in summary.rows]
    assert {len(row) for row in (head, rule, *body)} == {len(COLUMNS)}


@pytest.mark.parametrize("label", ["mine:Own(kinds='a|b')", "mine:Own(text='[cleared] x')", "mine:Own(text='`code`')"])
def test_a_label_with_marks_in_it_stands_in_every_table_as_it_is(label):
    summary = runs.short().summary
    summary = replace(summary, rows=(replace(summary.rows[0], label=label), *summary.rows[1:]))
    _, _, first, *_ = parsed(to_markdown(summary))
    assert len(first) == len(COLUMNS)
    assert first[0].replace("\\", "") == label
    assert label in printed(summary, 400)


def printed(summary, width):
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        for table in to_rich(summary, width):
            console.print(table)
    return capture.get()


@pytest.mark.parametrize("width", [236, 260])
def test_a_wide_terminal_shows_every_cell_in_one_table(width):
    summary = runs.short().summary
    lines = printed(summary, width).splitlines()
    assert len(to_rich(summary, width)) == 1
    for row in summary.rows:
        line = next(line for line in lines if line.split()[:1] == [row.label])
        assert [text for text in cells(row)[:-2] if text not in line] == []


@pytest.mark.parametrize("width", [60, 80, 100, 127])
def test_a_narrow_terminal_shows_more_tables_and_no_number_is_cut(width):
    summary = runs.short().summary
    text = printed(summary, width)
    assert len(to_rich(summary, width)) > 1
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for row in summary.rows:
        assert [cell for cell in cells(row) if " " not in cell and cell not in text] == []


def test_the_frame_holds_the_same_cells():
    summary = runs.short().summary
    frame = to_frame(summary)
    assert list(frame.index) == [row.name for row in summary.rows]
    assert [tuple(frame.iloc[i]) for i in range(len(frame))] == [cells(row)[1:] for row in summary.rows]


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (None, "-"),
        (Estimate(0.84, 0.12, 9, 9), ".84±.12"),
        (Estimate(1.0, 0.0, 9, 9), "1.00±.00"),
        (Estimate(0.0, None, 3, 3), ".00"),
        (Estimate(1.0, 1.0, 9, 9), "1.00±1.00"),
    ],
)
def test_a_share_is_as_short_as_a_table_needs(estimate, expected):
    row = replace(runs.short().summary.rows[0], bound=estimate)
    assert cells(row)[COLUMNS.index("bound")] == expected


def test_what_could_not_be_measured_is_a_dash():
    row = runs.short().summary.rows[0]
    row = replace(
        row, bound=None, loose=None, over_chance=None, irrecoverable=None, reobtainable=None, answers={}, valid=None
    )
    texts = dict(zip(COLUMNS, cells(row), strict=True))
    for column in ("bound", "loose", "over chance", "irrecov.", "re-obt.", "probes", "stale", "lost", "valid"):
        assert texts[column] == "-"


def test_the_signature_names_what_the_numbers_depend_on():
    summary = runs.short().summary
    line = signature(summary)
    manifest = summary.manifest
    assert "\n" not in line
    for part in (
        f"compactlab {manifest.compactlab}",
        f"scorer {manifest.scorer}",
        f"corpus {manifest.corpus}",
        manifest.counter,
        "cuts 0.4,0.55,0.7,0.85",
        "seed 0",
        "no model",
        "3 sessions",
        "3 stories",
        f"{summary.cuts} cuts",
        f"{summary.needed} facts needed of {summary.at_risk:,} at risk",
        f"families {','.join(summary.families)}",
    ):
        assert part in line.split(" · ") or part in line


def test_the_legend_says_what_the_numbers_cannot_mean():
    text = " ".join(legend(runs.short().summary))
    for part in (
        "without this compaction",
        "presence is not recall",
        "one cheap call away",
        "supplied again",
        "under five stories",
    ):
        assert part in text


def test_a_report_is_published_into_the_folder_of_its_run(made):
    made.block(("one", "0.4"), "facts", [])
    made.block(("one", "0.4"), "slide", [*needed(1, 2), *weights(100, 50)])
    made.block(("one", "0.4"), "null", [*needed(0, 2), *weights(100, 10)])
    summary = made.summary()
    report = publish(Results(made.folder))
    assert report.summary == summary
    page = (made.folder / "report.md").read_text(encoding="utf-8")
    assert page.startswith(to_markdown(summary, report.sentences))
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == [s.title for s in report.tables()]
    assert (made.folder / "savings.png").read_bytes().startswith(b"\x89PNG")


def test_the_whole_run_printed_one_table_its_legend_its_signature_and_its_folder():
    run = runs.whole()
    assert run.stderr == ""
    flat = " ".join(run.stdout.split())
    assert " ".join(signature(run.summary).split()) in flat
    assert run.stdout.splitlines()[-1] == f"run: {run.results.folder}"
    for row in run.summary.rows:
        assert all(cell in flat for cell in cells(row) if " " not in cell)
    assert (run.results.folder / "report.md").read_text(encoding="utf-8") == Report(run.results).markdown()


def test_the_whole_run_has_intervals_and_says_what_difference_it_could_see():
    summary = runs.whole().summary
    assert (summary.sessions, summary.clusters, summary.cuts) == (13, 9, 52)
    assert [row.label for row in summary.rows] == [*runs.STRATEGIES, "bag", "null"]
    assert {row.label for row in summary.rows if row.is_control} == CONTROLS
    assert all(row.bound.half is not None for row in summary.rows)
    assert 0 < summary.detectable < 0.3
    assert f"tells {summary.detectable:.2f} apart" in signature(summary).split(" · ")
    assert summary.needed > 500
    assert summary.at_risk > 20_000
    assert 0 < summary.overall_chance < 0.1
    assert 0 < summary.supplied_again < 1
    assert all(rate.rate is None or rate.rate <= 0.1 or rate.refused for rate in summary.chance.values())


def test_the_difference_to_random_units_is_that_of_the_sessions():
    summary = runs.whole().summary
    assert summary.clusters >= 5
    for row in summary.rows:
        luck = row.same_size.get("random")
        assert (row.over_random is None) == (luck is None)
        if luck is not None:
            assert row.over_random.mean == pytest.approx(row.bound.mean - luck.mean)
            assert row.skill.mean == pytest.approx(row.over_random.mean / (1 - luck.mean))
            assert 0 < row.over_random.half < row.bound.half + luck.half
