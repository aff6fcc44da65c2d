"""What a run may spend, and how many requests may be out at once: held over threads and processes."""

import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_server import ASKED, Answer, ModelServer, completion, live

from compactlab.harness.answers import with_cost
from compactlab.llm import ModelError
from compactlab.llm.live import Cap, Live, Spent, Use
from compactlab.llm.live.spending import Tally
from compactlab.llm.locks import slot

PRICES = {"my-model": {"input": 10, "output": 100, "cached": 1}}
SPAWNED = multiprocessing.get_context("spawn")


def tried(model):
    """In another process: the text of a reply, or what was said instead."""
    try:
        return model.reply(ASKED).text
    except ModelError as fault:
        return str(fault)


def refused(model):
    with pytest.raises(ModelError) as raised:
        model.reply(ASKED)
    return str(raised.value)


# ---- what is counted


def test_calls_tokens_and_money_of_all_processes_stand_in_one_file(tmp_path):
    cap = Cap(path=tmp_path / "spending.jsonl", prices=PRICES)
    with ModelServer(Answer(completion(usage=(1_000, 10)))) as server:
        model = live(server, cap=cap)
        assert model.spent() == Spent(0, 0, 0.0)
        with ProcessPoolExecutor(2, SPAWNED) as pool:
            assert list(pool.map(tried, [model] * 6)) == ["Hello."] * 6
    assert model.spent() == Spent(6, 6_060, pytest.approx(6 * (1_000 * 10 + 10 * 100) / 1e6))
    lines = Path(cap.path).read_text().splitlines()
    assert [json.loads(line)["state"] for line in lines].count("done") == 6
    assert len(lines) == 12


def test_money_is_unknown_where_one_price_is():
    with ModelServer(completion()) as server:
        model = live(server)
        model.reply(ASKED)
        assert model.spent() == Spent(1, 9, None)
        assert model.cost(model.reply(ASKED)) is None
        priced = live(server, cap=Cap(prices={"served-model": {"input": 1, "output": 1}}))
        assert priced.cost(priced.reply(ASKED)) == pytest.approx(9e-6)


def test_a_reply_without_usage_counts_with_the_tokens_of_its_text():
    with ModelServer(completion("one two three", usage=None)) as server:
        model = live(server)
        reply = model.reply(ASKED)
        assert (reply.input_tokens, reply.output_tokens) == (0, 0)
        assert model.spent().tokens == 6 + 3


@pytest.mark.parametrize(("how", "tries"), [("hang", 3), ("reset", 3), ("closed", 3)])
def test_a_try_that_breaks_off_may_be_billed_and_counts_with_what_was_sent(how, tries):
    with ModelServer(Answer(how=how)) as server:
        model = live(server, timeout_seconds=1 if how == "hang" else 5)
        refused(model)
        assert model.spent()[:2] == (0, 6 * tries)


def test_a_try_that_was_refused_counts_nothing():
    with ModelServer(Answer(b"", 500), completion(usage=(30, 4))) as server:
        model = live(server)
        model.reply(ASKED)
        assert model.spent()[:2] == (1, 34)


# ---- the cap


def test_no_call_is_made_that_would_pass_the_cap_of_tokens(tmp_path):
    cap = Cap(tokens=250, path=tmp_path / "spending.jsonl")
    with ModelServer(completion(usage=(80, 20))) as server:
        model = live(server, cap=cap)
        assert [model.reply(ASKED).text for _ in range(2)] == ["Hello."] * 2
        said = refused(model)
        assert len(server.asked) == 2
    assert said == (
        "my-model: not asked, since the cap of 250 tokens would be passed: 200 are spent or held, this call may need 70"
    )
    assert model.spent().tokens == 200


def test_no_call_is_made_that_would_pass_the_cap_of_money(tmp_path):
    cap = Cap(money=0.02, path=tmp_path / "spending.jsonl", prices=PRICES)
    with ModelServer(completion(usage=(500, 100))) as server:
        model = live(server, cap=cap)
        model.reply(ASKED)
        said = refused(model)
    assert "the cap of 0.02 USD would be passed: 0.0150 are spent or held, this call may need 0.0065" in said


@pytest.mark.parametrize("prices", [{}, {"my-model": {"input": 1, "output": 1, "currency": "EUR"}}])
def test_a_model_without_a_known_price_is_not_asked_under_a_cap_of_money(prices):
    with ModelServer(completion()) as server:
        said = refused(live(server, cap=Cap(money=5, prices=prices)))
        assert server.asked == []
    assert "there is a cap of 5 USD and no price in USD is known for my-model" in said


def test_earlier_calls_without_a_price_end_a_cap_of_money(tmp_path):
    path = tmp_path / "spending.jsonl"
    with ModelServer(completion()) as server:
        live(server, cap=Cap(path=path)).reply(ASKED)
        said = refused(live(server, cap=Cap(money=5, path=path, prices=PRICES)))
    assert "is known for an earlier call" in said


def test_a_cap_holds_over_processes_that_ask_at_the_same_time(tmp_path):
    cap = Cap(tokens=500, path=tmp_path / "spending.jsonl")
    with ModelServer(Answer(completion(usage=(6, 64)), delay=0.05)) as server:
        with ProcessPoolExecutor(4, SPAWNED) as pool:
            said = list(pool.map(tried, [live(server, cap=cap)] * 20))
        assert len(server.asked) == said.count("Hello.")
    assert cap.spent()[:2] == (7, 490)
    assert all("would be passed" in words for words in said if words != "Hello.")


