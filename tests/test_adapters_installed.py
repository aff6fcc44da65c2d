"""`--peers installed`: the real packages whose environments are there, and a clear word where none is."""

import pytest

from compactlab import catalog
from compactlab.adapters import adapters, installed
from compactlab.cli import main
from compactlab.environments import ENVIRONMENTS, PeerError, python_of
from compactlab.harness import Settings


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Makes the file by which an environment is known to be there."""
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path))

    def make(*names):
        for name in names:
            python_of(name).parent.mkdir(parents=True)
            python_of(name).touch()

    return make


def labels(*peers, guard="on"):
    return Settings(strategies=("none",), peers=peers, guard=guard).labels[1:]


def test_installed_is_every_adapter_whose_environment_is_there(made):
    made("strands", "langchain")
    expected = sorted(name for name in adapters() if name.startswith(("peer:langchain.", "peer:strands.")))
    assert list(labels("installed")) == expected == list(installed())
    assert len(expected) == 5


def test_all_environments_give_all_adapters(made):
    made(*ENVIRONMENTS)
    assert set(installed()) == set(adapters())


def test_words_may_be_combined_and_nothing_stands_twice(made):
    made("strands")
    every = labels("all")
    assert not any(label.startswith("peer:") for label in every)  # the same table on every machine
    one = "peer:strands.sliding_window(window_size=9)"
    assert labels("all", "installed", "peer:strands.summarizing", one) == (*every, *installed(), one)


def test_each_stands_both_ways_where_that_is_asked_for(made):
    made("strands")
    ways = [f"{name}{way}" for name in installed() for way in ("", "(guard='off')")]
    assert list(labels("installed", guard="both")) == ways


def test_what_is_installed_is_looked_up_once_where_the_run_is_asked_for(made):
    made("strands")
    asked = Settings(strategies=("none",), peers=("installed",))
    made("langchain")
    assert asked.peers == ("peer:strands.sliding_window", "peer:strands.summarizing")
    assert len(asked.labels) == 3


def test_where_none_is_installed_it_says_so_and_what_to_do(made, tmp_path, capsys):  # noqa: ARG001  # an empty folder
    with pytest.raises(PeerError, match=r"no real package is installed; expected compactlab peers install NAME"):
        labels("all", "installed")
    assert main(["run", "fixtures/transcripts", "--peers", "installed", "--out", str(tmp_path / "run")]) == 2
    told = capsys.readouterr().err
    assert "no real package is installed" in told
    assert "Traceback" not in told


def test_a_word_that_is_none_is_a_spec():
    assert catalog.peers_named("openharness") == ("openharness",)


def test_help_names_the_words(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "all, installed (real packages), or specs" in " ".join(capsys.readouterr().out.split())
