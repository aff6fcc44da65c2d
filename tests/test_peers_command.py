"""`compactlab peers`: what it says there is, and that one environment which cannot be made keeps no other back."""

import json
import os

import pytest

from compactlab.adapters import adapters
from compactlab.cli import main
from compactlab.environments import ENVIRONMENTS, is_installed

UV = """#!/bin/sh
case "$*" in *langchain*) echo "no wheel for langchain" >&2; exit 2;; esac
if [ "$1" = venv ]; then for place; do :; done; mkdir -p "$place/bin"; touch "$place/bin/python"; fi
"""
"""Stands for uv: makes an empty environment, but none for LangChain."""
with_a_shell = pytest.mark.skipif(os.name == "nt", reason="stands for uv with a script of the shell")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path / "peers"))
    return tmp_path / "peers"


@pytest.fixture
def uv(tmp_path, monkeypatch):
    script = tmp_path / "bin" / "uv"
    script.parent.mkdir()
    script.write_text(UV, encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")


def test_status_says_of_each_environment_what_it_needs_and_which_specs_it_has(place, capsys):
    (place / "strands" / "bin").mkdir(parents=True)
    (place / "strands" / "bin" / "python").touch()
    main(["peers", "status", "--json"])
    rows = {row["environment"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == set(ENVIRONMENTS)
    assert {name for name, row in rows.items() if row["installed"]} == ({"strands"} if os.name != "nt" else set())
    assert {spec for row in rows.values() for spec in row["specs"].split()} == set(adapters())
    assert all(row["specs"] for row in rows.values())
    assert (rows["openhands"]["python"], rows["hermes_agent"]["python"]) == ("3.12+", "3.11-3.13")


def test_status_in_words_says_where_they_lie(place, capsys):
    main(["peers", "status"])
    assert capsys.readouterr().out.rstrip().endswith(f"environments lie in {place}")


@with_a_shell
@pytest.mark.usefixtures("uv")
def test_one_that_cannot_be_made_keeps_no_other_back_and_is_told_at_the_end(place, capsys):
    assert main(["peers", "install", "langchain", "strands", "strands"]) == 2
    said = capsys.readouterr()
    assert said.out == f"strands is ready: {place / 'strands' / 'bin' / 'python'}\n"
    assert "no wheel for langchain" in said.err
    assert is_installed("strands")
    assert not is_installed("langchain")


@with_a_shell
@pytest.mark.usefixtures("uv")
def test_what_was_made_is_told_as_json_too(place, capsys):
    assert main(["peers", "install", "inspect_ai", "langchain", "--json"]) == 2
    made = json.loads(capsys.readouterr().out)
    assert made == [{"environment": "inspect_ai", "python": str(place / "inspect_ai" / "bin" / "python")}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["install"], "no name; expected one or more of agent_framework"),
        (["install", "strands", "langchian"], "environment 'langchian' is unknown"),
        (["status", "strands"], "peers status takes no names"),
    ],
)
def test_a_wrong_use_ends_before_anything_is_made(place, arguments, said, capsys):
    assert main(["peers", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not place.exists()
