"""What was found in a list of messages, remembered while the same list is asked about."""

from histories import agent, messages, user
from hypothesis import given

from compactlab import history
from compactlab.remembered import LATEST, remembered
from compactlab.validity import violations


def counting():
    asked = []

    @remembered
    def found(talk):
        asked.append(talk)
        return list(talk)

    return found, asked


def test_the_same_tuple_is_looked_at_once():
    found, asked = counting()
    talk = (user(), agent("a"))
    assert found(talk) is found(talk)
    assert len(asked) == 1


def test_an_equal_tuple_is_another_one():
    found, asked = counting()
    found((user(), agent("a")))
    found((user(), agent("a")))
    assert len(asked) == 2


def test_a_list_is_looked_at_each_time_since_it_may_change():
    found, asked = counting()
    talk = [user()]
    assert found(talk) == talk
    talk.append(agent("a"))
    assert found(talk) == talk
    assert [type(seen) for seen in asked] == [tuple, tuple]


def test_only_the_latest_are_held_and_the_one_asked_about_last_goes_last():
    found, asked = counting()
    talks = [(user(str(n)),) for n in range(LATEST + 1)]
    for talk in talks[:LATEST]:
        found(talk)
    found(talks[0])
    found(talks[LATEST])  # pushes out the second
    assert len(asked) == LATEST + 1
    found(talks[0])
    assert len(asked) == LATEST + 1
    found(talks[1])
    assert len(asked) == LATEST + 2


def test_nothing_found_is_remembered_too():
    asked = []
    found = remembered(asked.append)
    talk = (user(),)
    found(talk)
    found(talk)
    assert asked == [talk]


@given(messages())
def test_what_is_remembered_of_a_history_is_what_is_found_in_it_anew(talk):
    for ask in (history.pair, history.units, history.repair, history.split_turns, history.protected):
        assert ask(talk) == ask(talk) == ask(list(talk))
    for rules in ("openai", "anthropic", "strict"):
        assert violations(talk, rules) == violations(talk, rules) == violations(list(talk), rules)


@given(messages())
def test_a_caller_may_change_the_reasons_of_the_protected_set_for_itself(talk):
    why = history.protection(talk)
    before = dict(why)
    why.clear()
    assert history.protection(talk) == before
