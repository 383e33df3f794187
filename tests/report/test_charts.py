"""Curves on their way to a page: packed and thinned without losing what matters."""

import json
import shutil
import subprocess
import zlib
from base64 import b64decode
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gough.report
from gough.report.base.charts import Band, Chart, Level, Line, Panel, least_and_greatest, on_grid, stretches
from gough.report.base.curves import Curves
from gough.report.base.drawing import relative
from gough.report.base.intervals import shown_range
from gough.report.base.panels import charted
from gough.report.base.sheet import Sheet

NUMBERS = st.floats(-1e9, 1e9) | st.just(np.nan) | st.just(np.inf)
CURVES = arrays.arrays(np.float64, st.integers(1, 60), elements=NUMBERS)


def unpacked(curves: Curves, reference) -> np.ndarray:
    """What the page's script does, in Python."""
    planes = np.frombuffer(zlib.decompress(b64decode(curves.packed())), np.uint8).astype(np.uint16)
    codes = planes[: len(planes) // 2] | (planes[len(planes) // 2 :] << 8)
    own = codes[reference["at"] : reference["at"] + reference["n"]]
    sums = (own >> 1) ^ -(own & 1).astype(np.int16).view(np.uint16)
    for _ in range(reference["order"]):
        sums = np.cumsum(sums, dtype=np.uint16)
    return np.where(sums == 65_535, np.nan, reference["low"] + reference["step"] * sums)


@given(CURVES, CURVES)
def test_a_curve_comes_back_to_a_part_in_sixteen_thousand(first, second):
    curves = Curves()
    for values, reference in [(v, curves.add(v)) for v in (first, second)]:
        back = unpacked(curves, reference)
        there = np.isfinite(values)
        assert np.array_equal(np.isfinite(back), there)
        if there.any():
            reach = float(values[there].max() - values[there].min())
            assert reference["step"] <= max(60 * reach / 16_000 * (1 + 1e-9), 1.0)
            error = abs(back - values)[there].max()
            assert error <= reference["step"] * (0.5 + 1e-6) + 1e-12 * abs(values[there]).max()


@given(CURVES)
def test_ends_of_sets_are_rounded_down_or_up(values):
    curves = Curves()
    there = np.isfinite(values)
    references = [curves.add(values, side) for side in ("down", "up")]
    below, above = (unpacked(curves, reference) for reference in references)
    assert (below[there] <= values[there]).all()
    assert (values[there] <= above[there]).all()
    if there.any():
        assert (above - below)[there].max() <= 2 * references[0]["step"] + 1e-12 * abs(values[there]).max()


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 3), min_size=1, max_size=30))
def test_a_band_on_the_page_contains_the_band(rows):
    """The page adds two curves, both rounded; what it tells still holds every number of the band."""
    low, high, around = np.array([(min(a, b), max(a, b), c) for a, b, c in rows]).T
    band = Band("b", np.nextafter(low - around, -np.inf), np.nextafter(high - around, np.inf), around)
    curves = Curves()
    live = band.live(curves)
    below, above, middle = (unpacked(curves, live[key]) for key in ("lower", "upper", "around"))
    assert (below + middle <= low).all()
    assert (above + middle >= high).all()


