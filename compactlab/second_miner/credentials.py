"""What looks like a credential, token by token: after a word that names one, or by the look of the token itself."""

from __future__ import annotations

import string
from functools import lru_cache
from typing import NamedTuple

_NAMES = ("password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key", "access_key",
          "private_key", "authorization", "bearer", "credential", "credentials")  # fmt: skip
_BETWEEN = frozenset({":", "=", "=>", ":=", "is", "was", "to", "bearer", "basic"})
_PREFIXES = ("sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA",
             "ASIA", "AIza", "xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxs-", "hf_", "npm_", "pypi-", "SG.", "eyJ",
             "-----BEGIN")  # fmt: skip
_EDGES = string.punctuation + "“”„‘’"
_LEAST = 16
"""Characters that a key with a vendor's prefix has at the least."""
_MIXED = 24
"""Characters from which a run of capitals, small letters and digits without a break is a key, or a piece of a blob."""


class Credentials:
    """Reads the tokens of a line in order and tells which to leave out."""

    def __init__(self) -> None:
        self._expected = False

    def hides(self, token: str) -> bool:
        """Tell whether *token* is, or holds, a credential; a plain word after the name of one is none.

        >>> line = Credentials()
        >>> [line.hides(token) for token in "the password is hunter22 and port 5433".split()]
        [False, False, False, True, False, False, False]
        """
        look = _look(token)
        if look.secret:
            self._expected = False
            return True
        if self._expected and look.between:
            return False
        hidden = self._expected and _is_value(token)
        self._expected = look.names
        return hidden


class _Look(NamedTuple):
    """What a token is by itself: a secret; a word between a name and its secret; the name of one."""

    secret: bool
    between: bool
    names: bool


@lru_cache(maxsize=16_384)
def _look(token: str) -> _Look:
    folded = token.casefold().strip(_EDGES)
    named, value = _split_at_name(token)
    return _Look(
        looks_secret(token) or (named and _is_value(value)),
        token in _BETWEEN or folded in _BETWEEN,
        folded.endswith(_NAMES) or (named and not value),
    )


def looks_secret(token: str) -> bool:
    """Tell whether a token is a credential by itself.

    >>> looks_secret("ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4"), looks_secret("sk-learn"), looks_secret("https://u:pw1@h.org")
    (True, False, True)
    """
    bare = token.strip("\"'`()[]{}<>,;")
    if len(bare) >= _LEAST and any(_prefixed(part) for part in bare.replace("=", ":").split(":")):
        return True
    authority = bare.partition("://")[2].partition("/")[0]
    if "@" in authority and ":" in authority.partition("@")[0]:
        return True
    return len(bare) >= _MIXED and any(_is_mixed(run) for run in _runs(bare))


def _prefixed(part: str) -> bool:
    bare = part.strip("\"'` ")
    return len(bare) >= _LEAST and bare.startswith(_PREFIXES) and any(c.isdigit() for c in bare)


def _runs(token: str) -> list[str]:
    """Runs of letters and digits, long ones only: what a name or a path is broken by breaks a run."""
    broken = "".join(c if c.isalnum() or c == "+" else " " for c in token)
    return [run for run in broken.split() if len(run) >= _MIXED]


def _is_mixed(run: str) -> bool:
    capitals = sum(c.isupper() for c in run)
    digits = sum(c.isdigit() for c in run)
    small = sum(c.islower() for c in run)
    return min(capitals, digits, small) >= 2


def _split_at_name(token: str) -> tuple[bool, str]:
    """Whether a token assigns to the name of a credential, and what it assigns."""
    for sign in ("=", ":"):
        name, _, value = token.partition(sign)
        if value.strip(_EDGES) and name.casefold().strip(_EDGES).endswith(_NAMES):
            return True, value
    return False, ""


def _is_value(token: str) -> bool:
    """No plain word, and no code such as a call or a variable: at least five characters, a digit or a sign in them."""
    bare = token.strip("\"'`,;.:)}]")
    if len(bare) < 5 or bare.startswith(("$", "<", "*", "os.", "self.")) or "(" in bare or "[" in bare:
        return False
    return not bare.isalpha()
