from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gough.report.base.drawing import Drawing
from gough.report.base.robot_view import fitted
from gough.report.base.scales import Scale, in_words, round_numbers, with_margin
from gough.report.base.sheet import Sheet, _path, _straightened, text_width

FREE = 0.2 * 9.5
"""Beside the first and the last H of a word, in points."""
INK, RED = "#22303c", "#ff0000"


def source(sheet):
    return fromstring(sheet.svg("one"))


def named(root, tag):
    return root.findall(f".//{{http://www.w3.org/2000/svg}}{tag}")


def points(path):
    """The places that a path of SVG goes through, from its steps."""
    at, found = np.zeros(2, dtype=int), []
    for piece in path.replace("M", " M").replace("l", " l").replace("z", "").split(" "):
        if piece.startswith(("M", "l")):
            letter, first = piece[0], int(piece[1:])
        elif piece:
            at = np.array([first, int(piece)]) + (at if letter == "l" else 0)
            found.append(at)
    return np.array(found)


def test_words_cannot_break_out():
    sheet = Sheet(100.0, 100.0)
    sheet.write(1.0, 1.0, '</text><script x="&">\x1b[2K', INK)
    (words,) = named(source(sheet), "text")
    assert words.text == '</text><script x="&">\\x1b[2K'
    assert not named(source(sheet), "script")
    assert "<script" not in Drawing("one", sheet, '"><script>', "c").html()


def test_a_gap_begins_a_new_piece():
    sheet = Sheet(100.0, 100.0)
    sheet.stroke([0.0, 1.0, np.nan, 2.0, 3.0], [0.0, 1.0, 1.0, np.inf, 1.0], INK)
    (path,) = named(source(sheet), "path")
    assert path.get("d") == "M0 1000l10 -10M30 990l0 0"


@pytest.mark.parametrize("empty", [[], [np.nan], [np.inf, np.nan]])
def test_nothing_is_drawn_of_nothing(empty):
    sheet = Sheet(100.0, 100.0)
    sheet.stroke(empty, empty, INK)
    sheet.dots(empty, empty, INK, 1.0)
    sheet.area([np.zeros((0, 2))], INK)
    sheet.write(0.0, 0.0, "", INK)
    assert sheet.marks == []
    assert (sheet.pixels(72) == 255).all()


def test_the_picture_has_what_the_file_has():
    """Places, windows and opacity of both are compared at single points."""
    sheet = Sheet(200.0, 100.0)
    square = np.array([[20.0, 20.0], [20.0, 60.0], [60.0, 60.0], [60.0, 20.0]])
    sheet.area([square], RED, 0.5, (0.0, 0.0, 40.0, 100.0))
    sheet.dots([120.0], [30.0], RED, 10.0)
    sheet.stroke([150.0, 190.0], [80.0, 80.0], RED, 6.0)
    picture = sheet.pixels(144)
    assert picture.shape == (200, 400, 3)

    def at(x, y):
        return picture[round(2 * (100 - y)), round(2 * x)].tolist()

    pale = at(30, 40)
    assert pale[0] == 255
    assert pale[1] == pale[2] == pytest.approx(127, abs=2)
    assert at(50, 40) == [255, 255, 255], "outside the window"
    assert at(120, 30) == at(128, 30) == at(170, 80) == [255, 0, 0]
    assert at(132, 30) == at(170, 70) == [255, 255, 255]
    root = source(sheet)
    (circle,), (box,) = named(root, "circle"), named(root, "rect")
    assert [circle.get(key) for key in ("cx", "cy", "r")] == ["1200", "700", "100"]
    assert [box.get(key) for key in ("x", "y", "width", "height")] == ["0", "0", "400", "1000"]
    area, line = named(root, "path")
    assert area.get("clip-path") == "url(#one-w0)"
    assert area.get("fill-opacity") == "0.5"
    assert points(area.get("d")).tolist() == [[200, 800], [200, 400], [600, 400], [600, 800]]
    assert points(line.get("d")).tolist() == [[1500, 200], [1900, 200]]


