"""Files as writers leave them: cut off, padded, with a byte order mark, with megabytes of base64 in a line."""

import base64
import json
import random
import tracemalloc

import pytest
from stories import Call, Did, Got, Said
from story_forms import DATABASE, FORMS, LINES, holding

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff
from compactlab.tokens import Meter
from compactlab.transcript import Image, Text, readable

LINED = [name for name, form in FORMS.items() if form.kind == LINES]
WRITTEN = [name for name, form in FORMS.items() if form.kind != DATABASE]
BOM = b"\xef\xbb\xbf"
MEGABYTES = 5
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (1200).to_bytes(4) + (800).to_bytes(4) + b"\x08\x02\0\0\0"
PICTURE += random.Random(5).randbytes(MEGABYTES * 3 * (1 << 18))
PICTURE_TOKENS = 1200 * 800 // 750
SEPARATED = "one\u2028two\u2029three\x85four\x0bfive"
CHINESE = "上下文压缩之后，代理还记得什么？" * 40


def story(name, asked="Move the table.", done="Moved.", arguments='{"a":1}'):
    """A short story that the form of that name can hold."""
    acted = [Did((Call("c1", arguments),)), Got("c1", "12 rows")] if "calls" in FORMS[name].holds else []
    return (Said("user", asked), *acted, Said("assistant", done))


def written(tmp_path, data):
    path = tmp_path / "story.file"
    path.write_bytes(data)
    return path


def two(name):
    """Two stories in lines; where a story is one line, so many that no document is made of them."""
    form = FORMS[name]
    first, second = form.file(story(name)), form.file(story(name, "And the chair.", "Moved too."))
    if first.count(b"\n") == 1:
        return first + second
    return first


def blocks(transcripts):
    return [message.blocks for transcript in transcripts for message in transcript.messages]


def problems(transcripts):
    return [problem for transcript in transcripts for problem in transcript.intake.problems]


lined = pytest.mark.parametrize("name", LINED)


@lined
def test_case_10_a_last_line_that_was_cut_off_is_skipped_and_counted(tmp_path, name):
    whole = two(name)
    last = whole.splitlines(keepends=True)[-1]
    for cut in (last[: len(last) // 2], last[:-2], last[:1]):
        path = written(tmp_path, whole + cut)
        assert sniff(path) == FORMS[name].reader
        transcripts = read(path)
        assert blocks(transcripts) == blocks(read(written(tmp_path, whole)))
        assert [t.intake.skipped.get("last line cut off", 0) for t in transcripts][-1] == 1
        assert problems(transcripts) == []


def test_case_10_a_line_that_lacks_its_end_gives_none_of_its_values_as_a_record(tmp_path):
    whole = {"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "Half."}]}}
    head, *rest = FORMS["pi"].file(story("pi")).splitlines(keepends=True)
    for end in (1, 2, 3):
        cut = json.dumps(whole).encode()[:-end] + b"\n"
        [transcript] = read(written(tmp_path, head + cut + b"".join(rest)))
        assert blocks([transcript]) == blocks(read(written(tmp_path, head + b"".join(rest))))
        [problem] = transcript.intake.problems
        assert problem.startswith("line 2: not JSON")


@lined
def test_case_10_a_bad_line_in_the_middle_is_told_with_its_number_and_the_rest_is_read(tmp_path, name):
    first, *rest = two(name).splitlines(keepends=True)
    path = written(tmp_path, first + b'{"type": oops}\n' + b"".join(rest))
    transcripts = read(path)
    assert {t.format for t in transcripts} == {FORMS[name].reader}
    assert blocks(transcripts) == blocks(read(written(tmp_path, first + b"".join(rest))))
    [problem] = problems(transcripts)
    assert "line 2: not JSON" in problem


@lined
def test_case_10_zero_bytes_at_the_end_and_empty_lines_are_nothing(tmp_path, name):
    whole = two(name)
    padded = whole.replace(b"\n", b"\n\n") + b"\0" * 4096
    transcripts = read(written(tmp_path, padded))
    assert blocks(transcripts) == blocks(read(written(tmp_path, whole)))
    assert problems(transcripts) == []


@pytest.mark.parametrize("data", [b"", BOM, b"\n\n", b"\0" * 512, b"\r\n \0"])
def test_case_10_an_empty_file_is_said_to_be_one(tmp_path, data):
    with pytest.raises(TranscriptError, match=r"an empty file$"):
        read(written(tmp_path, data))


@pytest.mark.parametrize("name", WRITTEN)
def test_case_11_a_byte_order_mark_and_the_line_ends_of_windows_change_nothing(tmp_path, name):
    plain = (
        two(name)
        if name in LINED
        else json.dumps(json.loads(FORMS[name].file(story(name, arguments="{}"))), indent=1).encode()
    )
    path = written(tmp_path, BOM + plain.replace(b"\n", b"\r\n"))
    assert sniff(path) == FORMS[name].reader
    transcripts = read(path)
    assert blocks(transcripts) == blocks(read(written(tmp_path, plain)))
    assert problems(transcripts) == []


def taken(path):
    """The transcripts of a file, and the most memory that reading it took, in bytes."""
    tracemalloc.start()
    try:
        transcripts = read(path)
        return transcripts, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def pictures(transcripts):
    held = [block for message in blocks(transcripts) for block in message]
    inner = [part for block in held for part in getattr(block, "content", ())]
    return [block for block in (*held, *inner) if isinstance(block, Image)]


HOLDERS = [(name, place) for place in ("user", "result") for name in holding(place)]


@pytest.mark.parametrize(("name", "place"), HOLDERS)
def test_case_12_a_line_of_megabytes_of_base64_is_a_picture_and_no_text(tmp_path, name, place):
    asked = Said("user", ["Look:", PICTURE] if place == "user" else "Look:")
    seen = Got("c1", ["seen", PICTURE] if place == "result" else "seen")
    file = FORMS[name].file((asked, Did((Call("c1"),)), seen, Said("assistant", "Done.")))
    path = written(tmp_path, file)
    transcripts, memory = taken(path)
    assert [picture.data == PICTURE for picture in pictures(transcripts)] == [True]
    meter = Meter()
    messages = transcripts[0].messages
    assert PICTURE_TOKENS < meter.messages(messages) < PICTURE_TOKENS + 80
    said = [readable(block) for message in messages for block in message.blocks]
    assert not any(base64.b64encode(PICTURE)[:60].decode() in text for text in said)
    assert memory < 4 * len(file), f"{memory / len(file):.2f} times the file"


@pytest.mark.parametrize("name", FORMS)
def test_case_13_separators_of_lines_that_are_none_stay_in_the_text(tmp_path, name):
    [transcript] = read(written(tmp_path, FORMS[name].file(story(name, SEPARATED, f"{SEPARATED}!"))))
    said = [block.text for message in transcript.messages for block in message.blocks if isinstance(block, Text)]
    assert said == [SEPARATED, f"{SEPARATED}!"]


@pytest.mark.parametrize("name", FORMS)
def test_case_32_text_that_is_not_english_is_weighed_by_the_vocabulary_and_not_by_its_length(tmp_path, name):
    [transcript] = read(written(tmp_path, FORMS[name].file(story(name, CHINESE))))
    by_words, by_length = Meter("o200k_base"), Meter("chars/4")
    [block] = transcript.messages[0].blocks
    assert block == Text(CHINESE)
    assert by_length.block(block) == -(-len(CHINESE) // 4)
    assert by_words.block(block) > 2 * by_length.block(block)
    assert by_words.messages(transcript.messages) > 2 * by_length.messages(transcript.messages)
