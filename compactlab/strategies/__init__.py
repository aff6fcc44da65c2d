"""Strategies, one a file: drop a module with a `Strategy` dataclass in here and every command knows it by its name.

A strategy is a frozen dataclass whose fields are its parameters. It sees what a real agent has and no more: the
messages, and a `Context` with the token target, the meter, the model and the original messages. It gives back messages
and may leave notes. It is pure: no clock, no files, no network but the model. The guard (`compactlab.compaction`)
repairs the input before it and checks the output after it, so a strategy may stay simple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import ClassVar, NamedTuple

from compactlab.errors import SpecError
from compactlab.llm import Model
from compactlab.llm.prompts import DEFAULT, Prompts
from compactlab.tokens import Meter
from compactlab.transcript import Message, Messages, Text


class Compacted(NamedTuple):
    """What a strategy gives back; `deferred` holds the reason of one that chose to do nothing.

    `fell_back` says that it had to do without what it asked a model for, and took a lesser way; a note says why.
    """

    messages: Sequence[Message]
    notes: tuple[str, ...] = ()
    deferred: str | None = None
    fell_back: bool = False


@dataclass(frozen=True)
class Context:
    """What a strategy may know beside the messages.

    `target` is the weight in tokens that the whole result should not pass, or None; `originals` are the messages as
    they were before any earlier step of the same compaction. `alternates` says that person and agent must take turns in
    what comes out: a tail then begins with a person's words. `prompts` are the words that a model is asked in.
    `seed` is what a `stochastic` strategy draws by: another number in each case and repetition, each the same again.
    `window` are the tokens that a request of the agent may have, or None where nobody says.
    """

    meter: Meter
    target: int | None = None
    model: Model | None = None
    originals: Messages = ()
    alternates: bool = False
    prompts: Prompts = DEFAULT
    seed: int = 0
    window: int | None = None


@dataclass(frozen=True, repr=False)
class Strategy:
    """Base of every strategy: subclass it as a frozen dataclass with `repr=False` and write `compact`.

    `parameter_aliases` are further names of fields, as old settings write them; `uses_model` says whether it calls one,
    `stochastic` whether it draws by the context's seed: a run then repeats it, as it does what asks a model.
    """

    parameter_aliases: ClassVar[dict[str, str]] = {}
    uses_model: ClassVar[bool] = False
    stochastic: ClassVar[bool] = False

    def compact(self, messages: Messages, context: Context) -> Compacted:
        """Give back the messages that remain; never called with a broken pair of call and result."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Write the spec: catalog name and the fields that differ from their defaults, as the command line reads it."""
        changed = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if not _is_default(self, f.name)]
        return self.name + (f"({', '.join(changed)})" if changed else "")

    def require_whole(self, field: str, least: int = 0) -> None:
        """Raise `SpecError` unless the field is a whole number of *least* or more; for use in `__post_init__`."""
        value = getattr(self, field)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise SpecError(f"{field} is {value!r}; expected a whole number of {least} or more")

    @property
    def guarded(self) -> bool:
        """False where the guard is to apply the result as it is, whatever it breaks; true of all but some peers."""
        return True

    @property
    def name(self) -> str:
        """The catalog name: the module's own for a strategy of the package, `module:Class` for any other."""
        package, _, module = type(self).__module__.rpartition(".")
        if package == __name__:
            return module
        return f"{type(self).__module__}:{type(self).__qualname__}"


def _is_default(strategy: Strategy, name: str) -> bool:
    field = next(f for f in fields(strategy) if f.name == name)
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(getattr(strategy, name) == default)


def note(text: str) -> Message:
    """Make a message that compaction leaves behind: role user, synthetic, framed as data and no one's words."""
    return Message("user", (Text(text),), synthetic=True)
