"""Fields of recorded JSON, whatever was written into them: each function gives what it promises, never an error."""

from __future__ import annotations

from typing import Any


def mapping(value: object) -> dict[str, Any]:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def array(value: object) -> list[Any]:
    """The value, if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [inner for inner in value if isinstance(inner, dict)] if isinstance(value, list) else []


def strings(value: object) -> list[str]:
    """The texts of a list; none of anything else."""
    return [inner for inner in value if isinstance(inner, str)] if isinstance(value, list) else []


def string(value: object) -> str:
    """The value, if it is a text; else an empty one."""
    return value if isinstance(value, str) else ""


def first_string(record: object, *keys: str) -> str:
    """The first text that is not empty under one of *keys*; an empty one if there is none.

    >>> first_string({"id": None, "session_id": "s1"}, "id", "session_id")
    's1'
    """
    fields = mapping(record)
    return next((fields[key] for key in keys if isinstance(fields.get(key), str) and fields[key]), "")


def count(value: object) -> int | None:
    """The value as a whole number from 0 on; None if it is none.

    >>> count(12), count(12.0), count(True), count("12"), count(-1)
    (12, 12, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == value // 1 and value < 1 << 62 else None
