"""A whole session replayed under a policy: what the agent would have had in view at every turn.

The session grows message by message. Before each recorded answer a request is sent, and there the pressure is measured;
the policy's strategies run at their marks, under the guard, as often as it takes. `replay` in `engine` says how.
"""

from __future__ import annotations

from compactlab.replay.engine import replay
from compactlab.replay.events import Debt, Fire, Life, Replay, Sent, Turn, Use
from compactlab.replay.timeline import Session
from compactlab.replay.window import Window

__all__ = ["Debt", "Fire", "Life", "Replay", "Sent", "Session", "Turn", "Use", "Window", "replay"]
