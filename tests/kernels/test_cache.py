"""Compiled kernels on disk: nothing is loaded that was not written there by us, and no compiler is no disaster."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from gough.core.progress import showing_compilation
from gough.kernels import cache, native, trace
from gough.kernels.compiler import CompilationError, find_compiler

SOURCE = "int answer(void) { return 42; }\n"
OTHER = "int answer(void) { return 666; }\n"

PROGRAM = """
import sys, warnings
from gough.kernels import CompilerWarning, trace
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for factor in (2.0, 3.0):
        kernel = trace(lambda x: factor * x, name="scaled", inputs={"x": ()})
        assert [kernel(1.0), kernel(2.0)] == [factor, 2 * factor]
for entry in caught:
    assert entry.category is CompilerWarning
    print(entry.message)
"""


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path))
    return tmp_path / "kernels"


def _answer(source=SOURCE):
    """The cache's entry, and what the file now on disk answers.

    The file is run in another process: here, the loader would hand back what it once loaded from the same path.
    """
    path = cache.compiled(source, find_compiler())
    code = f"import ctypes; print(ctypes.CDLL({str(path)!r}).answer())"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    return path, int(done.stdout)


def _messages(**environment):
    """The warnings of a fresh process that evaluates two kernels twice."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_an_entry_is_compiled_once(directory):
    path, answer = _answer()
    written = path.stat().st_mtime_ns
    assert answer == 42
    assert _answer() == (path, 42)
    assert path.stat().st_mtime_ns == written
    assert sorted(p.suffix for p in directory.iterdir()) == [".sha256", ".so"]
    assert directory.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(path.read_bytes()[:1000]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes() + b"\0"),
        lambda path: path.write_bytes(b"\x7fELF" + bytes(5000)),
        lambda path: path.with_suffix(".sha256").unlink(),
        lambda path: path.with_suffix(".sha256").write_bytes(b"\xff\xfe"),
        lambda path: path.unlink(),
    ],
    ids=["truncated", "empty", "longer", "foreign", "no seal", "broken seal", "gone"],
)
def test_a_damaged_entry_is_compiled_again(directory, harm):
    path, _ = _answer()
    good = path.read_bytes()
    harm(path)
    assert _answer() == (path, 42)
    assert path.read_bytes() == good


def test_a_flipped_bit_is_noticed(directory, rng):
    path, _ = _answer()
    good = path.read_bytes()
    for position in rng.integers(len(good), size=5):
        bad = bytearray(good)
        bad[position] ^= 1
        path.write_bytes(bytes(bad))
        assert _answer() == (path, 42)
        assert path.read_bytes() == good


def test_another_kernels_entry_under_this_name_is_not_loaded(directory):
    path, _ = _answer()
    other, answer = _answer(OTHER)
    assert answer == 666
    path.write_bytes(other.read_bytes())
    path.with_suffix(".sha256").write_bytes(other.with_suffix(".sha256").read_bytes())
    assert _answer() == (path, 42)


def test_a_link_in_place_of_an_entry_is_replaced(directory, tmp_path):
    path, _ = _answer()
    elsewhere = tmp_path / "elsewhere.so"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert _answer() == (path, 42)
    assert not path.is_symlink()


def test_leftovers_of_a_killed_process_are_harmless(directory):
    directory.mkdir()
    directory.chmod(0o700)
    (directory / "building-x1").mkdir()
    (directory / "building-x1" / "half.so").write_bytes(b"half")
    assert _answer()[1] == 42


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_directory_others_can_write_is_refused(directory, mode):
    directory.mkdir()
    directory.chmod(mode)
    with pytest.raises(CompilationError, match="others may write"):
        _answer()
    assert list(directory.iterdir()) == []


