"""Which user text no person wrote: instructions and environment that Codex puts in, notices, output, its summaries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compactlab.transcript import Image, Text

if TYPE_CHECKING:
    from compactlab.transcript import Message

SUMMARY = "Another language model started to solve this problem and produced a summary of its thinking process."
BRIDGE = "You were originally given instructions from a user over one or more turns."
_TAGS = (
    "apps_instructions",
    "codex_internal_context",
    "collaboration_mode",
    "context_window",
    "current_time_reminder",
    "environment_context",
    "environments_instructions",
    "extension_context",
    "goal_context",
    "hook_prompt",
    "instructions",
    "model_switch",
    "multi_agent_mode",
    "permissions instructions",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "recommended_plugins",
    "rollout_budget",
    "skill",
    "skills_instructions",
    "subagent_notification",
    "token_budget",
    "turn_aborted",
    "user_action",
    "user_instructions",
    "user_shell_command",
)
_TAGGED = re.compile(rf"<(?P<tag>{'|'.join(_TAGS)})\b[^>]*>.*?</(?P=tag)>", re.DOTALL | re.IGNORECASE)
_NOTES = (
    "# AGENTS.md instructions",
    SUMMARY,
    BRIDGE,
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via ",
)


def injected(text: str) -> bool:
    r"""Whether a user text holds no word of a person.

    >>> injected("<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>")
    True
    >>> injected("What does <environment_context> mean?")
    False
    """
    stripped = text.lstrip()
    if stripped.startswith(_NOTES):
        return True
    return stripped.startswith("<") and not _TAGGED.sub("", stripped).strip()


def is_synthetic(message: Message) -> bool:
    """Whether all that a user message says was put in."""
    if message.role != "user" or any(isinstance(block, Image) for block in message.blocks):
        return False
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    return bool(texts) and all(injected(text) for text in texts)


def is_summary(message: Message) -> bool:
    """Whether a message is the summary of a compaction."""
    return message.role == "user" and message.text.startswith((SUMMARY, BRIDGE))
