"""The report: complete, self-contained, safe, repeatable."""

import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest

import gough
from gough.core.errors import InputError
from gough.dynamics import estimates_from_json, identify
from gough.estimates import Status
from gough.report import Report, documents, to_html
from gough.report.base.page import style_sheet

from .conftest import HOSTILE, SHOWN, TRUTH, Crane, make_report, motion_of

FIGURES = ("parameters", "fit", "validation", "excitation", "motion", "memory", "correlation", "pair", "robot")


class Page(HTMLParser):
    """Elements, identifiers, addresses and words of a page."""

    VOID = frozenset({"meta"})

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags, self.ids, self.addresses, self.open = [], [], [], []
        self.text, self.scripts = "", []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        for key, value in attrs:
            if key == "id":
                self.ids.append(value)
            if key in {"src", "href", "xlink:href", "action", "data", "poster", "srcset"}:
                self.addresses.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif not self.open or self.open[-1] != "style":
            self.text += data

    def data(self, name):
        return json.loads(next(content for attributes, content in self.scripts if attributes.get("id") == name))


@pytest.fixture(scope="module")
def files():
    return documents(make_report())


@pytest.fixture(scope="module")
def source(files):
    return files["report.html"].decode()


@pytest.fixture(scope="module")
def hostile():
    return to_html(make_report(HOSTILE))


def test_the_page_asks_the_network_for_nothing(source):
    page = Page(source)
    assert all(address.startswith("#") for address in page.addresses)
    assert set(re.findall(r"\S*://\S*", source)) == {'"http://www.w3.org/2000/svg";'}  # a name, not an address
    assert "@import" not in source
    assert not {"link", "iframe", "object", "embed", "base", "img"} & set(page.tags)
    assert not re.search(r"url\((?!#)", source.replace("url(#${id})", ""))


