"""The page in a browser: everything drawn, nothing asked for, every gesture answered."""

import re
from importlib.resources import files

import numpy as np
import pytest

from gough.core import outward
from gough.report import Report, to_html

from .browser import CHROMIUM, Browser
from .conftest import HOSTILE, SHOWN, TRUTH, identified

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome is installed to open the report with")

SPIKE = 100
LIVE = ("parameters", "fit", "validation", "motion", "memory", "correlation", "pair", "robot")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def found():
    """An identification with hostile names, and one measured effort far away from all others."""
    return identified(HOSTILE, SPIKE)


@pytest.fixture(scope="module")
def path(tmp_path_factory, found):
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(to_html(Report(f"On {HOSTILE}", [HOSTILE], found, TRUTH)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def desk(browser, path):
    """One page for all tests that leave it as it was."""
    with browser.open(path) as page:
        yield page


def view(page, name="fit"):
    return [float(x) for x in page.evaluate(f"document.querySelector('#{name} svg').dataset.view").split()]


def tip(page, name):
    return page.evaluate(f"(t => t.hidden ? '' : t.textContent)(document.querySelector('#{name} .tip'))")


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_everything_is_drawn_and_nothing_is_asked_for(browser, path, width, dark):
    with browser.open(path, width=width, dark=dark, touch=width < 500) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.dataset.live") == str(len(LIVE))
        for name in LIVE:
            drawn = page.evaluate(f"""(svg => ({{
                width: svg.getBoundingClientRect().width,
                marks: [...svg.querySelectorAll("path, line, rect, circle")].filter(e => e.getBBox().width > 3).length,
                wrong: /NaN|undefined|Infinity/.test(svg.outerHTML),
            }}))(document.querySelector("#{name} .plot.live svg"))""")
            assert drawn["width"] > 0.8 * min(width, 900), name
            assert drawn["marks"] > 3, name
            assert not drawn["wrong"], name
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(20, 24, 28)" if dark else "rgb(255, 255, 255)")
        line = page.evaluate("getComputedStyle(document.querySelector('#fit path.line')).stroke")
        assert line == ("rgb(163, 174, 184)" if dark else "rgb(91, 103, 112)")
        assert page.complaints == []
        assert page.requests == [path.as_uri()]
        assert not any(event.get("method") == "Page.javascriptDialogOpening" for event in browser.events)


def test_hostile_names_are_shown_as_text(desk):
    assert desk.evaluate("document.querySelectorAll('img').length") == 0
    assert desk.evaluate("document.querySelector('h1').textContent") == f"On {SHOWN}"
    assert desk.evaluate("[...document.querySelectorAll('#fit text.title')][2].textContent").startswith(
        f"motor {SHOWN}"
    )
    assert any(
        SHOWN in t for t in desk.evaluate("[...document.querySelectorAll('.toolbar button')].map(b => b.textContent)")
    )


def test_the_cross_hair_tells_values_with_units(desk, found):
    place = desk.place("#fit svg", 0.5, 0.1)
    desk.hover(*place)
    told = tip(desk, "fit")
    seconds = float(re.search(r"motor 1 · ([\d.]+)\u00a0s", told)[1])
    measured = float(re.search(r"measured(−?[\d.]+)\u00a0N·m", told)[1].replace("−", "-"))
    efforts = found.motion.efforts[:, 0]
    assert measured == pytest.approx(efforts[round(seconds * 100)], abs=60 * np.ptp(efforts) / 16_000)
    # the same moment in all panels, and in the robot
    assert desk.evaluate("document.querySelector('#fit .cross').getAttribute('d')").count("M") == 4
    assert float(desk.evaluate("document.querySelector('#robot svg').dataset.time")) == pytest.approx(seconds, abs=0.02)
    desk.hover(1, 1)
    assert tip(desk, "fit") == ""


def test_spikes_do_not_vanish(desk):
    """The spike is one of 600 samples and 300 N·m high: its line must reach the top of the panel."""
    top = desk.evaluate("""[...document.querySelectorAll("#fit path.line")].map(p => p.getBBox())
        .reduce((m, b) => Math.max(m, b.height), 0)""")
    assert top > 120


def test_drag_wheel_double_click_and_keys_zoom(desk):
    whole = view(desk)
    start, end = desk.place("#fit svg", 0.4, 0.1), desk.place("#fit svg", 0.6, 0.1)
    desk.wheel(*start, -120)
    assert view(desk) == whole, "before a click, the wheel belongs to the page"
    start, end = desk.place("#fit svg", 0.4, 0.1), desk.place("#fit svg", 0.6, 0.1)
    desk.drag(start, end)
    dragged = view(desk)
    assert 0.15 < (dragged[1] - dragged[0]) / (whole[1] - whole[0]) < 0.3
    desk.wheel(*start, -120)
    wheeled = view(desk)
    assert wheeled[1] - wheeled[0] < 0.9 * (dragged[1] - dragged[0])
    desk.place("#motion svg")
    desk.frame()
    assert view(desk, "motion") == view(desk), "figures of one motion share their time"
    desk.click(*desk.place("#fit svg", 0.5, 0.1), clicks=2)
    assert view(desk) == whole
    desk.evaluate("document.querySelector('#fit svg').focus()")
    desk.key("+")
    assert view(desk)[1] - view(desk)[0] == pytest.approx(0.7 * (whole[1] - whole[0]))
    desk.key("ArrowRight")
    desk.frame()
    assert "motor 1" in desk.evaluate("document.querySelector('#fit [aria-live]').textContent")
    desk.evaluate("document.querySelector('#fit .reset').click()")
    desk.frame()
    assert view(desk) == whole


def test_a_legend_hides_and_shows(desk):
    visible = "document.querySelector('#fit path.line').getAttribute('visibility')"
    button = "[...document.querySelectorAll('#fit .toolbar button')].find(b => b.textContent === 'measured')"
    for expected, pressed in (("hidden", "false"), ("visible", "true")):
        desk.evaluate(f"{button}.click()")
        desk.frame()
        assert desk.evaluate(visible) == expected
        assert desk.evaluate(f"{button}.getAttribute('aria-pressed')") == pressed


def test_intervals_tell_numbers_in_full_and_sets_rounded_outward(desk, found):
    desk.evaluate("document.querySelector('#parameters svg').scrollIntoView()")
    x, _ = desk.place("#parameters svg", 0.1, 0.5)
    desk.evaluate("document.querySelector('#parameters svg').focus()")
    desk.key("ArrowDown")
    assert str(found["least squares"].value[0]) in tip(desk, "parameters")
    top = desk.evaluate("document.querySelector('#parameters svg').getBoundingClientRect().top")
    desk.hover(x, top + 22 + 18 * 2.5)
    hull = found["hull"].region
    for side in outward.sides(hull.lower[0], hull.upper[0]):
        assert side in tip(desk, "parameters").replace("−", "-")
    assert "proven to contain all" in tip(desk, "parameters")
    desk.evaluate("document.querySelector('#parameters .reset').click()")


@pytest.mark.parametrize("name", ["parameters", "correlation"])
@pytest.mark.parametrize("width", [390, 1280])
def test_labels_are_inside_their_figure(browser, path, name, width):
    with browser.open(path, width=width) as page:
        outside = page.evaluate(f"""(svg => [...svg.querySelectorAll("text[text-anchor=end]")].filter(
            text => text.getBoundingClientRect().left < svg.getBoundingClientRect().left - 0.5
        ).map(text => text.textContent))(document.querySelector("#{name} .plot.live svg"))""")
        assert outside == []


def test_an_axis_has_more_than_one_number_where_there_is_room(desk):
    script = (files("gough.report") / "assets" / "numbers.js").read_text(encoding="utf-8")
    ranges = [[0.1159, 0.1243], [0.2289, 0.2457], [0.1, 0.94], [-0.09, 0.08], [14.2, 18.9], [3e-9, 4.2e-9], [7, 7.9e6]]
    for low, high in ranges:
        words = f"(t => [t.values, t.values.map(v => tickText(v, t.step))])(ticks({low}, {high}, 2.9))"
        marks = desk.evaluate(f"(() => {{ {script}\nreturn {words}; }})()")
        assert 2 <= len(marks[0]) <= 4, (low, high)
        for value, text in zip(*marks, strict=True):
            assert float(text.replace("−", "-")) == pytest.approx(value, rel=1e-9, abs=1e-12 * high)


def test_pairs_and_correlations_answer(desk, found):
    desk.hover(*desk.place("#pair svg", 0.5, 0.5))
    desk.evaluate("document.querySelector('#correlation svg').focus()")
    desk.key("ArrowDown")
    rho = found["Gauss–Markov"].region.correlation[2, 0]
    assert f"{abs(rho):.3f}" in tip(desk, "correlation")
    before = desk.evaluate("document.querySelector('#pair path.line').getAttribute('d')")
    desk.drag(desk.place("#pair svg", 0.4, 0.4), desk.place("#pair svg", 0.6, 0.6))
    assert desk.evaluate("document.querySelector('#pair path.line').getAttribute('d')") != before
    desk.click(*desk.place("#pair svg", 0.5, 0.5), clicks=2)
    assert desk.evaluate("document.querySelector('#pair path.line').getAttribute('d')") == before


def test_the_robot_turns_and_plays(desk):
    lines = "[...document.querySelectorAll('#robot .limb')].map(l => l.getAttribute('x2')).join()"
    time = "Number(document.querySelector('#robot svg').dataset.time)"
    desk.evaluate(
        "const s = document.querySelector('#robot input'); s.value = s.min; s.dispatchEvent(new Event('input'))"
    )
    still = desk.evaluate(lines)
    x, y = desk.place("#robot svg")
    desk.drag((x, y), (x + 80, y + 20))
    turned = desk.evaluate(lines)
    assert turned != still
    desk.evaluate("document.querySelector('#robot .controls button').click()")
    desk.wait_for(f"{time} > 0.05")
    assert desk.evaluate("document.querySelector('#robot .controls button').textContent") == "Pause"
    desk.evaluate("document.querySelector('#robot svg').focus()")
    desk.key(" ")
    stopped = desk.evaluate(time)
    desk.frame()
    assert desk.evaluate(time) == stopped
    assert desk.evaluate(lines) != turned
    assert re.match(
        r"[\d.]+\u00a0s · x [\d.−]+\u00a0m", desk.evaluate("document.querySelector('#robot output').textContent")
    )
    before = desk.evaluate(lines)
    desk.key("+")
    assert desk.evaluate(lines) != before


def test_less_motion_for_those_who_ask_for_it(browser, path):
    with browser.open(path) as page:
        page("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        page.evaluate("""window.seen = new Set();
            new MutationObserver(() => seen.add(document.querySelector("#robot svg").dataset.time))
                .observe(document.querySelector("#robot svg"), {attributes: true, attributeFilter: ["data-time"]});
            document.querySelector("#robot .controls button").click()""")
        page.wait_for("seen.size >= 2")
        times = sorted(float(t) for t in page.evaluate("[...seen]"))
        assert min(np.diff([0.0, *times])) >= 0.24


def test_two_fingers_zoom(browser, path):
    with browser.open(path, width=390, touch=True) as page:
        whole = view(page)
        (x, y), apart = page.place("#fit svg", 0.5, 0.1), 20.0
        page.touch("touchStart", (x - apart, y), (x + apart, y))
        for wider in (40.0, 60.0):
            page.touch("touchMove", (x - wider, y), (x + wider, y))
        page.touch("touchEnd")
        page.frame()
        assert (view(page)[1] - view(page)[0]) / (whole[1] - whole[0]) == pytest.approx(1 / 3, rel=0.1)


def test_figures_come_to_life_when_they_come_near(browser, path):
    """Until then they stay as they were drawn, and all words can be found."""
    with browser.open(path, complete=False) as page:
        nodes = page.evaluate("document.getElementsByTagName('*').length")
        live = "[...document.querySelectorAll('.plot.live')].map(e => e.parentNode.id)"
        assert "robot" not in page.evaluate(live)
        assert page.evaluate("document.querySelector('#robot .plot > svg').getBoundingClientRect().height") > 100
        assert page.evaluate("find('Correlation of errors between parameters')")
        page.evaluate("scrollTo(0, 0)")
        page.evaluate("document.querySelector('#robot').scrollIntoView()")
        page.wait_for("document.querySelector('#robot .plot.live') !== null")
        page.frame()
        top = page.evaluate("document.querySelector('#robot').getBoundingClientRect().top")
        assert -100 < top < 900, "where the reader went, whatever was drawn above meanwhile"
        assert len(page.evaluate(live)) < len(LIVE)
        page("Page.printToPDF")
        page.wait_for(f"document.documentElement.dataset.live === '{len(LIVE)}'")
        assert page.evaluate("document.getElementsByTagName('*').length") > 1.3 * nodes
        assert page.complaints == []


def test_figures_of_one_motion_share_their_time_whenever_they_are_drawn(browser, path):
    with browser.open(path, complete=False) as page:
        page.evaluate("document.querySelector('#fit').scrollIntoView()")
        page.wait_for("document.querySelector('#fit .plot.live') !== null")
        start, end = page.place("#fit svg", 0.4, 0.1), page.place("#fit svg", 0.6, 0.1)
        page.drag(start, end)
        zoomed = view(page)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.evaluate("document.querySelector('#motion').scrollIntoView()")
        page.frame()
        assert view(page, "motion") == view(page) == zoomed


def test_a_page_without_script_shows_its_drawings(browser, path):
    with browser.open(path, script=False, width=390) as page:
        root = page("DOM.getDocument", depth=0)["root"]["nodeId"]
        found = page("DOM.querySelectorAll", nodeId=root, selector=".plot > svg")["nodeIds"]
        assert len(found) == len(LIVE) + 1
        for node in found:
            assert page("DOM.getBoxModel", nodeId=node)["model"]["width"] > 300


def test_paper_is_white_and_nothing_is_cut_off(browser, path):
    with browser.open(path, width=720, dark=True) as page:
        page("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.frame()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_a_finger_may_be_lifted_to_read(browser, path):
    with browser.open(path, width=390, touch=True) as page:
        x, y = page.place("#fit svg", 0.5, 0.1)
        page.touch("touchStart", (x, y))
        page.touch("touchEnd")
        page.frame()
        assert "measured" in tip(page, "fit")
        page.evaluate("document.querySelector('#fit svg').focus(); document.querySelector('#robot input').focus()")
        page.frame()
        assert tip(page, "fit") == ""


def test_nothing_was_complained_about(desk):
    assert desk.complaints == []
