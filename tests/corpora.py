"""Sessions of which it is known by construction what may be forgotten: two types of agents, each with its own answer.

- `courier` talks. Each errand has a code; the agent acts on it three errands later and never again. All that matters
  is a tail of some ten units: shorter ones lose codes, longer ones save less, and there are no tool results to clear.
- `warden` reads large files and needs none of them again. A person lays down rules early, in words that no strategy is
  bound to keep, and they hold to the end; the agent also acts, late, on a code of those early words. Whoever clears old
  results keeps all of it, whoever slides loses the rules.

Values differ from session to session, so that none is common to several; each session is a story of its own.
"""

import json
import random

from compactlab.readers import write
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript

COURIER, WARDEN = "courier", "warden"
WINDOW = 4_000
ERRANDS, LATER = 60, 3
FILES = 40
WORDS = "amber birch cedar dune ember fjord grove heath inlet juniper knoll larch meadow north orchard pebble".split()
RULES = (
    "Never write to the folder /srv/ledger.",
    "Always ask before you delete a row.",
    "Do not restart the billing service.",
    "You must keep every reply under fifty words.",
)


def corpus(folder, sessions=6, kinds=(COURIER, WARDEN)):
    """Write *sessions* of each of the *kinds* into a folder, and give it."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        for number in range(sessions):
            made = transcript(kind, number)
            write([made], folder / f"{made.id}.jsonl", "compactlab")
    return folder


def transcript(kind, number):
    """Session *number* of a kind; the same again is the same."""
    draw = random.Random(f"{kind} {number}")
    messages = (courier if kind == COURIER else warden)(draw)
    name = f"{kind}-{number}"
    return Transcript(name, "made", tuple(messages), agent_type=kind, cluster=name)


def courier(draw):
    """Errands one after the other; each code is needed three errands later, by a call."""
    codes = [code(draw) for _ in range(ERRANDS)]
    yield said("user", "You carry parcels for the people of this house.")
    for at, errand in enumerate(codes):
        yield said("user", f"Parcel {errand} goes out in a while. {prose(draw, 25)}")
        due = [codes[at - LATER]] if at >= LATER else []
        yield from acts(f"deliver-{at}", "deliver", {"parcel": due[0]} if due else {"nothing": "yet"}, prose(draw, 40))


def warden(draw):
    """Rules, then one large file after the other; the code that came with the rules is needed now and then."""
    key = code(draw)
    yield said("user", "You look after the books of this house.")
    yield said("assistant", "Gladly.")
    yield said("user", f"{' '.join(RULES)} The cabinet key is {key}.")
    yield said("assistant", "Understood.")
    yield said("user", "Now go through all the books, one by one.")
    for at in range(FILES):
        path = f"/srv/books/{draw.choice(WORDS)}-{at}.txt"
        yield from acts(f"read-{at}", "read", {"path": path}, f"Book {at} is next.", prose(draw, 150))
        if at % 8 == 7:
            yield from acts(f"open-{at}", "unlock", {"cabinet_key": key}, "The cabinet key is needed.")
            yield said("user", "Go on.")


def acts(call, tool, arguments, words, result="done"):
    """The agent says something and calls a tool, which answers."""
    yield Message("assistant", (Text(words), ToolCall(call, tool, json.dumps(arguments))))
    yield Message("tool", (ToolResult(call, (Text(result),)),))


def said(role, words):
    return Message(role, (Text(words),))


def code(draw):
    """An identifier that nothing else resembles."""
    return f"PX-{draw.randrange(10**5, 10**6)}"


def prose(draw, words):
    """Words that say nothing."""
    return " ".join(draw.choice(WORDS) for _ in range(words)) + "."
