"""In a real kernel, whose event loop runs: the bar of a run moves in its place, and objects show themselves."""

import pytest
import runs

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = runs.CHECKOUT / "fixtures" / "short"


def executed(*sources):
    """The outputs of cells, executed one after the other in one kernel."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(made, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in made.cells]


def html(outputs):
    return [output.data["text/html"] for output in outputs if "data" in output and "text/html" in output.data]


def test_a_run_moves_its_bar_in_one_place_while_the_loop_runs(tmp_path):
    bar, shown = executed(
        f"""
import asyncio

import compactlab
from compactlab import displays

assert asyncio.get_running_loop().is_running()
settings = compactlab.Settings(("none", "cull"), cuts=(0.7,), jobs=1)
results = compactlab.run({str(FOLDER)!r}, {str(tmp_path / "run")!r}, settings, displays.progress())
""",
        "results",
    )
    [drawn] = html(bar)
    cases = len({record.key for record in runs.Results(tmp_path / "run").records})
    assert f'<progress max="{cases}" value="{cases}">' in drawn
    assert f"{cases} cases in " in drawn
    [table] = html(shown)
    assert "1 session, cut at 0.7, under 2 strategies" in table
    assert shown[0].data["text/plain"].startswith("Results ")


def test_a_bar_is_redrawn_now_and_then_and_a_new_run_has_its_own():
    [first], told = executed(
        """
from compactlab.displays import progress
bar = progress("candidates")
for done in range(1, 3_001):
    bar(done, 3_000, "<b>")
""",
        """
import time
bar(0, 3, "again")
for done in (1, 2):
    time.sleep(0.25)
    bar(done, 3, "<i>session</i>")
bar
""",
    )
    assert "3,000 candidates in 0 s" in first.data["text/html"]
    assert len(told) == 2
    assert "2 of 3 candidates · &lt;i&gt;session&lt;/i&gt; · about 0 s left" in told[0].data["text/html"]


def test_a_whole_session_leaves_a_line_of_text_in_the_notebook_and_no_repr():
    path = str(runs.TRANSCRIPTS[0])
    [[session]] = executed(f"import compactlab\ncompactlab.read({path!r})[0]")
    assert len(session.data["text/plain"]) < 200
    assert 'class="compactlab"' in session.data["text/html"]


def test_a_bar_is_silent_where_no_notebook_runs(capsys):
    from compactlab.displays import progress

    bar = progress()
    bar(0, 0, "mining facts")
    bar(1, 2, "one")
    assert repr(bar).startswith("1 of 2 cases · one")
    assert capsys.readouterr() == ("", "")
