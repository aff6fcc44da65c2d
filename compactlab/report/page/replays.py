"""A replay as a page shows it: the weight of every turn, the marks, and what was fired at them."""

from __future__ import annotations

from typing import Any

from compactlab.report.page.sessions import label
from compactlab.report.page.shared import Shared
from compactlab.results import Results

_FIRE = ("turn", "mark", "strategy", "forced", "outcome", "reason", "tokens_before", "tokens_after")


def timelines(results: Results, shared: Shared | None = None) -> list[dict[str, Any]]:
    """Every session of a run with its replays, as plain data.

    Of a turn [position, tokens, allowance, tokens cut off]; of a fire the fields of `_FIRE`; `end` is where the session
    overflowed, a position, or null.
    """
    found: dict[str, dict[str, Any]] = {}
    for key, left in results.left:
        name = shared.name(key.session) if shared else key.session
        session = found.setdefault(key.session, {"name": name, "title": "", "replays": []})
        fires = [_fire(fire, shared) for fire in left["fires"]]
        turns = [[position, tokens, allowance, cut] for position, tokens, _, _, allowance, cut in left["turns"]]
        session["replays"].append(
            {
                "name": label(key, shared),
                "window": left["window"],
                "turns": turns,
                "fires": fires,
                "end": left["overflow_at"],
            }
        )
    return list(found.values())


def _fire(fire: dict[str, Any], shared: Shared | None) -> list[Any]:
    told = dict(fire)
    if shared:
        told |= {"strategy": shared.line(fire["strategy"]), "reason": ""}
    return [told[name] for name in _FIRE]
