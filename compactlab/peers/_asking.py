"""How peers ask a model: a prompt in our own words, the material as text, and the reply as it comes.

Nothing is checked here but that there is a model and a reply: what an original takes for a summary, its peer takes.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property

from compactlab.llm import ModelError, Purpose, Request
from compactlab.llm.prompts import RENDERING
from compactlab.strategies import Context
from compactlab.transcript import Messages

_ANALYSIS = re.compile(r"<analysis>.*?</analysis>", re.DOTALL)
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class Form:
    """What a peer asks: who the model is, and the task, with `{material}` where that goes in.

    The purpose says to a stand-in for a model what kind of text is wanted: nine sections, or terse lines.
    """

    system: str
    task: str
    purpose: Purpose = "reflect"

    @cached_property
    def version(self) -> str:
        """Twelve hexadecimal digits that change with the words: a reply depends on them."""
        return hashlib.sha256(f"{RENDERING}|{self.system}|{self.task}".encode()).hexdigest()[:12]

    def asked(self, context: Context, shown: str, material: Messages, longest: int) -> str:
        """The reply to the task on *shown*, as it came; `ModelError` where there is no model, or it failed."""
        prompt = self.task.replace("{material}", shown)
        return asked(
            context, Request(self.purpose, self.system, prompt, material, longest, prompt_version=self.version)
        )


def asked(context: Context, request: Request) -> str:
    """The text of a reply, whatever it says and however it ended; `ModelError` where there is no model."""
    if context.model is None:
        raise ModelError("no model was given")
    return context.model.reply(request).text


def plain_summary(reply: str) -> str:
    r"""What several harnesses make of a reply: no `<analysis>`, the body of `<summary>` under `Summary:`.

    >>> plain_summary("<analysis>hm</analysis> <summary> The port is 5433. </summary>")
    'Summary:\nThe port is 5433.'
    """
    text = _ANALYSIS.sub("", reply)
    text = _SUMMARY.sub(lambda found: f"Summary:\n{found[1].strip()}", text, count=1)
    return _BLANK_LINES.sub("\n\n", text).strip()
