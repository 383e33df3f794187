"""Every command, with hostile names, odd streams, signals, closed pipes, faults of its own, and a folder in use."""

import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from gough import Bounded, Box, Groups, LinearProblem, Unknowns
from gough.checker import Certificate, Witness, save
from gough.cli import terminal
from gough.cli.app import run
from gough.data import write_poses, write_problem
from gough.report import results_folder, write_folder
from gough.report.base.folder import LOCK, MANIFEST, NOTICE
from gough.studies import checking
from tests.fuzz.doors import CALIBRATION, DESIGN, POSES, SELECTION
from tests.geometry.simulated import EXTREMAL, measured, truth

HOSTILE = "m\x1b[2K\x1b[31m\r\nThe certificate holds\x07\u202eevil\x9b31m[red]x[/x]</script><b>"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SOURCE = Path(__file__).parent.parent.parent / "src"


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A problem whose names are hostile, and a certificate about it that does not hold."""
    problem = LinearProblem(
        [[1.0], [1.0]], [0.0, 0.0], Unknowns([HOSTILE], prior=Box([-9.0], [9.0])), Bounded(1.0), Groups((HOSTILE,))
    )
    write_problem(problem, tmp_path / "problem.npz")
    save(Certificate.of(problem, Witness({HOSTILE: 5})), tmp_path / "c.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imitated(text):
    return [line for line in text.splitlines() if line.strip().startswith("The certificate holds")]


def test_names_in_a_certificate_cannot_imitate_a_verdict(hostile, capsys):
    assert run(["check", "c.json", "problem.npz"]) == 1
    shown = capsys.readouterr().out
    assert r"m\x1b[2K\x1b[31m\r\nThe certificate holds\x07\u202eevil\x9b31m[red]x[/x]</script><b>" in shown
    assert OBEYED.search(shown) is None
    assert imitated(shown) == []
    assert "The certificate does not hold" in shown


def test_json_keeps_hostile_names_as_escapes(hostile, capsys):
    assert run(["check", "c.json", "problem.npz", "--json"]) == 1
    shown = capsys.readouterr().out
    assert OBEYED.search(shown) is None
    assert any(HOSTILE in line for line in json.loads(shown)["statement"])


QUOTED = json.dumps(HOSTILE)
STUDIES = {
    "identify": f"[robot]\nfamily = {QUOTED}\n[data]\nrecordings = [{{file = {QUOTED}}}]\n",
    "calibrate": f"[{QUOTED}]\na = 1\n",
    "certify": f'[robot]\nfamily = "gough"\nblueprint = {QUOTED}\n[poses]\nfile = {QUOTED}\n',
    "design": DESIGN.replace("[design]", f"[design]\ncriterion = {QUOTED}", 1),
    "poses": (CALIBRATION + SELECTION).replace('"A"', QUOTED),
    "mechanism": f"[mechanism]\nname = {QUOTED}\n{QUOTED} = 1\n",
    "camera calibrate": f"kind = {QUOTED}\n",
    "poses measure": f"{QUOTED} = 1\n",
    "target render": f"kind = {QUOTED}\n",
    "new": "",
    "demo": "",
    "reproduce": "",
    "check": "",
    "target design": "",
}


@pytest.mark.parametrize("command", STUDIES)
def test_no_refusal_obeys_a_hostile_name(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("file.toml").write_text(STUDIES[command], encoding="utf-8")
    Path("poses.csv").write_text(POSES)
    more = {
        "camera calibrate": ["--target", "file.toml", "x.png"],
        "poses measure": ["--camera", "file.toml", "x.png"],
        "target render": ["--target", "file.toml", "out"],
        "new": ["a", "--robot", "\u202e[red]</script>"],
        "demo": ["\u202e[red]</script>"],
        "reproduce": ["\u202e[red]</script>"],
        "check": ["\u202e[red]</script>.json"],
        "target design": ["--size", "\u202e[red]</script>"],
    }
    assert run([*command.split(), *more.get(command, ["file.toml"])]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Error: ")
    assert OBEYED.search(shown.err) is None
    assert [line for line in shown.err.splitlines() if line.startswith("The certificate")] == []


def test_arguments_with_control_characters_are_refused(capsys):
    assert run(["check", "a\x1b[31m.json"]) == 2
    assert run(["check", "a\udcff.json"]) == 2
    shown = capsys.readouterr()
    assert r"'a\x1b[31m.json' holds control characters" in shown.err
    assert r"'a\udcff.json'" in shown.err


def test_hostile_titles_and_folders_reach_page_and_terminal_as_text(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(1)
    monkeypatch.chdir(tmp_path)
    write_poses(tmp_path / "poses.csv", measured(truth(rng), EXTREMAL, rng)[1])
    Path("study.toml").write_text(
        f'[robot]\nfamily = "gough"\nblueprint = "deltalab"\n[poses]\nfile = "poses.csv"\n[output]\ntitle = {QUOTED}\n'
    )
    assert run(["calibrate", "study.toml", "--out", "r[/x]:smile:"]) in {0, 1}
    shown = capsys.readouterr().out
    assert "Report: r[/x]:smile:/report.html" in shown
    page = Path("r[/x]:smile:", "report.html").read_text(encoding="utf-8")
    assert "<b>" not in page.split("<main")[0]
    assert OBEYED.search(page.replace("\t", "")) is None
    assert r"m\x1b[2K\x1b[31m\r" in page
    assert not Path("r[/x]:smile:", LOCK).exists()


@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", "sigma <= 1 mm, \\u65e5"), ("latin-1", "sigma <= 1 mm, \\u65e5")]
)
def test_streams_of_other_encodings_get_substitutes(monkeypatch, encoding, shown):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, write_through=True))
    terminal.prepare_streams()
    terminal.say("σ ≤ 1 mm, 日")
    terminal.console().print("─ [red]", style="bold")
    terminal.answer('{"σ": "é\u202e\x9b日😀"}')
    first, second, third = raw.getvalue().decode("ascii").splitlines()
    assert first == shown
    assert second == "- [red]"
    assert json.loads(third) == {"σ": "é\u202e\x9b日😀"}


def test_a_fault_of_ours_is_exit_code_3_with_a_file_to_send(hostile, monkeypatch, capsys):
    def broken(*_):
        return 1 // 0

    monkeypatch.setattr(checking, "load", broken)
    assert run(["check", "c.json", "problem.npz"]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert "a mistake in gough, not in your input" in shown.err
    (written,) = Path().glob("gough-fault-*.txt")
    assert str(written) in shown.err
    text = written.read_text()
    assert "ZeroDivisionError" in text
    assert "Command: gough check c.json problem.npz" in text
    assert "numpy 2." in text


@pytest.mark.parametrize("error", [EOFError, MemoryError, RecursionError, KeyError, BaseException, StopIteration])
def test_no_fault_of_ours_looks_like_a_refutation(hostile, monkeypatch, capsys, error):
    def broken(*_):
        raise error

    monkeypatch.setattr(checking, "load", broken)
    assert run(["check", "c.json", "problem.npz"]) == 3
    assert f"gough failed with {error.__name__}" in capsys.readouterr().err.replace("\n", "")


def test_a_fault_where_the_folder_cannot_be_written_goes_elsewhere(hostile, monkeypatch, capsys, tmp_path_factory):
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(checking, "load", lambda *_: {}["x"])
    gone = hostile / "gone"
    gone.mkdir()
    for name in ("c.json", "problem.npz"):
        (hostile / name).rename(place / name)
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    assert run(["check", str(place / "c.json"), str(place / "problem.npz")]) == 3
    assert len(list(place.glob("gough-fault-*"))) == 1


def python(code, *arguments, cwd=None, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **options},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - shells ignore it behind &
    )


def test_ctrl_c_while_the_command_loads(tmp_path):
    """A package that takes long to import stands in for gough."""
    (tmp_path / "gough").mkdir()
    (tmp_path / "gough" / "__init__.py").write_text("import time; print('loading', flush=True); time.sleep(60)")
    path = os.pathsep.join([str(tmp_path), str(SOURCE)])
    process = python("import gough_command; gough_command.main()", PYTHONPATH=path)
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120) == ("", "")
    assert process.returncode == 130


WAITING = """
import sys, time
from gough.cli import main
from gough.studies import checking
def wait(*_):
    print("working", flush=True)
    time.sleep(60)