def test_words_stand_where_they_are_put():
    sheet = Sheet(200.0, 60.0)
    sheet.write(100.0, 30.0, "HHHHH", INK, across="center", up="middle")
    dark = np.argwhere(sheet.pixels(144).min(axis=2) < 128)
    assert dark.mean(axis=0) == pytest.approx([60.0, 200.0], abs=2.0)
    assert np.ptp(dark[:, 1]) / 2 == pytest.approx(text_width("HHHHH") - FREE, abs=1.0)
    upright = Sheet(60.0, 200.0)
    upright.write(30.0, 100.0, "HHHHH", INK, across="center", up="middle", upright=True)
    dark = np.argwhere(upright.pixels(144).min(axis=2) < 128)
    assert dark.mean(axis=0) == pytest.approx([200.0, 60.0], abs=2.0)
    assert np.ptp(dark[:, 0]) / 2 == pytest.approx(text_width("HHHHH") - FREE, abs=1.0)


def test_a_name_in_another_script_is_no_warning():
    sheet = Sheet(100.0, 20.0)
    sheet.write(0.0, 5.0, "関節", INK)
    assert sheet.pixels(72).shape == (20, 100, 3)


@given(st.lists(st.integers(-300, 300), min_size=60, max_size=300), st.integers(1, 40))
def test_a_line_without_its_straight_stretches_is_the_same_line(heights, repeats):
    """At every abscissa it passes within three tenths of a point, and has the same ends."""
    y = np.repeat(np.array(heights), repeats)[:300]
    x = 14 * np.arange(len(y))
    kept_x, kept_y = _straightened(x, y)
    assert (kept_x[0], kept_y[0], kept_x[-1], kept_y[-1]) == (x[0], y[0], x[-1], y[-1])
    steep = abs(np.diff(y)).max(initial=0) / 14
    assert abs(np.interp(x, kept_x, kept_y) - y).max() <= 3 * (1 + steep)
    assert np.isin(kept_x, x).all()


def test_a_spike_stays():
    y = np.zeros(1000, dtype=int)
    y[500] = 400
    kept_x, kept_y = _straightened(np.arange(1000), y)
    assert 400 in kept_y
    assert len(kept_x) < 200


@given(st.lists(st.tuples(st.integers(-9999, 9999), st.integers(-9999, 9999)), min_size=2, max_size=50))
def test_steps_lead_to_every_point(places):
    x, y = np.array(places).T
    found = points(_path(x, y))
    distinct = [place for k, place in enumerate(places) if k == 0 or place != places[k - 1]]
    assert found[: len(distinct)].tolist() == [list(place) for place in distinct]


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12), st.integers(1, 9))
def test_numbers_on_an_axis_are_round_few_and_true(low, size, most):
    high = low + size
    ticks = round_numbers(low, high, most)
    assert 1 <= len(ticks) <= most + 2
    assert (np.diff(ticks) > 0).all() or len(ticks) == 1
    labels, factor = in_words(ticks)
    read = np.array([float(label.replace("−", "-")) for label in labels]) * float(factor or 1)
    if len(ticks) > 1:
        assert (ticks >= low - 1e-6 * size).all()
        assert (ticks <= high + 1e-6 * size).all()
        apart = np.diff(ticks).min()
        if apart > 1e-13 * abs(ticks).max():
            assert abs(read - ticks).max() <= 2e-3 * apart + 1e-15 * abs(ticks).max()


@pytest.mark.parametrize(("low", "high"), [(-1e300, 1e300), (1e-300, 2e-300), (0.0, 5e-324), (1e9, 1e9 + 1e-6)])
def test_an_axis_of_any_size_has_numbers(low, high):
    scale = Scale.linear(with_margin(low, high), (0.0, 100.0), per_number=20.0)
    assert len(scale.labels) == len(scale.ticks) >= 1
    assert np.isfinite(scale(np.array([low, high]))).all()


def test_a_view_is_not_distorted_and_fits():
    sheet = Sheet(400.0, 100.0)
    shape = np.array([[-1.0, 0.0, 5.0], [3.0, 1.0, 5.0], [0.0, 0.5, 5.0]])
    x, y = fitted(sheet, [shape, np.zeros((0, 3))])(shape)
    assert x.min() >= 0
    assert x.max() <= 400
    assert y.min() >= 0
    assert y.max() <= 100
    assert np.diff(x) == pytest.approx(np.diff(y) / np.diff(shape[:, 1]) * np.diff(shape[:, 0]))