def test_calls_that_come_together_are_held_one_after_the_other(tmp_path):
    path = tmp_path / "spending.jsonl"
    cap = Cap(tokens=1_000, path=path)
    path.write_text("".join(f'{{"call":"{n}","state":"done","model":"m","tokens":0}}\n' for n in range(2_000)))

    def held(_):
        try:
            return bool(cap.hold("m", Use(10, 0, 10)))
        except ModelError:
            return False

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(held, range(200))) == 50


def test_a_call_whose_end_was_never_written_counts_in_full_and_half_a_line_spoils_nothing(tmp_path):
    path = tmp_path / "spending.jsonl"
    cap = Cap(tokens=100, path=path)
    cap.hold("m", Use(40, 0, 20))
    with path.open("ab") as file:
        file.write(b'{"call":"x","sta')
    with pytest.raises(ModelError, match="60 are spent or held"):
        cap.hold("m", Use(40, 0, 20))
    call = cap.hold("m", Use(10, 0, 20))
    with pytest.raises(ModelError, match="90 are spent or held"):
        cap.hold("m", Use(10, 0, 10))
    cap.end(call, "m", Use(5, 0, 5), replied=True)
    assert cap.spent() == Spent(1, 10, None)


def test_a_file_that_cannot_be_written_refuses_the_call(tmp_path):
    with ModelServer(completion()) as server:
        said = refused(live(server, cap=Cap(path=tmp_path / "no" / "folder")))
        assert server.asked == []
    assert said.endswith("cannot be used to count what is spent (No such file or directory)")


# ---- requests at once


@pytest.mark.parametrize("places", [1, 3])
def test_no_more_requests_are_out_at_once_than_there_are_places(places):
    with ModelServer(Answer(delay=0.2)) as server:
        model = live(server, concurrency=places)
        with ThreadPoolExecutor(8) as pool:
            assert len(list(pool.map(model.reply, [ASKED] * 9))) == 9
    assert min(2, places) <= server.most <= places


def test_the_places_are_shared_by_processes(tmp_path):
    with ModelServer(Answer(delay=0.2)) as server:
        models = [live(server, concurrency=2, cap=Cap(path=tmp_path / "spending.jsonl")) for _ in range(12)]
        with ProcessPoolExecutor(4, SPAWNED) as pool:
            assert list(pool.map(tried, models)) == ["Hello."] * 12
    assert server.most == 2


def test_places_that_are_taken_and_left_all_the_time_are_never_too_many():
    inside, most = [], []

    def visited(number):
        with slot("a crowded place", 2):
            inside.append(number)
            time.sleep(0.0005)
            most.append(len(inside))
            inside.remove(number)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(visited, range(2_000)))
    assert max(most) <= 2


def test_a_place_is_free_again_after_a_failure():
    with ModelServer(Answer(b"", 400), completion()) as server:
        model = live(server, concurrency=1)
        refused(model)
        assert isinstance(model, Live)
        assert model.reply(ASKED).text == "Hello."


def test_progress_tells_what_the_calls_of_a_run_have_cost_so_far(tmp_path):
    told = []
    progress = with_cost(lambda *said: told.append(said), tmp_path / "spending.jsonl")
    progress(1, 4, "one")
    cap = Cap(path=tmp_path / "spending.jsonl")
    cap.end(cap.hold("gpt-5-mini", Use(2_000_000, 0, 0)), "gpt-5-mini", Use(1_000_000, 0, 0), replied=True)
    progress(2, 4, "two")
    money = cap.spent().money
    assert money is not None
    assert told == [(1, 4, "one"), (2, 4, f"two (1 calls, 1,000,000 tokens, {money:.2f} USD)")]


ENTRIES = st.tuples(
    st.integers(0, 9), st.sampled_from(["done", "failed", "killed"]), st.sampled_from(["my-model", "x"])
)


@given(st.lists(st.lists(ENTRIES, max_size=6), max_size=5))
def test_a_tally_says_at_each_look_what_the_cap_says(looks):
    with TemporaryDirectory() as folder:
        cap = Cap(path=Path(folder) / "spending.jsonl", prices=PRICES)
        tally = Tally(cap.path)
        assert tally.spent() == (0, 0, 0.0)
        for calls in looks:
            for tokens, state, model in calls:
                call = cap.hold(model, Use(2 * tokens, 0, 5))
                if state != "killed":
                    cap.end(call, model, Use(tokens, 0, 1), replied=state == "done")
            said, meant = tally.spent(), cap.spent()
            assert (said.calls, said.tokens) == (meant.calls, meant.tokens)
            assert said.money == (None if meant.money is None else pytest.approx(meant.money))


def test_a_tally_reads_no_line_twice_and_waits_for_one_that_is_being_written(tmp_path):
    cap = Cap(path=tmp_path / "spending.jsonl", prices=PRICES)
    tally = Tally(cap.path)
    cap.end(cap.hold("my-model", Use(5, 0, 0)), "my-model", Use(3, 0, 0), replied=True)
    whole = Path(cap.path).read_bytes()
    Path(cap.path).write_bytes(whole[:-4])
    assert tally.spent().tokens == 0
    Path(cap.path).write_bytes(whole)
    assert tally.spent().tokens == tally.spent().tokens == 3
    Path(cap.path).write_bytes(b"-" * len(whole))  # what was read is not looked at again
    assert tally.spent().tokens == 3
