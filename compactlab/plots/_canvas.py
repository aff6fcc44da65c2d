"""What all figures share: their colours, the signature underneath, and how they are written."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from compactlab.errors import SpecError
from compactlab.signature import signature
from compactlab.summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREY = "#9a9a9a"
"""Of what needs no strategy."""
COLOURS = ("#0b5fa5", "#c2410c", "#15803d", "#7c3aed", "#b91c1c", "#0e7490", "#a16207", "#be185d", "#374151")
MARKERS = "osD^vPXph"


def signed(canvas: Figure, summary: Summary, width: int = 150) -> Figure:
    """Set the signature under a figure, in lines of *width* letters."""
    canvas.supxlabel("\n".join(textwrap.wrap(signature(summary), width)), fontsize=6, color="#555555")
    return canvas


def write(canvas: Figure, path: str | Path) -> None:
    """Write a figure; the ending of *path* (png, svg, pdf) says how."""
    known = canvas.canvas.get_supported_filetypes()
    if Path(path).suffix.lstrip(".") not in known:
        raise SpecError(f"{path}: expected a figure's ending, one of {', '.join(sorted(known))}")
    canvas.savefig(path, dpi=150)
