"""Secrets out of text: every shape of one, two hundred look-alikes that stay, and every border that text crosses."""

import base64
import hashlib
import json
import random
import time
import uuid
from itertools import pairwise

import pytest
from histories import agent, call, result, system, user
from hypothesis import given
from hypothesis import strategies as st

from compactlab import redaction
from compactlab.compaction import Guard, compact
from compactlab.facts.secrets import without_secrets
from compactlab.llm.scripted import Scripted
from compactlab.redaction import known_secrets, redacted, redacted_messages, secrets
from compactlab.tokens import Meter
from compactlab.transcript import Message, Reasoning

RANDOM = random.Random(7)


def made(length, letters="abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"):
    return "".join(RANDOM.choice(letters) for _ in range(length - 2)) + "Q7"


HEX = "0123456789abcdef"
BODY = "\n".join(base64.b64encode(RANDOM.randbytes(48)).decode() for _ in range(6))
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"

# (text, the secret in it, the kind that stands for it, words around it that stay)
SECRETS = [
    *((f"use {p}{(v := made(n))} now", p + v, k, ("use ", " now")) for p, n, k in (
        ("sk-proj-", 40, "key"), ("sk-ant-api03-", 60, "key"), ("sk_live_", 24, "key"), ("rk_test_", 24, "key"),
        ("AIza", 35, "key"), ("gsk_", 52, "key"), ("xai-", 60, "key"), ("ghp_", 36, "token"), ("gho_", 36, "token"),
        ("github_pat_", 60, "token"), ("glpat-", 20, "token"), ("xoxb-", 40, "token"), ("npm_", 36, "token"),
        ("pypi-", 120, "token"), ("dop_v1_", 64, "token"), ("hvs.", 40, "token"), ("ya29.", 80, "token"),
    )),
    (f"AKIA{(v := made(16).upper())}", f"AKIA{v}", "key", ()),
    (f"SG.{(v := made(22))}.{(w := made(43))}", f"SG.{v}.{w}", "key", ()),
    (f"eyJhbGciOiJIUzI1NiJ9.{(v := made(40))}.{(w := made(43))}", f"eyJhbGciOiJIUzI1NiJ9.{v}.{w}", "token", ()),
    ("password=Tr0ub4dor-3391", "Tr0ub4dor-3391", "password", ("password=",)),
    ('api_key: "q9w8e7-r6t5_1204"', "q9w8e7-r6t5_1204", "key", ('api_key: "', '"')),
    ("DB_PASSWORD=hunter", "hunter", "password", ("DB_PASSWORD=",)),
    ("export SECRET_KEY=abcdefghij", "abcdefghij", "key", ("export SECRET_KEY=",)),
    ("accessToken: 'q9w8e7r6t5x'", "q9w8e7r6t5x", "token", ("accessToken: '",)),
    ("clientSecret = 'a,b;c9xyz'", "a,b;c9xyz", "key", ("clientSecret = '", "'")),
    ('{"password": "Tr0ub4dor-3391", "port": 5433}', "Tr0ub4dor-3391", "password", ('"password": "', '", "port":')),
    (json.dumps({"command": 'export API_KEY="abc9defg" && make'}), "abc9defg", "key", ("&& make",)),
    ("the password is hunter22-4711.", "hunter22-4711", "password", ("the password is ",)),
    ("The password for the database is hunter22-4711", "hunter22-4711", "password", ("for the database is ",)),
    ("Das Passwort ist Blau99wal", "Blau99wal", "password", ("Das Passwort ist ",)),
    ("la contraseña es Azul99ballena", "Azul99ballena", "password", ("la contraseña es ",)),
    ("密码：abc12345", "abc12345", "password", ("密码：",)),
    ("postgres://ada:hunter22-4711@db-7.internal/orders", "hunter22-4711", "password", ("postgres://ada:", "@db-7.")),
    ("redis://:pw1234x@h:6379", "pw1234x", "password", ("redis://:", "@h:6379")),
    ("https://h/x?access_token=abc123def456&page=2", "abc123def456", "token", ("access_token=", "&page=2")),
    ("Authorization: Bearer abcdef1234567890_long-12345", "abcdef1234567890_long-12345", "token", ("Bearer ",)),
    ("Authorization: Basic YWRhOmh1bnRlcjIyNDcxMQ==", "YWRhOmh1bnRlcjIyNDcxMQ==", "token", ("Basic ",)),
    ("X-Api-Key: 8f14e45fceea167a", "8f14e45fceea167a", "key", ("X-Api-Key: ",)),
    ("Cookie: theme=dark; sessionid=8f14e45fceea167a; a=b", "8f14e45fceea167a", "token", ("theme=dark", "a=b")),
    ("mysql --password s3cr3tpw -h db", "s3cr3tpw", "password", ("--password ", " -h db")),
    ("curl -u ada:s3cr3tpw http://h", "s3cr3tpw", "password", ("curl -u ada:", " http://h")),
    (f"before\n{KEY}\nafter", BODY, "private key", ("before\n", "\nafter")),
    (f"before\n{KEY.rpartition(chr(10))[0]}\nand more", BODY, "private key", ("before\n",)),
    (f"{BODY}\n-----END PRIVATE KEY-----\nafter", BODY, "private key", ("\nafter",)),
    (json.dumps(KEY), BODY.split("\n")[3], "private key", ()),
]  # fmt: skip


