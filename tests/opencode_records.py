"""Sessions of opencode, made small, in each of the stores that it has kept them in."""

import json
import sqlite3

SES = "ses_1"
START = 1_770_000_000_000


def time(created, **more):
    return {"created": START + created * 1000, **more}


def user(number, *parts, created=None, **more):
    made = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return _message(number, made, {"role": "user", "time": time(created or number), **more})


def agent(number, *parts, created=None, parent=None, **more):
    made = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    info = {"role": "assistant", "time": time(created or number), "modelID": "m", "providerID": "p", "finish": "stop"}
    return _message(number, made, {**info, "parentID": f"msg_{parent or number - 1:03}", **more})


def _message(number, parts, info):
    name = f"msg_{number:03}"
    return {
        "info": {"id": name, **info},
        "parts": [{"id": f"prt_{number:03}_{i:02}", **p} for i, p in enumerate(parts)],
    }


def tool(call_id, output, status="completed", name="read", **more):
    state = {"status": status, "input": {"p": call_id}, "time": {"start": 1}, **more}
    if status in {"completed", "error"}:
        state["output" if status == "completed" else "error"] = output
    return {"type": "tool", "callID": call_id, "tool": name, "state": state}


def cleared(call_id, output, at):
    return tool(call_id, output, time={"start": 1, "end": 2, "compacted": START + at * 1000})


def session(name=SES, **more):
    return {
        "id": name,
        "projectID": "p1",
        "directory": "/w",
        "title": "Work",
        "version": "1.0",
        "time": time(1),
        **more,
    }


def export(path, messages, info=None):
    """What `opencode export` prints."""
    held = [{"info": {**m["info"], "sessionID": SES}, "parts": m["parts"]} for m in messages]
    path.write_text(json.dumps({"info": info or session(), "messages": held}))
    return path


def folders(root, messages, info=None, base="storage"):
    """The files of versions before 1.2; gives their paths, the session's first."""
    info = info or session()
    name, made = info["id"], []

    def put(path, value):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
        made.append(path)

    put(root / base / "session" / "p1" / f"{name}.json", info)
    for message in messages:
        own = message["info"]["id"]
        put(root / base / "message" / name / f"{own}.json", {**message["info"], "sessionID": name})
        for part in message["parts"]:
            where = root / base / "part" / own / f"{part['id']}.json"
            put(where, {**part, "messageID": own, "sessionID": name})
    return made


def _row(value, **columns):
    data = {key: inner for key, inner in value.items() if key != "id"}
    created = value.get("time", {}).get("created", 0) if isinstance(value.get("time"), dict) else 0
    return {"id": value["id"], **columns, "time_created": created, "time_updated": 0, "data": json.dumps(data)}


def tables(sessions):
    """Rows of the three tables; *sessions* are pairs of what a session is and its messages."""
    found = {"session": [], "message": [], "part": []}
    for info, messages in sessions:
        columns = {"parent_id": info.get("parentID"), "slug": "s", "directory": "/w", "title": info["title"]}
        revert = json.dumps(info["revert"]) if "revert" in info else None
        row = {"id": info["id"], "project_id": "p1", **columns, "version": info["version"], "revert": revert}
        found["session"].append({**row, "time_created": 1, "summary_diffs": None})
        for message in messages:
            found["message"].append(_row(message["info"], session_id=info["id"]))
            for part in message["parts"]:
                found["part"].append(_row(part, message_id=message["info"]["id"], session_id=info["id"]))
    return found


def dumps(folder, sessions):
    """Dumps of the three tables in one folder, rows in an order of their own."""
    for name, rows in tables(sessions).items():
        (folder / f"{name}s.json").write_text(json.dumps(rows[::-1]))
    return [folder / f"{name}s.json" for name in ("session", "message", "part")]


def database(path, sessions, drop=(), extra="future"):
    """A database; *drop* columns that some version lacks, *extra* is one that none has yet."""
    connection = sqlite3.connect(path)
    for name, rows in tables(sessions).items():
        columns = [column for column in rows[0] if (name, column) not in drop]
        connection.execute(f"CREATE TABLE {name} ({', '.join([*columns, extra])})")
        marks = ", ".join("?" * len(columns))
        for row in rows[::-1]:
            values = [row[column] for column in columns]
            connection.execute(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", values)  # noqa: S608
    connection.execute("CREATE TABLE todo (session_id, content)")
    connection.commit()
    connection.close()
    return path
