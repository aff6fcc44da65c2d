"""Numbers that others have published, made again from their data by the functions that make ours.

The data of textbooks are small and stand here, as does what was printed of them. The benchmark's conversation belongs
to its project and is taken from its package: `pip install compaction-conformance-kit==0.8.0`, or a folder that holds
its wheel, named by COMPACTLAB_PUBLISHED.
"""

import importlib
import os
import sys
from collections import defaultdict
from math import sqrt
from pathlib import Path

import pytest
from scipy.special import ndtr

from compactlab.matching import Matcher, Pattern
from compactlab.stats import Spread, clustered, compared, equivalence, holm, sessions_for, sign_flips

STUDENT = (
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)
"""Hours of sleep that ten patients gained by two drugs: Student, "The probable error of a mean", Biometrika 6, 1908."""
DARWIN = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)
"""Eighths of an inch by which crossed maize outgrew its selfed twin: Fisher, "The design of experiments", 1935."""
GRADES = (
    (3.08, 2.60, 3.44, 3.04),
    (2.36, 3.04, 3.28, 2.68),
    (2.00, 2.56, 2.52, 1.88),
    (3.00, 2.88, 3.44, 3.64),
    (2.68, 1.92, 3.28, 3.20),
)
"""Grades of the four students of five suites, drawn of 100: Lohr, "Sampling: design and analysis", example 5.2."""
RANKS = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
"""Mean ranks of four classifiers on 14 data sets: Demsar, "Statistical comparisons of classifiers over multiple data
sets", Journal of Machine Learning Research 7, 2006, section 3.2.2."""


def one_each(values):
    return [(str(i), value) for i, value in enumerate(values)]


def test_students_sleep_has_the_paired_t_and_the_interval_that_is_printed():
    found = compared(one_each(b - a for a, b in zip(*STUDENT, strict=True)))
    assert found.difference.mean == pytest.approx(1.58)
    assert found.difference.mean / found.difference.error == pytest.approx(4.0621, abs=5e-5)
    assert found.p == pytest.approx(0.002833, abs=5e-7)
    assert found.difference.low == pytest.approx(0.7001142, abs=5e-8)
    assert found.difference.high == pytest.approx(2.4598858, abs=5e-8)


def test_darwins_maize_has_fishers_t_and_his_count_of_signs():
    found = compared(one_each(DARWIN))
    assert sum(DARWIN) == 314
    assert found.difference.mean / found.difference.error == pytest.approx(2.148, abs=5e-4)
    assert found.p == pytest.approx(0.0497, abs=5e-5)
    assert sign_flips(one_each(DARWIN)) == found.flips == 2 * 863 / 2**15
    assert 100 * found.flips == pytest.approx(5.267, abs=5e-4)


def test_lohrs_suites_have_the_clustered_error_that_is_printed():
    found = clustered([(str(suite), grade) for suite, grades in enumerate(GRADES) for grade in grades])
    assert found.mean == pytest.approx(2.826)
    of_a_finite_population = sqrt(1 - 5 / 100)
    assert found.error * of_a_finite_population == pytest.approx(0.1637, abs=5e-5)


def test_demsars_classifiers_fall_to_holm_as_he_says():
    error = sqrt(4 * 5 / (6 * 14))
    z = {name: (RANKS["C4.5"] - RANKS[name]) / error for name in ("C4.5+m+cf", "C4.5+m", "C4.5+cf")}
    assert list(z.values()) == pytest.approx([2.416, 2.342, 0.512], abs=1e-3)
    p = [2 * float(ndtr(-value)) for value in z.values()]
    assert p == pytest.approx([0.016, 0.019, 0.607], abs=2e-3)
    assert [adjusted < 0.05 for adjusted in holm(p)] == [True, True, False]


def test_millers_example_takes_as_many_questions_as_he_says():
    # w^2 = 1/9, no noise of repetitions, a difference of 3 points, 5 %, power 80 %: "Adding error bars to evals", 2024
    assert sessions_for(0.03, Spread(1 / 9)) == 969


def test_sleep_is_not_equivalent_within_half_an_hour_and_is_within_three():
    found = compared(one_each(b - a for a, b in zip(*STUDENT, strict=True))).difference
    t = (found.mean - 0.5) / found.error  # the upper of the two one-sided tests of Schuirmann 1987
    assert t == pytest.approx(2.777, abs=5e-4)
    assert equivalence(found, 0.5) == pytest.approx(0.989, abs=5e-4)
    assert equivalence(found, 3.0) < 0.05


@pytest.fixture(scope="module")
def kit():
    """The seeded conversation of compaction-conformance-kit 0.8.0 and what it plants there; none of its scoring."""
    folder = os.environ.get("COMPACTLAB_PUBLISHED")
    wheels = sorted(Path(folder).glob("compaction_conformance_kit-0.8.0-*.whl")) if folder else []
    sys.path[:0] = map(str, wheels)
    try:
        session, canaries = (importlib.import_module(f"compaction_kit.{name}") for name in ("session", "canaries"))
    except ImportError:
        pytest.skip("compaction-conformance-kit is not here: pip install it, or set COMPACTLAB_PUBLISHED")
    finally:
        del sys.path[: len(wheels)]
    return session.build_seeded_session(), canaries.seeded_canaries()


def share_held(canaries, text):
    """By type, in per cent, the planted statements of which every word that must survive stands in a text."""
    held = defaultdict(list)
    for canary in canaries:
        words = {*canary.required_tokens, *canary.behavior_required_tokens, *canary.exact_use_required_tokens}
        found = [Matcher([Pattern((word,), exact=False, family="quote")]).hits(text) for word in words]
        held[canary.type.value].append(all(found))
    order = ("safety_rule", "hard_constraint", "fact", "goal_state", "user_preference")
    return [100 * sum(held[kind]) / len(held[kind]) for kind in order]


def last_lines(text, share):
    """The last of a text's letters, in whole lines."""
    tail = text[-int(len(text) * share) :]
    return tail.partition("\n")[2] if "\n" in tail else tail


def test_the_table_of_a_compaction_benchmark_comes_out_of_its_conversation(kit):
    session, canaries = kit
    text = session.full_text()
    assert share_held(canaries, text) == [100] * 5
    rounds = []
    for _ in range(5):
        text = last_lines(text, 0.30)
        rounds.append(share_held(canaries, text))
    # its README: lossy-truncation (keep last 30%): 25% -> 0%, 25% -> 0%, 25% -> 0%, 50% -> 0%, 25% -> 0%
    assert rounds[0] == [25, 25, 25, 50, 25]
    assert rounds[-1] == [0] * 5
    # and of safety rules, round by round: 25%, 0%, 0%, 0%, 0%
    assert [of[0] for of in rounds] == [25, 0, 0, 0, 0]


def test_its_summary_without_structure_keeps_what_its_last_letters_hold(kit):
    session, canaries = kit
    late = "\n".join(f"[{turn.role}] {turn.text}" for turn in session.turns[len(session.turns) // 2 :])
    # its README: naive-summary (no structure): 0%, 25%, 0%, 25%, 25%; the text keeps 1,500 letters of the later half
    assert share_held(canaries, late[-1_500:]) == [0, 25, 0, 25, 25]
