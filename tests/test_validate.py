"""The command that validates, and the page that shows what it found.

Run as a script, `python tests/test_validate.py` makes the table of the page anew from the recorded sessions.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import runs

from compactlab.readers import survey
from compactlab.study import disagreements, sessions_of, study
from compactlab.study.finding import VERDICTS, to_markdown
from compactlab.study.wording import WORDING

PAGE = runs.CHECKOUT / "docs" / "validity.md"
PROBES = re.compile(r"(?<=<!-- probes: made by tests/test_validate\.py -->\n).*?(?=<!-- /probes -->)", re.DOTALL)
TABLE = re.compile(r"(?<=<!-- study: made by tests/test_validate\.py -->\n).*?(?=<!-- /study -->)", re.DOTALL)
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


# ---- the command


def test_the_findings_are_printed_with_a_sentence_each_and_counted(said):
    code, out, err = said("validate", runs.short_transcripts(), "--study", "--jobs", 1)
    assert (code, err) == (0, "")
    flat = " ".join(out.split())
    for number, words in WORDING.items():
        assert words.question in flat
        assert all(line.what in flat and line.then in flat for line in words.lines)
        assert re.search(rf"^{number}\. (?:{'|'.join(VERDICTS)}): ", out, re.MULTILINE)
    assert "16 findings on 3 sessions: " in out


def test_json_holds_the_numbers_as_they_are(said):
    code, out, err = said("validate", runs.short_transcripts(), "--study", "--json", "--jobs", 1)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["sessions"] == sorted(runs.SHORT)
    assert [finding["number"] for finding in found["findings"]] == list(WORDING)
    for finding in found["findings"]:
        assert finding["verdict"] in VERDICTS
        assert set(finding["rows"][0]) == {"what", "then", "now", "shown"}
    values = [value for finding in found["findings"] for row in finding["rows"] for value in row["now"]]
    assert sum(value is not None for value in values) > 80


def test_markdown_goes_into_a_file_and_nothing_is_printed(said, tmp_path):
    target = tmp_path / "study.md"
    assert said("validate", runs.short_transcripts(), "--study", "--markdown", target, "--jobs", 1) == (0, "", "")
    text = target.read_text(encoding="utf-8")
    assert numbers_in(text) == list(WORDING)
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_without_a_path_the_recorded_sessions_of_the_folder_are_taken(said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = said("validate", "--study")
    assert (code, out) == (2, "")
    assert str(Path("fixtures", "transcripts")) in err
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "transcripts").symlink_to(runs.short_transcripts())
    assert said("validate", "--study", "--json", "--jobs", 1)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("validate", "missing.jsonl"), "missing.jsonl"),
        (("validate", "--study", "--probes"), "one of --study and --probes"),
        (("validate", "missing.jsonl", "--study"), "missing.jsonl"),
        (("validate", runs.TRANSCRIPTS[0], runs.TRANSCRIPTS[0], "--study"), "more than once"),
    ],
    ids=["a missing file for all", "two things", "a missing file", "a session twice"],
)
def test_what_cannot_be_validated_is_refused_in_one_line(said, arguments, named):
    code, out, err = said(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("compactlab: ")
    assert err.count("\n") == 1
    assert named in err


# ---- the page


def numbers_in(text):
    """Numbers of the findings that have a row, and a sentence, in a table."""
    rows = [int(n) for n in re.findall(r"^\| (\d+) \| \*\*", text, re.MULTILINE)]
    sentences = [int(n) for n in re.findall(r"^(\d+)\. \*", text, re.MULTILINE)]
    assert rows == sentences
    return rows


@cache
def page():
    return PAGE.read_text(encoding="utf-8")


def cells(text):
    """Rows of the table: what, then, now."""
    return [tuple(cell.strip() for cell in line.split("|")[2:5]) for line in text.splitlines() if line.startswith("|")]


def test_every_finding_has_its_row_its_lines_and_a_paragraph_in_the_page():
    (shown,) = TABLE.findall(page())
    assert numbers_in(shown) == list(WORDING)
    rows = [(what, then) for what, then, _ in cells(shown)[2:]]
    expected = []
    for words in WORDING.values():
        expected += [(f"**{words.question}**", ""), *((line.what, line.then) for line in words.lines)]
    assert rows == expected
    rest = TABLE.sub("", page())
    assert [int(n) for n in re.findall(r"^\*\*(\d+)\.", rest, re.MULTILINE)] == list(WORDING)


def test_the_verdicts_of_the_page_have_their_sentences():
    (shown,) = TABLE.findall(page())
    verdicts = [now.strip("*") for what, _, now in cells(shown)[2:] if what.startswith("**")]
    sentences = re.findall(r"^(\d+)\. \*([a-z ]+)\*: (.*)$", shown, re.MULTILINE)
    assert verdicts == [verdict for _, verdict, _ in sentences]
    for number, verdict, sentence in sentences:
        words = WORDING[int(number)]
        assert sentence == dict(zip(VERDICTS, words[1:4], strict=True))[verdict]


def close(one, other):
    """Tell whether two texts are the same but for their numbers, and those within one of the last place."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    places = (len(number.partition(".")[2]) for number in NUMBER.findall(one))
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), places, strict=True)
    return all(abs(float(a) - float(b)) <= 1.01 * 10**-place for a, b, place in pairs)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("0.85 / 0.94", "0.85 / 0.95", True),
        ("0.85 / 0.94", "0.85 / 0.96", False),
        ("12%", "13%", True),
        ("12%", "14%", False),
        ("-", "0.10", False),
        ("holds", "differs", False),
        ("holds", "holds", True),
    ],
)
def test_texts_are_close_if_their_numbers_differ_in_the_last_place_at_most(one, other, expected):
    assert close(one, other) is expected


def made_anew():
    return to_markdown(study([runs.FIXTURES], jobs=2).findings)


def compared_anew():
    return disagreements.to_markdown(disagreements.compared(sessions_of(survey(runs.FIXTURES).transcripts)))


@pytest.mark.study
def test_the_page_holds_what_the_recorded_sessions_give():
    """Numbers agree within rounding; seconds are not compared."""
    unsteady = {line.what for words in WORDING.values() for line in words.lines if not line.steady}
    (shown,) = TABLE.findall(page())
    made = made_anew()
    pairs = list(zip(cells(shown), cells(made), strict=True))
    far = [(old, new) for old, new in pairs if old[0] not in unsteady and not all(map(close, old, new))]
    assert far == []
    assert shown.rpartition("|\n")[2].strip() == made.rpartition("|\n")[2].strip()


def test_the_page_holds_every_disagreement_of_mined_facts_and_hand_made_probes():
    (shown,) = PROBES.findall(page())
    assert shown == compared_anew()


def test_every_reason_of_a_disagreement_is_explained_on_the_page():
    text = page()
    for why in disagreements.REASONS:
        assert f"*{why}*" in text


if __name__ == "__main__":
    made = TABLE.sub(lambda _: made_anew(), page())
    PAGE.write_text(PROBES.sub(lambda _: compared_anew(), made), encoding="utf-8")
