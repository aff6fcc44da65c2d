"""A run with a reader and a judge from the command line: rows, tables, stores, batches, what is said of them."""

import json
import re

import pytest
import runs
from model_server import ModelServer, completion
from replies import SUMMARY
from reports import row

from compactlab.answering.wording import DIMENSIONS, JUDGE_SYSTEM, READER_SYSTEM
from compactlab.report import Report
from compactlab.report.answers import sections
from compactlab.results import Results
from compactlab.settings import Project, load

SHORT = runs.CHECKOUT / "fixtures" / "short"
PROBES = [json.loads(line) for line in (SHORT / "subagent-loop.probes.jsonl").read_text().splitlines()]
SPECS = ("none", "sliding_window", "summary(preserve_recent=4)")
FILES = ("records.jsonl", "compactions.jsonl")

pytestmark = pytest.mark.usefixtures("alone")


def said_of(body):
    """What an able model would say: the answer where it stands in what it was shown, the grades, a summary."""
    system, prompt = (message["content"] for message in body["messages"])
    if system.startswith(JUDGE_SYSTEM):
        return completion(json.dumps(dict.fromkeys(DIMENSIONS, 4)))
    if system != READER_SYSTEM:
        return completion(SUMMARY)
    probe = next(probe for probe in PROBES if f"Question: {probe['question']}" in prompt)
    shown = prompt.split("Question: ", maxsplit=1)[0]
    if probe["id"].endswith("06"):
        return completion("Leave it aside and go on.")  # right, in words that no match knows
    return completion(probe["answer"] if probe["answer"] in shown else "UNKNOWN")


def asking(out, *more, jobs=1):
    return ("run", SHORT, "--strategies", *SPECS, "--cut", "0.7", "--jobs", jobs, "--out", out, *more)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_recorded_run_is_replayed_byte_for_byte_without_a_server(said, tmp_path, jobs):
    with ModelServer(said_of) as server:
        models = ("--model", "writer-7b", "--reader", "reader-7b", "--judge", "judge-70b", "--base-url", server.url)
        code, out, err = said(*asking("first", "--llm", "record:store", *models, jobs=jobs))
        assert (code, err) == (0, "")
        asked = {body["model"] for _, _, body in server.asked}
    assert asked == {"writer-7b", "reader-7b", "judge-70b"}
    assert "kappa" in out
    manifest = Results("first").manifest
    assert (manifest.model, manifest.reader, manifest.judge) == ("writer-7b", "reader-7b", "judge-70b")
    names = ("--model", "writer-7b", "--reader", "reader-7b", "--judge", "judge-70b")
    for more in (names, ("--reader", "replay:store", "--judge", "replay:store")):  # named, or known from the store
        assert said(*asking(f"again{len(more)}", "--llm", "replay:store", *more))[0] == 0
        assert contents(tmp_path / f"again{len(more)}") == contents(tmp_path / "first")


def test_rows_and_tables_hold_presence_answers_and_the_gap_between_them(said):
    with ModelServer(said_of) as server:
        models = ("--reader", "reader-7b", "--judge", "judge-70b", "--base-url", server.url)
        assert said(*asking("run", *models))[0] == 0
        results = Results("run")
        again = len(server.asked)
        assert said(*asking("run", *models))[0] == 0
        assert len(server.asked) == again
    frame = results.answers_frame()
    assert set(frame["strategy"]) == {*SPECS, "null"}
    whole = frame[frame["strategy"] == "none"]
    assert (whole["present"] == "kept").sum() + (whole["present"] == "both").sum() == len(whole)
    judged = whole[whole["probe"].str.endswith("06")]
    assert judged["verdict"].tolist() == ["right"] * len(judged)
    assert set(judged["grade_accuracy"]) == {4}
    rows = results.to_frame()
    right = rows[(rows["metric"] == "answer_right") & (rows["strategy"] == "none")]
    assert right["value"].sum() == (whole["verdict"] == "right").sum()
    assert right["n"].sum() == len(whole)

    answers, grades = sections(Report(results).pool, results)
    by_row = {row[0]: dict(zip(answers.columns, row, strict=True)) for row in answers.rows}
    assert by_row["none"]["n"] == str(len(whole))
    assert by_row["none"]["guessed"] == "-"
    assert by_row["null"]["present"] == ".00"
    assert "reader-7b" in answers.legend
    assert "judge-70b" in grades.legend
    assert "reader-7b" not in "".join(name for name, *_ in answers.rows)
    code, out, _ = said("report", "run", "--table", "answers")
    assert (code, "Answers of a reader" in out, "Grades of a judge" in out) == (0, True, True)
    assert {fact.strategy for fact in results.needed} == set(SPECS)
    assert "Answers of a reader" in Report(results).markdown()


