"""hermes-agent itself, as of 0.19: its `ContextCompressor.compress`, beside our `hermes`.

Counts by its own rule, characters over four: it takes no counter. Where no window is known it is one whose threshold
the messages just reach. With a target the tail is what the head and the shortest summary leave of it, as in ours.

Other than the version that ours follows it compresses small windows from three quarters on, takes no blank summary,
takes calls without results out of a response in place of answering them, and lets a summary have 10,000 tokens at most.

Known faults:

- The summary may take the role of the agent, or stand in the words of a person, where no role fits between neighbours.
- Equal results are replaced in the protected tail too; arguments no longer show what was really called.
- Older results become a line each before anyone reads them, the model that sums up included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from compactlab.adapters import Adapter
from compactlab.strategies import Context

ENVIRONMENT = "hermes_agent"
LEAST_WINDOW = 64_000
"""Tokens that a threshold has at least, but in a window that is no larger."""
OF_SMALL, OF_LARGE, LARGE = 0.85, 0.75, 512_000
"""The share of a window at which it fires: of one at the floor, of one under 512,000 tokens; the field's above."""


@dataclass(frozen=True, repr=False)
class Compress(Adapter):
    """`ContextCompressor.compress`: prune, then a model sums up what lies between a head and a tail."""

    threshold_percent: float = 0.50
    protect_first_n: int = 3
    protect_last_n: int = 20
    summary_target_ratio: float = 0.20
    abort_on_summary_failure: bool = False

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "compress"
    uses_model: ClassVar[bool] = True

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        window = context.window or self.window_of(weight)
        return super().options(context, weight) | {"config_context_length": window, "target": context.target}

    def window_of(self, weight: int) -> int:
        """The window whose threshold is nearest to so many tokens."""
        if weight < OF_SMALL * LEAST_WINDOW:
            return max(1, int(weight / OF_SMALL))
        large = int(weight / max(self.threshold_percent, 0.01))
        return large if large >= LARGE else max(LEAST_WINDOW + 1, int(weight / max(OF_LARGE, self.threshold_percent)))
