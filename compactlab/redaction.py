"""Secrets out of text: keys, tokens, passwords and private keys become `[REDACTED:kind]`; their labels stay.

One function at every border that text crosses: to a model, into a summary, a journal, a store, a report. Known by their
shape: keys with a vendor's prefix, JSON web tokens, private keys, what is assigned to a name such as `password` or
`api_key` (in code, JSON, shell, headers, prose of several languages), a user's password inside an address. A bare value
has no shape; it is known where it stood behind a label before (`known_secrets`). Hashes, ids, base64 pictures, paths,
versions and prose about passwords stay as they are, byte for byte.

The patterns are this project's own and the only ones: mining masks by them too. `detect-secrets` finds the same on our
transcripts in 25 times the time, and its tests of entropy take commit ids and pictures for keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import is_
from typing import NamedTuple

import ahocorasick_rs
from msgspec.structs import replace

from compactlab.transcript import Block, Message, Messages, Reasoning, Text, ToolCall, ToolResult

SHORTEST_KNOWN = 8
"""Characters that a value needs before it is looked for where it has no label."""

REMEMBERED = 2_048
"""Texts whose secrets are remembered: a history is sent to a model again and again, from other places on."""


class Secret(NamedTuple):
    """Where a secret stands in a text, and its kind: `key`, `token`, `password` or `private key`."""

    start: int
    end: int
    kind: str


_KEY = re.compile(
    r"""
    (?<![\w-])sk[-_](?=[\w-]*\d)[\w-]{16,200}              # OpenAI, Anthropic, Stripe, OpenRouter
    | (?<![\w-])[pr]k_(?:live|test)_\w{16,200}
    | (?<!\w)(?:AKIA|ASIA)[0-9A-Z]{12,20}(?!\w) | (?<!\w)AIza[\w-]{30,40} | (?<!\w)AGE-SECRET-KEY-1\w{50,60}
    | (?<!\w)(?:gsk|r8)_\w{30,80} | (?<!\w)(?:xai|pplx)-\w{30,100} | (?<!\w)SG\.[\w-]{16,40}\.[\w-]{16,64}
    | (?<!\w)lin_api_\w{30,60} | (?<!\w)(?:PMAK|NRAK|tskey)-[\w-]{20,100} | (?<!\w)SK[0-9a-f]{32}(?!\w)
    """,
    re.VERBOSE,
)
_TOKEN = re.compile(
    r"""
    (?<![^\W_])(?:gh[pousr]_\w{20,255} | github_pat_\w{20,255} | gl(?:pat|dt|rt)-[\w-]{16,64})
    | (?<![^\W_])xox[abeprs]-[\w-]{10,255} | (?<!\w)hf_[A-Za-z]{30,40} | (?<!\w)npm_\w{30,40}
    | (?<!\w)pypi-[\w-]{40,255}
    | (?<!\w)(?:dop_v1|shpat|shpss|sntrys|glsa|nfp|sbp|dckr_pat|figd|ntn)_[\w-]{30,255} | (?<!\w)dapi[0-9a-f]{32}
    | (?<!\w)ya29\.[\w-]{20,2000} | (?<!\w)hvs\.[\w-]{20,200} | (?<!\w)ATATT3x[\w=-]{50,255}
    | (?<![\w:])\d{8,10}:AA[\w-]{33}(?![\w-]) | (?<=hooks\.slack\.com/services/)[\w/]{20,100}
    | (?<![\w-])eyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,4000})?
    """,
    re.VERBOSE,
)
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:\s|\\[nr]|\d+[\t→]|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]*)*[A-Za-z0-9+/]{16}")
_BEFORE_END = re.compile(r"(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])+)+\Z")

_PHRASES = (
    "password|passwd|passphrase|passcode|pwd|passwort|kennwort|contraseña|mot de passe|senha|wachtwoord|hasło|пароль"
    "|密码|密碼|パスワード|비밀번호"
)
_NAME = (
    rf"(?P<name>(?i:{_PHRASES}|secret[_-]?access[_-]?key|secret[_-]?key|private[_-]?key|api[_-]?key|access[_-]?key"
    r"|account[_-]?key|signing[_-]?key|encryption[_-]?key|secret|auth[_-]?token|token|credentials?))"
)
_VALUE = r"(?P<value>(?(quote)(?:(?!\\{1,3}[\"'nrt])[^\s\"'`]){5,400}|(?:(?!\\{1,3}[\"'nrt])[^\s\"'`,;)}\]]){5,400}))"
_ASSIGNED = re.compile(
    rf"(?:(?<![A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z])){_NAME}(?:\\{{0,3}}[\"'`])?"
    r"(?:[ \t]{1,3}(?:for|of|to|für|de|da|del)[ \t][^\n:=]{1,40}?(?=[ \t]is\b|:|=))?"
    r"[ \t]{0,3}(?P<sign>:=|=>|->|=|:(?!:)|：|\b(?:is|was|ist|es|est|é)\b)[ \t]{0,3}(?P<quote>\\{0,3}[\"'`])?" + _VALUE
)
_OPTION = re.compile(rf"(?<!\S)--?(?:[a-z]{{1,20}}-)?{_NAME}(?P<sign>[ \t])(?P<quote>[\"'])?" + _VALUE)
_BEARER = re.compile(r"(?i)\b(?:bearer|basic|token)[ \t]{1,3}(?P<value>(?=[^\s\"']*[\d=])[\w.~+/=-]{16,4000})")
_COOKIE = re.compile(
    r"(?i)\bcookie:[^\n]{0,200}?\b(?:session|sessionid|sid|auth|connect\.sid)\w{0,20}=(?P<value>[^\s;,\"']{12,400})"
)
_IN_ADDRESS = re.compile(r"://[^\s/:@]{0,64}:(?P<value>[^\s/@]{3,128})@")
_LOGIN = re.compile(r"(?<!\S)(?:-u|--user)[ =][\"']?[\w.@-]{1,64}:(?P<value>(?!\d+(?!\S))[^\s\"':]{3,128})")

_PARAMETER = re.compile(r"[?&][\w-]{0,40}\Z")
_PLACEHOLDER = re.compile(
    r"(?i)[$<*%•{\[(]|\.{2,}|…|your|example|changeme|placeholder|redacted|.*(?:\.{3}|…|x{6,}|\*{4,})|[x*•-]+$"
)
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_]\w*)+[?!]?$|[a-z]+(?:_[a-z]+\d?)+$|.*[(\[{<>|]|os\.\w|self\.\w|&\w"
)
_WORDS = re.compile(r"[^\W\d_]+(?:[-_.:/][^\W\d_]+)*[-_.:!?]*$")
_WORD = re.compile(r"[A-Za-z]{3,12}[.:]?$")
_NO_SECRET = re.compile(
    r"@?v?\d+(?:\.\d+)+[\w.-]*$|\d{4}-\d\d-\d\d|(?:\.{0,2}|~)/[\w./-]*$|[A-Za-z]:\\|\w+://[^@]*$|arn:|\d+(?:-\d+)*[.]?$"
)
_SETTING = re.compile(r"\s*(?:export\s+|set\s+|ENV\s+)?[A-Z][A-Z0-9_]*$")
_NO_SETTING = frozenset("true false none null string required optional enabled disabled default empty unset".split())

# One of these, in small letters, stands in every line that can hold a secret.
_SIGNS: tuple[str, ...] = tuple(
    """sk- sk_ pk_ rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- akia asia aiza age-secret gsk_ r8_ xai-
    pplx- lin_api_ pmak- nrak- tskey- sk0 sk1 sk2 sk3 sk4 sk5 sk6 sk7 sk8 sk9 ska skb skc skd ske skf xoxa- xoxb- xoxe-
    xoxp- xoxr- xoxs- hf_ npm_ pypi- dop_v1_ shpat_ shpss_ sntrys_ glsa_ nfp_ sbp_ dckr_pat_ figd_ ntn_ dapi ya29. hvs.
    atatt3x :aa hooks.slack eyj sg. secret token credential bearer basic cookie: :// -u --user
    private_key private-key privatekey api_key api-key apikey access_key access-key accesskey account_key account-key
    accountkey signing_key signing-key signingkey encryption_key encryption-key encryptionkey""".split()
) + tuple(_PHRASES.split("|"))


def redacted(text: str, known: Mapping[str, str] | None = None) -> str:
    """Put `[REDACTED:kind]` for each secret of *text*, and for each of *known* (value -> kind) wherever it stands.

    Done twice it changes nothing more. Text without a secret comes back as the very same object.

    >>> redacted("API_KEY=q9w8e7r6t5 on port 5433, commit 5b1e77d")
    'API_KEY=[REDACTED:key] on port 5433, commit 5b1e77d'
    >>> redacted("it was hunter22-4711", {"hunter22-4711": "password"})
    'it was [REDACTED:password]'
    """
    found = _found(text)
    if found:
        parts: list[str] = []
        done = 0
        for start, end, kind in found:
            parts += (text[done:start], f"[REDACTED:{kind}]")
            done = end
        text = "".join((*parts, text[done:]))
    for value in sorted(known or (), key=len, reverse=True):
        if value in text:
            text = text.replace(value, f"[REDACTED:{(known or {})[value]}]")
    return text


def known_secrets(texts: Iterable[str]) -> dict[str, str]:
    """Collect the values of all secrets of some texts with their kinds, to be looked for where they stand bare.

    >>> known_secrets(["postgres://ada:hunter22-4711@db/orders"])
    {'hunter22-4711': 'password'}
    """
    known: dict[str, str] = {}
    for text in texts:
        for start, end, kind in _found(text):
            value = text[start:end]
            if len(value) >= SHORTEST_KNOWN and kind != "private key" and not _WORDS.match(value):
                known[value] = kind
    return known


def known_in(messages: Iterable[Message]) -> dict[str, str]:
    """Collect the known secrets of a history, which may stand bare anywhere in it and in what is made of it."""
    return known_secrets(text for message in messages for block in message.blocks for text in _texts(block))


def _texts(block: Block) -> tuple[str, ...]:
    if isinstance(block, Text | Reasoning | ToolResult):
        return (block.text,)
    return (block.name, block.arguments) if isinstance(block, ToolCall) else ()


def redacted_messages(messages: Iterable[Message], known: Mapping[str, str] | None = None) -> Messages:
    """Redact words, thoughts, calls and results; a message that holds no secret comes back as the same object.

    For what is shown or kept, never for what a provider is sent back as its own: the signature of a thought is left.
    """
    return tuple(_redacted(message, known) for message in messages)


def _redacted(message: Message, known: Mapping[str, str] | None) -> Message:
    blocks = tuple(_block(block, known) for block in message.blocks)
    return message if all(map(is_, blocks, message.blocks)) else replace(message, blocks=blocks)


def _block(block: Block, known: Mapping[str, str] | None) -> Block:
    if isinstance(block, Text):
        return block if (text := redacted(block.text, known)) == block.text else Text(text)
    if isinstance(block, Reasoning):
        return block if (text := redacted(block.text, known)) == block.text else replace(block, text=text)
    if isinstance(block, ToolCall):
        name, arguments = redacted(block.name, known), redacted(block.arguments, known)
        same = (name, arguments) == (block.name, block.arguments)
        return block if same else replace(block, name=name, arguments=arguments)
    if isinstance(block, ToolResult):
        content = tuple(Text(redacted(part.text, known)) if isinstance(part, Text) else part for part in block.content)
        return block if content == block.content else replace(block, content=content)
    return block


def secrets(text: str) -> tuple[Secret, ...]:
    """Find the secrets of a text, in order, none overlapping another.

    >>> secrets("password=Tr0ub4dor-3391")
    (Secret(start=9, end=23, kind='password'),)
    """
    found = [*_private_keys(text)] if "PRIVATE KEY" in text else []
    done = 0
    for _, _, sign in _signs().find_matches_as_indexes(_folded(text)):
        if sign > done or not done:
            start, end = text.rfind("\n", done, sign) + 1 or done, text.find("\n", sign)
            end = end if end >= 0 else len(text)
            found += (Secret(start + a, start + b, kind) for a, b, kind in _of_line(text[start:end]))
            done = end
    return tuple(_apart(found))


_found = lru_cache(maxsize=REMEMBERED)(secrets)


def _apart(found: Iterable[Secret]) -> Iterator[Secret]:
    """Join what overlaps: the longest of those that start first, and whatever reaches out of it."""
    last: Secret | None = None
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if last is None or secret.start >= last.end:
            if last is not None:
                yield last
            last = secret
        elif secret.end > last.end:
            last = last._replace(end=secret.end)
    if last is not None:
        yield last


def _private_keys(text: str) -> Iterator[Secret]:
    """Whole key blocks; one without an end reaches to the end of the text, since nobody can say where it stops."""
    done = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < done or not _BODY.match(text, begin.end()):
            continue
        end = _END.search(text, begin.end())
        done = end.end() if end else len(text)
        yield Secret(begin.start(), done, "private key")
    first = _END.search(text)
    if first and (body := _BEFORE_END.search(text, max(0, first.start() - 20_000), first.start())):
        yield Secret(body.start(), first.end(), "private key")


def _of_line(line: str) -> Iterator[Secret]:
    yield from (Secret(*found.span(), "key") for found in _KEY.finditer(line))
    yield from (Secret(*found.span(), "token") for found in _TOKEN.finditer(line))
    for pattern in (_ASSIGNED, _OPTION):
        at = 0
        while found := pattern.search(line, at):
            at = found.end("name")  # a value that is none may hold the next name
            if _is_secret(found, line):
                at = _end_of_value(found, line)
                yield Secret(found.start("value"), at, _kind(found["name"]))
    for pattern, kind in ((_BEARER, "token"), (_COOKIE, "token"), (_IN_ADDRESS, "password"), (_LOGIN, "password")):
        for found in pattern.finditer(line):
            if not _PLACEHOLDER.match(found["value"]) and not (kind == "token" and _CODE.match(found["value"])):
                yield Secret(*found.span("value"), kind)


def _end_of_value(found: re.Match[str], line: str) -> int:
    """Where a value ends: in an address at its next parameter."""
    start, end = found.span("value")
    is_parameter = _PARAMETER.search(line, max(0, found.start("name") - 64), found.start("name"))
    return start + found["value"].index("&") if is_parameter and "&" in found["value"] else end


def _kind(name: str) -> str:
    folded = name.casefold()
    if folded in _PHRASES.split("|"):
        return "password"
    return "token" if "token" in folded else "key"


def _is_secret(found: re.Match[str], line: str) -> bool:
    """Whether what follows the name of a secret is one, and no type, placeholder, piece of code, path or plain word."""
    value, is_quoted = found["value"], bool(found["quote"])
    if _PLACEHOLDER.match(value):
        return False
    if _SETTING.match(line[: found.end("name")]) and found["sign"] == "=" and _WORDS.match(value):
        return value.casefold() not in _NO_SETTING
    if _NO_SECRET.match(value):
        return _kind(found["name"]) == "password" and value.rstrip(".").isdigit()
    if is_quoted:
        return not _WORD.match(value)
    return not (_CODE.match(value) or _WORDS.match(value))


def _folded(text: str) -> str:
    """Lower case of the same length, without lone surrogates, which the automaton does not take."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(low if len(low := character.lower()) == 1 else character for character in text)
    return lower if lower.isascii() else _SURROGATE.sub("\ufffd", lower)


_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1)
def _signs() -> ahocorasick_rs.AhoCorasick:
    return ahocorasick_rs.AhoCorasick(_SIGNS)
