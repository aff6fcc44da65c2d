"""The words of the sixteen findings: what each asks, the numbers that the study printed, and what follows or does not.

Sizes of the study were in characters, its sessions six, its cuts twelve; `docs/validity.md` explains the differences.
"""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """One line of numbers: what they are, those of the study as it wrote them, and the format of those of now.

    `steady` is False for seconds, which no two runs share.
    """

    what: str
    then: str
    form: str
    steady: bool = True


class Wording(NamedTuple):
    """What a finding asks, a sentence for each verdict (holds, differs, cannot be shown here), and its lines."""

    question: str
    holds: str
    differs: str
    missing: str
    lines: tuple[Line, ...]


NONE_NEEDED = "nothing is needed after a cut of these sessions."
TWO, THREE, RANGE = "{:.2f} / {:.2f}", "{:.2f} / {:.2f} / {:.2f}", "{:.2f} to {:.2f}"
SIGNED, PARTS, COUNT = "{:+.2f} to {:+.2f}", "{:.0%} / {:.0%}", "{:.0f} of {:.0f}"

WORDING: dict[int, Wording] = {
    1: Wording(
        "What is presence alone worth?",
        "A list of bare values beats the best choice of whole units at every size: the headline is bound, and the bag"
        " stands in every table.",
        "A list of bare values does not beat the best choice of whole units at every size here.",
        NONE_NEEDED,
        (
            Line("needed facts that stand in a bag of bare values of 5, 10, 20 %", "0.85 / 0.94 / 1.00", THREE),
            Line("the same, the protected set not counted", "-", THREE),
            Line("in the best choice of whole units of 5, 10, 20 %", "0.41 / 0.67 / 0.84", THREE),
            Line("weight of the bare needed values, at most", "under 1 %", "{:.1%}"),
        ),
    ),
    2: Wording(
        "Which anchor binds a value?",
        "A content word within eight words that is no part of a fact tells a bag from the whole; any word does not.",
        "The rule does not tell a bag of tokens from the whole history here, or any word does as well.",
        NONE_NEEDED,
        (
            Line("needed facts bound by that rule in a bag of tokens / in the whole", "0.06 / 0.99", TWO),
            Line("by any word", "0.36 / -", TWO),
            Line("in a window of 20 words", "too lax", TWO),
            Line("in a bag of the miner's own values, by the three rules", "-", THREE),
            Line("by accident, beside some other fact, by the three rules", "-", THREE),
        ),
    ),
    3: Wording(
        "May each strategy have its own at-risk set?",
        "What a deleting strategy did not keep it did not keep: such a set says nothing, so there is one a cut.",
        "A strategy that deletes holds a fact in what it did not keep word for word; look at its edits.",
        "No strategy that deletes lost a needed fact here.",
        (
            Line("cells in which a deleting strategy keeps nothing of its own at-risk set", "36 of 36", COUNT),
            Line("what the strategies that write keep of theirs", "-", "{:.2f}"),
        ),
    ),
    4: Wording(
        "Do facts that can be read again and facts that are gone behave alike?",
        "Against random lines a slide does worse on what can be read again and better on the rest: one number for both"
        " hides it; both are printed, and a gate looks at the second.",
        "The sign does not flip between the two kinds here; they are printed apart all the same.",
        "One of the two kinds of facts is missing here.",
        (
            Line(
                "can be read again / one-off output / own calls / words alone",
                "79 / 12 / 6 / 3 %",
                f"{PARTS} / {PARTS}",
            ),
            Line("a slide / random lines on what can be read again", "0.46 / 0.64", TWO),
            Line("a slide / random lines on the rest", "0.55 / 0.49", TWO),
            Line("bound: on what can be read again", "-", TWO),
            Line("bound: on the rest", "-", TWO),
        ),
    ),
    5: Wording(
        "Does it matter what kind of block used a fact first?",
        "Keeping prose serves text and not actions: the headline counts action uses, text and bulk stand beside it.",
        "Keeping prose does not serve text uses more than action uses here.",
        "There are no uses of both kinds here.",
        (
            Line("first uses in long calls / short calls / text", "43 / 32 / 24 %", f"{PARTS} / {{:.0%}}"),
            Line("prose first, 20 %, on text uses / on action uses", "0.67 / 0.42", TWO),
        ),
    ),
    6: Wording(
        "Which facts would an unrelated session need as well?",
        "Short numbers, dates and quantities come up by themselves; length and a shared anchor keep chance low:"
        " admission by family, placebo printed, a family above 10 % refused.",
        "What is asked of a fact does not bring chance under a tenth here: read retention beside the chance rate.",
        "There is no session of another story to compare with.",
        (
            Line("needed by chance, no anchor asked for: lowest and highest session", "7 to 12 %", "{:.0%} to {:.0%}"),
            *(
                Line(f"of family {family}", then, "{:.0%}")
                for family, then in (
                    *(("path", "2 %"), ("identifier", "4 %"), ("hash", "0 %"), ("number", "20 %"), ("date", "31 %")),
                    *(
                        ("name", "23 %"),
                        ("quantity", "-"),
                        ("quote", "-"),
                        ("command", "-"),
                        ("error", "-"),
                        ("url", "-"),
                    ),
                )
            ),
            Line("integers of 1, 2, 3, 4, 5 digits", "109 / 96 / 42 / 16 / 2 %", f"{PARTS} / {PARTS} / {{:.0%}}"),
            Line("decimals of 2, 3, 4 and more digits", "13 / 3 / 4 %", f"{PARTS} / {{:.0%}}"),
            Line("all: no anchor asked for / one asked of every fact", "13 / 4 %", PARTS),
            Line("real uses that stay where one is asked of every fact", "72 %", "{:.0%}"),
            Line("the product's admission: by chance / real uses that stay", "-", PARTS),
        ),
    ),
    7: Wording(
        "May all later uses count?",
        "A few facts would carry the score: only the first use counts, with weight 1.",
        "No small group of facts would carry the score here.",
        "No cell has ten needed facts.",
        (
            Line("weight that a tenth of the facts carries if all uses count", "16 to 68 %", "{:.0%} to {:.0%}"),
            Line("first uses among all uses", "-", "{:.0%}"),
        ),
    ),
    8: Wording(
        "Can the best choice of units be had?",
        "It is solved exactly in a moment, and those that keep lines can beat it: a bound for strategies that delete,"
        " and for no others.",
        "A choice was not solved in time, or kept lines beat none here; it is a bound for deleting strategies alone.",
        "No cell has room beside the protected set.",
        (
            Line("best choices of whole units that were solved exactly", "all", COUNT),
            Line("seconds for one, at most", "1.1", "{:.1f}", steady=False),
            Line("what the greedy choice misses of it, means by size", "0.003 to 0.018", "{:.3f} to {:.3f}"),
            Line("cells in which kept lines beat it", "6 of 60", COUNT),
        ),
    ),
    9: Wording(
        "Does it matter how random meets a size?",
        "How random meets the size decides whether a slide beats it, and one seed moves it as much: random is cut to"
        " each strategy's actual size, with 20 seeds.",
        "The three ways agree on the sign of the difference here; random is cut to the actual size all the same.",
        "No slide met a budget here.",
        (
            Line("a slide minus random: dropped until it fits", "+0.04 to +0.09", SIGNED),
            Line("filled with what fits", "-0.15 to -0.04", SIGNED),
            Line("cut to the slide's very size", "+0.01 to +0.06", SIGNED),
            Line("spread of one seed", "0.06 to 0.11", RANGE),
        ),
    ),
    10: Wording(
        "Does clearing results meet a budget?",
        "Clearing alone leaves most histories over a small budget: such a cell is unreachable and is not ranked.",
        "Clearing all results meets a tenth of the weight in most cells here.",
        NONE_NEEDED,
        (
            Line("what clearing all results leaves of a history", "4 to 69 %", "{:.0%} to {:.0%}"),
            Line("cells over a budget of 10 %", "-", COUNT),
        ),
    ),
    11: Wording(
        "Does one cell rank methods as another does?",
        "Rankings hardly agree between sessions, and lines that look like facts win more often than their turn: more"
        " sessions, and regex_lines as a serious bar.",
        "Rankings agree well between sessions here, or regex_lines wins no more than its turn.",
        "Two sessions of different stories with two cuts each are needed.",
        (
            Line("tau of the methods between the cuts of a session, by budget", "0.36 to 0.48", RANGE),
            Line("between sessions", "0.12 to 0.31", RANGE),
            Line("bound: between cuts", "-", RANGE),
            Line("bound: between sessions", "-", RANGE),
            Line("cells that regex_lines wins among plain methods, sizes in characters", "23 of 48", COUNT),
            Line("budgets at which its mean is then the highest", "4 of 4", COUNT),
            Line("cells that it wins among all methods, sizes in tokens", "-", COUNT),
            Line("budgets at which its mean is then the highest", "-", COUNT),
            Line("bound: cells that it then wins", "-", COUNT),
        ),
    ),
    12: Wording(
        "Where does half of the weight fall?",
        "In some sessions right after the reading phase: cuts go by share of the agent's messages, at four places.",
        "In no session early; cuts go by share of the agent's messages all the same.",
        "No session could be cut at half of its weight.",
        (
            Line("messages before half of the weight: lowest, median, highest", "16 %, 20 %", f"{PARTS} / {{:.0%}}"),
            Line("read-only calls among all before it / after it", "-", PARTS),
        ),
    ),
    13: Wording(
        "How many sessions does a difference ask for?",
        "At few sessions a percentile bootstrap covers far less than it says and t comes near: t intervals, none under"
        " five stories, and every table prints the difference that it could have seen.",
        "The two intervals cover alike on these differences; t stays.",
        "Five sessions that met the same budget are needed.",
        (
            Line("spread of a paired difference: the median pair of methods / the widest", "0.11 / 0.20", TWO),
            Line("sessions for 10 points", "11 / 32", "{:.0f} / {:.0f}"),
            Line("sessions for 5 points", "41 / 126", "{:.0f} / {:.0f}"),
            Line("a percentile bootstrap covers at 2, 4, 6, 12 sessions", "50 / 79 / 86 / 90 %", f"{PARTS} / {PARTS}"),
            Line("t covers", "94 to 95 %", f"{PARTS} / {PARTS}"),
        ),
    ),
    14: Wording(
        "Does a gate pass what did not change?",
        "With one seed it seldom does, with 20 mostly: paired seeds, about 20 replicates, and deterministic strategies"
        " by their facts one by one.",
        "One seed is enough here, or 20 are not.",
        "Five stories are needed for an interval.",
        (
            Line("an unchanged run of six sessions passes at margin 0.05: one seed / 20 seeds", "10 % / 84 %", PARTS),
            Line("an unchanged run of all sessions", "-", PARTS),
        ),
    ),
    15: Wording(
        "Do hand-made probes agree with mined facts, and are they any better?",
        "Many answers stand before their evidence, or in a session that has nothing to do with them: probes need an"
        " anchor, and agreement is printed beside the ceiling that the probes themselves set.",
        "Hardly an answer stands before its evidence here; agreement is printed beside its ceiling all the same.",
        "There are too few hand-made probes at these cuts.",
        (
            Line("tau of mined facts and probes, both by presence, by budget", "-0.14 to +0.36", SIGNED),
            Line("bound and by the product's rule", "-", SIGNED),
            Line("tau of two halves of the probes: the ceiling", "-", SIGNED),
            Line("probes with an answer before their evidence", "43 %", "{:.0%}"),
            Line("probes with an answer in an unrelated session", "21 %", "{:.0%}"),
            Line("the same two by the product's rule", "-", PARTS),
        ),
    ),
    16: Wording(
        "Does the pattern of numbers decide which facts there are?",
        "One digit more or less changes the set: families and scorer version stand in every signature.",
        "The pattern hardly changes the set of these sessions; the signature names it all the same.",
        "Fewer than three cells need a number here.",
        (
            Line(
                "needed numbers of a cell if one digit less is enough, the three largest moves",
                "11 to 23, 8 to 14, 54 to 93",
                "{:.0f} to {:.0f}, {:.0f} to {:.0f}, {:.0f} to {:.0f}",
            ),
            Line("all cells together, times as many", "-", "{:.1f}"),
        ),
    ),
}
