"""The arguments of `compactlab memory`, and which belong to which verb: nothing heavy is loaded to show them."""

from __future__ import annotations

from typing import Any

VERBS = ("append", "status", "compact", "ignore", "restore", "log")
HELP = "the agent's own side: append to a living conversation, feel its pressure, make room, bring back what went"
EXAMPLE = "compactlab memory append --conversation move --file fixtures/transcripts/primary-move.jsonl"

OWN: dict[str, tuple[str, ...]] = {
    "file": ("append",),
    "type": ("append",),
    "strategy": ("compact",),
    "target": ("compact",),
    "focus": ("compact",),
    "dry_run": ("compact",),
    "receipt": ("compact",),
    "reason": ("ignore",),
    "back": ("restore",),
    "output": ("restore",),
    "verify": ("log",),
    "entry": ("restore",),
    "message": ("restore",),
    "originals": ("compact", "restore"),
}
"""Arguments that only some verbs take."""


def _arg(*names: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:  # noqa: ANN401  # argparse's own options
    return names, options


ARGUMENTS = (
    _arg("verb", choices=VERBS, metavar="VERB", help="append, status, compact, ignore, restore ENTRY [MESSAGE], log"),
    _arg("entry", nargs="?", default="", metavar="ENTRY", help="id of a pass, as `log` lists them (restore)"),
    _arg("message", nargs="?", default="", metavar="MESSAGE", help="id of one message of it (restore)"),
    _arg("--repo", default=".", metavar="DIR", help="memory repository, with conversations/ and journal/ (default .)"),
    _arg("--conversation", default="", metavar="ID", help="which conversation (default: the only one there)"),
    _arg("--file", metavar="FILE", help="JSON messages to append, ours, OpenAI's or Anthropic's (default: stdin)"),
    _arg("--type", default="", metavar="TYPE", help="type of the agent, for the first append (default primary)"),
    _arg("--strategy", default="", metavar="SPEC", help="how to make room (default: by the settings, for the type)"),
    _arg("--target", type=int, metavar="N", help="weight in tokens that the result should not pass (compact)"),
    _arg("--focus", default="", metavar="TEXT", help="what matters in this pass, for a strategy that asks a model"),
    _arg("--dry-run", action="store_true", help="say what would happen to each message, and do nothing"),
    _arg("--receipt", metavar="FILE", help="write the tally of the pass as JSON to this file (compact)"),
    _arg("--reason", default="", metavar="TEXT", help="why not to make room now (ignore)"),
    _arg("--back", action="store_true", help="put what is restored back into the conversation"),
    _arg("-o", "--output", metavar="OUT", help="write what is restored to this file, byte for byte"),
    _arg("--verify", action="store_true", help="prove from the bytes that nothing was lost (log); exit code 1 if not"),
    _arg("--originals", choices=("git", "local"), help="commit the originals, or keep them beside (default git)"),
    _arg("--wordings", metavar="FILE", help="texts of your own for what the agent hears"),
    _arg("--window", type=int, metavar="N", help="window in tokens (default: by the settings, else 128000)"),
    _arg("--overhead", type=int, default=0, metavar="N", help="tokens that each request carries beside the messages"),
    _arg("--reserve", type=int, default=0, metavar="N", help="tokens of the window set aside for output"),
)  # fmt: skip
"""Beside those that other commands have too: counter, settings, model, --json."""
