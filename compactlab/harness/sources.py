"""Digests of all code that has an effect on a block: a run makes a block anew where one of them changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from compactlab import catalog
from compactlab.harness.labels import CONTROLS, labels
from compactlab.llm.build import Spec
from compactlab.settings import Project
from compactlab.strategies import Strategy

WORDING = tuple(
    f"compactlab.{name}"
    for name in ("llm.prompts", "llm.parts", "llm.checks", "llm.quotes", "llm.refusals", "llm.languages", "redaction")
)
"""What makes the requests to a model, and judges its replies: part of the source of each strategy that asks one."""
GUARDING = ("compaction", "reconcile", "history")
"""What stands between a strategy and its result."""
READING = ("", ".grades", ".scores", ".wording")
"""What asks a reader and grades its answers."""


def sources(strategies: Sequence[Strategy], project: Project) -> dict[tuple[str, str], str]:
    """By label and whose size it has, the digest of the sources behind a block: the metrics', its own, and, where a
    model is asked, those of what asks it and of a model that is code itself.
    """
    scored_by = [catalog.digest("metrics", name) for name in catalog.names("metrics")]
    read_by = [catalog.source_digest(f"compactlab.answering{name}") for name in READING] if project.reader else []
    scored_by = [*scored_by, *(catalog.source_digest(f"compactlab.{name}") for name in GUARDING)]
    own = {
        repr(strategy): short([_source(strategy), *asked_by(project)]) if strategy.uses_model else _source(strategy)
        for strategy in strategies
    }
    own |= {control: catalog.source_digest(f"compactlab.controls.{control}") for control in CONTROLS}
    return {
        (label, size_of): short(
            [*scored_by, own.get(label, ""), own.get(size_of, ""), *([] if size_of or label == "facts" else read_by)]
        )
        for label, size_of, *_ in labels(strategies, ())
    }


def _source(strategy: Strategy) -> str:
    """Digest of a strategy's source, and of the package that an adapter runs."""
    own, package = catalog.source_digest(type(strategy).__module__), str(getattr(strategy, "fingerprint", ""))
    return short([own, package]) if package else own


def asked_by(project: Project) -> list[str]:
    """Digests of what makes the requests to a model, and of a model that is code itself."""
    return [catalog.source_digest(module) for module in (*WORDING, *_code_of(project))]


def _code_of(project: Project) -> list[str]:
    """The modules behind models that are code; of any other its name, which the manifest holds, must do."""
    specs = [Spec(one.spec) for one in (project, *map(project.of, project.per_type))]
    found = [spec.kind.partition(":")[0] for spec in specs if spec.is_outside]
    return [*dict.fromkeys(found), *(["compactlab.llm.extractive"] if "extractive" in {s.kind for s in specs} else [])]


def short(digests: Iterable[str]) -> str:
    """The digest of digests, 12 hex digits."""
    return hashlib.sha256("|".join(digests).encode()).hexdigest()[:12]


def engine(counter_name: str) -> str:
    """The package behind a counter, with its version."""
    if counter_name == "chars/4":
        return "no tokenizer"
    package = "tiktoken" if counter_name.startswith("tiktoken:") else "toktok-rs"
    return f"{package} {version(package)}"
