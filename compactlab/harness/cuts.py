"""Where a session is cut: immediately before an assistant message, since that is what was really sent.

At shares of the session's assistant messages (half of the *weight* falls right after the reading phase, so shares of
the weight would look at one moment; metric study 12), or where the lowest mark of a window is first reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from compactlab.pressure import Marks, first_reached, weights_in_view
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

SHARES = (0.4, 0.55, 0.7, 0.85)


class Cut(NamedTuple):
    """A cut before `messages[before]`, behind `share` of the assistant messages; or why there is none."""

    name: str
    before: int
    share: float
    skipped: str = ""


def planned(
    transcript: Transcript, shares: Sequence[float], window: int | None, marks: Marks, meter: Meter
) -> tuple[Cut, ...]:
    """Plan the cuts of a session; one that cannot be made is in the plan with its reason."""
    spoken = spoken_by_agent(transcript)
    if window is not None:
        return (_at_window(transcript, window, marks.of(transcript.agent_type).values[0], meter),)
    cuts: dict[int, Cut] = {}
    for share in shares:
        nth = int(share * len(spoken))
        if nth:
            cuts.setdefault(spoken[nth], Cut(f"{share:g}", spoken[nth], nth / len(spoken)))
    none = Cut("none", 0, 0.0, f"has {len(spoken)} assistant messages; too few to cut")
    return tuple(cuts.values()) or (none,)


def spoken_by_agent(transcript: Transcript) -> list[int]:
    """Positions of the messages that the agent really sent."""
    return [i for i, m in enumerate(transcript.messages) if m.role == "assistant" and not m.synthetic]


def _at_window(transcript: Transcript, window: int, mark: float, meter: Meter) -> Cut:
    spoken = spoken_by_agent(transcript)
    reached = first_reached(weights_in_view(transcript, meter), window, mark)
    name = f"window {window}"
    after = [] if reached is None else [(n, i) for n, i in enumerate(spoken) if i > reached]
    if not after:
        return Cut(
            name, 0, 0.0, f"never reaches {mark:.2f} of a window of {window:,} tokens before an assistant message"
        )
    nth, index = after[0]
    return Cut(name, index, nth / len(spoken))
