"""Where the sessions of a run were read, and that they are read again only if they say the same."""

import json

import runs
from msgspec.structs import replace

from compactlab.harness import Settings, run
from compactlab.readers import read, write
from compactlab.results.origins import Origin, digest, load, save
from compactlab.transcript import Text


def origin(transcript, path=None):
    return Origin(transcript.id, transcript.path if path is None else path, digest(transcript))


def folder_of(tmp_path):
    """Make a folder that says where the three short sessions are."""
    save(tmp_path, [origin(transcript) for transcript in read(runs.short_transcripts())])
    return tmp_path


def test_a_run_tells_where_its_sessions_were_read():
    lines = (runs.short().results.folder / "origins.jsonl").read_text(encoding="utf-8").splitlines()
    told = {row["session"]: row["path"] for row in map(json.loads, lines)}
    assert told == {name: str(runs.short_transcripts() / f"{name}.jsonl") for name in runs.SHORT}


def test_transcripts_are_found_where_they_were(tmp_path):
    found = load(folder_of(tmp_path))
    assert found.missing == {}
    assert found.transcripts == {t.id: t for t in read(runs.short_transcripts())}


def test_a_file_that_is_gone_or_says_something_else_is_told_of(tmp_path):
    one, two, three = read(runs.short_transcripts())
    texts = tmp_path / "texts"
    texts.mkdir()
    for transcript in (one, two, three):
        write([transcript], texts / f"{transcript.id}.jsonl")
    save(tmp_path, [*(origin(t, str(texts / f"{t.id}.jsonl")) for t in (one, two)), origin(three, "")])
    (texts / f"{one.id}.jsonl").unlink()
    write([replace(two, messages=two.messages[:-1])], texts / f"{two.id}.jsonl")
    found = load(tmp_path)
    assert found.transcripts == {}
    assert found.missing == {
        one.id: "its file is not where it was read",
        two.id: "its file says something else now",
        three.id: "it was not read from a file",
    }


def test_transcripts_that_were_moved_are_found_at_other_paths(tmp_path):
    folder, moved = folder_of(tmp_path), tmp_path / "moved.jsonl"
    kept = read(runs.short_transcripts())[1]
    write([kept], moved)
    found = load(folder, [moved])
    assert list(found.transcripts) == [kept.id]
    assert found.transcripts[kept.id].messages == kept.messages
    assert set(found.missing.values()) == {"it is not among the given files"}


def test_a_run_without_such_a_file_finds_nothing(tmp_path):
    assert load(tmp_path) == ({}, {})


def test_the_digest_is_of_what_was_said_whatever_is_pinned():
    transcript = read(runs.short_transcripts())[0]
    first = transcript.messages[0]
    pinned = replace(transcript, id="other", messages=(replace(first, pinned=True), *transcript.messages[1:]))
    said = replace(transcript, messages=(replace(first, blocks=(Text("other"),)), *transcript.messages[1:]))
    assert digest(pinned) == digest(transcript) != digest(said)


def test_pins_of_the_settings_do_not_hide_a_session(tmp_path):
    settings = Settings(("none",), cuts=(0.5,), jobs=1, pins=("role:user",))
    results = run(runs.short_transcripts(), tmp_path / "run", settings)
    assert load(results.folder).missing == {}
