"""How far two ways of grading agree, and whether a judge is of one family with what it judges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Agreement(NamedTuple):
    """Two yes-or-no verdicts on `n` things: the share they agree on, and Cohen's kappa; None where it has no value."""

    n: int
    share: float
    kappa: float | None


def agreement(counts: dict[tuple[bool, bool], float]) -> Agreement | None:
    """Compare two verdicts by how often each pair of them came out; None of nothing.

    kappa = (p_o - p_e) / (1 - p_e), with p_e what two graders with these rates would agree on by luck (Cohen, "A
    coefficient of agreement for nominal scales", 1960). It has no value where each side gave one verdict throughout.

    >>> agreement({(True, True): 20, (True, False): 5, (False, True): 10, (False, False): 15})
    Agreement(n=50, share=0.7, kappa=0.4)
    """
    n = sum(counts.values())
    if not n:
        return None
    observed = sum(count for (one, other), count in counts.items() if one == other) / n
    first = sum(count for (one, _), count in counts.items() if one) / n
    second = sum(count for (_, other), count in counts.items() if other) / n
    by_luck = first * second + (1 - first) * (1 - second)
    kappa = None if by_luck >= 1 - 1e-12 else round((observed - by_luck) / (1 - by_luck), 6)
    return Agreement(round(n), observed, kappa)


_FAMILIES = {
    "GPT": r"gpt|chatgpt|codex|davinci|o[1-9](?:-|$)",
    "Claude": r"claude",
    "Gemini": r"gemini|gemma|palm",
    "Llama": r"(?:meta-?)?llama|codellama",
    "Mistral": r"mistral|mixtral|ministral|codestral|magistral|devstral|pixtral",
    "Qwen": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "Phi": r"phi-?\d",
    "Grok": r"grok",
    "Command": r"command",
    "Nova": r"nova|titan",
    "Kimi": r"kimi|moonshot",
    "GLM": r"glm|chatglm",
    "MiniMax": r"minimax|abab",
    "SmolLM": r"smollm",
    "Granite": r"granite",
    "OLMo": r"olmo",
    "Yi": r"yi-",
    "Nemotron": r"nemotron",
}
_FAMILY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _FAMILIES.items()), re.IGNORECASE)


def family(model: str) -> str:
    """The family of a model by its name: without the vendor before it, versions and sizes behind it.

    >>> [family(name) for name in ("openai/gpt-5-mini", "o3", "claude-haiku-4-5", "my-own-7b-v2", "my-own-13b")]
    ['GPT', 'GPT', 'Claude', 'my-own', 'my-own']
    """
    bare = re.sub(r"\s*\(.*\)$", "", model).casefold().rsplit("/", 1)[-1]
    for start in re.finditer(r"(?:^|[^a-z0-9])", bare):
        found = _FAMILY.match(bare, start.end())
        if found and found.lastgroup:
            return found.lastgroup
    return re.split(r"[-_:.@ ]?v?\d", bare)[0] or bare


def kinship(judge: str, others: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Say of whom a judge is of one family with: models tend to prefer what their own kind wrote.

    *others* are (what it does, name) pairs.

    >>> kinship("gpt-5", [("writes the summaries", "gpt-5-mini"), ("answers the probes", "claude-sonnet-4-5")])
    ('the judge gpt-5 is of one family (GPT) with gpt-5-mini, which writes the summaries: it may favour its own kind',)
    """
    own = family(judge)
    return tuple(
        f"the judge {judge} is of one family ({own}) with {name}, which {what}: it may favour its own kind"
        for what, name in dict.fromkeys(others)
        if name and family(name) == own
    )
