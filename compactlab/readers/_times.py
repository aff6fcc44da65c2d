"""Times as formats record them, made one: text as it stands, numbers as ISO 8601 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 100_000_000_000  # no clock in seconds has gone so far


def iso(value: object) -> str | None:
    """A recorded time as text: text as it is, seconds or milliseconds as ISO 8601 UTC; None for anything else.

    >>> iso(1783343867153), iso(1783343867), iso("2026-07-06T13:15:50Z"), iso(None)
    ('2026-07-06T13:17:47.153Z', '2026-07-06T13:17:47Z', '2026-07-06T13:15:50Z', None)
    """
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e14:
        return None
    milliseconds = round(value if value >= _MILLISECONDS_FROM else value * 1000)
    time = _START + timedelta(milliseconds=milliseconds)
    return time.isoformat(timespec="milliseconds" if milliseconds % 1000 else "seconds").replace("+00:00", "Z")
