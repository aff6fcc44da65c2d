"""Rows of parquet and Arrow files, some at a time, so that a file of any size fits into memory."""

from __future__ import annotations

import importlib
from datetime import date, time
from typing import TYPE_CHECKING, Any

from compactlab.errors import TranscriptError
from compactlab.readers._files import ARROW, PARQUET

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

BATCH = 16
"""Rows that are held at a time: one trajectory may have megabytes."""
_STREAM = b"\xff\xff\xff\xff"
_LARGE = {"eval_logs", "patch", "model_patch", "generated_patch", "test_result", "test_patch", "submission", "tree"}
"""Columns that no message and no header is made of."""


def is_table(source: Source) -> bool:
    """Whether a file is parquet, an Arrow file, or an Arrow stream, as `datasets` saves them."""
    if source.binary in {PARQUET, ARROW}:
        return True
    return bool(source.binary) and source.head.startswith(_STREAM) and int.from_bytes(source.head[4:8], "little") > 0


def columns(source: Source) -> list[str] | None:
    """Names of the columns; None if pyarrow is not there, `TranscriptError` if the file is broken."""
    try:
        arrow = importlib.import_module("pyarrow")
    except ImportError:
        return None
    try:
        with _opened(source, arrow) as table:
            return list((table.schema_arrow if source.binary == PARQUET else table.schema).names)
    except _faults(arrow) as error:
        raise _broken(source, error) from error


def rows(source: Source) -> Iterator[dict[str, Any]]:
    """The rows of a file in their order, without what is null in them."""
    try:
        arrow = importlib.import_module("pyarrow")
    except ImportError as error:
        kind = source.binary if source.binary in {PARQUET, ARROW} else ARROW
        raise TranscriptError(
            f"{source.path}: {kind} needs pyarrow; install the extra with pip install 'compactlab[data]'"
        ) from error
    try:
        with _opened(source, arrow) as table:
            for batch in _batches(table, is_parquet=source.binary == PARQUET):
                for start in range(0, batch.num_rows, BATCH):
                    for row in batch.slice(start, BATCH).to_pylist():
                        yield plain(row)
    except _faults(arrow) as error:
        raise _broken(source, error) from error


def _batches(table: Any, *, is_parquet: bool) -> Iterator[Any]:  # noqa: ANN401  # pyarrow is untyped
    if is_parquet:
        wanted = [name for name in table.schema_arrow.names if name not in _LARGE]
        yield from table.iter_batches(batch_size=BATCH, columns=wanted)
        return
    count = getattr(table, "num_record_batches", None)
    batches = table if count is None else (table.get_batch(index) for index in range(count))
    for batch in batches:
        batch.validate(full=True)  # offsets in a broken file may lead anywhere
        yield batch.select([name for name in batch.schema.names if name not in _LARGE])


def _opened(source: Source, arrow: Any) -> Any:  # noqa: ANN401  # pyarrow is untyped
    with source.path.open("rb") as file:
        is_packed = file.read(4) != source.head[:4]
    held = arrow.BufferReader(source.data) if is_packed else arrow.memory_map(str(source.path))
    if source.binary == PARQUET:
        return importlib.import_module("pyarrow.parquet").ParquetFile(held)
    return arrow.ipc.open_file(held) if source.binary == ARROW else arrow.ipc.open_stream(held)


def _faults(arrow: Any) -> tuple[type[Exception], ...]:  # noqa: ANN401  # pyarrow is untyped
    return (arrow.ArrowException, OSError, ValueError, TypeError, LookupError, OverflowError, MemoryError, SystemError)


def _broken(source: Source, error: Exception) -> TranscriptError:
    reason = str(error).partition("\n")[0][:200]
    return TranscriptError(f"{source.path}: a table that breaks off or is malformed ({reason})")


def plain(value: Any) -> Any:  # noqa: ANN401  # JSON is any value
    """A value of a table as JSON has it: without the keys that are null, at any depth; times and bytes as text.

    >>> plain({"role": "user", "content": "Hi", "tool_calls": None, "extra": [{"a": None, "b": 1}], "raw": b"abc"})
    {'role': 'user', 'content': 'Hi', 'extra': [{'b': 1}], 'raw': '[3 bytes]'}
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return f"[{len(value)} bytes]" if isinstance(value, bytes) else f"[{type(value).__name__}]"
