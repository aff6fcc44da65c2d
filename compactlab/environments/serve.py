"""Runs in the Python of an environment: takes jobs from standard input and hands them to one file of `workers`.

Imports nothing of compactlab, which is not installed there. What a package prints goes to standard error.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from types import ModuleType


class Job:
    """One job: the messages as OpenAI's wire has them, what each weighs, the options, and whom to ask back."""

    def __init__(self, given: dict[str, Any], lines: TextIO, out: TextIO) -> None:
        self.call: str = given["call"]
        self.messages: list[dict[str, Any]] = given["messages"]
        self.weights: list[int] = given["weights"]
        self.options: dict[str, Any] = given["options"]
        self._lines = lines
        self._out = out
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Tokens of a text by the counter of the run."""
        if text not in self._known:
            [self._known[text]] = self._asked({"count": [text]})
        return self._known[text]

    def reply(self, system: str, prompt: str) -> str:
        """The reply of the run's model."""
        return str(self._asked({"system": system, "prompt": prompt}))

    @staticmethod
    def text(content: object) -> str:
        """The words of a `content`: text, or the text parts of a list; a picture is named."""
        if not isinstance(content, list):
            return str(content or "")
        return "\n".join(str(part.get("text", "[image]")) if isinstance(part, dict) else str(part) for part in content)

    @staticmethod
    def thoughts(wire: dict[str, Any]) -> str:
        """The reasoning of a message, opaque or not, as one text; empty where there is none."""
        blocks = [block.get("thinking") or block.get("data") or "" for block in wire.get("thinking_blocks", ())]
        return str(wire.get("reasoning_content") or "\n".join(blocks))

    @staticmethod
    def called(wire: dict[str, Any]) -> dict[str, str]:
        """The calls of a message: their arguments, as they were written, by their ids."""
        return {call["id"]: call["function"]["arguments"] for call in wire.get("tool_calls") or ()}

    def kept(self, number: int, calls: dict[str, str]) -> dict[str, Any]:
        """The entry of a message that stays with such *calls*: the ids that are left, arguments that were edited."""
        before = self.called(self.messages[number])
        changed = {name: arguments for name, arguments in calls.items() if arguments != before.get(name)}
        return (
            {"at": number}
            | ({"calls": list(calls)} if calls.keys() != before.keys() else {})
            | ({"arguments": changed} if changed else {})
        )

    @staticmethod
    def arguments(call: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call as an object, as packages want them; text that is none stands under `arguments`."""
        text = call["function"]["arguments"]
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        return value if isinstance(value, dict) else {"arguments": text}

    def _asked(self, question: dict[str, Any]) -> Any:  # noqa: ANN401  # whatever the answer is
        _write(self._out, question)
        answer = json.loads(self._lines.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["answer"]


def _load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"worker_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _write(out: TextIO, value: dict[str, Any]) -> None:
    out.write(json.dumps(value) + "\n")
    out.flush()


def main(file: str) -> None:
    """Serve the calls of a worker's file until standard input ends."""
    lines, out = sys.stdin, sys.stdout
    lines.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]  # a text stream here
    out.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]  # same
    sys.stdout = sys.stderr
    module = _load(Path(file))
    _write(out, {"ready": module.versions()})
    for line in iter(lines.readline, ""):
        try:
            job = Job(json.loads(line), lines, out)
            _write(out, {"entries": module.CALLS[job.call](job)})
        except Exception as error:  # noqa: BLE001  # whatever a package raises is told in a line
            _write(out, {"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main(sys.argv[1])
