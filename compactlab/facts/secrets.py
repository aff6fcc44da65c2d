"""Secrets in a text: what looks like a credential is masked before any family reads it, so none can give a piece of it.

Typical shapes only: keys with a vendor's prefix, JSON web tokens, private keys, values assigned to a name such as
`password` or `api_key`, a user's password inside an address.
"""

from __future__ import annotations

import re

from compactlab.facts.text import blank

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


def without_secrets(text: str) -> str:
    r"""Mask everything in *text* that looks like a credential; the length stays.

    >>> without_secrets("API_KEY=q9w8e7r6t5 on port 5433").replace("\ufffc", "*")
    'API_KEY=********** on port 5433'
    """
    for pattern in (_PRIVATE_KEY, _PREFIXED):
        text = blank(text, [match.span() for match in pattern.finditer(text)])
    for pattern in (_ASSIGNED, _BEARER, _IN_ADDRESS):
        found = (match for match in pattern.finditer(text) if not _HARMLESS.match(match["value"]))
        text = blank(text, [match.span("value") for match in found])
    return text
