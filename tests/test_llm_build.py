"""Models by their specs: each kind with its settings, what is wrong with a spec, and what may be shown of it."""

import sys

import pytest
from histories import agent, user
from model_server import ModelServer, completion
from msgspec.structs import replace

from compactlab.compaction import Guard, compact
from compactlab.errors import CompactlabError, SpecError, TranscriptError, UnknownName
from compactlab.llm import ModelError, Request
from compactlab.llm.batch import Batch
from compactlab.llm.build import Adjusted, Spec, build, described, settle
from compactlab.llm.extractive import Extractive
from compactlab.llm.live import Live
from compactlab.llm.recorded import Recorded
from compactlab.llm.scripted import Scripted
from compactlab.settings import Project, load
from compactlab.transcript import Message, Text

REQUEST = Request("summary", "be brief", "Sum up.", (user("Hello."), agent("Hi.")), max_output=500)
URL = "http://127.0.0.1:9/v1"
OWN = """
from compactlab.llm import Reply

class Echo:
    name, window = "echo", 2_000

    def reply(self, request):
        return Reply(f"{request.max_output} {request.temperature}", self.name)

class Greedy(Echo):
    def __init__(self, more):
        pass

class Nameless:
    window = None

    def reply(self, request):
        return None

class Wordless:
    name, window, reply = "wordless", None, None
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The name of a module of one's own in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_models.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "my_broken_models.py").write_text("1 / 0\n", encoding="utf-8")
    yield "my_models"
    for name in ("my_models", "my_broken_models"):
        sys.modules.pop(name, None)


@pytest.fixture
def store(tmp_path):
    Recorded(tmp_path / "store", Scripted("words")).reply(REQUEST)
    return str(tmp_path / "store")


@pytest.fixture
def without_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


# ---- specs

SPECS = [
    ("extractive", "extractive", ""),
    ("live", "live", ""),
    ("live:gpt-4o", "live", "gpt-4o"),
    ("live:llama3:8b", "live", "llama3:8b"),
    ("local", "local", ""),
    ("local:a/b.gguf", "local", "a/b.gguf"),
    (" replay:a/b c ", "replay", "a/b c"),
    ("record", "record", ""),
    ("batch:x", "batch", "x"),
    ("my.models:Mine", "my.models:Mine", "Mine"),
]


@pytest.mark.parametrize(("spec", "kind", "rest"), SPECS)
def test_a_spec_is_a_kind_and_what_stands_behind_it(spec, kind, rest):
    read = Spec(spec)
    assert (read.kind, read.rest) == (kind, rest)
    assert read.is_outside == (":Mine" in spec)


@pytest.mark.parametrize("spec", ["", "gpt", "Live", "live:", "record:", "extractive:x", "a b:C", ":X", "x:", "../x:Y"])
def test_any_other_spec_is_an_error_that_names_the_kinds(spec):
    with pytest.raises(SpecError, match="expected one of extractive, live, local, record, replay, batch, module:Class"):
        Spec(spec)


# ---- what is built


@pytest.mark.parametrize("settings", [None, {}, {"model": "none", "retries": 3}])
def test_without_more_it_is_the_stand_in(settings):
    assert isinstance(build("extractive", settings), Extractive)


@pytest.mark.usefixtures("without_key")
def test_a_live_model_takes_its_settings():
    given = {"model": "m", "base_url": URL, "concurrency": 2, "timeout_seconds": 9.5, "retries": 1, "window": 4_000}
    without = build("live", given | {"leave_out": ["seed"], "store": "unused"})
    assert isinstance(without, Adjusted)
    live = without.behind
    assert isinstance(live, Live)
    assert (live.name, live.window, live.concurrency, live.retries) == ("m", 4_000, 2, 1)
    assert (live.base_url, live.timeout_seconds) == (URL, 9.5)
    assert (live.cap.tokens, live.cap.money) == (None, None)
    assert build("live:other", given).name == "other"


@pytest.mark.usefixtures("without_key")
def test_a_cap_adds_up_in_the_file_of_the_run(tmp_path):
    given = {"base_url": URL, "cap_tokens": 100, "cap_money": 2.5}
    cap = build("live:m", given, tmp_path / "spending.jsonl").cap
    assert (cap.tokens, cap.money, cap.path) == (100, 2.5, tmp_path / "spending.jsonl")
    assert not (tmp_path / "spending.jsonl").exists()


@pytest.mark.usefixtures("without_key")
def test_a_local_model_that_is_served_already_is_asked_there():
    model = build("local", {"base_url": URL, "window": 2_048})
    assert isinstance(model, Live)
    assert (model.name, model.base_url, model.window, model.concurrency) == ("local", URL, 2_048, 1)
    assert build("local", {"base_url": URL, "model": "smol"}).name == "smol"


def test_stores_and_folders_are_opened(store, tmp_path):
    replayed = build(f"replay:{store}")
    assert isinstance(replayed, Recorded)
    assert replayed.reply(REQUEST).text == "words"
    assert build("replay", {"store": store}).name == "scripted"
    assert build(f"replay:{store}", {"model": "other", "window": 9}).window == 9
    batch = build(f"batch:{tmp_path / 'b'}", {"model": "m", "window": 7})
    assert isinstance(batch, Batch)
    assert (batch.name, batch.window, batch.folder) == ("m", 7, tmp_path / "b")


@pytest.mark.parametrize(
    ("given", "behind"),
    [
        ({"kind": "my_models:Echo"}, "echo"),
        ({"model": "m", "base_url": URL}, "m"),
        ({"kind": "record", "model": "m", "base_url": URL}, "m"),
        ({"kind": "local", "base_url": URL}, "local"),
        ({"kind": "extractive", "model": "m", "base_url": URL}, "m"),
    ],
)
@pytest.mark.usefixtures("own", "without_key")
def test_a_recording_asks_what_the_settings_name(tmp_path, given, behind):
    model = build(f"record:{tmp_path / 'replies'}", given)
    assert isinstance(model, Recorded)
    assert model.name == behind


def test_anybodys_own_model_is_made(own):
    model = build(f"{own}:Echo")
    assert (model.name, model.window, model.reply(REQUEST).text) == ("echo", 2_000, "500 0.3")


ADJUSTED = [
    ({"temperature": 0}, "500 0.0"),
    ({"max_output": 100}, "100 0.3"),
    ({"max_output": 9_000}, "500 0.3"),
    ({"temperature": 1.5, "max_output": 1}, "1 1.5"),
    ({}, "500 0.3"),
]


@pytest.mark.parametrize(("given", "said"), ADJUSTED)
def test_temperature_and_most_output_hold_for_every_request(own, given, said):
    assert build(f"{own}:Echo", given).reply(REQUEST).text == said


def test_the_key_of_a_reply_is_that_of_the_request_as_it_was_sent(tmp_path, own):
    spec = f"record:{tmp_path / 'replies'}"
    assert build(spec, {"kind": f"{own}:Echo", "temperature": 1}).reply(REQUEST).text == "500 1.0"
    assert build(spec, {"kind": f"{own}:Echo"}).reply(REQUEST).text == "500 0.3"
    model = build(f"replay:{tmp_path / 'replies'}", {"temperature": 1})
    assert model.reply(REQUEST).text == "500 1.0"


@pytest.mark.usefixtures("without_key")
def test_what_a_model_does_not_take_is_neither_sent_nor_part_of_what_a_store_knows_of_it(tmp_path):
    asked = replace(REQUEST, seed=7)
    with ModelServer(completion("Words.")) as server:
        given = {"kind": "live", "model": "m", "base_url": server.url, "leave_out": ["temperature"]}
        assert build(f"record:{tmp_path}", given).reply(asked).text == "Words."
        Adjusted(Live("m", server.url), leave_out=("temperature", "seed")).reply(asked)
    first, second = (body for _, _, body in server.asked)
    assert ("temperature" in first, first["seed"]) == (False, 7)
    assert not {"temperature", "seed"} & second.keys()
    [line] = Recorded(tmp_path, name="m").store.values()
    assert (line.temperature, line.seed) == (None, 7)


def test_only_what_a_model_may_not_take_can_be_left_out():
    with pytest.raises(SpecError, match=r"leave_out names \['model'\]; expected some of temperature, seed"):
        Adjusted(Scripted(), leave_out=("seed", "model"))


@pytest.mark.usefixtures("without_key")
def test_prices_of_the_settings_hold_for_the_cap_and_are_not_shown(tmp_path):
    given = {"model": "my-model", "cap_money": 1.0, "prices": {"my-model": {"input": 0.4, "output": 1.6}}}
    with ModelServer(completion("Words.", usage=(1_000_000, 250_000))) as server:
        model = build("live", given | {"base_url": server.url}, tmp_path / "spending.jsonl")
        model.reply(REQUEST)
        assert model.spent() == (1, 1_250_000, pytest.approx(0.8))
        with pytest.raises(ModelError, match="the cap of 1 USD would be passed"):
            model.reply(replace(REQUEST, max_output=200_000))
    assert described("live", given) == "live (model=my-model, cap_money=1.0)"


def test_a_price_that_is_none_is_said_before_anything_runs():
    with pytest.raises(SpecError, match=r"the price of 'm': .*`output`.*; expected a table with input and output"):
        build("live", {"model": "m", "base_url": URL, "prices": {"m": {"input": 1}}})


def test_what_is_behind_an_adjusted_model_shows_through(tmp_path):
    model = Adjusted(Recorded(tmp_path, Scripted("words", window=5)), 0.5)
    assert (model.name, model.window) == ("scripted", 5)
    model.reply(REQUEST)
    settle(model)
    settle(Scripted())
    settle(None)


# ---- what cannot be built

BAD = [
    ("a live one without a name", "live", {"base_url": URL}, SpecError, "no model is named"),
    ("a live one without a key", "live:m", {}, SpecError, "no key is given"),
    ("a live one at no address", "live:m", {"base_url": "nowhere"}, SpecError, "base URL"),
    ("no store", "record", {"model": "m", "base_url": URL}, SpecError, "expected record:FOLDER, or a store in"),
    ("no folder", "batch", {"model": "m"}, SpecError, "expected batch:FOLDER"),
    ("a store that is not there", "replay:nowhere", {}, TranscriptError, "nowhere"),
    ("a batch without a model", "batch:new", {}, SpecError, "expected the name of the model"),
    ("no such module", "no_such_module:Mine", {}, UnknownName, "no_such_module"),
    ("a module that fails", "my_broken_models:Mine", {}, SpecError, "ZeroDivisionError"),
    ("no such class", "my_models:Ecco", {}, UnknownName, "did you mean 'Echo'"),
    ("a class that wants more", "my_models:Greedy", {}, SpecError, "more"),
    ("a model without a name", "my_models:Nameless", {}, SpecError, "name"),
    ("a model without a reply", "my_models:Wordless", {}, SpecError, "expected a class with name, window and reply"),
    ("weights that are not there", "local:nowhere.gguf", {}, ModelError, "nowhere.gguf"),
]


@pytest.mark.parametrize(("spec", "given", "kind", "said"), [c[1:] for c in BAD], ids=[c[0] for c in BAD])
@pytest.mark.usefixtures("own", "without_key")
def test_what_cannot_be_built_is_said_before_anything_runs(spec, given, kind, said):
    with pytest.raises(kind, match=said) as raised:
        build(spec, given)
    assert isinstance(raised.value, CompactlabError)


# ---- by the settings


@pytest.mark.usefixtures("without_key")
def test_the_settings_file_says_which_model(tmp_path):
    file = tmp_path / "compactlab.toml"
    file.write_text(f"[llm]\nkind = 'live'\nmodel = 'm'\nbase_url = '{URL}'\ntemperature = 0\n", encoding="utf-8")
    project = load(file)
    model = project.model()
    assert model.name == "m"
    assert project.identity(model) == "m(temperature=0)"
    assert project.asking("live:n").model().name == "n"
    assert project.asking(model="o").model().name == "o"


ASKING = [
    ((), {}, "extractive"),
    (("", "m", ""), {}, "live"),
    (("", "", URL), {}, "live"),
    (("", "m", ""), {"kind": "batch", "store": "x"}, "batch"),
    (("replay:x", "m", ""), {"kind": "live"}, "replay:x"),
    (("", "", ""), {"kind": "local"}, "local"),
]


@pytest.mark.parametrize(("given", "llm", "spec"), ASKING)
def test_the_command_line_wins_over_the_settings(given, llm, spec):
    assert Project(llm=llm).asking(*given).spec == spec


def test_a_description_holds_no_secret():
    shown = described("live", {"kind": "live", "model": "m", "base_url": "https://me:pass@host:8/v1?api_key=abc#d"})
    assert shown == "live (model=m, base_url=https://host:8/v1)"
    assert described("extractive", {}) == "extractive"


def test_prompts_of_the_settings_reach_the_model_and_name_the_run(tmp_path):
    (tmp_path / "mine.toml").write_text('reflect_system = "You are the night clerk."\n', encoding="utf-8")
    (tmp_path / "compactlab.toml").write_text('[llm]\nprompts = "mine.toml"\n', encoding="utf-8")
    project = load(tmp_path / "compactlab.toml")
    model = Scripted("- The key hangs by the door.")
    said = [Message(("user", "assistant")[n % 2], (Text(f"Note {n}: " + "words " * 40),), source=n) for n in range(30)]
    compact(said, "sliding_reflect(preserve_recent=2)", guard=Guard(model=model, prompts=project.prompts))
    assert "night clerk" in model.requests[0].system
    assert project.identity(model) == f"scripted(prompts={project.prompts.version})"
    assert Project().identity(model) == "scripted"


@pytest.mark.parametrize("text", ["summary_task = 3", "sumary_task = 'x'", "oops"])
def test_a_bad_file_of_prompts_is_an_error_that_names_it(tmp_path, text):
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    (tmp_path / "compactlab.toml").write_text('[llm]\nprompts = "mine.toml"\n', encoding="utf-8")
    with pytest.raises(SpecError, match=r"mine\.toml"):
        load(tmp_path / "compactlab.toml")
