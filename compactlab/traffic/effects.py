"""What a call does to files, read from its arguments: the tools of known harnesses, patches, and shell commands.

Known are the edit, write and read tools of Claude Code, OpenHands, SWE-agent and Codex (`apply_patch`), the commands of
text editors that are one tool (`view`, `create`, `str_replace`, `insert`, `delete`, `rename`), and of shell programs
those whose effect stands in their words. A path with a variable or a pattern in it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from compactlab.tools import decoded, path_argument, shell_command, tool_name
from compactlab.traffic.shell import Step, Word, steps
from compactlab.transcript import ToolCall

Verb = Literal["read", "write", "append", "edit", "add", "make", "delete", "clear", "move", "arrive"]


class Effect(NamedTuple):
    """One thing that a call does to one path, as it is written, seen from `directory` ("": where the call starts).

    `write` gives a whole new content, `append` adds to what is there or begins it, `edit` changes one, `make` is a
    folder or an empty file, `add` is a file that is new for certain, `clear` deletes what may not be there, `move` and
    `arrive` are the two ends of a move. An empty path is the file that is open.
    """

    verb: Verb
    path: str
    directory: str | None = ""


_EDITOR: dict[str, Verb] = {
    "view": "read",
    "create": "write",
    "str_replace": "edit",
    "insert": "edit",
    "undo_edit": "edit",
    "append": "append",
    "delete": "delete",
}
_TOOLS: dict[str, Verb] = {
    "read": "read",
    "write": "write",
    "edit": "edit",
    "append": "append",
    "insert": "edit",
    "append_file": "append",
    "delete": "delete",
    "delete_file": "delete",
    "remove_file": "delete",
}
_MOVERS = frozenset(("move", "move_file", "rename", "rename_file"))
_PATCH = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): ([^\n]{1,400})$", re.MULTILINE)
_PATCH_VERBS: dict[str, Verb] = {"Add File": "add", "Update File": "edit", "Delete File": "delete", "Move to": "arrive"}
_COUNT = re.compile(r"-\d+|-[nc]\d+")
_LONGEST_PATH = 400


@lru_cache(maxsize=16_384)
def effects(call: ToolCall) -> tuple[Effect, ...]:
    """Give what *call* does to files, if it succeeds, in order.

    >>> effects(ToolCall("1", "Edit", '{"file_path": "a.py", "old_string": "x", "new_string": "y"}'))
    (Effect(verb='edit', path='a.py', directory=''),)
    >>> [(e.verb, e.path) for e in effects(ToolCall("2", "bash", '{"command": "cd src && sed -i s/a/b/ a.py > log"}'))]
    [('write', 'log'), ('edit', 'a.py')]
    """
    arguments = decoded(call)
    command = arguments.get("command")
    if isinstance(command, str) and command in {*_EDITOR, "rename"} and path_argument(call):
        return _editor(command, call, arguments)
    name = tool_name(call.name)
    if name == "bash":
        return tuple(effect for step in steps(shell_command(call)) if step.certain for effect in of_step(step))
    patch = next((v for key in ("patch", "input", "diff") if isinstance(v := arguments.get(key), str)), "")
    if "*** Begin Patch" in patch:
        return tuple(_patched(patch, ""))
    if name in _MOVERS:
        return _moved(arguments, path_argument(call))
    if name not in _TOOLS or (name == "edit" and "apply" in call.name.casefold()):
        return ()
    return _tool(name, call, arguments)


def _tool(name: str, call: ToolCall, arguments: dict[str, Any]) -> tuple[Effect, ...]:
    path = path_argument(call)
    verb = _TOOLS[name]
    if verb == "edit" and (arguments.get("old_string") or arguments.get("old") or "-") == "-" and _gives_all(arguments):
        verb = "write"
    return (Effect(verb, path),) if len(path) < _LONGEST_PATH and (path or verb == "edit") else ()


def _gives_all(arguments: dict[str, Any]) -> bool:
    """An edit that replaces nothing writes the file."""
    return "old_string" in arguments or "old" in arguments


def _editor(command: str, call: ToolCall, arguments: dict[str, Any]) -> tuple[Effect, ...]:
    if command == "rename":
        return _moved(arguments, path_argument(call))
    return (Effect(_EDITOR[command], path_argument(call)),)


def _moved(arguments: dict[str, Any], source: str) -> tuple[Effect, ...]:
    names = ("new_path", "destination", "target", "to", "dest")
    target = next((v for key in names if isinstance(v := arguments.get(key), str) and v), "")
    return (Effect("move", source), Effect("arrive", target)) if source and target else ()


def _patched(patch: str, directory: str | None) -> Iterator[Effect]:
    last = ""
    for match in _PATCH.finditer(patch):
        verb, path = _PATCH_VERBS[match[1]], match[2].strip()
        if verb == "arrive" and last:
            yield Effect("move", last, directory)
        yield Effect(verb, path, directory)
        last = path


def of_step(step: Step) -> Iterator[Effect]:
    """Give what one simple command of a shell does to files."""
    for target, adds in step.outputs:
        if _is_path(target):
            yield Effect("append" if adds else "write", target.text, step.directory)
    if step.words and step.words[0].literal:
        yield from _of_program(step)


def _of_program(step: Step) -> Iterator[Effect]:
    program, words = step.words[0].text.rpartition("/")[2], step.words[1:]
    if program == "git" and words and words[0].text in {"rm", "mv"}:
        program, words = words[0].text, words[1:]
        words = () if any(word.text == "--cached" for word in words) else words
    if program in {"apply_patch", "applypatch"}:
        yield from _patched(step.body or (words[0].text if words else ""), step.directory)
    elif program in _PROGRAMS:
        for verb, word in _PROGRAMS[program](words):
            if _is_path(word) and not (verb == "read" and step.outputs):
                yield Effect(verb, word.text, step.directory)


def _is_path(word: Word) -> bool:
    return word.literal and 0 < len(word.text) < _LONGEST_PATH and word.text != "-" and "\n" not in word.text


def _named(words: tuple[Word, ...], valued: str = "") -> list[Word]:
    """The words that are no options; an option of *valued* takes the next word with it."""
    named: list[Word] = []
    skip = only_names = False
    for word in words:
        if skip:
            skip = False
        elif only_names or not word.text.startswith("-") or word.text == "-":
            named.append(word)
        elif word.text == "--":
            only_names = True
        else:
            skip = len(word.text) == 2 and word.text[1] in valued
    return named


def _each(verb: Verb, valued: str = "") -> Callable[[tuple[Word, ...]], list[tuple[Verb, Word]]]:
    return lambda words: [(verb, word) for word in _named(words, valued)]


def _rm(words: tuple[Word, ...]) -> list[tuple[Verb, Word]]:
    forced = any(re.fullmatch(r"-[a-zA-Z]*f[a-zA-Z]*|--force", word.text) for word in words)
    return [("clear" if forced else "delete", word) for word in _named(words)]


def _mv(words: tuple[Word, ...]) -> list[tuple[Verb, Word]]:
    return [] if any(word.text == "-t" for word in words) else _carried("move", "arrive", _named(words))


def _cp(words: tuple[Word, ...]) -> list[tuple[Verb, Word]]:
    recursive = any(word.text.startswith(("-r", "-R", "-a", "--recursive", "-t")) for word in words)
    return [] if recursive else [pair for pair in _carried("read", "write", _named(words)) if pair[0] == "write"]


def _carried(leaves: Verb, comes: Verb, words: list[Word]) -> list[tuple[Verb, Word]]:
    """Sources and where they come to: a last word with a slash at its end, or after several sources, is a folder."""
    if len(words) < 2:
        return []
    *sources, target = words
    into = len(sources) > 1 or target.text.endswith("/") or target.text in {".", ".."}
    made: list[tuple[Verb, Word]] = []
    for source in sources:
        name = source.text.rstrip("/").rpartition("/")[2]
        end = Word(f"{target.text.rstrip('/')}/{name}", target.literal and source.literal) if into else target
        made += [(leaves, source), (comes, end)]
    return made


def _tee(words: tuple[Word, ...]) -> list[tuple[Verb, Word]]:
    adds = any(word.text in {"-a", "--append"} for word in words)
    return [("append" if adds else "write", word) for word in _named(words)]


def _sed(words: tuple[Word, ...]) -> list[tuple[Verb, Word]]:
    options = [word.text for word in words if word.text.startswith("-") and word.text != "-"]
    scripted = any(re.fullmatch(r"-[a-zA-Z]*[ef]|--(?:expression|file).*", option) for option in options)
    changes = any(re.match(r"-[nErsz]*i|--in-place", option) for option in options)
    scripts = any(re.fullmatch(r"-[a-zA-Z]*[ef]", option) for option in options)
    files = _named(words, "ef") if scripts else _named(words)
    if any(word.text == "" for word in files):
        files = [word for word in files if word.text]  # `sed -i ''`, as BSD has it
    return [("edit" if changes else "read", word) for word in (files if scripted else files[1:])]


_PROGRAMS: dict[str, Callable[[tuple[Word, ...]], list[tuple[Verb, Word]]]] = {
    "rm": _rm,
    "unlink": _each("delete"),
    "rmdir": _each("delete"),
    "mv": _mv,
    "cp": _cp,
    "mkdir": _each("make", "m"),
    "touch": _each("make", "dtr"),
    "tee": _tee,
    "sed": _sed,
    "cat": _each("read"),
    "nl": _each("read", "bvw"),
    "head": lambda words: [("read", w) for w in _named(words, "nc") if not _COUNT.fullmatch(w.text)],
    "tail": lambda words: [("read", w) for w in _named(words, "nc") if not w.text.startswith("+")],
}
