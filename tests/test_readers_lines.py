"""JSON lines with the faults that writers leave in them: glued records, bare line feeds, bytes that are no UTF-8."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.readers import Lines

MENDED = [
    ("glued to a stub", b'{"a": 1, "b{"c": 2}\n', [{"c": 2}], {"record glued to another": 1}, 1),
    (
        "glued in the middle",
        b'{"x": 0}\n{"a": [1, {"b": "th{"c": 2}\n{"y": 1}\n',
        [{"x": 0}, {"c": 2}, {"y": 1}],
        {"record glued to another": 1},
        1,
    ),
    (
        "two on one line",
        b'{"a": 1} {"b": 2}{"c": 3}\n',
        [{"a": 1}, {"b": 2}, {"c": 3}],
        {"record glued to another": 3},
        0,
    ),
    ("whole, then a stub", b'{"a": 1}{"b": \n{"y": 1}\n', [{"a": 1}, {"y": 1}], {"record glued to another": 1}, 1),
    (
        "a record of many objects behind a stub",
        b'{"a": "x' + json.dumps({"many": [{"n": n} for n in range(300)]}).encode() + b"\n",
        [{"many": [{"n": n} for n in range(300)]}],
        {"record glued to another": 1},
        1,
    ),
    ("a bare line feed", b'{"x": "a\nb"}\n{"y": 1}\n', [{"x": "a\nb"}, {"y": 1}], {"record over several lines": 1}, 0),
    (
        "bare line feeds around JSON",
        b'{"x": "a\n12\n{\n"}\n{"y": 1}\n',
        [{"x": "a\n12\n{\n"}, {"y": 1}],
        {"record over several lines": 1},
        0,
    ),
    ("bytes that are no UTF-8", b'{"x": "a\x9db"}\n', [{"x": "a\ufffdb"}], {"bytes that are no UTF-8": 1}, 1),
    ("a bare control character", b'{"x": "a\x01b"}\n', [{"x": "a\x01b"}], {}, 0),
    ("an escaped NUL", b'{"x": "abc\\u0000def"}\n', [{"x": "abc\0def"}], {}, 0),
    ("a bare NUL inside", b'{"x": "abc\0def"}\n', [{"x": "abc\0def"}], {}, 0),
    ("nothing to be saved", b'{"a": oops}\n{"y": 1}\n', [{"y": 1}], {}, 1),
]


@pytest.mark.parametrize(
    ("data", "values", "repaired", "problems"), [m[1:] for m in MENDED], ids=[m[0] for m in MENDED]
)
def test_what_can_be_mended_is_mended_and_told(data, values, repaired, problems):
    found = Lines(data.splitlines(keepends=True) if b"\r" in data else [p + b"\n" for p in data.split(b"\n")])
    assert [line.value for line in found] == values
    intake = found.intake()
    assert (intake.records, intake.repaired, len(intake.problems)) == (len(values), repaired, problems)


def test_a_long_row_of_faults_is_counted_and_not_told_one_by_one():
    found = Lines([b"oops\n"] * 1_000 + [b'{"a": 1}\n'])
    assert [line.value for line in found] == [{"a": 1}]
    assert len(found.intake().problems) == 101
    assert found.intake().problems[-1] == "900 more bad lines"


def test_what_a_reader_skips_and_does_not_know_is_told_with_the_rest():
    found = Lines([b'{"a": 1}\n', b'{"a": '])
    assert len(list(found)) == 1
    intake = found.intake({"bookkeeping": 2, "none": 0}, {"new-thing": 1})
    assert intake.skipped == {"last line cut off": 1, "bookkeeping": 2}
    assert intake.unknown == {"new-thing": 1}


records = st.dictionaries(st.text(max_size=3), st.text(max_size=9) | st.integers(), min_size=1, max_size=3)


@given(st.lists(records, min_size=1, max_size=6), st.data())
def test_one_broken_line_never_costs_more_than_itself(values, data):
    written = [json.dumps(value, ensure_ascii=False).encode() for value in values]
    at = data.draw(st.integers(0, len(written) - 1))
    cut = data.draw(st.integers(1, len(written[at]) - 1))
    broken = [*written[:at], written[at][:cut], *written[at + 1 :]]
    read_back = [line.value for line in Lines([line + b"\n" for line in broken])]
    rest = [json.loads(line) for line in (*written[:at], *written[at + 1 :])]
    in_order = iter(read_back)
    assert all(value in in_order for value in rest)