checking.load = wait
sys.argv[0] = "gough"
main()
"""


CALLED_BACK = """
import ctypes, sys, time
from gough.cli import main
from gough.studies import checking
@ctypes.CFUNCTYPE(None)
def called_back():
    print("working", flush=True)
    time.sleep(60)
def wait(*_):
    called_back()
    time.sleep(60)
checking.load = wait
sys.argv[0] = "gough"
main()
"""


@pytest.mark.parametrize("busy", [WAITING, CALLED_BACK], ids=["in Python", "in a callback of compiled code"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_stopped_says_so(hostile, busy, sent, code):
    process = python(busy, "check", "c.json", "problem.npz", cwd=hostile)
    assert process.stdout.readline() == "working\n"
    process.send_signal(sent)
    out, err = process.communicate(timeout=50)
    assert (process.returncode, out) == (code, "")
    assert err == "Stopped. Files are complete or were not written.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_to_a_full_disk(hostile, unbuffered):
    code = "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); from gough.cli import main; main()"
    process = python(code, "check", "c.json", "problem.npz", cwd=hostile, PYTHONUNBUFFERED=unbuffered)
    _, err = process.communicate(timeout=120)
    advice = "free some space, or send it elsewhere"
    assert err == f"Error: standard output cannot be written: No space left on device; {advice}\n"
    assert process.returncode == 2


def full(self, *_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gough.papers.new_study._single", lambda *_: ({"study.toml": _Full()}, {}))
    assert run(["new", "made"]) == 2
    advice = "free some space, or write to another disk"
    wanted = f"Error: made/study.toml cannot be written: No space left on device; {advice}"
    assert " ".join(capsys.readouterr().err.split()) == wanted
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/results/report\.html'"):
        write_folder(tmp_path / "results", {"report.html": b"x"})
    assert not (tmp_path / "results").exists()


class _Full(str):
    """A text that finds the disk full when it is written."""

    __slots__ = ()
    encode = full


def test_a_closed_pipe_ends_the_command_without_a_word(hostile):
    process = python("from gough.cli import main; main()", "check", "c.json", "problem.npz", cwd=hostile)
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == ""
    assert process.wait(timeout=120) == 141


HOLDING = """
import sys, time
from pathlib import Path
from gough.report import results_folder
with results_folder(Path(sys.argv[1])) as results:
    print("locked", flush=True)
    sys.stdin.readline()
    results.write({"a.txt": b"theirs"})
