"""A run on disk: what is written, what is taken up again, what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from compactlab.errors import RunError
from compactlab.records import Block, Key, Manifest, Record, encode
from compactlab.results import Results, Writer, read_manifest

MANIFEST = Manifest(
    compactlab="0.1.0",
    scorer="1",
    counter="o200k_base",
    counter_version="toktok-rs 0.3.0",
    seed=0,
    cuts=("0.4", "0.7"),
    strategies=("none", "cull"),
    corpus="0123456789ab",
    sessions=("one", "two"),
    families=("number",),
    plugins={"none": "aaaa", "cull": "bbbb"},
)


FIRST = Key("one", "0.4", "none")


def block(key=FIRST, scores=2, made_by="m1", text="plain"):
    common = {"agent_type": "primary", "cluster": "c", "index": 5, **asdict(key)}
    rows = [Record(**common, metric=f"m{i}", value=i / 3, n=3) for i in range(scores)]
    head = Record(**common, metric="outcome", n=scores, outcome="applied", reason=text, made_by=made_by)
    return Block((head, *rows), {"outcome": "applied", "messages": [[0, 4], {"text": text}]}, 0.25)


ORDER = [block(Key(s, c, n)) for s in ("one", "two") for c in ("0.4", "0.7") for n in ("none", "cull")]


def anyone(strategy):  # noqa: ARG001
    return "m1"


def written(folder, blocks, made_by=anyone, manifest=MANIFEST):
    """Write *blocks* as a run would, kept where they are done, and give the keys of those that were made."""
    writer = Writer(folder, manifest, made_by)
    made = []
    for one in blocks:
        if one.key in writer.done:
            writer.keep(one.key)
        else:
            writer.write(one)
            made.append(one.key)
    writer.close()
    return made


def contents(folder):
    return {name: (folder / name).read_bytes() for name in ("records.jsonl", "compactions.jsonl")}


@pytest.fixture
def undisturbed(tmp_path):
    written(tmp_path / "undisturbed", ORDER)
    return contents(tmp_path / "undisturbed")


def test_a_run_is_written_in_order_a_head_and_its_rows_a_block(tmp_path, undisturbed):
    lines = [json.loads(line) for line in undisturbed["records.jsonl"].splitlines()]
    assert [line["metric"] for line in lines] == ["outcome", "m0", "m1"] * 8
    assert [line["key"]["strategy"] for line in map(json.loads, undisturbed["compactions.jsonl"].splitlines())] == [
        "none",
        "cull",
    ] * 4
    folder = tmp_path / "undisturbed"
    assert {path.name for path in folder.iterdir()} == {*undisturbed, "manifest.json", "timings.jsonl"}
    assert len((folder / "timings.jsonl").read_bytes().splitlines()) == 8


def test_what_was_written_is_read_back(tmp_path):
    written(tmp_path / "run", ORDER)
    results = Results(tmp_path / "run")
    assert results.manifest == MANIFEST
    assert results.records == tuple(record for one in ORDER for record in one.records)
    frame = results.to_frame()
    assert len(frame) == 24
    assert list(frame.columns) == list(Record.__struct_encode_fields__)
    assert frame.query("metric == 'm1'")["value"].tolist() == [pytest.approx(1 / 3)] * 8
    assert Results(str(tmp_path / "run")).records == results.records


def test_what_each_block_left_is_read_back_in_its_order(tmp_path):
    written(tmp_path / "run", ORDER)
    path = tmp_path / "run" / "compactions.jsonl"
    left = list(Results(tmp_path / "run").left)
    assert left == [(one.key, one.compaction) for one in ORDER]
    path.write_bytes(path.read_bytes() + b'{"key": ')
    assert list(Results(tmp_path / "run").left) == left
    path.unlink()
    assert list(Results(tmp_path / "run").left) == []


def test_a_run_that_is_complete_is_kept_as_it_is(tmp_path, undisturbed):
    assert written(tmp_path / "undisturbed", ORDER) == []
    assert contents(tmp_path / "undisturbed") == undisturbed


@given(st.data())
def test_a_run_cut_off_anywhere_ends_with_the_same_bytes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("cut")
    written(folder, ORDER)
    whole = contents(folder)
    # compactions are written first: they are never behind the records
    records = data.draw(st.integers(0, len(whole["records.jsonl"])))
    complete = whole["records.jsonl"][:records].count(b'"metric":"outcome"')
    least = sum(len(line) + 1 for line in whole["compactions.jsonl"].split(b"\n")[:complete])
    compactions = data.draw(st.integers(min(least, len(whole["compactions.jsonl"])), len(whole["compactions.jsonl"])))
    (folder / "records.jsonl").write_bytes(whole["records.jsonl"][:records])
    (folder / "compactions.jsonl").write_bytes(whole["compactions.jsonl"][:compactions])
    written(folder, ORDER)
    assert contents(folder) == whole


TAILS = [
    b"x",
    b"xyz\n",
    b'{"session": "one"',
    b'{"session": "one"}\n',
    b"\x00\x00\x00\x00",
    b"\x00\x00\n\x00",
    b"\xff\xfe\n",
    b"\n",
    b"[]\n{}\n",
    b"null\n",
]


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("name", ["records.jsonl", "compactions.jsonl"])
@pytest.mark.parametrize("complete", [True, False])
def test_garbage_at_the_end_is_dropped(tmp_path, undisturbed, name, tail, complete):
    folder = tmp_path / "run"
    written(folder, ORDER if complete else ORDER[:3])
    with (folder / name).open("ab") as file:
        file.write(tail)
    written(folder, ORDER)
    assert contents(folder) == undisturbed


def test_a_block_that_lacks_its_last_row_is_made_again(tmp_path, undisturbed):
    folder = tmp_path / "run"
    written(folder, ORDER)
    lines = undisturbed["records.jsonl"].splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(b"".join(lines[:-1]))
    assert written(folder, ORDER) == [ORDER[-1].key]
    assert contents(folder) == undisturbed


def test_a_missing_file_of_compactions_or_records_is_made_again(tmp_path, undisturbed):
    for name in undisturbed:
        folder = tmp_path / name
        written(folder, ORDER)
        (folder / name).unlink()
        written(folder, ORDER)
        assert contents(folder) == undisturbed


@pytest.mark.parametrize("stale", ["none", "cull"])
def test_blocks_of_a_changed_plug_in_are_made_again_and_only_those(tmp_path, undisturbed, stale):
    folder = tmp_path / "undisturbed"

    def made_by(key):
        return "m2" if key.strategy == stale else "m1"

    fresh = [block(b.key, 3, made_by(b.key)) for b in ORDER]
    expected = [new if new.key.strategy == stale else old for new, old in zip(fresh, ORDER, strict=True)]
    assert written(folder, expected, made_by) == [b.key for b in ORDER if b.key.strategy == stale]
    assert Results(folder).records == tuple(record for one in expected for record in one.records)
    written(tmp_path / "fresh", expected, made_by)
    assert contents(folder) == contents(tmp_path / "fresh") != undisturbed


def test_a_run_killed_while_it_makes_stale_blocks_again_still_ends_the_same(tmp_path):
    folder = tmp_path / "run"
    written(folder, ORDER)
    expected = [block(b.key, 3, "m2") for b in ORDER]
    written(tmp_path / "fresh", expected, lambda _: "m2")
    for done in (1, 4, 6):
        written(folder, expected[:done], lambda _: "m2")
    written(folder, expected, lambda _: "m2")
    assert contents(folder) == contents(tmp_path / "fresh")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scorer", "0"),
        ("counter", "chars/4"),
        ("counter_version", "toktok-rs 9"),
        ("seed", 1),
        ("cuts", ("0.5",)),
        ("strategies", ("none",)),
        ("corpus", "another"),
        ("sessions", ("one",)),
        ("families", ("path",)),
    ],
)
def test_a_folder_with_another_run_is_refused_and_left_alone(tmp_path, undisturbed, field, value):
    folder = tmp_path / "undisturbed"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(RunError, match=f"another {field}"):
        Writer(folder, replace(MANIFEST, **{field: value}), anyone)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert contents(folder) == undisturbed


def test_another_version_of_the_package_or_of_a_plug_in_goes_on(tmp_path):
    written(tmp_path / "run", ORDER[:2])
    newer = replace(MANIFEST, compactlab="9.9.9", plugins={"none": "cccc"})
    assert written(tmp_path / "run", ORDER, manifest=newer) == [one.key for one in ORDER[2:]]
    assert read_manifest(tmp_path / "run") == newer


def other_files(folder):
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine", encoding="utf-8")


def a_file(folder):
    folder.write_text("mine", encoding="utf-8")


def a_broken_manifest(folder):
    folder.mkdir()
    (folder / "manifest.json").write_text('{"compactlab": ', encoding="utf-8")


def a_foreign_manifest(folder):
    folder.mkdir()
    (folder / "manifest.json").write_text('{"name": "an extension", "manifest_version": 3}', encoding="utf-8")


def records_alone(folder):
    folder.mkdir()
    (folder / "records.jsonl").touch()


@pytest.mark.parametrize("make", [other_files, a_file, a_broken_manifest, a_foreign_manifest, records_alone])
def test_a_folder_with_anything_else_is_refused_and_left_alone(tmp_path, make):
    folder = tmp_path / "run"
    make(folder)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(RunError, match="run"):
        Writer(folder, MANIFEST, anyone)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_empty_folder_and_one_that_must_be_made_are_taken(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "a" / "b" / "new"):
        written(folder, ORDER[:1])
        assert len(Results(folder).records) == 3


def test_a_folder_under_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be written"):
        Writer(tmp_path / "file" / "run", MANIFEST, anyone)


@pytest.mark.parametrize("make", [other_files, a_file, a_broken_manifest, a_foreign_manifest, records_alone, None])
def test_what_holds_no_run_cannot_be_read_back(tmp_path, make):
    if make:
        make(tmp_path / "run")
    with pytest.raises(RunError, match=r"manifest\.json"):
        Results(tmp_path / "run")


@pytest.mark.parametrize("tail", [b"x", b'{"session": "one"', b"\x00"])
def test_an_unfinished_last_line_is_not_read_back(tmp_path, tail):
    written(tmp_path / "run", ORDER)
    with (tmp_path / "run" / "records.jsonl").open("ab") as file:
        file.write(tail)
    assert len(Results(tmp_path / "run").records) == 24


@pytest.mark.parametrize("line", [b"xyz\n", b"{}\n", b"\xff\n"])
def test_a_line_of_records_that_is_none_is_a_run_error(tmp_path, line):
    written(tmp_path / "run", ORDER)
    with (tmp_path / "run" / "records.jsonl").open("ab") as file:
        file.write(line)
    with pytest.raises(RunError, match="records"):
        _ = Results(tmp_path / "run").records


def test_a_run_without_records_is_a_run_error(tmp_path):
    written(tmp_path / "run", ORDER)
    (tmp_path / "run" / "records.jsonl").unlink()
    with pytest.raises(RunError, match="records"):
        _ = Results(tmp_path / "run").records


def test_lone_surrogates_are_written_escaped_and_taken_up_again(tmp_path):
    odd = [block(text="broken \ud83d escape"), *ORDER[1:]]
    written(tmp_path / "run", odd)
    whole = contents(tmp_path / "run")
    assert b"\\ud83d" in whole["compactions.jsonl"]
    assert b"\\ud83d" in whole["records.jsonl"]
    lines = whole["records.jsonl"].splitlines(keepends=True)
    (tmp_path / "run" / "records.jsonl").write_bytes(b"".join(lines[:-2]))
    assert written(tmp_path / "run", odd) == [odd[-1].key]
    assert contents(tmp_path / "run") == whole
    assert len(Results(tmp_path / "run").records) == 24


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (Key("s", "0.4", "none"), {"session": "s", "cut": "0.4", "strategy": "none"}),
        (Key("s", "0.4", "random", "cull"), {"session": "s", "cut": "0.4", "strategy": "random", "size_of": "cull"}),
        ({"a": "\ud83d"}, {"a": "\ud83d"}),
        ({"a": 0.1}, {"a": 0.1}),
    ],
)
def test_a_row_is_one_line_of_json(row, expected):
    line = encode(row)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == expected


def test_a_record_is_written_alike_wherever_it_was_made():
    key = {"session": "s", "agent_type": "primary", "cluster": "c", "cut": "0.4", "index": 5, "strategy": "none"}
    alike = [Record(**key, metric="outcome"), Record(**key, metric="outcome", value=float("0"))]
    assert alike[0] == alike[1]
    assert encode(alike[0]) == encode(alike[1])


def test_a_record_knows_its_block():
    assert ORDER[3].key == ORDER[3].records[2].key == Key("one", "0.7", "cull")


def test_the_digest_of_a_manifest_tells_runs_apart():
    assert MANIFEST.digest() == replace(MANIFEST).digest()
    assert len(MANIFEST.digest()) == 8
    assert MANIFEST.digest() != replace(MANIFEST, seed=1).digest()
    assert MANIFEST.digest() == replace(MANIFEST, plugins=dict(reversed(MANIFEST.plugins.items()))).digest()
