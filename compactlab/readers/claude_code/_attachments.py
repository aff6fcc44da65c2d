"""Attachments of Claude Code 2.1 on: what the tool put before the model beside the words of a person.

Their wording is the tool's and mostly not recorded; what is recorded of them is what is read: the text of the file, the
output of the hook, the list of skills. Where a version records what it `rendered`, that is taken.
"""

from __future__ import annotations

from typing import Any

from compactlab.readers._fields import mapping, objects, string
from compactlab.shapes import anthropic, images
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Text

PROMPT = "queued_command"
SILENT = frozenset(
    "agent_mention already_read_file auto_mode auto_mode_exit budget_usd command_permissions compaction_reminder "
    "current_session_memory dynamic_skill edited_image_file goal_status hook_cancelled hook_error_during_execution "
    "hook_non_blocking_error hook_permission_decision hook_system_message max_turns_reached opened_file_in_ide "
    "output_style pdf_reference plan_mode plan_mode_exit plan_mode_reentry structured_output token_usage "
    "ultra_effort_enter ultra_effort_exit verify_plan_reminder".split()
)
"""Those that the model was not sent, or of whose words nothing is recorded."""
_TEXTS = {
    PROMPT: "prompt",
    "agent_listing_delta": "addedLines",
    "async_hook_response": "response",
    "compact_file_reference": "filename",
    "date_change": "newDate",
    "deferred_tools_delta": "addedLines",
    "diagnostics": "files",
    "edited_text_file": "snippet",
    "hook_blocking_error": "blockingError",
    "hook_stopped_continuation": "message",
    "invoked_skills": "skills",
    "mcp_instructions_delta": "addedBlocks",
    "plan_file_reference": "planContent",
    "read_truncation_notice": "banner",
    "relevant_memories": "memories",
    "task_status": "description",
    "teammate_mailbox": "messages",
}
_ANY = ("content", "text", "message")
_INNER = ("content", "text", "blockingError", "message", "description")
_HEARD_HOOKS = {"SessionStart", "UserPromptSubmit"}


def blocks(record: dict[str, Any]) -> tuple[Block, ...]:
    """What an attachment put before the model, as far as it is recorded.

    >>> blocks({"attachment": {"type": "nested_memory", "content": {"path": "CLAUDE.md", "content": "Use tabs."}}})
    (Text(text='Use tabs.'),)
    """
    attachment = mapping(record.get("attachment"))
    kind = string(attachment.get("type"))
    rendered = objects(record.get("rendered")) or objects(attachment.get("rendered"))
    if rendered:
        return tuple(block for part in rendered for block in anthropic.blocks(part.get("content")))
    if kind in SILENT or (kind == "hook_success" and string(attachment.get("hookEvent")) not in _HEARD_HOOKS):
        return ()
    if kind == PROMPT:
        return anthropic.blocks(attachment.get("prompt"))
    keys = (_TEXTS[kind],) if kind in _TEXTS else _ANY
    return next((found for key in keys if (found := _read(attachment.get(key)))), ())


def is_prompt(record: dict[str, Any]) -> bool:
    """Whether an attachment is what a person typed while the agent worked."""
    attachment = mapping(record.get("attachment"))
    if (
        attachment.get("type") != PROMPT
        or attachment.get("isMeta")
        or "senderTaskId" in mapping(attachment.get("origin"))
    ):
        return False
    return string(attachment.get("commandMode", "prompt")) == "prompt"


def is_known(record: dict[str, Any]) -> bool:
    """Whether the kind of an attachment is known."""
    kind = string(mapping(record.get("attachment")).get("type"))
    return kind in SILENT or kind in _TEXTS or kind.startswith("hook_") or kind.endswith("_reminder")


def _read(value: object) -> tuple[Block, ...]:
    if isinstance(value, list):
        texts = [text for part in value if (text := _words(part))]
        return (Text("\n".join(texts)),) if texts else ()
    picture = mapping(mapping(value).get("file"))
    if isinstance(picture.get("base64"), str):
        return (images.from_base64(string(picture.get("type")), picture["base64"]),)
    words = _words(value)
    return (Text(words),) if words else ()


def _words(value: object) -> str:
    """The text itself, or the one text inside that says it; the JSON of anything else."""
    if isinstance(value, str):
        return value
    fields = mapping(value)
    for inner in (fields, mapping(fields.get("file"))):
        found = next((inner[key] for key in _INNER if isinstance(inner.get(key), str) and "subject" not in inner), "")
        if found:
            return found
    return json_text(value) if value else ""
