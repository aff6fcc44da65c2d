"""Pages that several tests look at, and a session that is full of what could break one."""

import json
from functools import cache
from html.parser import HTMLParser

import runs

from compactlab.harness import Settings, run
from compactlab.readers import write
from compactlab.report import Report
from compactlab.report.page import save
from compactlab.results import Results
from compactlab.results.origins import load
from compactlab.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript


class Parts(HTMLParser):
    """The elements of a page, and by id the data in its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.data, self._open = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = dict(attrs).get("id") if tag == "script" else None

    def handle_endtag(self, tag):
        self._open = None if tag == "script" else self._open

    def handle_data(self, data):
        if self._open:
            self.data[self._open] = json.loads(data)


def parsed(path):
    """The elements and the data of a page."""
    return Parts(path.read_text(encoding="utf-8"))


ATTACK = '"><img src=x onerror="window.owned=1">'
HOSTILE = (
    "</script><script>window.owned=1</script> the database listens on port 54321",
    "<!-- <script> the orders table is orders_old_2024 in /srv/data/refunds/current.py",
    "<style>*{display:none}</style><svg onload=window.owned=1> the key limit is 8817 rows",
    "{{main}} {{script}} ${window.owned=1} `window.owned=1` \\u003c/script> the build id is 7f3a9c1d2e",
    "lines\u2028and\u2029paragraphs\x00\x08\x1b[31m and half a pair \ud83d and \udc4d, ticket OPS-7741",
    "\u202eright to left\u2066 never closed, with \u0627\u0644\u0639\u0631\u0628\u064a\u0629 and \u05e2\u05d1\u05e8",
    "javascript:window.owned=1 <a href='javascript:window.owned=1'>here</a> <base href=//example.org>",
    "w" * 100_000,
    "one line of many words " * 5_000,
    "]]> --> \\\" ' & &amp; &lt;script&gt; \r\n\r tabs\t\t and \ufeff\ufffe\uffff",
)
"""What people and tools may have said; a page shows it letter by letter."""


def hostile():
    """A session of hostile texts that goes on to need what stood in them."""
    messages = [Message("system", (Text("You are <b>careful</b>."),)), Message("user", (Text(HOSTILE[0]),))]
    for turn in range(2):
        for text in HOSTILE:
            call = f"c{len(messages)}"
            asked = ToolCall(call, f"read{ATTACK}", f'{{"path": "/srv/</script>{ATTACK}/{call}.txt", "turn": {turn}}}')
            messages += [
                Message("assistant", (Reasoning(text), Text(text), asked)),
                Message("tool", (ToolResult(call, (Text(text),), is_error=turn == 1),)),
            ]
    needs = '{"command": "psql -p 54321 -c orders_old_2024; open /srv/data/refunds/current.py 7f3a9c1d2e"}'
    messages += [Message("user", (Text("Go on."),)), Message("assistant", (ToolCall("last", "bash", needs),))]
    numbered = tuple(Message(m.role, m.blocks, source=i) for i, m in enumerate(messages))
    title = f"</title></script>{ATTACK}"
    return Transcript(f"s</script>{ATTACK}", "compactlab", numbered, title=title, agent_type=f"t{ATTACK}")


@cache
def hostile_folder():
    """A folder with a run over the hostile session in it."""
    folder = runs.scratch() / "hostile"
    folder.mkdir()
    write([hostile()], folder / "hostile.jsonl")
    settings = Settings(strategies=("none", "microcompact", "sliding_window", "summary"), cuts=(0.9,), jobs=1)
    run(folder / "hostile.jsonl", folder / "run", settings)
    return folder


@cache
def hostile_page(*, share=False):
    """The page of a run over the hostile session."""
    folder = hostile_folder()
    name = "shared.html" if share else "page.html"
    return written(Report(Results(folder / "run")), folder / name, share=share)


@cache
def hostile_replay_page():
    """The page of a replay of the hostile session."""
    folder = hostile_folder()
    settings = Settings(mode="replay", window=60_000, policies=("none", "microcompact"), jobs=1)
    return written(Report(run(folder / "hostile.jsonl", folder / "replay", settings)), folder / "replay.html")


def written(report, path, **options):
    """Write the page of a report and give its path."""
    found = save(report, path, **options)
    assert found.missing == {}
    return path


@cache
def short_page():
    """The page of three short sessions."""
    return written(Report(runs.short().results), runs.scratch() / "short.html")


@cache
def shared_page():
    """The same without texts."""
    return written(Report(runs.short().results), runs.scratch() / "shared.html", share=True)


@cache
def replay_page():
    """The page of three short sessions that were replayed."""
    settings = Settings(mode="replay", window=6_000, policies=("none", "sliding_window"), jobs=1)
    results = run(runs.short_transcripts(), runs.scratch() / "short-replay", settings)
    return written(Report(results), runs.scratch() / "replay.html")


@cache
def transcripts():
    """The transcripts of the short run, found again."""
    return load(runs.short().results.folder)
