"""The page on peers tells the truth: their names, parameters and faults, and which of their results a provider takes.

Run as a script, `python tests/test_docs_peers.py` makes the table of validity anew.
"""

import re
from collections import Counter
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace
from peers import SPECS

from compactlab import catalog
from compactlab.compaction import Guard, compact
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.readers import read
from compactlab.receipt import OUTCOMES
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.tokens import Meter

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "peers.md"
CUT = 0.5
HEAD = (
    "| peer | valid as given | what would be refused | under the guard | put back |",
    "|:--|--:|:--|:--|--:|",
)
"""Results that a provider takes without the guard; rules that the others break; outcomes with it; messages restored."""


@dataclass(frozen=True, repr=False)
class Given(Strategy):
    """Gives back what a peer gave, so that it is asked once for the pass without the guard and the one with it."""

    given: Compacted | Exception
    guarded: bool = True

    def compact(self, messages, context):  # noqa: ARG002
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


def asked(peer, messages, meter):
    """What a peer gives, or the error that it ends in."""
    numbered = tuple(replace(message, source=i) for i, message in enumerate(messages))
    try:
        return peer.compact(numbered, Context(meter, model=Extractive(), originals=numbered))
    except Exception as error:  # noqa: BLE001  # as the guard has it
        return error


def histories():
    """What stood before the message of the agent at the cut, of each recorded session."""
    files = sorted(p for p in (ROOT / "fixtures" / "transcripts").glob("*.jsonl") if ".probes" not in p.name)
    assert len(files) == 13
    for path in files:
        [transcript] = read(path)
        spoken = [i for i, message in enumerate(transcript.messages) if message.role == "assistant"]
        yield repair(transcript.view(spoken[int(CUT * len(spoken))])).messages


def row(spec, histories, guard):
    """One peer over all sessions, without the guard and with it; a pass that changed nothing is valid."""
    gave = [(messages, asked(catalog.strategy(spec), messages, guard.meter)) for messages in histories]
    raw = [compact(messages, Given(given, guarded=False), guard=guard).receipt for messages, given in gave]
    held = [compact(messages, Given(given), guard=guard).receipt for messages, given in gave]
    by_rule = {}
    for rules, _, rule in sorted(one.partition(":") for receipt in raw for one in set(receipt.broken)):
        by_rule.setdefault(rule, []).append(rules)
    refused = ", ".join(f"{rule} ({', '.join(dict.fromkeys(by_rule[rule]))})" for rule in sorted(by_rule))
    outcomes = Counter(receipt.outcome for receipt in held)
    ended = ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in OUTCOMES if outcomes[outcome])
    valid = sum(not receipt.broken for receipt in raw if receipt.outcome != "failed")
    return f"| `{spec}` | {valid}/{len(raw)} | {refused} | {ended} | {sum(len(one.restored) for one in held)} |"


@cache
def table():
    """The table of validity, as it is today."""
    guard = Guard(Meter("chars/4"))
    given = tuple(histories())
    return "\n".join([*HEAD, *(row(spec, given, guard) for spec in SPECS)])


def with_table(page):
    block = f"<!-- validity -->\n{table()}\n<!-- /validity -->"
    return re.sub(r"<!-- validity -->.*?<!-- /validity -->", lambda _: block, page, flags=re.DOTALL)


# ---- the tests


def text():
    return PAGE.read_text(encoding="utf-8")


def section(name):
    found = re.search(rf"^## `{re.escape(name)}`\n(.*?)(?=^## |\Z)", text(), re.MULTILINE | re.DOTALL)
    assert found, f"the page has no section on {name}"
    return found[1]


def test_every_peer_has_a_section():
    assert set(re.findall(r"^## `(\w+)`$", text(), re.MULTILINE)) == set(catalog.names("peers"))


@pytest.mark.parametrize("name", catalog.names("peers"))
def test_a_section_has_every_parameter_with_its_default(name):
    shown = {cells[0]: cells[1] for cells in re.findall(r"^\| `(\w+)` \| `(.*?)` \|", section(name), re.MULTILINE)}
    own = fields(catalog.strategy_class(name))
    assert shown == {field.name: repr(field.default) for field in own if field.name != "guard"}


@pytest.mark.parametrize("name", catalog.names("peers"))
def test_a_section_says_what_is_followed_and_what_is_wrong_with_it(name):
    for label in ("Follows", "Known faults"):
        assert f"**{label}**" in section(name), label


def test_specs_on_the_page_can_be_read():
    specs = re.findall(r"`(\w+\(\w+=[^`]*\))`", text())
    assert len(specs) > 5
    known = {*catalog.names("peers"), *catalog.names("strategies")}
    assert [spec for spec in specs if repr(catalog.strategy(spec)).partition("(")[0] not in known] == []


def test_the_table_of_validity_is_what_the_peers_do_today():
    found = re.search(r"<!-- validity -->\n(.*?)\n<!-- /validity -->", text(), re.DOTALL)
    assert found[1] == table()


def test_the_guard_lets_nothing_through_that_was_not_valid():
    rows = {line.split("|")[1].strip(" `"): line.split("|") for line in table().split("\n")[2:]}
    assert set(rows) == set(SPECS)
    assert rows["claw_code(trident=True)"][2].strip() == "0/13"
    assert "orphan_result" in rows["souveraine(strategy='summary')"][3]
    assert rows["souveraine(strategy='summary')"][4].strip() == "13 rejected"


if __name__ == "__main__":
    PAGE.write_text(with_table(text()), encoding="utf-8")