@row("K30-D6")
def test_a_judge_of_one_family_with_writer_or_reader_is_warned_of_loudly(said):
    with ModelServer(said_of) as server:
        url = ("--base-url", server.url)
        kin = ("--model", "gpt-5-mini", "--reader", "claude-haiku-4-5", "--judge", "o3", *url)
        _, out, err = said(*asking("kin", *kin))
        assert err.count("of one family (GPT) with gpt-5-mini, which writes for the strategies") == 1
        assert "claude" not in err
        assert "may favour its own kind" in " ".join(out.split())
        assert (
            said(*asking("alien", "--model", "gpt-5-mini", "--reader", "o3", "--judge", "claude-opus-4-1", *url))[2]
            == ""
        )


def test_questions_are_repeated_and_their_spread_is_told(said):
    turns = iter(range(10_000))

    def wavering(body):
        return said_of(body) if next(turns) % 3 else completion("UNKNOWN")

    with ModelServer(wavering) as server:
        options = ("--reader", "reader-7b", "--replicates", 3, "--base-url", server.url)
        assert said(*asking("run", *options))[0] == 0
    results = Results("run")
    frame = results.answers_frame()
    assert frame.groupby(["strategy", "probe"])["replicate"].apply(list).map(lambda n: n == [0, 1, 2]).all()
    [answers] = [section for section in sections(Report(results).pool, results) if section.rows]
    spread = answers.rows[0][answers.columns.index("spread")]
    assert re.fullmatch(r"\.\d\d", spread)
    assert float(spread) > 0


def test_a_strategy_that_asks_a_model_is_repeated_and_code_is_not(said):
    with ModelServer(said_of) as server:
        live = ("--model", "writer-7b", "--base-url", server.url, "--replicates", 3)
        assert said(*asking("run", *live))[0] == 0
        prompts = [json.dumps(body["messages"]) for _, _, body in server.asked]
        assert len(prompts) == 3
        assert len(set(prompts)) == 1
    heads = [record for record in Results("run").records if record.metric == "outcome" and not record.size_of]
    assert [r.replicate for r in heads if r.strategy == SPECS[2]] == [0, 1, 2]
    assert {r.replicate for r in heads if r.strategy != SPECS[2]} == {0}
    assert said(*asking("code", "--replicates", 3))[0] == 0
    assert {record.replicate for record in Results("code").records} == {0}


def test_a_batch_asks_writer_then_reader_then_judge_in_three_rounds(said, tmp_path):
    run = asking("run", "--llm", "batch:box", "--model", "writer", "--reader", "writer", "--judge", "judge")
    folders = {"box": [], "box/judge": []}
    for _ in range(5):
        code, out, err = said(*run)
        assert err == ""
        if code == 0:
            break
        assert code == 3
        for folder, rounds in folders.items():
            waits = tmp_path / folder / "requests.jsonl"
            lines = [json.loads(line) for line in waits.read_text().splitlines()] if waits.exists() else []
            if lines:
                assert f"compactlab llm import {folder} results.jsonl" in out
                assert len({line["body"]["model"] for line in lines}) == 1
                texts = [said_of(line["body"])["choices"][0]["message"]["content"] for line in lines]
                results = [{"custom_id": q["custom_id"], "text": t} for q, t in zip(lines, texts, strict=True)]
                (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, results)))
                assert said("llm", "import", folder, "results.jsonl")[0] == 0
                rounds.append(len(lines))
    assert code == 0
    assert len(folders["box"]) == 2
    assert len(folders["box/judge"]) in {1, 2}
    assert {answer.verdict for _, answer in Results("run").answers} <= {"right", "unknown", "stale"}