@pytest.mark.skipif(shutil.which("node") is None, reason="no node is installed to run the page's script with")
def test_the_page_s_script_prints_intervals_outward(rng):
    """Numbers of the page's own script, read back as exact fractions."""
    rows = [[0.0, 0.0], [0.1, 0.1], [0.5, 0.5], [-1e-9, 1e-9], [5e-324, 5e-324], [-1e307, 1e307], [0.0, 1e300]]
    middle = rng.uniform(-1, 1, 3000) * 10.0 ** rng.uniform(-12, 12, 3000)
    half = abs(middle) * 10.0 ** rng.uniform(-15, 2, 3000)
    rows += np.column_stack([middle - half, middle + half]).tolist()
    rows += np.sort(rng.uniform(-100, 100, (1000, 2)).round(3), axis=1).tolist()
    script = (Path(gough.report.__file__).parent / "assets" / "numbers.js").read_text(encoding="utf-8")
    script += f";console.log(JSON.stringify({json.dumps(rows)}.map(([a, b]) => outward(a, b))));"
    done = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True)
    for (lower, upper), texts in zip(rows, json.loads(done.stdout), strict=True):
        a, b = (Fraction(text.replace("−", "-")) for text in texts)
        low, high = Fraction(lower), Fraction(upper)
        assert a <= low <= high <= b, texts
        size = max(abs(low), abs(high))
        assert (low - a) + (b - high) <= max((high - low) / 25, size / 10**11, Fraction(1, 10**290)), texts


def test_smooth_curves_are_kept_finely_and_cost_little():
    t = np.linspace(0, 20, 20_000)
    smooth = 10 * np.sin(3 * t) + np.cos(17 * t)
    curves = Curves()
    reference = curves.add(smooth)
    assert abs(unpacked(curves, reference) - smooth).max() <= np.ptp(smooth) / 16_000
    assert len(curves.packed()) < 0.6 * len(t)


def test_huge_and_constant_curves_do_no_harm():
    curves = Curves()
    for values in (np.array([-1e300, 1e300]), np.full(5, 3.0), np.array([np.nan]), np.zeros(0)):
        reference = curves.add(values)
        assert np.allclose(unpacked(curves, reference), values, rtol=1e-4, equal_nan=True)


