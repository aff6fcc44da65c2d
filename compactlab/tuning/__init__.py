"""Tunes what an agent compacts with: the policy that saves most and still keeps what was asked for (M18).

Each candidate is a replay of whole sessions. It is chosen by some sessions and told by others: one story is left out at
a time. `tune` does it all; `advice` writes what came of it into a settings file.
"""

from __future__ import annotations

from compactlab.tuning.candidates import Space
from compactlab.tuning.choosing import Bounds, Choice, Goal
from compactlab.tuning.held_out import Cell, Fold, Row
from compactlab.tuning.options import Options, default_window
from compactlab.tuning.tried import Tried
from compactlab.tuning.tuner import ForType, Tuning, tune

__all__ = [
    "Bounds",
    "Cell",
    "Choice",
    "Fold",
    "ForType",
    "Goal",
    "Options",
    "Row",
    "Space",
    "Tried",
    "Tuning",
    "default_window",
    "tune",
]
