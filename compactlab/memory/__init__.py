"""The agent's own side: a living conversation in a file, which she compacts herself, with a journal of every pass.

`Memory` has the verbs; `tools` hands them to an agent as function tools. docs/memory.md shows all of it at work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compactlab.memory.living import Choices, Memory

__all__ = ["Choices", "Memory"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # loaded on first use, so that a part may be had without the rest
    if name in __all__:
        from compactlab.memory import living

        return getattr(living, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
