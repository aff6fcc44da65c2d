"""The lines in which keys of a TOML file stand: every key of any file, and where it really is."""

import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from compactlab.settings.lines import lines

CASES = [
    ("nothing", "", {}),
    ("a key", "a = 1\n", {("a",): 1}),
    ("a table", "\n[a]\n\nb = 1", {("a",): 2, ("a", "b"): 4}),
    ("dotted keys", "a.b.c = 1\n", {("a",): 1, ("a", "b"): 1, ("a", "b", "c"): 1}),
    ("quoted keys", '[a.\'b.c\']\n"d \\" e" = 1\n', {("a",): 1, ("a", "b.c"): 1, ("a", "b.c", 'd " e'): 2}),
    ("keys that look like values", "3.14 = 1\ntrue = 2\n", {("3",): 1, ("3", "14"): 1, ("true",): 2}),
    ("an inline table", "a = { b = 1, c.d = 2 }\ne = 3", {("a", "b"): 1, ("a", "c", "d"): 1, ("e",): 2}),
    ("a list over lines", "a = [ # b = 1\n  1, [2,\n3],\n]\nc = 1\n", {("a",): 1, ("c",): 5}),
    ("tables in a list", "a = [\n{ b = 1 },\n{ c = 2 } ]\n", {("a", "b"): 2, ("a", "c"): 3}),
    ("a list of tables", "[[a]]\nb = 1\n[[a]]\nc = 1\n", {("a",): 1, ("a", "b"): 2, ("a", "c"): 4}),
    ("a comment", "# a = 1\nb = 1 # c = 2\n# [d]\n", {("b",): 2}),
    ("a text with keys in it", "a = \"b = 1\" \nc = '[d]'\n", {("a",): 1, ("c",): 2}),
    ("a text of several lines", 'a = """\nb = 1\n[c]\n\\""" d """\ne = 1\n', {("a",): 1, ("e",): 5}),
    ("a plain text of several lines", "a = '''\nb = \"1\n'''\ne = 1\n", {("a",): 1, ("e",): 4}),
    ("quotes at the end of a text", 'a = """b"""""\nc = 1\n', {("a",): 1, ("c",): 2}),
    ("dates and numbers", "a = 1979-05-27 07:32:00.5\nb = -1_0.5e+3\nc = 0xff\n", {("a",): 1, ("b",): 2, ("c",): 3}),
    ("ends of lines of two characters", "a = 1\r\n[b]\r\nc = 2\r\n", {("a",): 1, ("b",): 2, ("b", "c"): 3}),
]


@pytest.mark.parametrize(("text", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_each_key_stands_in_its_line(text, expected):
    tomllib.loads(text)
    found = lines(text)
    assert {key: found.get(key) for key in expected} == expected
    assert {key[:1] for key in found} == {(name,) for name in tomllib.loads(text)}


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12) | st.sampled_from(
    ["a = 1", "[b]", '"""', "'''", "#", "a.b", "{", "]"]
)
LEAVES = WORDS | st.integers(-9, 9) | st.booleans() | st.floats(allow_nan=False) | st.lists(WORDS, max_size=3)
TABLES = st.recursive(LEAVES, lambda inner: st.dictionaries(WORDS, inner, max_size=4), max_leaves=20)


def paths(table, above=()):
    for key, value in table.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from paths(value, (*above, key))


@given(st.dictionaries(WORDS, TABLES, max_size=5))
def test_every_key_of_any_file_is_found_and_nothing_else(content):
    text = tomlkit.dumps(content)
    assert set(lines(text)) == set(paths(tomllib.loads(text)))


@given(st.lists(st.tuples(WORDS, LEAVES), min_size=1, max_size=8, unique_by=lambda pair: pair[0]))
def test_the_line_is_the_one_that_sets_the_key(pairs):
    texts = [tomlkit.dumps({key: value}) for key, value in pairs]
    found, line = lines("".join(texts)), 1
    for (key, _), text in zip(pairs, texts, strict=True):
        assert found[key,] == line
        line += text.count("\n")


@given(st.text())
def test_no_text_makes_it_hang_or_fail(text):
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert all(1 <= line <= text.count("\n") + 1 for line in lines(text).values())
