"""A session with real secrets in words, thoughts, calls, results and names, some of them bare the next time."""

import json

from histories import agent, call, result, system, user
from msgspec.structs import replace

from compactlab.transcript import Message, Reasoning

SECRETS = {
    "text": "hunter22-4711",
    "system": "Tr0ub4dor-3391",
    "arguments": "ghp_Abcdefghijklmnopqrstuvwxyz0123456789",
    "result": "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
    "error": "q9w8e7r6t5x4",
    "name": "xoxb-12345678-abcdefghij",
    "thought": "glpat-Abcdefghij0123456789",
}
BARE = "hunter22-4711"
FILL = "some words that weigh something and go on for a while in this line. " * 12
EXPORT = "https://api.example.org/orders/export_2026"


def bash(identity, command):
    return call(identity, "bash", json.dumps({"command": command}))


def step(number):
    said = f"Reading part_{number}, as with {BARE}" if number == 0 else f"Reading part_{number}"
    return (
        user(f"step {number}: check /srv/app/part_{number}.py {FILL}"),
        agent(Reasoning(f"{SECRETS['thought']} again"), call(f"r{number}", "read", "{}"), said),
        Message("tool", (result(f"r{number}", f"value_{number * 7919} {FILL}"),)),
    )


SESSION = (
    system(f"You are Hob. password={SECRETS['system']}"),
    user("Move the orders table in /srv/app/orders.sql to port 5433."),
    user(f"The database is postgres://ada:{BARE}@db-7/orders, keep /srv/app/config.yaml."),
    agent(bash("a", f"curl -H 'Authorization: token {SECRETS['arguments']}' {EXPORT}"), f"I try {BARE} on {EXPORT}."),
    Message("tool", (result("a", f"export_2026 ready\nOPENAI_API_KEY={SECRETS['result']}\nserial 98431277\n{FILL}"),)),
    agent(call("b", f"deploy_{SECRETS['name']}", '{"path": "/srv/app/config.yaml"}'), "Deploying."),
    Message("tool", (replace(result("b", f"Error: api_key={SECRETS['error']} rejected, {BARE} too"), is_error=True),)),
    *(message for number in range(24) for message in step(number)),
    agent(f"I use postgres://ada:{BARE}@db-7/orders again."),
    agent(bash("y", f"curl -H 'Authorization: token {SECRETS['arguments']}' {EXPORT}; psql {BARE} --serial 98431277")),
    Message("tool", (result("y", "ok"),)),
    agent("Done."),
    user("Thanks."),
    agent(bash("z", "cat /srv/app/config.yaml /srv/app/orders.sql")),
    Message("tool", (result("z", "ok"),)),
    agent("All done."),
)
SESSION = tuple(replace(message, source=i) for i, message in enumerate(SESSION))


def leaks(text):
    """Names of the secrets that a text holds."""
    return [name for name, secret in SECRETS.items() if secret in text]