def test_a_reader_that_fails_is_counted_and_nothing_is_called_wrong(said):
    def half(body):
        return (
            completion("", finish="content_filter")
            if "checksum" in body["messages"][1]["content"][-200:]
            else said_of(body)
        )

    with ModelServer(half) as server:
        assert said(*asking("run", "--reader", "reader-7b", "--base-url", server.url))[0] == 0
    results = Results("run")
    frame = results.answers_frame()
    failed = frame[frame["failed"] != ""]
    assert set(failed["probe"]) == {"subagent-loop-02"}
    answers = sections(Report(results).pool, results)[0]
    by_row = {row[0]: dict(zip(answers.columns, row, strict=True)) for row in answers.rows}
    assert by_row["none"]["failed"] == "1"
    assert int(by_row["none"]["n"]) == (frame["strategy"] == "none").sum() - 1


def test_a_reader_without_probes_says_that_it_was_asked_nothing(said, tmp_path):
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes((SHORT / "subagent-loop.jsonl").read_bytes())
    with ModelServer(said_of) as server:
        options = ("--reader", "r", "--base-url", server.url, "--out", "run")
        code, _, err = said("run", plain, "--strategies", "none", *options)
        assert (code, server.asked) == (0, [])
    assert err == "compactlab: no probe could be asked; expected NAME.probes.jsonl beside NAME.jsonl\n"


def test_a_run_with_another_reader_is_another_run(said):
    with ModelServer(said_of) as server:
        for reader, code in (("one", 0), ("two", 2)):
            assert said(*asking("run", "--reader", reader, "--base-url", server.url))[0] == code


def test_a_judge_alone_is_refused(said):
    code, _, err = said(*asking("run", "--judge", "judge-70b"))
    assert code == 2
    assert "a judge is named and no reader" in err


@pytest.mark.parametrize("number", [0, -1])
def test_repetitions_are_one_or_more(said, number):
    code, _, err = said(*asking("run", "--replicates", number))
    assert (code, "replicates" in err) == (2, True)


@pytest.mark.parametrize(
    ("llm", "reader", "spec", "model"),
    [
        ("extractive", "gpt-5", "live", "gpt-5"),
        ("live:big", "live:llama3:8b", "live:llama3:8b", "llama3:8b"),
        ("live:big", "local", "local", None),
        ("record:s", "gpt-5", "record:s", "gpt-5"),
        ("replay:s", "gpt-5", "replay:s", "gpt-5"),
        ("replay:s", "local", "replay:s", None),
        ("record:s", "replay:other", "replay:other", None),
        ("batch:b", "gpt-5", "batch:b/reader", "gpt-5"),
        ("local", "mine.models:Reader", "mine.models:Reader", None),
    ],
)
def test_a_reader_is_named_by_a_model_or_a_spec_and_shares_the_store(llm, reader, spec, model):
    role = Project(llm_spec=llm).examining(reader).role("reader")
    assert (role.spec, role.llm.get("model")) == (spec, model)


def test_the_settings_file_names_reader_and_judge(tmp_path):
    file = tmp_path / "compactlab.toml"
    file.write_text(
        '[llm]\nkind = "live"\nmodel = "a"\nbase_url = "http://h/v1"\n[reader]\nmodel = "b"\ntemperature = 0.0\n'
    )
    role = load(file).role("reader")
    assert (role.spec, role.llm["model"], role.llm["base_url"]) == ("live", "b", "http://h/v1")
    assert load(file).role("judge") is None
    file.write_text('[reader]\nmodel = "b"\ncap_money = 3.0\n')
    with pytest.raises(Exception, match=r"line 3: \[reader\].*cap_money"):
        load(file)
