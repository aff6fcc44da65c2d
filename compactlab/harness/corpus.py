"""What a run gathers before it begins: sessions told apart, their probes, and digests of all that has an effect."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from msgspec.structs import replace

from compactlab import catalog
from compactlab.errors import TranscriptError
from compactlab.harness.session import CONTROLS, labels
from compactlab.llm.build import Spec
from compactlab.probes import hand
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.transcript import Transcript

WORDING = tuple(
    f"compactlab.{name}"
    for name in ("llm.prompts", "llm.parts", "llm.checks", "llm.quotes", "llm.refusals", "llm.languages", "redaction")
)
"""What makes the requests to a model, and judges its replies: part of the source of each strategy that asks one."""


def told_apart(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """Lead ids that sessions of several folders share by the folder's name; the same session twice is an error."""
    held = Counter(t.id for t in transcripts)
    named = [t if held[t.id] == 1 else replace(t, id=f"{Path(t.path).parent.name}/{t.id}") for t in transcripts]
    doubled = next((name for name, times in Counter(t.id for t in named).items() if times > 1), None)
    if doubled is not None:
        raise TranscriptError(f"session {doubled!r} was given more than once; expected each session once")
    return named


def sources(strategies: Sequence[Strategy], project: Project) -> dict[tuple[str, str], str]:
    """By label and whose size it has, the digest of the sources behind a block: the metrics', its own, and, where a
    model is asked, those of what asks it and of a model that is code itself.
    """
    scored_by = [catalog.digest("metrics", name) for name in catalog.names("metrics")]
    asked_by = [catalog.source_digest(module) for module in (*WORDING, *_code_of(project))]
    own = {
        repr(strategy): short([catalog.source_digest(type(strategy).__module__), *asked_by])
        if strategy.uses_model
        else catalog.source_digest(type(strategy).__module__)
        for strategy in strategies
    }
    own |= {control: catalog.source_digest(f"compactlab.controls.{control}") for control in CONTROLS}
    return {
        (label, size_of): short([*scored_by, own.get(label, ""), own.get(size_of, "")])
        for label, size_of, _ in labels(strategies, ())
    }


def _code_of(project: Project) -> list[str]:
    """The module behind a model that is code; of any other its name, which the manifest holds, must do."""
    spec = Spec(project.spec)
    if spec.is_outside:
        return [spec.kind.partition(":")[0]]
    return ["compactlab.llm.extractive"] if spec.kind == "extractive" else []


def short(digests: Iterable[str]) -> str:
    """The digest of digests, 12 hex digits."""
    return hashlib.sha256("|".join(digests).encode()).hexdigest()[:12]


def engine(counter_name: str) -> str:
    """The package behind a counter, with its version."""
    if counter_name == "chars/4":
        return "no tokenizer"
    package = "tiktoken" if counter_name.startswith("tiktoken:") else "toktok-rs"
    return f"{package} {version(package)}"


def probes_of(transcripts: Sequence[Transcript], files: Sequence[Path]) -> dict[str, tuple[hand.Probe, ...]]:
    """Probes by session: those beside its file, and those of *files* named after it."""
    found: dict[str, tuple[hand.Probe, ...]] = defaultdict(tuple)
    for transcript in transcripts:
        beside = hand.beside(Path(transcript.path)) if transcript.path else None
        own = [f for f in files if f.name.removesuffix(".jsonl").removesuffix(".probes") == transcript.id]
        named = list(files) if len(transcripts) == 1 else own
        for file in dict.fromkeys([*([beside] if beside else []), *named]):
            found[transcript.id] += hand.load(file)
    return found
