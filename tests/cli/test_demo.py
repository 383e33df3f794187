"""`gough demo` from end to end."""

import json
import re
import shutil
import subprocess
from functools import partial
from html import escape

import numpy as np
import pytest
from rich.progress import Progress

from gough import Estimate, Status
from gough.cli import demo
from gough.cli.app import run
from gough.experiments.demos import DEMOS
from gough.report import to_html
from gough.report.words import in_sigma

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

QUIETLY = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--dump-dom",
]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """One period instead of eight: the same command in a fraction of the time."""
    monkeypatch.setattr(demo, "run", partial(demo.run, periods=1))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out"


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_demo_tells_and_writes_and_may_be_repeated(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["demo", "--out", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    told = " ".join(shown.out.split())
    for words in ("answers SINGULAR", "Of 21 parameters, the data determine 15", "mx_1* = mx_1 + 0.25·m_3", "χ²/dof"):
        assert words in told
    assert max(map(len, shown.out.splitlines()[:-1])) <= 80
    first = contents(folder)
    assert {"report.html", "estimate.json", "figures/fit.png"} <= set(first)
    assert run(["demo", "--out", str(folder)]) == 0
    assert contents(folder) == first


def test_json_is_all_that_stdout_gets(folder, capsys):
    assert run(["demo", "five-bar", "--json", "--seed", "2", "--out", str(folder)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["status_in_all_parameters"] == "SINGULAR"
    truth = np.array(list(data["truth"].values()))
    assert len(truth) == len(data["base_parameters"]) == 15
    for estimate in map(Estimate.from_dict, data["estimates"].values()):
        assert estimate.status is Status.OK
        assert abs(in_sigma(estimate, truth)).max() < 6


@pytest.mark.parametrize("seed", range(1, 6))
def test_gauss_markov_finds_the_truth(seed):
    done = demo.run(DEMOS["five-bar"], seed=seed, progress=Progress(disable=True))
    errors = in_sigma(done.report.chosen, done.report.truth)
    assert done.found.rank == 15
    assert abs(errors).max() < 5
    assert done.report.chosen.stats.chi_squared_p > 0.001


def test_outliers_are_noticed_and_robust_least_squares_resists():
    # 1 % of 20 σ: variance five times the stated one
    done = demo.run(DEMOS["five-bar"], seed=1, outliers=0.01, progress=Progress(disable=True))
    assert done.report.chosen.stats.chi_squared > 3
    assert any("larger than the stated noise" in note for note in done.report.chosen.notes)
    robust, plain = done.report.estimates["robust"], done.report.estimates["weighted"]
    assert robust.stats.downweighted > 10
    assert np.median(robust.region.sigma / plain.region.sigma) < 0.8


def test_an_unknown_robot_is_told_the_nearest(folder, capsys):
    assert run(["demo", "fivebar", "--out", str(folder)]) == 2
    assert "did you mean 'five-bar'?" in capsys.readouterr().err
    assert not folder.exists()


def test_a_foreign_folder_is_left_alone(folder, capsys):
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    assert run(["demo", "--out", str(folder)]) == 2
    assert "thesis.tex" in capsys.readouterr().err.replace("\n", "")
    assert contents(folder) == {"thesis.tex": b"years of work"}


@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--outliers", "2"], ["--nonsense"]])
def test_wrong_options_are_refused(arguments, folder, capsys):
    assert run(["demo", *arguments, "--out", str(folder)]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not folder.exists()


@pytest.fixture(scope="module")
def page():
    """The report of a short demo."""
    return to_html(demo.run(DEMOS["five-bar"], seed=1, periods=1, progress=Progress(disable=True)).report)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed to open the report with")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_opens_the_report_without_complaint(width, page, tmp_path):
    # a frame gets any width, where windows have a least one; a Content-Security-Policy would report any request
    frame = f'<iframe style="width:{width}px;height:900px;border:0" srcdoc="{escape(page)}"></iframe>'
    measure = """<script>onload = () => {
        const page = document.querySelector("iframe").contentDocument
        document.title = JSON.stringify({
            width: page.documentElement.scrollWidth,
            figures: [...page.querySelectorAll("svg")].map(s => s.getBoundingClientRect().width),
            requests: performance.getEntriesByType("resource").length
                + document.querySelector("iframe").contentWindow.performance.getEntriesByType("resource").length
        })}</script>"""
    policy = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'unsafe-inline'\">"
    (tmp_path / "frame.html").write_text(f"<!doctype html>{policy}{frame}{measure}", encoding="utf-8")
    browser = subprocess.run(
        [BROWSER, *QUIETLY, f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "frame.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(re.search(r"<title>(.*?)</title>", browser.stdout)[1])
    assert "CONSOLE" not in browser.stderr
    assert found["width"] <= width
    assert len(found["figures"]) == 5
    assert min(found["figures"]) > 0.8 * min(width, 700)
    assert found["requests"] == 0
