"""What agents of three types do in the sessions of the study; the words stand in `scenes.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec


class Scene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How values come up: in words of a person or of the agent, or in what a call gave; and the call that uses them.

    `opening` holds the words. Where a call opens the scene it is one of the tool `by`, with `asked`. The later call is
    one of `tool` with `use`, and gives `gave`.
    """

    opens: Literal["person", "agent", "call"]
    opening: str
    tool: str
    use: str
    gave: str
    by: str = ""
    asked: str = ""


class Read(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call that comes to nothing: a tool, what it was asked, and a line or more of what it gave."""

    by: str
    asked: str
    gave: str


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A type of agent: its system message, first requests, people's rules, scenes, reads, and words beside calls."""

    agent_type: str
    system: str
    requests: tuple[str, ...]
    rules: tuple[str, ...]
    asides: tuple[str, ...]
    scenes: tuple[Scene, ...]
    reads: tuple[Read, ...]


@cache
def kinds() -> tuple[Kind, ...]:
    """The types of agents, each with what it does."""
    text = files(__package__).joinpath("scenes.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["kinds"], tuple[Kind, ...])
