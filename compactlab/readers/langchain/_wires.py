"""Messages of states and runs as items, with their ids and token counts; what is no message is counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from compactlab.readers._fields import array, count, first_string, mapping, string
from compactlab.readers._items import Item
from compactlab.readers._usage import anthropic_usage, openai_usage
from compactlab.shapes import langchain
from compactlab.transcript import Usage

FIRST = 20
"""So many messages of a list are looked at to tell whose it is."""


class Maker:
    """Makes items of messages in any form; *unknown* counts those of no form and no role."""

    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()

    def items(self, wire: object, source: int) -> tuple[Item, ...]:
        """Items of one message: mostly one."""
        fields = fields_of(wire)
        if fields is None:
            self.unknown["record that is no message"] += 1
            return ()
        made = langchain.message(fields, source)
        if not made:
            self.unknown[f"message of type {fields['type']}"] += 1
        key, name, summary = string(fields.get("id")), langchain.name(fields), langchain.is_summary(fields)
        last = len(made) - 1
        return tuple(
            Item(message, key, name, summary, usage_of(fields) if i == last else None) for i, message in enumerate(made)
        )


def fields_of(wire: object) -> dict[str, Any] | None:
    """Fields of a message in LangChain's own forms, or in those that name a role."""
    return langchain.fields(wire) or langchain.fields_of_role(wire)


def is_list(value: object) -> bool:
    """Whether a value is a list of messages in LangChain's own forms."""
    wires = array(value)[:FIRST]
    first = [langchain.fields(wire) for wire in wires]
    if not first or None in first:
        return False
    wrapped = all(isinstance(mapping(wire).get("data"), dict) for wire in wires)
    return wrapped or any(fields and fields["type"] in {"human", "ai"} for fields in first)


def usage_of(fields: dict[str, Any]) -> Usage | None:
    """Token counts beside an answer: LangChain's own, whose input includes what was cached, or the provider's."""
    given, about = fields.get("usage_metadata"), mapping(fields.get("response_metadata"))
    if not given and not about.get("token_usage") and not about.get("usage"):
        return None
    given = mapping(given)
    sent, made = count(given.get("input_tokens")) or 0, count(given.get("output_tokens")) or 0
    if sent or made:
        cached = count(mapping(given.get("input_token_details")).get("cache_read")) or 0
        thought = count(mapping(given.get("output_token_details")).get("reasoning")) or 0
        return Usage(None, sent, made, cached, thought)
    return openai_usage(None, about.get("token_usage")) or anthropic_usage(None, about.get("usage"))


def models(messages: list[Any]) -> dict[str, Any]:
    """Names of the models that answered, for a header."""
    found = dict.fromkeys(
        first_string(mapping(fields.get("response_metadata")), "model_name", "model", "ls_model_name")
        for wire in messages
        if (fields := fields_of(wire)) is not None
    )
    named = [name for name in found if name]
    return {"models": named} if named else {}
