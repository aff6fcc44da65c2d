"""Recorded files of other tools, for tests that run only where they lie at hand."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parent.parent.parent / "shared" / "transcripts"
CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or BESIDE)


def corpus_file(name):
    """The path of a recorded file; the test is skipped where it is not."""
    path = CORPUS / name
    if not path.exists():
        pytest.skip("no corpus: set COMPACTLAB_CORPUS to a folder of recorded transcripts")
    return path
