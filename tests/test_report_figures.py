"""Every figure that a mode has is drawn, written into the run's folder, and to be had again by its name."""

import figures
import pytest
import runs

from compactlab import cli
from compactlab.errors import SpecError
from compactlab.harness import Settings, run
from compactlab.report import Report, publish
from compactlab.report.figures import CUTS, ENDINGS, FIGURES, REPLAY


@pytest.fixture(scope="module")
def replayed():
    settings = Settings(mode="replay", window=6_000, policies=("none", "microcompact", "sliding_window"), jobs=1)
    return run(runs.short_transcripts(), runs.scratch() / "figures-replayed", settings)


@pytest.fixture(scope="module")
def reports(replayed):
    return {"cuts": publish(runs.short().results), "replay": publish(replayed)}


def test_the_command_line_knows_every_figure_by_its_name():
    assert list(cli.FIGURES) == list(dict.fromkeys(name for known in FIGURES.values() for name in known))


@pytest.mark.parametrize(("mode", "known"), [("cuts", CUTS), ("replay", REPLAY)])
def test_a_run_holds_every_figure_of_its_mode(reports, mode, known):
    report = reports[mode]
    assert report.figures == list(known)
    for name in known:
        for ending in ENDINGS:
            assert (report.results.folder / f"{name}.{ending}").stat().st_size > 10_000


@pytest.mark.parametrize("width", [4.6, 6, 10])
@pytest.mark.parametrize(("mode", "name"), [("cuts", name) for name in CUTS] + [("replay", name) for name in REPLAY])
def test_every_figure_is_signed_and_nothing_on_it_is_cut_off(reports, mode, name, width):
    figure = reports[mode].figure(name, width)
    assert figures.faults(figure) == []
    assert figures.signature(figure).startswith("compactlab ")
    assert figures.title(figure)
    assert figure.get_figwidth() == width


def test_the_main_figure_is_the_first(reports):
    assert figures.title(reports["cuts"].figure()) == figures.title(reports["cuts"].figure("savings"))
    assert figures.title(reports["replay"].figure()) == figures.title(reports["replay"].figure("survival"))


@pytest.mark.parametrize(("mode", "name"), [("cuts", "money"), ("replay", "savings"), ("cuts", "nothing")])
def test_a_figure_that_a_run_has_not_is_refused(reports, mode, name):
    with pytest.raises(SpecError, match=f"figure '{name}'.*expected one of"):
        reports[mode].figure(name)


def test_where_nothing_was_compacted_there_are_no_curves_of_survival():
    settings = Settings(mode="replay", window=6_000, policies=("none",), jobs=1)
    report = Report(run(runs.short_transcripts(), runs.scratch() / "figures-idle", settings))
    assert report.figures == ["money", "timeline"]
    with pytest.raises(SpecError, match="expected one of money, timeline"):
        report.figure("survival")


def test_a_figure_is_written_by_name_from_the_command_line(reports, said, tmp_path):
    for mode, name in (("cuts", "kept"), ("replay", "timeline")):
        folder = reports[mode].results.folder
        code, out, err = said("report", folder, "--figure", tmp_path / f"{name}.svg", "--kind", name)
        assert (code, out, err) == (0, "", "")
        assert (tmp_path / f"{name}.svg").read_bytes() == (folder / f"{name}.svg").read_bytes()