@given(CURVES, st.integers(1, 9))
def test_thinning_never_loses_a_spike(values, factor):
    values = np.where(np.isinf(values), np.nan, values)
    thin = least_and_greatest(values, factor)
    assert len(thin) == 2 * -(-len(values) // (2 * factor))
    if np.isfinite(values).any():
        assert np.nanmin(thin) == np.nanmin(values)
        assert np.nanmax(thin) == np.nanmax(values)
    for k in range(len(thin) // 2):
        block = values[2 * factor * k : 2 * factor * (k + 1)]
        assert set(thin[2 * k : 2 * k + 2][np.isfinite(thin[2 * k : 2 * k + 2])]) <= set(block[np.isfinite(block)])


def test_a_chart_is_thinned_as_a_whole():
    n = 1001
    y = np.zeros(n)
    y[777] = 5.0
    panel = Panel("torque", "N·m", (Line("y", y), Band("b", y - 1, y + 1)))
    chart = Chart(1.0, 0.01, n, "time", "s", (panel,)).thinned(100)
    line, band = chart.panels[0].marks
    assert chart.n == len(line.y) == len(band.lower) <= 102
    assert line.y.max() == 5.0
    assert band.upper.max() == 6.0
    spike = chart.x[line.y.argmax()]
    assert abs(spike - 8.77) <= 2 * chart.step
    assert chart.thinned(1000) is chart


def test_bounds_around_a_curve():
    around = np.array([1.0, 2.0])
    band = Band("b", np.array([-0.1, -0.2]), np.array([0.3, 0.4]), around)
    assert band.lower.tolist() == [0.9, 1.8]
    assert band.upper.tolist() == [1.3, 2.4]


def test_masks_become_stretches():
    assert stretches([True] * 3, 0.0, 0.1) == ((-0.05, 0.25),)
    assert stretches([False] * 3, 0.0, 0.1) == ()


def test_values_on_a_grid():
    grid = on_grid(np.array([[1.0, 2.0], [3.0, 4.0]]), [1, 3], 4)
    assert grid.shape == (2, 4)
    assert grid[:, [1, 3]].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert np.isnan(grid[:, [0, 2]]).all()


@pytest.mark.parametrize("path", ["M 0 0 \nC 1 2 3 4 5 6 \nz", "M 1e-3 0 \nL 2 3"])
def test_paths_with_more_than_lines_are_left_alone(path):
    assert relative(path) == " ".join(path.split())


def test_rounding_does_not_add_up_along_a_path():
    steps = np.cumsum(np.full(1000, 0.0449))
    path = "M 0 0 " + " ".join(f"L {x:.6f} 0" for x in steps)
    moves = [float(m.split()[0]) for m in relative(path).split("l")[1:]]
    assert sum(moves) == pytest.approx(steps[-1], abs=0.06)


@pytest.mark.parametrize(
    ("ends", "sets", "values", "expected"),
    [
        ([(np.nan, np.nan)], [False], [3.0], (2.97, 3.03)),
        ([(-np.inf, np.inf)], [True], [0.0], (-1.0, 1.0)),
        ([(0.0, 1.0), (0.2, 0.3)], [False, False], [np.nan], (0.2 - 0.008, 0.3 + 0.008)),
        ([], [], [], (-1.16, 1.16)),
    ],
)
def test_what_a_panel_of_intervals_shows(ends, sets, values, expected):
    assert shown_range(ends, sets, values) == pytest.approx(expected)


def rich_chart(rows: int) -> Chart:
    x = np.linspace(0, 20, 5000)
    marks = (
        Band("region", np.where(x > 15, np.nan, -1.0), np.full(5000, 1e300), np.sin(x), color=1),
        Band("exact", *(np.where(np.arange(5000) % 500 == 0, side, np.nan) for side in (-1.0, 1.0)), as_bars=True),
        Line("measured <&>", np.where((x > 3) & (x < 4), np.inf, np.sin(x))),
        Level("bound", 0.5),
    )
    panels = tuple(Panel(f"motor {k}", "N·m", marks, spans=((1.0, 2.0), (5.0, 5.1))) for k in range(rows))
    return Chart(3.0, x[1], 5000, "time", "s", panels)


def test_a_chart_as_a_file_has_every_panel_number_and_name():
    drawing = charted("fit", rich_chart(3), "Three motors.", "A caption.")
    source = drawing.svg().decode()
    for words in ("motor 0, N·m", "motor 2, N·m", "time, s", "measured &lt;&amp;&gt;", "exact", "bound", "region"):
        assert source.count(words) == 1, words
    assert source.count(">−1<") + source.count(">−1.0<") == 3, "each panel has its numbers"
    assert "nan" not in source
    assert "inf" not in source
    assert drawing.png().startswith(b"\x89PNG")
    assert drawing.svg().decode() == charted("fit", rich_chart(3), "Three motors.", "A caption.").svg().decode()


@pytest.mark.parametrize(
    "values", [[], [np.nan] * 3, [7.0], [1e300, -1e300], [1e-300, 2e-300], [1e9 + 1, 1e9 + 2, 1e9], [0.0] * 4]
)
def test_any_values_can_be_drawn(values):
    y = np.array(values)
    chart = Chart(
        0.0, 1.0, max(len(y), 1), "k", "", (Panel("p", "", (Line("y", y if len(y) else np.array([np.nan])),)),)
    )
    source = charted("any", chart, "d", "c").svg()
    assert b"nan" not in source.replace(b"--nan", b"")


def test_large_numbers_on_an_axis_have_a_common_factor_in_the_title():
    chart = Chart(0.0, 1.0, 3, "t", "s", (Panel("p", "N", (Line("y", np.array([0.0, 2e7, 5e7])),)),))
    assert b">p, N, 1e7<" in charted("large", chart, "d", "c").svg()


def test_a_chart_costs_no_figure_of_matplotlib(monkeypatch):
    """Its artists take most of the time of a figure: marks are counted, since seconds depend on the machine."""
    import matplotlib.figure

    monkeypatch.setattr(matplotlib.figure, "Figure", None)
    drawing = charted("fit", rich_chart(8), "d", "c")
    assert drawing.svg()
    assert drawing.html()
    assert drawing.png()
    assert isinstance(drawing.figure, Sheet)
    assert len(drawing.figure.marks) < 200
