"""Digests of lines: what tells later that nothing was changed.

A line that holds a secret is digested with a key that stays out of git: else whoever has a clone could try passwords
against the digest until one fits, since all the rest of the line stands beside it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

KEYED = "keyed-"
_DIGITS = 32


@dataclass(frozen=True)
class Digests:
    """Digests under the key of one memory repository; without it (in a clone) keyed ones cannot be told."""

    key: bytes | None = None

    def of(self, line: bytes, *, is_secret: bool = False) -> str:
        """Give the digest of a line, 32 hex digits of SHA-256; keyed for one that holds a secret.

        >>> Digests().of(b'{"type": "message"}')
        'b1185812b5b31c82f1eb452c53f5dd92'
        """
        if is_secret and self.key is not None:
            return KEYED + hmac.new(self.key, line, hashlib.sha256).hexdigest()[:_DIGITS]
        return hashlib.sha256(line).hexdigest()[:_DIGITS]

    def can_tell(self, digest: str) -> bool:
        """Whether a line can be held against this digest here."""
        return self.key is not None or not digest.startswith(KEYED)

    def fits(self, line: bytes, digest: str) -> bool:
        """Whether it is the digest of the line."""
        return self.can_tell(digest) and self.of(line, is_secret=digest.startswith(KEYED)) == digest


def of_list(digests: Iterable[str]) -> str:
    """Give the digest of a whole list of messages: SHA-256 over the digests of its lines, one a line.

    >>> of_list([])[:12]
    'e3b0c44298fc'
    """
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()
