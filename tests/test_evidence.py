"""Clues become facts if enough speaks for them in the whole session, and vanish if not."""

from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts.evidence import ENOUGH, Clue, settled
from compactlab.facts.fact import Fact, fact

WORDS = st.sampled_from(["label-service", "db.pool", "app.tally"])
CLUES = st.builds(lambda value, weight: Clue("identifier", value, (value,), weight=weight), WORDS, st.integers(0, 2))
FOUND = st.lists(st.one_of(CLUES, st.just(fact("path", "logs/label-service.log"))), max_size=8).map(
    lambda facts: [((0, place), made) for place, made in enumerate(facts)]
)


def counts(number, thing):
    return ((0, 1), fact("quantity", f"{number} {thing}"))


def described(number, word, thing):
    value = f"{number} {word} {thing}"
    return ((0, 9), Clue("quantity", value, (value,), exact=False, needs_anchor=True, thing=thing))


def test_a_count_with_a_word_between_is_one_if_the_thing_is_counted_elsewhere():
    clue = described(11, "damaged", "orders")
    assert settled([clue]) == []
    assert settled([clue, counts(14, "crates")]) == [counts(14, "crates")]
    kept = settled([clue, counts(14, "orders")])
    assert [made.value for _, made in kept] == ["14 orders", "11 damaged orders"]
    assert kept[1][1] == fact("quantity", "11 damaged orders", exact=False, needs_anchor=True)


@given(FOUND)
def test_what_is_settled_holds_no_clue_and_keeps_order_and_every_fact(found):
    kept = settled(found)
    assert [place for place, _ in kept] == sorted(place for place, _ in kept)
    assert not any(isinstance(made, Clue) for _, made in kept)
    sure = [one for one in found if not isinstance(one[1], Clue)]
    assert [one for one in kept if one in sure] == sure


@given(FOUND)
def test_a_clue_stays_if_and_only_if_enough_speaks_for_it(found):
    kept = {made.value for _, made in settled(found) if made.family == "identifier"}
    files = {"label-service"} if any(made.family == "path" for _, made in found) else set()
    for value in ("label-service", "db.pool", "app.tally"):
        clues = [made for _, made in found if isinstance(made, Clue) and made.value == value]
        enough = sum(clue.weight for clue in clues) >= ENOUGH or value in files
        assert (value in kept) is bool(clues and enough)


def test_what_holds_no_clue_is_left_as_it_is():
    found = [((0, 5), Fact("name", "Rowan", ("Rowan",))), ((0, 1), Fact("number", "1204", ("1204",)))]
    assert settled(found) == found
