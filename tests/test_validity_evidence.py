"""The evidence for the scorer: what is measured, that it would show a fault, and the page that holds the figures.

Run as a script, `python tests/test_validity_evidence.py` makes both tables of the page anew; that of the labelled cases
stays as it is where these cannot be had.
"""

import json
import re
from functools import cache

import pytest
import runs
from msgspec.structs import replace

from compactlab.cli import main
from compactlab.cli.validate_command import CASES
from compactlab.matching import fold
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.readers import read
from compactlab.study import sessions_of
from compactlab.study.evidence import GROUPS, ends, gathered, labels, leaks, mutation, permuted
from compactlab.study.evidence.figure import averaged, counted, table, to_markdown, wilson
from compactlab.transcript import Text

PAGE = runs.CHECKOUT / "docs" / "validity.md"
MADE = {
    name: re.compile(
        rf"(?<=<!-- {name}: made by tests/test_validity_evidence\.py -->\n).*?(?=<!-- /{name} -->)", re.DOTALL
    )
    for name in ("evidence", "cases")
}


@cache
def page():
    return PAGE.read_text(encoding="utf-8")


def shown(name):
    (found,) = MADE[name].findall(page())
    return found


def rows(text):
    """What, how many, share, interval, must be: by what."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:] if line]
    return {cell[1]: cell[2:] for cell in cells}


@cache
def short_evidence():
    return gathered([runs.short_transcripts()], jobs=1)


@cache
def session():
    (transcript,) = read(runs.short_transcripts() / "primary-move.jsonl")
    return sessions_of([transcript])[0]


# ---- figures


def test_a_figure_says_how_many_of_how_many_and_whether_it_is_what_it_must_be():
    assert counted("ends", "kept", 10, 10, "all").holds is True
    assert counted("ends", "kept", 9, 10, "all").holds is False
    assert counted("ends", "kept", 1, 10, "none").holds is False
    assert counted("ends", "kept", 0, 0, "all").holds is False
    assert counted("ends", "kept", 3, 10).holds is None
    (row,) = table([counted("ends", "kept", 9, 10, "all")])
    assert row == ("ends", "kept", "9 of 10", "0.90", "0.60 to 0.98", "all, and is not")


def test_a_mean_over_sessions_has_the_interval_of_all_tables_and_none_under_five_stories():
    five = averaged("permuted labels", "kept", [(story, 0.5 + i / 10) for i, story in enumerate("abcde")])
    assert (five.n, five.value, five.low < 0.7 < five.high) == (5, pytest.approx(0.7), True)
    assert averaged("permuted labels", "kept", [("a", 0.5), ("b", 0.7)]).low is None
    assert averaged("permuted labels", "kept", []).n == 0


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(8, 10, 0.490, 0.943), (0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (0, 0, 0.0, 1.0)]
)
def test_the_interval_of_a_share_is_wilsons(hits, n, low, high):
    assert wilson(hits, n) == pytest.approx((low, high), abs=0.001)


# ---- that a fault would show


def test_a_change_that_hurts_another_fact_is_not_exact():
    assert mutation.Trial(fell=True, beside=2, apart=0).exact
    assert not mutation.Trial(fell=True, beside=0, apart=1).exact
    assert not mutation.Trial(fell=False, beside=0, apart=0).exact


def changes(words):
    """Alter facts of several words where the scorer looks for all of their words, or for the first ones alone."""
    risk = session().cells[-1].case.risk
    short = [replace(f, forms=tuple(" ".join(form.split(" ")[:words]) for form in f.forms)) for f in risk.facts]
    scorer = AtRisk(risk.base, risk.facts, matcher_of(short), risk.excluded)
    texts = mutation.plain(risk.base)
    both = texts, [fold(text) for text in texts]
    long = [fact for fact in risk.anchors if risk.facts[fact].family in {"quantity", "command", "quote"}]
    long = [fact for fact in long if min(form.count(" ") for form in risk.facts[fact].forms) and fact in scorer.anchors]
    return [mutation.tried(scorer, both, fact, end_altered) for fact in long]


def end_altered(value):
    return value[:-1] + mutation.STRANGE


def test_a_scorer_that_looks_at_the_first_words_alone_is_found_out():
    whole, half = changes(None), changes(1)
    assert len(whole) > 3
    assert all(trial.exact for trial in whole)
    assert half
    assert not any(trial.exact for trial in half)


def test_a_word_that_a_strategy_is_shown_is_found_and_those_of_labels_are_not():
    seen = leaks.look(session())
    assert seen.words > seen.mined > 10
    assert (seen.contexts, seen.found) == (9, 0)
    assert seen.known > 0


def test_a_word_planted_behind_the_cut_would_be_found_before_it():
    planted = leaks.plant(session().transcript, session().probes)
    before = planted.transcript.messages[: len(planted.transcript.messages) // 2]
    early = replace(planted.transcript.messages[2], blocks=(Text(f"Never touch {planted.words[0]} again."),))
    shown_early = (*before[:2], replace(early, role="user"), *planted.transcript.messages[3:])
    told = leaks.Planted(replace(planted.transcript, messages=shown_early), planted.probes, planted.words, 0)
    assert any(planted.words[0] in text for text in leaks.left(told))


def test_more_never_scores_less_and_needs_drawn_by_lot_fall_to_all_facts_at_risk():
    assert all(seen.less == 0 and seen.in_all == seen.at_risk > 0 for seen in ends.look(session()))
    seen = permuted.look(session())
    assert abs(seen.by_lot - seen.at_risk) < 0.02
    assert seen.answered < seen.asked


def test_evidence_without_labels_or_cases_says_what_is_missing():
    found = short_evidence()
    assert [line.partition(":")[0] for line in found.missing] == ["the miner's precision and recall", "labelled cases"]
    assert {figure.part for figure in found.figures}.isdisjoint({"miner", "labelled cases"})
    assert all(figure.holds is not False for figure in found.figures)


# ---- the command and the page


def test_the_command_prints_each_figure_with_its_count_and_interval(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(CASES, raising=False)
    assert main(["validate", str(runs.short_transcripts()), "--json", "--jobs", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sessions"] == sorted(runs.SHORT)
    assert [f["what"] for f in found["figures"]] == [f.what for f in short_evidence().figures]
    assert [f["hits"] for f in found["figures"]] == [f.hits for f in short_evidence().figures]
    assert all(f["n"] > 0 and f["low"] is not None for f in found["figures"] if f["hits"] is not None)
    assert len(found["missing"]) == 2


def test_the_page_has_a_line_for_each_figure_and_none_that_must_be_otherwise():
    told = rows(shown("evidence"))
    measured = {figure.what for figure in short_evidence().figures}
    assert measured <= told.keys()
    assert {figure.what for figure in of_labels()} | measured == told.keys()
    assert not any("is not" in row[-1] for row in [*told.values(), *rows(shown("cases")).values()])
    assert sum(row[-1] in {"all", "none"} for row in told.values()) >= 9


def of_labels():
    return labels.figures({"path": labels.Count(1, 0, 1)})


def test_every_kind_of_evidence_is_explained_on_the_page():
    parts = {row.split("|")[1].strip() for row in shown("evidence").splitlines()[2:]} - {""}
    assert len(parts) == len(GROUPS) + 1
    for part in parts:
        assert f"**{part}.**" in page()


def made_anew():
    return to_markdown(gathered([runs.FIXTURES], jobs=2).figures)


@pytest.mark.study
def test_the_page_holds_the_figures_that_the_recorded_sessions_give():
    assert shown("evidence") == made_anew()


def test_two_processes_measure_the_same():
    assert gathered([runs.short_transcripts()], jobs=2).figures == short_evidence().figures


if __name__ == "__main__":
    from test_validity_evidence_cases import labelled, made_of_cases

    text = MADE["evidence"].sub(lambda _: made_anew(), page())
    if labelled():
        text = MADE["cases"].sub(lambda _: made_of_cases(), text)
    PAGE.write_text(text, encoding="utf-8")
