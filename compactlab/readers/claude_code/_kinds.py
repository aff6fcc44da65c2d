"""Kinds of records that Claude Code writes: which are known and no part of any context, and which tell about others."""

from __future__ import annotations

from typing import Any

BOUNDARY, MICROCOMPACT, LOCAL_COMMAND, SYSTEM_PROMPT = (
    "compact_boundary",
    "microcompact_boundary",
    "local_command",
    "system_prompt",
)
OWN = "compactlab"
"""Key, and type of a record, under which our own writer keeps what Claude Code has no place for."""
IDLE = frozenset(
    "agent-color agent-name agent-setting ai-title atis-latch attribution-snapshot bridge-session content-replacement "
    "continued-in cost-state custom-title file-history-delta file-history-snapshot frame-link history-suppression "
    "last-prompt mode permission-mode pr-link progress queue-operation relocated result session-kind "
    "speculation-accept started summary tag task-summary worktree-state".split()
)
"""Types of records that are no part of any context."""
QUIET = frozenset(
    "agents_killed api_error api_metrics api_refusal api_retry away_summary bridge_status error file_snapshot "
    "hook_response hook_started informational memory_saved model_refusal_fallback permission_retry "
    "scheduled_task_fire session_start status stop_hook_summary task_started thinking turn_duration".split()
)
"""Subtypes of `system` records that are shown to the user only."""


def kind(value: dict[str, Any]) -> str:
    """Name the kind of a record: its type, and its subtype if it is a `system` record or an attachment.

    >>> kind({"type": "system", "subtype": "turn_duration"}), kind({"type": "mode"}), kind({"type": ["x"]})
    ('system turn_duration', 'mode', 'record without a type')
    """
    name = value.get("type")
    if not isinstance(name, str):
        return "record without a type"
    detail = value.get("subtype") if name == "system" else None
    if name == "attachment" and isinstance(value.get("attachment"), dict):
        detail = value["attachment"].get("type")
    return f"{name} {detail}" if isinstance(detail, str) else name


def is_known(value: dict[str, Any]) -> bool:
    """Whether a record that is no message is of a kind that is known to be no part of any context."""
    name = value.get("type")
    if name == "system":
        return isinstance(value.get("subtype"), str) and value["subtype"] in QUIET | {LOCAL_COMMAND}
    return isinstance(name, str) and name in IDLE
