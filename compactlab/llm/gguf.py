"""What the header of a GGUF file says, as its specification lays it out: how long a context the model was made for."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

MAGIC = b"GGUF"
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_WHOLE = {2: "<H", 3: "<h", 4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_STRING, _ARRAY = 8, 9


def context_length(file: Path) -> int | None:
    """Tokens that the model was trained to read and write together; None where the header does not say, or is none."""
    try:
        with file.open("rb") as stream:
            return _context_length(stream)
    except (OSError, OverflowError, ValueError, struct.error):
        return None


def _context_length(stream: BinaryIO) -> int | None:
    if stream.read(4) != MAGIC:
        return None
    _version, _tensors, pairs = _read(stream, "<IQQ")
    for _ in range(pairs):
        key = stream.read(_read(stream, "<Q")[0])
        (kind,) = _read(stream, "<I")
        if key.endswith(b".context_length") and kind in _WHOLE:
            (length,) = _read(stream, _WHOLE[kind])
            return length if length > 0 else None
        _pass_over(stream, kind)
    return None


def _pass_over(stream: BinaryIO, kind: int) -> None:
    """Go on behind a value; an array says the kind and the number of what it holds."""
    if kind == _STRING:
        stream.seek(_read(stream, "<Q")[0], 1)
    elif kind == _ARRAY:
        inner, count = _read(stream, "<IQ")
        if inner in _SIZES:
            stream.seek(_SIZES[inner] * count, 1)
        else:
            for _ in range(count):
                _pass_over(stream, inner)
    elif kind in _SIZES:
        stream.seek(_SIZES[kind], 1)
    else:
        raise ValueError(f"kind {kind} of a value; expected 0 to 12")


def _read(stream: BinaryIO, form: str) -> tuple[int, ...]:
    """Read numbers; `struct.error` where the file ends before them."""
    return struct.unpack(form, stream.read(struct.calcsize(form)))