def leaking(redact):
    """Texts that still hold their secret after *redact*, or have lost the words around it."""
    return [
        text
        for text, secret, kind, around in SECRETS
        if secret in (left := redact(text)) or f"[REDACTED:{kind}]" not in left or not all(w in left for w in around)
    ]


def test_every_secret_goes_and_its_label_stays():
    assert leaking(redacted) == []


def test_with_redaction_off_every_one_of_these_fails():
    assert leaking(str) == [text for text, *_ in SECRETS]


def test_facts_mask_the_very_same_places():
    for text, secret, *_ in SECRETS:
        masked = without_secrets(text)
        assert len(masked) == len(text)
        assert secret not in masked


@pytest.mark.parametrize("text", [text for text, *_ in SECRETS], ids=range(len(SECRETS)))
def test_what_is_redacted_holds_no_further_secret(text):
    assert redacted(redacted(text)) == redacted(text)
    assert secrets(redacted(text)) == ()


def numbered(count, write):
    return [write(number) for number in range(count)]


PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + RANDOM.randbytes(900)).decode()
LOOK_ALIKES = [
    *numbered(20, lambda n: f"commit {hashlib.sha1(str(n).encode(), usedforsecurity=False).hexdigest()}"),
    *numbered(10, lambda n: f"sha256:{hashlib.sha256(str(n).encode()).hexdigest()}"),
    *numbered(10, lambda n: f"{hashlib.md5(str(n).encode(), usedforsecurity=False).hexdigest()}  dist/app-{n}.tar.gz"),
    *numbered(20, lambda n: f'"id": "{uuid.UUID(int=n * 7**40 % 2**128)}"'),
    *numbered(10, lambda n: f"call_{hashlib.sha1(str(n).encode(), usedforsecurity=False).hexdigest()[:24]}"),
    *numbered(10, lambda n: f"data:image/png;base64,{PICTURE[n:]}"),
    *numbered(5, lambda n: f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(bytes(n)).digest()).decode()}"'),
    *numbered(10, lambda n: f"/srv/app/very/long/path/with/parts/{n}/src/components/auth/PasswordField{n}.test.tsx"),
    *numbered(10, lambda n: f"version {n}.{n + 2}.{n * 3}-rc.{n}+build.20261130"),
    *numbered(10, lambda n: f"order ord_9f8e7d{n}c in invoices_archive_2026_{n:02} at 2026-09-0{n}T10:00:00Z"),
    *"""
    token count: 812
    max_tokens: 4096
    "max_tokens": 128000, "temperature": 0.3
    tokens: 12904 of 200000
    usage: prompt_tokens=90412 completion_tokens=2048
    input_token_count = 15023
    The token limit is 128000.
    Each token: about four characters
    token: 81234
    "password": "string"
    "password": {"type": "string", "minLength": 8}
    "type": "password"
    "secret": null
    "token": ""
    "api_key": "<your key>"
    api_key="YOUR_API_KEY"
    API_KEY=${API_KEY}
    API_KEY=$API_KEY
    export TOKEN=$(cat token.txt)
    password: ********
    password=...
    token = "sk-..."
    PASSWORD=xxxxxxxx
    api_key: [REDACTED]
    password = getpass.getpass()
    password = read_password(prompt)
    connect(user=user, password=password, token=token)
    api_key=os.environ["OPENAI_API_KEY"]
    apiKey: process.env.OPENAI_API_KEY
    const apiKey = parsed.apiKey
    access_token: token_set.access_token
    let token = registration.credential.token;
    use crate::chatgpt_token::get_chatgpt_token_data
    pub api_key: Option<String>,
    def check(password: str, token: str | None = None) -> bool:
    self.token = self.read_token()
    if token is None: return
    token: Optional[Token] = None
    secret: kubernetes
    secretName: my-tls-cert
    secret: my-tls-cert
    secretKeyRef: db-credentials
    password_file: /run/secrets/db_password
    password: /run/secrets/db
    secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db
    token: https://auth.example.org/token
    PWD=/srv/app
    OLDPWD=/srv
    credentials: include
    The password is required.
    The password is too short, at least eight characters.
    Your password was changed yesterday.
    Passwords are hashed with bcrypt, cost 12.
    Forgot your password? Reset it here.
    Never write a password into the log.
    the secret is out
    It is an open secret that token buckets leak.
    a bearer of bad news
    basic authentication is off
    Basic usage: run make
    Bearer authentication as RFC 6750 says
    password must contain: digits, letters
    token expired at 2026-11-30
    token: 2026-11-30
    concrete version token: @1.2.3
    sk-learn and sk_buff are no keys
    pk_order_items_idx on order_items
    task-based and risk-free and desk_lamp
    hf_hub_download(repo_id)
    npm_config_registry and npm_lifecycle_event
    SG.1 and sg.example.org
    eyJ is how a JSON object begins in base64
    AKIA is the prefix
    ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx9 ada@host
    -----BEGIN CERTIFICATE-----
    grep -n "BEGIN RSA PRIVATE KEY" src/scan.py
    if line == "-----BEGIN PRIVATE KEY-----":
    http://localhost:8080/orders?page=2&sort=asc
    https://example.org:8443/a/b
    git@github.com:owner/name.git
    https://user@example.org/path
    mailto:ada@example.org
    time 12:30:45 and ratio 3:1
    docker run -u 1000:1000 image
    etag: W/"33a64df551425fcc55e4d42a148795d9f25f89d4"
    x-request-id: 7f3a9c2e11d04b6f
    Set the header cookie: none
    css class token-keyword-highlight-12
    next_page_token_name
    csrf_token_field
    """.strip().split("\n"),
]  # fmt: skip