def test_a_directory_anyone_can_replace_is_refused(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("GOUGH_CACHE", str(shared / "mine"))
    with pytest.raises(CompilationError, match="world-writable"):
        _answer()
    shared.chmod(0o1777)
    assert _answer()[1] == 42


def test_a_linked_directory_is_refused(directory, tmp_path):
    (tmp_path / "real").mkdir()
    directory.symlink_to(tmp_path / "real")
    with pytest.raises(CompilationError, match="not a directory"):
        _answer()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_refused(directory):
    directory.mkdir(mode=0o700)
    os.chown(directory, 12345, -1)
    with pytest.raises(CompilationError, match="belongs to another user"):
        _answer()


def test_a_file_in_place_of_the_directory_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path / "file"))
    with pytest.raises(CompilationError, match="cannot be used"):
        _answer()


def test_a_user_without_home_gives_one_warning(monkeypatch):
    monkeypatch.delenv("GOUGH_CACHE", raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache, "cache_directory", homeless)
    with pytest.raises(CompilationError, match="home directory"):
        _answer()


def test_the_default_directories(monkeypatch, tmp_path):
    monkeypatch.delenv("GOUGH_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.cache_directory() == tmp_path / "xdg" / "gough" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.cache_directory() == tmp_path / ".cache" / "gough" / "kernels"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.cache_directory() == tmp_path / "Library" / "Caches" / "gough" / "kernels"


def test_processes_that_compile_at_once_do_not_collide(directory):
    running = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(4)
    ]
    for process in running:
        output, _ = process.communicate(timeout=120)
        assert (process.returncode, output) == (0, "")
    assert sorted(p.suffix for p in directory.iterdir()) == [".sha256"] * 2 + [".so"] * 2


def test_no_compiler_gives_one_warning(tmp_path):
    (message,) = _messages(GOUGH_CACHE=str(tmp_path), PATH=str(tmp_path), CC="")
    assert "NumPy replay" in message
    assert "no C compiler" in message


def test_compiler_switched_off_gives_one_warning(tmp_path):
    (message,) = _messages(GOUGH_CACHE=str(tmp_path), GOUGH_NO_COMPILER="1")
    assert "GOUGH_NO_COMPILER is set" in message
    assert list(tmp_path.iterdir()) == []


def test_a_failing_compiler_gives_one_warning(tmp_path):
    (message,) = _messages(GOUGH_CACHE=str(tmp_path / "cache"), CC=_script(tmp_path, "echo broken >&2; exit 1"))
    assert "ends with exit code 1: no C compiler" in message


def test_a_compiler_that_writes_nonsense_gives_one_warning(tmp_path):
    """Output that passes for success but cannot be loaded."""
    write = 'case "$1" in --version) echo fake;; *) while [ "$1" != -o ]; do shift; done; echo no > "$2";; esac'
    (message,) = _messages(GOUGH_CACHE=str(tmp_path / "cache"), CC=_script(tmp_path, write))
    assert "could not be loaded" in message


def test_an_untrusted_directory_gives_one_warning(directory):
    directory.mkdir()
    directory.chmod(0o777)
    (message,) = _messages()
    assert "chmod 700" in message


def test_a_failed_compilation_is_reported_by_the_explicit_evaluator(monkeypatch):
    monkeypatch.setenv("GOUGH_NO_COMPILER", "1")
    native.load.cache_clear()
    kernel = trace(lambda x: 7 * x, name="seven", inputs={"x": ()})
    with pytest.raises(CompilationError, match="GOUGH_NO_COMPILER"):
        kernel.compiled(1.0)
    assert kernel.replay(1.0) == {"seven": 7.0}


def _script(folder, text):
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_a_compiler_runs_in_the_context_that_shows_it(tmp_path, monkeypatch):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path))
    events = []

    @contextmanager
    def shown():
        events.append("begins")
        yield
        events.append("ends")

    def triple():
        return trace(lambda x: 3.14159 * x, name="triple", inputs={"x": ()})

    with showing_compilation(shown):
        triple().compiled(1.0)
        assert events == ["begins", "ends"]
        native.load.cache_clear()
        triple().compiled(1.0)  # from the cache
    assert events == ["begins", "ends"]
