"""Arguments of calls that were recorded as an object, as text."""

from __future__ import annotations

import msgspec

from compactlab.shapes.parts import json_text


def arguments(given: object) -> str:
    r"""Arguments as JSON text: text as it stands, nothing as `{}`, an object as programs in JavaScript write it.

    Those put no spaces between the tokens, so that what is given here is, but for odd numbers and escapes, what stands
    in the file.

    >>> arguments({"path": "a.py", "lines": [1, 2.5]}), arguments('{"a": '), arguments(None)
    ('{"path":"a.py","lines":[1,2.5]}', '{"a": ', '{}')
    """
    if isinstance(given, str):
        return given
    if given is None:
        return "{}"
    try:
        return msgspec.json.encode(given).decode()
    except (UnicodeEncodeError, OverflowError, ValueError, TypeError, msgspec.MsgspecError):
        return json_text(given)