def test_there_are_two_hundred_look_alikes():
    assert len({text.strip() for text in LOOK_ALIKES}) >= 200


@pytest.mark.parametrize("text", [text.strip() for text in LOOK_ALIKES], ids=range(len(LOOK_ALIKES)))
def test_a_look_alike_stays_byte_for_byte(text):
    assert redacted(text) is text
    assert redacted(f"then {text}\nand on") == f"then {text}\nand on"


def test_a_value_that_had_a_label_once_is_known_where_it_stands_bare():
    known = known_secrets(["DB_PASSWORD=hunter22-4711", "no secret here", "password=short"])
    assert known == {"hunter22-4711": "password"}
    assert redacted("I tried hunter22-4711 and it works", known) == "I tried [REDACTED:password] and it works"


def test_words_calls_and_results_are_redacted_and_what_holds_none_is_the_same_object():
    before = (
        user("my password is hunter22-4711"),
        agent(Reasoning("hm", signature="c2ln"), call("a", "bash", '{"command": "mysql --password hunter22-4711"}')),
        Message("tool", (result("a", "connected with hunter22-4711"),)),
        agent("Done."),
    )
    after = redacted_messages(before, {"hunter22-4711": "password"})
    assert "hunter22" not in repr(after)
    assert [m.role for m in after] == [m.role for m in before]
    assert after[1].blocks[0] is before[1].blocks[0]
    assert after[3] is before[3]


@given(st.text(max_size=200) | st.text("pasword=:\"'\\ sk-12ab\n@/", max_size=120))
def test_any_text_is_taken_and_what_is_left_stays_in_order(text):
    found = secrets(text)
    assert all(0 <= s.start < s.end <= len(text) for s in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    if not found:
        assert redacted(text) is text


@pytest.mark.parametrize(
    "piece", ["password=", "token ", "a" * 50, "sk-", "://x:y", 'api_key: "', "cookie: sid=", "-u a:"]
)
def test_reading_is_linear(piece):
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    redacted(text)
    assert time.process_time() - began < 4


# ---- the borders

HELD = "hunter22-4711"
FILL = "some words that weigh something " * 8
SESSION = (
    system(f"You are Hob. The service token: {HELD}-abc"),
    user("Move the orders table."),
    user(f"The database is postgres://ada:{HELD}@db-7/orders"),
    agent(call("a", "bash", f'{{"command": "psql postgres://ada:{HELD}@db-7/orders"}}'), "I look."),
    Message("tool", (result("a", f"connected, {HELD} accepted"),)),
    agent(f"It is open with {HELD}."),
    *(m for i in range(20) for m in (user(f"u{i} {FILL}"), agent(f"a{i} {FILL}"))),
)


def crossed(spec, reply):
    """All that crossed a border: what the model was sent, and what compaction made."""
    model = Scripted(reply, "<summary>1. Primary request and intent\n- Move it.</summary>")
    held = SESSION
    sent = ""
    for _ in range(2):  # the second pass reads the first one's note
        done = compact(held, spec, guard=Guard(Meter("chars/4"), model=model))
        assert done.receipt.outcome == "applied"
        sent += "".join(m.text for m in done.messages if m.source is None and m.synthetic) + done.receipt.to_text()
        held = (*done.messages, *SESSION[6:])
    return sent + "".join(repr((r.system, r.prompt, r.material)) for r in model.requests)


MODELS = ["summary", "sliding_reflect", "ladder(microcompact(keep_recent=0), summary)"]
REPLY = f"<summary>1. Primary request and intent\n- Move it; the database took {HELD}.</summary>"


@pytest.mark.parametrize("spec", MODELS)
def test_no_secret_crosses_to_a_model_into_a_note_or_into_carried_words(spec):
    text = crossed(spec, REPLY)
    assert HELD not in text
    assert "[REDACTED:password]" in text


@pytest.mark.parametrize("spec", MODELS)
def test_with_redaction_off_it_does(spec, monkeypatch):
    monkeypatch.setattr(redaction, "_found", lambda _text: ())
    assert HELD in crossed(spec, REPLY)
