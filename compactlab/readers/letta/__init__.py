"""Letta: agent files `.af` of both versions, results of letta-evals, messages of the API, streams of Letta Code.

An agent file holds one agent or several, each with its messages. All that are recorded are the story, in their order;
which stand in context now the file says by id (or by index, in the first version). The alert that tells the agent that
messages were hidden, and the messages of role `summary`, are compactions: they stand at the front of the context but
were written later, so the times of the messages behind them tell where the story went on. Messages that are hidden
without any alert make a compaction at the end, without a summary. Memory blocks are in the system prompt, which the
server rewrites in place: only the last one is recorded. A person's words in an event `user_message` are taken out of
it if it holds nothing else but the time, which stands beside the message; all other events stay as they were sent.
Results stay as the model saw them, with their status around them. Sleeptime agents are `subconscious`, and nobody
speaks to them. Of the API, the entries that one response was split into are one message again, and so are the pieces
in which a stream tells it; what a person asked is not in a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactlab.readers._fields import mapping, objects
from compactlab.readers.letta import _agents, _entries, _fragments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source
    from compactlab.transcript import Transcript

WHERE = "wherever agents are exported (*.af), results.jsonl of letta-evals"
_OF_FILES = ("blocks", "tools", "groups", "mcp_servers", "sources")
_OF_AGENTS = ("in_context_message_ids", "in_context_message_indices", "agent_type", "llm_config")


def sniff(source: Source) -> float:
    """Look for agents with their messages in context, or for messages that have a `message_type`."""
    first = source.first
    if _fragments.begins(first):
        return 0.99
    agents = objects(first.get("agents"))
    if any(key in first for key in _OF_FILES) and any(_is_agent(agent) for agent in agents):
        return 0.95
    if _is_agent(first) and isinstance(first.get("messages"), list):
        return 0.95
    return 0.95 if any(_entries.is_known(value) for value in source.values[:3]) else 0.0


def _is_agent(value: object) -> bool:
    agent = mapping(value)
    return sum(key in agent for key in _OF_AGENTS) >= 2


def read(source: Source) -> Iterator[Transcript]:
    """Read the agents of an agent file, or the conversations of a file of results."""
    document = mapping(source.document)
    if isinstance(document.get("agents"), list):
        return _agents.read(source, objects(document["agents"]), document)
    if _is_agent(document):
        return _agents.read(source, [document], document)
    return _entries.read(source)
