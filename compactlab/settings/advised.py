"""What our own tuning advises for each type of agent, with the evidence: data of the package, `advised.toml`.

It is shown beside what holds, and never applied: who wants it writes it into a settings file.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, NamedTuple

from compactlab.errors import SpecError
from compactlab.policy import Policy
from compactlab.settings.project import Project
from compactlab.settings.reading import Reading

NAME = "advised.toml"


class Advice(NamedTuple):
    """What is advised for one type: the keys of its table in a settings file, and what the advice rests on."""

    keys: dict[str, Any]
    evidence: str

    @property
    def policy(self) -> Policy:
        """The policy that the keys come to."""
        return Project(per_type={"": self.keys}).policy("")


def advised(text: str | None = None) -> dict[str, Advice]:
    r"""Give the advice for each type that has one: that of the package, or of a *text* of the same form.

    Raises `SpecError` for what no settings file could hold, and for advice without evidence.

    >>> found = advised('[subagent]\nstrategy = "cull"\nmarks = [0.7]\nevidence = "6 sessions"\n')
    >>> found["subagent"].policy, found["subagent"].evidence
    (cull, '6 sessions')
    """
    if text is None:
        text = resources.files("compactlab.settings").joinpath(NAME).read_text(encoding="utf-8")
    reading = Reading(NAME, text)
    found = {}
    for agent_type, table in tomllib.loads(text).items():
        reading.of_type((agent_type,), table, ("evidence",))
        keys = {key: value for key, value in table.items() if key != "evidence"}
        if "evidence" not in table:
            raise SpecError(f"{reading.where((agent_type,))}: [{agent_type}] has no evidence; expected a text")
        reading.fits(Project(per_type={agent_type: keys}), agent_type)
        found[agent_type] = Advice(keys, table["evidence"])
    return found
