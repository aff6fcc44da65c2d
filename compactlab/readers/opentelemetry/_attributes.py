"""Attributes of spans in the ways they are written: a map, OTLP's typed values, nested objects; made alike."""

from __future__ import annotations

from typing import Any

from compactlab.readers._fields import array, mapping, objects, string


def attributes(given: object) -> dict[str, Any]:
    """Attributes by name, whether they were written as a map or as OTLP's list of keys and typed values."""
    if isinstance(given, dict):
        return given
    return {string(pair.get("key")): decoded(pair.get("value")) for pair in objects(given)}


def decoded(value: object) -> Any:  # noqa: ANN401  # JSON is any value
    """A value of OTLP, which says its type, as plain JSON; any other value as it is."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    if kind in {"stringValue", "string_value", "boolValue", "doubleValue", "bytesValue"}:
        return inner
    if kind == "intValue":
        return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdecimal() and len(inner) < 25 else inner
    if kind == "arrayValue":
        return [decoded(each) for each in array(mapping(inner).get("values"))]
    if kind == "kvlistValue":
        return attributes(array(mapping(inner).get("values")))
    return value


def flat(given: dict[str, Any]) -> dict[str, Any]:
    """Attributes by their dotted names, where they were written as nested objects.

    >>> flat({"llm": {"token_count": {"prompt": 3}}, "gen_ai.tool.call.arguments": {"p": 1}})
    {'llm.token_count.prompt': 3, 'gen_ai.tool.call.arguments': {'p': 1}}
    """
    if not any(isinstance(value, dict) and "." not in name for name, value in given.items()):
        return given
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, dict) and "." not in name:
            _flatten(name, value, found, lists=name == "llm")
        else:
            found[name] = value
    return found


def counted(given: dict[str, Any]) -> dict[str, Any]:
    """Attributes with the entities of Monocle under numbers from 1 on, where a backend gives them as a list."""
    listed = objects(given.get("entity"))
    if not listed:
        return given
    rest = {name: value for name, value in given.items() if name != "entity"}
    numbered = {f"entity.{n}.{key}": value for n, entity in enumerate(listed, 1) for key, value in entity.items()}
    return numbered | rest


def _flatten(path: str, value: object, found: dict[str, Any], *, lists: bool) -> None:
    if isinstance(value, dict) and path.count(".") < 20:
        for name, inner in value.items():
            _flatten(f"{path}.{name}", inner, found, lists=lists)
    elif lists and isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for index, inner in enumerate(value):
            _flatten(f"{path}.{index}", inner, found, lists=lists)
    else:
        found[path] = value
