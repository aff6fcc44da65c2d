"""Logs of Inspect as it writes them, in small: samples, messages, events, archives."""

import base64
import json
import struct
import zipfile
import zlib

import zstandard

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAADElEQVR4nGNgIB4AAAAzAAE=")
DATA_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
SPEC = {
    "task": "ctf",
    "model": "openai/gpt-4o",
    "created": "2025-03-05T21:36:35+00:00",
    "run_id": "r",
    "packages": {"inspect_ai": "0.3.95"},
}
HEADER = {"version": 2, "status": "success", "eval": SPEC, "plan": {"steps": []}}


def system(text="Be brief."):
    return {"role": "system", "content": text}


def asked(text="Find the flag.", **fields):
    return {"role": "user", "content": text, "source": "input"} | fields


def said(text="", *calls, **fields):
    wire = {"role": "assistant", "content": text, "source": "generate"} | fields
    return wire | ({"tool_calls": [call(name) for name in calls]} if calls else {})


def call(name, **fields):
    return {"id": name, "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"} | fields


def heard(name, text="out", **fields):
    return {"role": "tool", "content": text, "tool_call_id": name, "function": "bash"} | fields


MESSAGES = [system(), asked(), said("I look.", "c1"), heard("c1"), said("Done.")]


def sample(messages=MESSAGES, name=15, epoch=1, **fields):
    base = {"id": name, "epoch": epoch, "input": "Find the flag.", "target": "x", "messages": messages, "events": []}
    return base | {"scores": {"includes": {"value": "C"}}, "attachments": {}} | fields


def model(sent, answer, span="s1", **output):
    message = {"choices": [{"message": answer}]} | output
    return {"event": "model", "model": "m", "input": sent, "output": message, "span_id": span, "timestamp": "t0"}


def archive(path, members, *, zstd=False):
    """Write a zip archive; with *zstd*, its members packed as Inspect packs them now (method 93)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if not zstd else zipfile.ZIP_STORED) as file:
        for name, value in members.items():
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            file.writestr(name, zstandard.compress(data) if zstd else data)
    if zstd:
        whole = bytearray(path.read_bytes())
        sizes = {n: v if isinstance(v, bytes) else json.dumps(v).encode() for n, v in members.items()}
        for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            start = whole.find(signature)
            for data in sizes.values():
                struct.pack_into("<H", whole, start + at, 93)
                struct.pack_into("<I", whole, start + at + 6, zlib.crc32(data))
                struct.pack_into("<I", whole, start + at + 14, len(data))
                start = whole.find(signature, start + 4)
        path.write_bytes(whole)
    return path


def log_of(path, *samples, **fields):
    """Write a JSON log of samples; its path."""
    path.write_text(json.dumps(HEADER | {"samples": list(samples)} | fields))
    return path
