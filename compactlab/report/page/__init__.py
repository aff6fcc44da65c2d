"""A run as one HTML page: opens from disk, loads nothing, works on a phone; its tables, figures and sessions.

The texts of the messages are no part of a run; they are read again where they were (`compactlab.results.origins`), and
the page says of which sessions it could not. A page that is shared holds counts and digests and no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from compactlab.report import Report
from compactlab.report.page import tables
from compactlab.report.page.document import document, file, script_data
from compactlab.report.page.figures import figures
from compactlab.report.page.left import Cut, cuts_of
from compactlab.report.page.replays import timelines
from compactlab.report.page.sessions import View, untold
from compactlab.report.page.shared import Shared
from compactlab.report.section import Section
from compactlab.report.table import main_table
from compactlab.results.origins import Found, load
from compactlab.tokens import Meter

__all__ = ["page", "save"]

_HEADINGS = {
    "cuts": "What an agent still knows",
    "replay": "Whole sessions, compacted at their marks",
    "recorded": "What a real harness left",
}
Links = list[tuple[str, str]]


def save(report: Report, out: str | Path, *, paths: Sequence[str | Path] = (), share: bool = False) -> Found:
    """Write the page of a run to the file *out*; say which transcripts were found again, at *paths* or where they were.

    *share* leaves all texts out. `TranscriptError` if nothing can be read at one of *paths*.
    """
    found = load(report.results.folder, paths)
    Path(out).write_text(page(report, found, share=share), encoding="utf-8")
    return found


def page(report: Report, found: Found, *, share: bool = False) -> str:
    """Give the page of a run with the transcripts that were *found* again."""
    shared = Shared(report.results, found.transcripts.values()) if share else None
    sections = [shared.section(section) if shared else section for section in _sections(report)]
    parts = [
        _lead([shared.line(text) if shared else text for text in _sentences(report)]),
        *(tables.table(section, "main") + tables.legend(section) for section in sections[:1]),
        *_figures(report, shared),
        *_tables(sections[1:]),
    ]
    view, data = _replays(report, found, shared) if report.mode == "replay" else _sessions(report, found, shared)
    links = [("figures", "Figures"), ("tables", "Tables"), ("sessions", "Sessions"), ("replays-view", "Turn by turn")]
    body = "\n".join([*parts, view])
    slots = {
        "title": f"compactlab: {_HEADINGS[report.mode].lower()}",
        "heading": _HEADINGS[report.mode],
        "about": escape(_about(report)),
        "nav": " ".join(f'<a href="#{name}">{title}</a>' for name, title in links if f'id="{name}"' in body),
        "main": body,
        "signature": escape(sections[0].signature if sections else ""),
        "data": "\n".join(data),
    }
    return document(slots)


def _sections(report: Report) -> list[Section]:
    return [*([] if report.mode == "replay" else [main_table(report.summary)]), *report.tables()]


def _sentences(report: Report) -> Sequence[str]:
    return () if report.mode == "replay" else report.sentences


def _about(report: Report) -> str:
    """How much there is."""
    heads = [record for record in report.results.records if record.metric == "outcome"]
    sessions, stories = len({head.session for head in heads}), len({head.cluster for head in heads})
    manifest = report.results.manifest
    what = "policies" if report.mode == "replay" else "strategies"
    return f"{sessions:,} sessions of {stories:,} stories, {len(manifest.strategies)} {what}, {manifest.counter}"


def _lead(sentences: Sequence[str]) -> str:
    return "".join(f"<p class=lead>{escape(sentence)}</p>" for sentence in sentences)


def _figures(report: Report, shared: Shared | None) -> Iterator[str]:
    found = "".join(figures(report, shared.line if shared else str))
    if found:
        yield f'<section id="figures"><h2>Figures</h2>{found}</section>'


def _tables(sections: Sequence[Section]) -> Iterator[str]:
    if sections:
        folded = (tables.folded(section, f"table-{number}") for number, section in enumerate(sections))
        yield f'<section id="tables"><h2>Tables</h2>{"".join(folded)}</section>'


def _sessions(report: Report, found: Found, shared: Shared | None) -> tuple[str, list[str]]:
    """The view from session to session, and the data behind it."""
    meter = Meter(report.results.manifest.counter)
    by_session: dict[str, list[Cut]] = {}
    for cut in cuts_of(report.results):
        by_session.setdefault(cut.session, []).append(cut)
    told = [_session(session, cuts, (found, shared), meter) for session, cuts in by_session.items()]
    if not told:
        return "", []
    index = [{"name": one["name"], "title": one["title"], "needed": _needed(one)} for one in told]
    data = [script_data("sessions-index", index)]
    return file("sessions.html"), [*data, *(script_data(f"session-{i}", one) for i, one in enumerate(told))]


def _needed(told: dict[str, Any]) -> list[int]:
    """How many facts were needed behind each cut: the page begins at the first that has any."""
    return [len(cut["facts"]) for cut in told["cuts"]]


def _session(session: str, cuts: list[Cut], known: tuple[Found, Shared | None], meter: Meter) -> dict[str, Any]:
    found, shared = known
    if session in found.transcripts:
        return View(found.transcripts[session], meter, shared).told(cuts)
    return untold(cuts, found.missing.get(session, "the run does not tell where it was read"), shared)


def _replays(report: Report, found: Found, shared: Shared | None) -> tuple[str, list[str]]:
    told = timelines(report.results, shared)
    titles: Mapping[str, str] = {} if shared else {name: t.title for name, t in found.transcripts.items()}
    for session in told:
        session["title"] = titles.get(session["name"], "")
    return (file("replays.html"), [script_data("replays", told)]) if told else ("", [])
