"""SWE-agent's `last_n_observations`: its constants, where the border stands, and what it is known for."""

import pytest
from histories import agent, answering, calling, result, system, user
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import constants, held, raw, steps
from test_peers import off

from compactlab.peers.last_n_observations import LastObservations
from compactlab.transcript import Image, Message, Text, ToolResult


def elided(given_):
    return [i for i, r in enumerate(r for m in given_.messages for r in m.results) if r.text.startswith("Old env")]


def test_its_constants_are_those_that_were_published():
    assert constants(LastObservations) == {"n": 5, "polling": 1, "keep_output": (), "remove_output": ()}


@pytest.mark.parametrize(
    ("n", "polling", "count", "gone"),
    [
        (5, 1, 5, 0),
        (5, 1, 6, 1),
        (5, 1, 20, 15),
        (1, 1, 20, 19),
        (5, 10, 8, 0),  # nine with the task
        (5, 10, 9, 4),  # ten: the border moves
        (5, 10, 18, 4),  # nineteen: it stays
        (5, 10, 19, 14),
    ],
)
def test_the_newest_stay_and_the_border_moves_every_so_many_observations(n, polling, count, gone):
    given_ = raw(LastObservations(n=n, polling=polling), [system(), user(), *steps(count), user()])
    assert elided(given_) == list(range(gone))


@given(n=st.integers(1, 8), polling=st.integers(1, 8), count=st.integers(0, 40))
@settings(max_examples=60)
def test_between_n_and_n_plus_polling_observations_stay(n, polling, count):
    left = count - len(elided(raw(LastObservations(n=n, polling=polling), [user(), *steps(count)])))
    assert min(count, n) <= left <= max(n + polling - 1, 0) or count < n


def test_what_is_elided_is_counted_in_lines_and_pictures():
    content = (Text("a\nb\nc"), Image("image/png"))
    session = [user(), calling("c0"), Message("tool", (ToolResult("c0", content),)), *steps(1), user()]
    texts = [r.text for m in raw(LastObservations(n=1), session).messages for r in m.results]
    assert texts[0] == "Old environment output: (3 lines omitted) (1 images omitted)"


@pytest.mark.parametrize(
    ("more", "gone"),
    [
        ({"keep_output": ("bash",)}, []),
        ({"remove_output": ("Bash",)}, [0, 1, 2, 3]),
        ({"keep_output": ("bash",), "remove_output": ("bash",)}, [0, 1, 2, 3]),
        ({"keep_output": ("read",)}, [0, 1]),
    ],
)
def test_tools_may_be_marked_to_keep_or_to_lose_their_output(more, gone):
    assert elided(raw(LastObservations(n=2, **more), [user(), *steps(4), user()])) == gone


def test_an_agent_that_writes_its_actions_as_text_has_its_observations_elided_too():
    seen = [m for i in range(4) for m in (agent(f"ls {i}"), user(f"file {i}\n" * 20, synthetic=True))]
    given_ = raw(LastObservations(n=1), [user("Fix it."), *seen])
    assert [m.text[:8] for m in given_.messages if m.synthetic] == ["Old envi"] * 3 + ["file 3\nf"]
    assert given_.messages[0].text == "Fix it."


def test_fault_a_short_observation_grows_and_the_guard_refuses_that():
    session = [user(), *(m for i in range(9) for m in (calling(f"c{i}"), answering(f"c{i}"))), user()]
    assert result("c0").text == "fine"
    assert held(off("last_n_observations"), session).receipt.outcome == "applied"
    assert held(LastObservations(), session).receipt.outcome == "rejected"
