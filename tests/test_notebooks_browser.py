"""JupyterLab, started as the README says, runs the first notebook in a real browser; without either it is skipped."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from importlib.util import find_spec

import browser
import pytest
import runs

TOKEN = "0" * 32
SECONDS = 240
SESSIONS = ("primary-garden", *runs.SHORT)
"""What the notebook needs, and few enough that the test is short; nbmake runs it over all."""
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},  # all cells stand in the page, also those out of sight
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
ERRORS = '[data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"]'
DONE = """([cells, errors]) => document.querySelector(errors) !== null
  || [...document.querySelectorAll(".jp-InputPrompt")].some(prompt => prompt.innerText.includes(`[${cells}]`))"""
FIGURES = ".jp-OutputArea-output img"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def checkout(folder):
    """A checkout of its own, since JupyterLab stores what it ran: copies of the notebooks, and some of the sessions."""
    shutil.copytree(runs.CHECKOUT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    (folder / "fixtures" / "transcripts").mkdir(parents=True)
    for path in (path for name in SESSIONS for path in runs.FIXTURES.glob(f"{name}.*")):
        (folder / "fixtures" / "transcripts" / path.name).symlink_to(path)
    for name, values in SETTINGS.items():
        path = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    return folder


def answers(address):
    try:
        with urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5) as reply:  # noqa: S310  # loopback
            return reply.status == 200
    except OSError:
        return False


@contextmanager
def jupyter_lab(folder):
    """JupyterLab on the loopback, by its address; ended with its kernels."""
    port = free_port()
    own = {f"JUPYTER_{what}_DIR": str(folder / what.lower()) for what in ("CONFIG", "RUNTIME", "DATA")}
    where = own | {"IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(runs.CHECKOUT)}
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
    with (folder / "log.txt").open("w") as log:
        program = [sys.executable, "-m", "jupyterlab", "notebooks", *options]
        server = subprocess.Popen(program, cwd=folder, env=os.environ | where, stdout=log, stderr=log)
        try:
            address, started = f"http://127.0.0.1:{port}", time.monotonic()
            while not answers(address):
                assert server.poll() is None, (folder / "log.txt").read_text()
                assert time.monotonic() - started < 60, (folder / "log.txt").read_text()
                time.sleep(0.3)
            yield address
        finally:
            server.terminate()
            server.wait(30)


@pytest.mark.skipif(find_spec("jupyterlab") is None, reason="no JupyterLab: pip install -e '.[lab]'")
def test_the_first_notebook_runs_in_jupyterlab(tmp_path):
    browser.require()
    folder = checkout(tmp_path)
    cells = json.loads((folder / "notebooks" / "1_compare.ipynb").read_text(encoding="utf-8"))["cells"]
    code = sum(cell["cell_type"] == "code" for cell in cells)
    with jupyter_lab(folder) as address, browser.chromium() as chromium:
        tab = chromium.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(f"{address}/lab/tree/1_compare.ipynb?token={TOKEN}")
        tab.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        tab.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
        tab.get_by_role("menuitem", name="Run", exact=True).click()
        tab.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        tab.wait_for_function(DONE, arg=[code, ERRORS], timeout=SECONDS * 1_000)
        assert tab.locator(ERRORS).all_inner_texts() == []
        assert tab.locator(FIGURES).count() == 2
        wide = tab.locator(FIGURES).evaluate_all("images => images.map(image => image.naturalWidth)")
        assert min(wide) > 500
        assert "4 sessions, cut at 0.4, 0.55, 0.7, 0.85, under 3 strategies" in tab.locator(".jp-Notebook").inner_text()
        tab.close()