"""


def holder(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(folder)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "locked\n"
    return process


def test_a_folder_in_use_is_refused_and_a_killed_user_holds_nothing(tmp_path, capsys):
    folder = tmp_path / "results"
    other = holder(folder)
    assert run(["demo", "five-bar", "--out", str(folder)]) == 2
    shown = capsys.readouterr().err
    assert f"is being written by another gough (process {other.pid} on" in shown
    other.kill()
    other.communicate()
    assert (folder / LOCK).exists()
    write_folder(folder, {"a.txt": b"mine"})
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", MANIFEST]


def test_the_first_user_of_a_folder_is_not_disturbed(tmp_path):
    folder = tmp_path / "results"
    other = holder(folder)
    with pytest.raises(ValueError, match="another gough"):
        write_folder(folder, {"a.txt": b"mine"})
    other.communicate("go on\n", timeout=120)
    assert (folder / "a.txt").read_bytes() == b"theirs"
    assert not (folder / LOCK).exists()


def test_ctrl_c_waits_until_files_are_renamed(tmp_path, monkeypatch, request):
    """The signal comes with the first rename; a thread that sleeps could receive it."""
    real, sent = Path.replace, []

    def replace(self, target):
        if not sent:
            sent.append(os.kill(os.getpid(), signal.SIGINT))
        return real(self, target)

    write_folder(tmp_path, {"a": b"1", "b": b"1"})
    monkeypatch.setattr(Path, "replace", replace)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore the signal
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, handler))
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path, {"a": b"2", "b": b"2"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != MANIFEST} == {
        "a": b"2",
        "b": b"2",
    }


def test_a_study_whose_folder_no_system_knows_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("poses.csv").write_text(POSES)
    for folder in (r"a\u0000b", "x" * 300):
        Path("study.toml").write_text(CALIBRATION.replace('"results"', f'"{folder}"'))
        assert run(["calibrate", "study.toml"]) == 2
    assert capsys.readouterr().err.count("Error: ") == 2


def test_work_that_fails_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), results_folder(tmp_path / "a" / "b"):
        _ = 1 // 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(capsys):
    assert run(["demo", "five-bar", "--out", "/dev/null/x"]) == 2
    assert "cannot be written to" in capsys.readouterr().err


def rewrite(folder):
    """Results of one run after another, until somebody ends it."""
    for k in count():
        number = str(k).encode()
        write_folder(folder, {f"{name}/file.txt": number for name in "abcdefgh"} | {f"only-{k % 2}": number})


def test_killed_at_any_moment_results_are_of_one_run_or_say_that_they_are_not(tmp_path):
    folder = tmp_path / "results"
    for k in range(40):
        process = get_context("fork").Process(target=rewrite, args=(folder,))
        process.start()
        time.sleep(0.004 + 0.0011 * k)
        process.kill()
        process.join()
        files = [path for path in folder.rglob("*") if path.is_file() and path.name not in {MANIFEST, NOTICE, LOCK}]
        found = [path for path in files if not path.name.startswith(".gough-unfinished-")]
        mixed = len({path.read_bytes() for path in found}) > 1 or len(found) not in {0, 9}
        assert not mixed or (folder / NOTICE).exists()
        if k % 8 == 7:
            write_folder(folder, {"mine": b"x"})
            assert sorted(path.name for path in folder.iterdir()) == [MANIFEST, "mine"]
            shutil.rmtree(folder)


@pytest.mark.parametrize("moment", range(16))
def test_a_mixture_is_never_without_notice(tmp_path, monkeypatch, moment):
    """Every rename and removal once as the last thing that happens."""
    write_folder(tmp_path, {"a": b"1", "b": b"1", "c": b"1", "old": b"1"})
    left = [moment]

    def counted(real):
        def step(*arguments, **options):
            if left[0] == 0:
                raise KeyboardInterrupt
            left[0] -= 1
            return real(*arguments, **options)

        return step

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", counted(Path.replace))
        patch.setattr(Path, "unlink", counted(Path.unlink))
        with suppress(KeyboardInterrupt):
            write_folder(tmp_path, {"a": b"2", "b": b"2", "c": b"2", "new": b"2"})
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.startswith(".")}
    notice = found.pop(NOTICE, None)
    found.pop(MANIFEST)
    one = found in ({"a": b"1", "b": b"1", "c": b"1", "old": b"1"}, {"a": b"2", "b": b"2", "c": b"2", "new": b"2"})
    assert one or notice is not None
