"""What is masked before mining: blobs of base64, however they are wrapped, and nothing that only looks a little so."""

import base64
import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts.text import FILLER, unwrapped, without_blobs

NAMES = "\n".join(f"{part}/{name}" for part in ("src", "docs") for name in ("app", "ledger", "README", "HeadOffice2"))
DIGESTS = "\n".join(f"{n:064x}" for n in (3**150, 7**90, 11**70))


def blob(seed, size):
    return base64.b64encode(Random(seed).randbytes(size)).decode()


def wrapped(text, width, lead=""):
    return "\n".join(lead + text[at : at + width] for at in range(0, len(text), width))


@given(
    st.integers(0, 10_000), st.integers(120, 1_000), st.sampled_from([64, 72, 76]), st.sampled_from(["", "  ", "\t"])
)
def test_no_line_of_a_wrapped_blob_is_left(seed, size, width, lead):
    assert without_blobs(f"before it\n{wrapped(blob(seed, size), width, lead)}\nthen it ends") == (
        f"before it\n{FILLER}\nthen it ends"
    )


@given(st.integers(0, 10_000), st.integers(120, 1_000))
def test_line_numbers_before_the_lines_of_a_blob_do_not_keep_it(seed, size):
    lines = wrapped(blob(seed, size), 76).split("\n")
    text = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 98))
    assert without_blobs(text) == FILLER


@pytest.mark.parametrize(
    "text", [NAMES, DIGESTS, "a b\n" * 9, f"{'-' * 76}\n{'-' * 76}\nname", f"{'a' * 60}\n{'b' * 60}"]
)
def test_lists_of_names_and_digests_are_no_blobs(text):
    assert without_blobs(text) == text


@pytest.mark.parametrize("after", ["src/app", "HeadOffice", "old-notes.txt", "42 lines", ""])
def test_what_stands_behind_a_blob_that_has_ended_is_left(after):
    ended = wrapped(blob(5, 100), 76)
    assert ended.endswith("=")
    assert without_blobs(f"{ended}\n{after}") == f"{FILLER}\n{after}".rstrip("\n") + ("" if after else "\n")


def test_a_list_of_names_behind_one_long_line_is_left():
    text = f"{blob(3, 57)}\n{NAMES}"
    assert without_blobs(text) == f"{FILLER}\n{NAMES}"


def test_many_lines_of_letters_are_read_in_linear_time():
    text = "\n".join(["Ab3" * 15] * 40_000) + "\n" + blob(1, 300)
    start = time.process_time()
    without_blobs(text)
    assert time.process_time() - start < 5


def test_rows_of_a_table_are_not_joined_like_wrapped_prose():
    rows = "keep-it\tthe reason of it was said in an earlier turn\t16\tlive\nask-it\tno turn says it is done\t21\topen"
    assert unwrapped(rows, [(0, len(rows))]) == rows
