"""`compactlab.toml`: which strategy, with which parameters, for which type of agent; pins, marks, and the model.

    [compaction]
    pins = ["role:system"]

    [compaction.per_type]
    primary = { policy = "microcompact@0.8+summary@0.95", preserve_recent = 10, window = 200_000 }
    subagent = { strategy = "sliding_window", min_messages = 2, marks = [0.7, 0.8, 0.9] }

    [agent_types]
    "logs/verifier/*" = "subconscious"

    [llm]
    kind = "live"
    model = "gpt-4o-mini"

`[agent_types]` gives transcripts whose path matches a pattern their type; the first pattern that matches wins.

A key under a type wins over the same key under `[compaction]`. `strategy` is a whole spec, which runs at the lowest
mark; `policy` has a strategy at each of several marks (`compactlab.policy`); one table has one of them. The keys
`preserve_recent` (or `min_messages`), `keep_recent` and `kv_target` set the parameter of that name in each strategy
that has it, and are an error under a type where none does. `window` is that of the agents, in tokens; `model` and
`prompts` of a type win over those of `[llm]`. Unknown keys and bad values are errors that name the key and its line.

`[llm]` says what writes the text of strategies that ask a model. `kind` is a spec of `compactlab.llm.build`; `model`,
`base_url`, `window`, `concurrency`, `timeout_seconds` and `retries` are of a model that is called; `store` is the store
or folder of the kinds `record`, `replay` and `batch`; `temperature` and `max_output` hold for every request;
`leave_out = ["temperature"]` is for models that do not take one; `cap_tokens` and `cap_money` are the most that one run
may spend. `[llm.prices]` holds prices that win over those of `compactlab.llm.prices`, in money for a million tokens:
`"my-model" = { input = 0.4, output = 1.6, cached = 0.1 }`. A key for the model's server is never in a file.

`[reader]` and `[judge]` name, with the same keys, the models that answer hand-made probes and grade the answers; what
they do not say is as in `[llm]`. The store of a run, or its batch folder, is theirs too.

`[memory]` is for `compactlab memory`: `originals` ("git", or "local" to keep them out of it), and `wordings`, a file
beside this one with texts of one's own for what the agent hears.

`docs/settings.md` has every key in one commented file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from compactlab.errors import SpecError
from compactlab.settings.advised import Advice, advised
from compactlab.settings.choice import DEFAULTS, FALLBACK
from compactlab.settings.models import Role
from compactlab.settings.project import Project
from compactlab.settings.reading import Reading

__all__ = ["DEFAULTS", "FALLBACK", "FILE", "Advice", "Project", "Role", "advised", "load"]

FILE = "compactlab.toml"


def load(path: str | Path | None = None) -> Project:
    """Read a settings file: *path*, or `compactlab.toml` in the working folder, or the defaults if there is none.

    Raises `SpecError` with file, line and key for what cannot be read, is unknown, or has a bad value.
    """
    file = Path(path or FILE)
    if path is None and not file.is_file():
        return Project()
    try:
        text = file.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise SpecError(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{file}: cannot be read (not UTF-8 text)") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: is not TOML ({error})") from error
    except RecursionError as error:
        raise SpecError(f"{file}: cannot be read (nested too deep)") from error
    reading = Reading(str(file), text)
    project = Project(path=str(file), text=text, **reading.tables(content)._asdict())
    for agent_type in project.types:
        reading.fits(project, agent_type)
    return project
