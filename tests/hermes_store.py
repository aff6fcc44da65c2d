"""Stores of Hermes for tests: real SQLite files with the columns of an older or a newer version."""

import sqlite3

OLDER = {
    "sessions": "id TEXT PRIMARY KEY, source TEXT, model TEXT, system_prompt TEXT, parent_session_id TEXT, "
    "started_at REAL, ended_at REAL, end_reason TEXT, input_tokens INTEGER, output_tokens INTEGER, title TEXT, "
    "model_config TEXT",
    "messages": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, "
    "tool_calls TEXT, tool_name TEXT, timestamp REAL, reasoning TEXT",
}
NEWER = {
    "sessions": OLDER["sessions"] + ", system_prompt_hash TEXT, cache_read_tokens INTEGER, tool_names TEXT",
    "messages": OLDER["messages"]
    + ", reasoning_details TEXT, codex_reasoning_items TEXT, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0, "
    "display_kind TEXT",
    "system_prompts": "hash TEXT PRIMARY KEY, prompt TEXT",
}


def store(path, sessions, rows, tables=NEWER):
    """Write a store; *sessions* and *rows* are dicts by column."""
    connection = sqlite3.connect(path)
    for name, columns in tables.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
    for name, records in (("sessions", sessions), ("messages", rows)):
        for record in records:
            marks = ", ".join("?" * len(record))
            columns = ", ".join(record)
            connection.execute(
                f"INSERT INTO {name} ({columns}) VALUES ({marks})",  # noqa: S608  # names of the test itself
                tuple(record.values()),
            )
    if "system_prompts" in tables:
        connection.execute("INSERT INTO system_prompts VALUES ('h1', 'Be brief.')")
    connection.commit()
    connection.close()
    return path