def test_only_its_own_script_may_run(source):
    page = Page(source)
    scripts = [content for attributes, content in page.scripts if "type" not in attributes]
    assert len(scripts) == 1
    digest = b64encode(sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in source
    assert "default-src 'none'" in source
    assert not re.search(r"eval\(|new Function|innerHTML|outerHTML|document\.write|insertAdjacentHTML", scripts[0])


def test_every_element_is_closed_and_every_identifier_is_unique(source):
    page = Page(source)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {address[1:] for address in page.addresses} <= set(page.ids)


def test_hostile_names_stay_text(hostile):
    page = Page(hostile)
    assert page.open == []
    assert page.tags.count("script") == 3
    assert "img" not in page.tags
    assert "<script>alert" not in hostile
    assert "\u2028" not in "".join(content for _, content in page.scripts)
    assert SHOWN in page.text
    figures = page.data("figures")
    assert figures["parameters"]["items"][0]["unit"] == "kg"
    assert figures["fit"]["panels"][2]["title"] == f"motor {SHOWN}"
    assert any(SHOWN in method["label"] for method in figures["parameters"]["methods"])


def test_numbers_that_json_does_not_know_are_written_all_the_same(source):
    figures = Page(source).data("figures")
    methods, rows = figures["parameters"]["methods"], figures["parameters"]["items"][0]["rows"]
    rows = {method["label"]: row for method, row in zip(methods, rows, strict=True)}
    printed = ["−∞", "∞", "∞"]
    assert rows["open"] == {"value": 0.0, "lower": "-Infinity", "upper": "Infinity", "printed": printed}
    assert rows["failed"] == {"value": None, "lower": None, "upper": None, "printed": ["—", "—", "—"]}


def test_a_screen_reader_finds_its_way(source):
    page = Page(source)
    assert '<html lang="en">' in source
    assert 'name="viewport"' in source
    assert page.tags.count("h1") == 1
    assert page.tags.count("figure") == page.tags.count("figcaption") == source.count('role="img" aria-label="')
    assert page.tags.count("figure") == len(FIGURES)
    assert page.tags.count("table") == source.count('role="region" aria-label="')
    assert [t for t in page.tags if re.fullmatch(r"h\d", t)] == ["h1", *["h2"] * 12]


def contrast(a, b):
    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted(map(luminance, (a, b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_and_lines_stand_out_from_the_paper(scheme):
    """Contrast of at least 4.5 for words and 3 for lines, as the Web Content Accessibility Guidelines ask."""
    colors = dict(re.findall(r"--([\w-]+): (#\w+)", re.findall(r":root \{(.*?)\}", style_sheet(), re.DOTALL)[scheme]))
    full = {k: v if len(v) == 7 else "#" + "".join(2 * c for c in v[1:]) for k, v in colors.items()}
    for name in ("ink", "quiet", "accent", "bad"):
        assert contrast(full[name], full["paper"]) >= 4.5
        assert contrast(full[name], full["shade"]) >= 4.5
    for k in range(1, 9):
        assert contrast(full[f"series-{k}"], full["paper"]) >= 3


def test_same_input_same_bytes(files):
    assert documents(make_report()) == files


def test_the_files_of_a_report(report, files):
    names = {f"figures/{n}.{end}" for n in FIGURES for end in ("svg", "png")}
    assert set(files) == {"report.html", "estimate.json", "report.json"} | names
    data = json.loads(files["estimate.json"])
    assert all(key.isascii() and " " not in key for key in data)
    verdict = data.pop("verdict")
    assert {each["title"]: gough.Estimate.from_dict(each) for each in data.values()} == dict(report.estimates)
    assert estimates_from_json(files["estimate.json"].decode()) == dict(report.estimates)
    told = json.loads(files["report.json"])
    assert verdict["paragraphs"] == told["verdicts"]
    assert verdict["recommended"] == told["recommended"]
    assert verdict["is_refuted"] == report.identified.is_refuted
    assert all(files[name].startswith(b"\x89PNG") for name in files if name.endswith("png"))
    assert all(b"<svg" in files[name] and b'fill="#ffffff"' in files[name] for name in files if name.endswith("svg"))


def test_the_summary_has_every_verdict(report, files):
    told = json.loads(files["report.json"])
    assert told["verdicts"] == list(report.identified.verdicts)
    assert told["truth"] == TRUTH.tolist()
    assert told["adequacy"]["finding"] == "INADEQUATE"
    assert told["adequacy"]["shifts"]["fv"] == [-0.01, "nan"]
    assert told["validation"]["exact"]["rows"]
    assert told["data"]["account"][1]["rows"] == report.identified.motion.n_rows
    assert told["methods"]["failed"]["status"] == "INCONSISTENT"
    assert told["reference"] == told["recommended"]["method"] == "least-squares"
    assert told["methods"][told["reference"]]["title"] == report.reference
    assert told["validation"]["methods"].keys() <= told["methods"].keys()
    assert json.loads(files["estimate.json"]).keys() == {*told["methods"], "verdict"}


def test_everything_there_is_to_tell_is_in_the_page(source, report):
    text = " ".join(Page(source).text.split())
    for verdict in report.identified.verdicts:
        assert " ".join(verdict.split()) in text
    for words in (
        "Against the truth:Least squares: ",
        "contains the truth",
        "χ²/dof",
        "the rods mass",
        "recommended",
        "masked near reversals mass",
        "Smallest own part of an effect: ",
        "needs a covariance mass",
        "No: mass",
        "inconsistent",
        "at 40 samples",
        "proven set",
        "Not significantly different from zero: ",
        "7.0",
    ):
        assert words in text, words


def test_a_report_of_little(report):
    plain = replace(report.identified, validation=None, adequacy=None, recommendation=None, notes=())
    text = Page(to_html(Report("Little", [], plain))).text
    for words in ("Against the truth", "another trajectory", "Adequacy", "recommended"):
        assert words not in text


def test_sets_alone_make_a_report(report):
    only = replace(report.identified, estimates={"hull": report.estimates["hull"]}, recommendation=None)
    made = Report("Sets", (), only, TRUTH)
    assert made.reference == made.best_set == "hull"
    assert not {"correlation", "pair"} & {drawing.name for drawing in made.drawings}
    assert "Correlation of the parameters" not in to_html(made)


@pytest.mark.parametrize("labels", [(), ("failed",), ("open", "failed")])
def test_a_report_on_failure_is_a_report_too(report, labels):
    failed = replace(report.identified, estimates={k: report.estimates[k] for k in labels}, validation=None)
    failed = replace(failed, recommendation=None)
    made = Report("Nothing", (), failed, TRUTH)
    text = Page(to_html(made)).text
    assert "needs a covariance mass" in text
    if "failed" in labels:
        assert Status.INCONSISTENT.value.split(":")[0] in text


def test_a_single_unknown_has_no_pair_to_show():
    class Lift(Crane):
        def __getattr__(self, wanted):
            value = super().__getattr__(wanted)
            if wanted in {"segments", "pose_names"}:
                raise AttributeError(wanted)
            return value[:1] if wanted in {"names", "units", "nominal"} else value

        skeleton = property()

        def regressor(self, q, dq, ddq):
            return super().regressor(q, dq, ddq)[..., :1]

    robot = Lift("mass")
    one = identify(robot, motion_of(Crane("mass"), 5), methods=["weighted"], compare=False)
    drawn = [drawing.name for drawing in Report("One", (), one, TRUTH[:1]).drawings]
    assert drawn == ["parameters", "fit", "excitation", "motion", "memory"]


def test_gaps_in_time_stay_gaps(report):
    motion = motion_of(report.identified.robot, 5)
    parts = motion.concatenate(motion.select(slice(0, 300)), motion.select(slice(300, None)))
    made = Report("Gaps", (), identify(report.identified.robot, parts, methods=["weighted"], compare=False))
    assert made.residuals.shape == (300 + 100 + 300, 2)
    assert np.isnan(made.residuals[300:400]).all()
    assert made.postures.step * (len(made.postures.segments) - 1) == pytest.approx(6.99)
    chart = made.fit.chart("fit")
    assert np.isnan(chart.panels[0].marks[-1].y[300:400]).all()


def test_poses_that_are_known_are_drawn(report):
    poses = np.tile([0.0, -1.0], (600, 1))
    assert make_report(poses=poses).postures.poses == pytest.approx(np.tile([0.0, -1.0], (400, 1)))
    assert report.postures.segments.shape == (400, 4, 2, 3)


def test_a_robot_that_cannot_be_assembled_is_not_drawn(report):
    class Loose(Crane):
        def forward(self, q, guess=None):
            raise InputError("no pose has these angles")

    loose = replace(report.identified, robot=Loose("mass"))
    assert Report("Loose", (), loose).postures is None


def test_truth_may_be_that_of_combinations(report):
    assert np.array_equal(replace(report, title="again").truth, TRUTH)
    with pytest.raises(InputError, match="truth must have 3 entries"):
        Report("x", (), report.identified, TRUTH[:2])


def test_what_does_not_fit_is_refused(report):
    with pytest.raises(InputError, match="no estimate is called 'best'"):
        make_report(reference="best")
    with pytest.raises(InputError, match="poses must have a row for each of 600 samples"):
        make_report(poses=np.zeros((3, 2)))
    with pytest.raises(InputError, match="lead must be a sequence"):
        Report("x", "one string", report.identified)


def test_the_page_stays_light():
    """20 s of four actuators at 1 kHz, nothing filtered: the worst there is for a packer."""

    class Four(Crane):
        def __getattr__(self, wanted):
            value = super().__getattr__(wanted)
            if wanted in {"effort_units", "coordinate_units"}:
                return 2 * value
            return tuple(f"{v}{k}" for k in "ab" for v in value) if wanted in {"actuators", "coordinates"} else value

    robot = Four("mass")
    half = motion_of(Crane("mass"), 1, n=20_000, rate=1000.0)
    wide = {f: np.tile(getattr(half, f), 2) for f in ("q", "dq", "ddq", "efforts", "kept")}
    names = {k: getattr(robot, k) for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    wide["efforts"] = wide["efforts"] + np.random.default_rng(2).uniform(-0.3, 0.3, wide["efforts"].shape)
    motion = replace(half, **{**wide, "kept": wide["kept"] | True}, **names)
    other = replace(motion, q=motion.q + 1e-9)
    found = identify(robot, motion, methods=["weighted", "hull"], validation=other, compare=False)
    page = to_html(Report("Light", (), found))
    assert len(page.encode()) < 1_500_000
    assert len(b64decode(Page(page).data("curves"))) > 100_000
