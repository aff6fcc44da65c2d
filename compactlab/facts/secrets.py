"""Secrets in a text: what looks like a credential is masked before any family reads it, so none can give a piece of it.

Typical shapes only: keys with a vendor's prefix, JSON web tokens, private keys, values assigned to a name such as
`password` or `api_key`, a user's password inside an address.
"""

from __future__ import annotations

import re
from functools import lru_cache

import ahocorasick_rs

from compactlab.facts.text import blank, fold

_PREFIXED = re.compile(
    r"(?<![\w-])(?:sk|pk|rk)[-_](?:live_|test_|proj-|ant-|or-)?[\w-]{16,200}"
    r"|(?<!\w)gh[pousr]_\w{20,255}|(?<!\w)github_pat_\w{20,255}|(?<!\w)glpat-[\w-]{16,64}"
    r"|(?<!\w)(?:AKIA|ASIA)[0-9A-Z]{12,20}(?!\w)|(?<!\w)AIza[\w-]{30,40}|(?<!\w)xox[abeprs]-[\w-]{10,255}"
    r"|(?<!\w)hf_[A-Za-z]{30,40}|(?<!\w)npm_\w{30,40}|(?<!\w)pypi-[\w-]{40,255}|(?<!\w)SG\.[\w-]{16,40}\.[\w-]{16,64}"
    r"|(?<![\w-])eyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,4000})?"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,10000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
_ASSIGNED = re.compile(
    r"(?i)(?<![a-z0-9])(?:[a-z0-9]{1,30}[_-]){0,4}"
    r"(?:password|passwd|passphrase|pwd|secret|secret[_-]?key|api[_-]?key|access[_-]?key|auth[_-]?token|token)"
    r"[\"']?[ \t]{0,3}(?:=|:|=>|\bis)[ \t]{0,3}[\"'`]?(?P<value>[^\s\"'`,;)}\]]{5,400})"
)
_BEARER = re.compile(r"(?i)\b(?:bearer|basic|token)[ \t]{1,3}(?P<value>[\w.~+/=-]{16,4000})")
_IN_ADDRESS = re.compile(r"://[^\s/:@]{1,64}:(?P<value>[^\s/@]{3,128})@")
# What follows such a name in code, prose and schemas without being a secret.
_HARMLESS = re.compile(r"(?i)(?:[a-z]{3,12}[.:]?|[\w.]*[(\[{].*|\$.*|<.*|\*+|os\.\w.*|self\.\w.*)$")


# One of these, in small letters, stands in every secret that a line can hold.
_SIGNS: tuple[str, ...] = tuple(
    """sk- pk- rk- sk_ pk_ rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- akia asia aiza xoxa- xoxb- xoxe- xoxp- xoxr-
    xoxs- hf_ npm_ pypi- sg. eyj password passwd passphrase pwd secret api_key api-key apikey access_key access-key
    accesskey token bearer basic ://""".split()
)


def without_secrets(text: str) -> str:
    r"""Mask everything in *text* that looks like a credential; the length stays.

    >>> without_secrets("API_KEY=q9w8e7r6t5 on port 5433").replace("\ufffc", "*")
    'API_KEY=********** on port 5433'
    """
    if "PRIVATE KEY-----" in text:
        text = blank(text, [match.span() for match in _PRIVATE_KEY.finditer(text)])
    parts: list[str] = []
    done = 0
    for _, _, sign in _signs().find_matches_as_indexes(fold(text)):
        if sign > done:
            start, end = text.rfind("\n", done, sign) + 1 or done, text.find("\n", sign)
            end = end if end >= 0 else len(text)
            parts += (text[done:start], _masked(text[start:end]))
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _masked(line: str) -> str:
    """Mask the secrets of one line: none but a private key reaches beyond its line."""
    line = blank(line, [match.span() for match in _PREFIXED.finditer(line)])
    for pattern in (_ASSIGNED, _BEARER, _IN_ADDRESS):
        found = (match for match in pattern.finditer(line) if not _HARMLESS.match(match["value"]))
        line = blank(line, [match.span("value") for match in found])
    return line


@lru_cache(maxsize=1)
def _signs() -> ahocorasick_rs.AhoCorasick:
    return ahocorasick_rs.AhoCorasick(_SIGNS)
