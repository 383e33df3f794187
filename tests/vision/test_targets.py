"""Targets: their design, files, and what is printed."""

import re
import struct
import zlib

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.vision import (
    CharucoBoard,
    CircleGrid,
    DotTarget,
    design_target,
    read_target,
    to_pdf,
    to_png,
    to_svg,
    write_target,
)  # fmt: skip
from gough.vision.targets import closest, cross_ratio


@pytest.fixture(scope="module")
def target():
    return design_target(0.2, 0.2)


def test_cross_ratios_stand_apart(target):
    """Gaps are hundreds of standard deviations where a centroid is good to 0.02 px and the diagonal is 250 px long."""
    ratios = target.cross_ratios
    half = np.linalg.norm(target.long[0, :2])
    rng = np.random.default_rng(1)
    t = {"long": target.long @ target.long[-1] / half, "short": target.short @ target.short[-1] / half}
    ends = [t["long"][:4], t["long"][-4:], t["short"][:4], t["short"][-4:]]
    noise = half / 125 * 0.02
    spread = [np.std([cross_ratio(end + rng.normal(0, noise, 4)) for _ in range(400)]) for end in ends]
    for i in range(4):
        for j in range(i):
            assert abs(ratios[i] - ratios[j]) > 200 * np.hypot(spread[i], spread[j])


def test_a_cross_ratio_survives_a_projection(target, rng):
    t = target.long @ target.long[-1]
    a, b, c, d = rng.normal(size=4)
    image = (a * t + b) / (c * t / 10 + abs(d) + 1)
    assert cross_ratio(image[:4]) == pytest.approx(target.cross_ratios[0], rel=1e-9)
    assert cross_ratio(image[::-1][:4]) == pytest.approx(target.cross_ratios[1], rel=1e-9)


@pytest.mark.parametrize("size", [(0.2, 0.2), (0.3, 0.15), (0.05, 0.08)])
def test_dots_lie_on_the_sheet_and_apart(size):
    made = design_target(*size, dots=30)
    assert (abs(made.points[:, :2]) <= np.array(size) / 2 - 1.99 * made.radius).all()
    assert closest(made.points) > 3 * made.radius
    assert np.linalg.matrix_rank(made.long - made.long[0], tol=1e-9) == 1
    assert np.linalg.matrix_rank(made.short - made.short[0], tol=1e-9) == 1


def test_the_same_seed_gives_the_same_target(target):
    assert design_target(0.2, 0.2) == target
    assert design_target(0.2, 0.2, seed=1) != target


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 0.2, "height": 0.2, "dots": 500}, "no room for 500 dots"),
        ({"width": 0.2, "height": 0.2, "radius": 0.02}, "too large"),
        ({"width": -0.2, "height": 0.2}, "lengths in m"),
        ({"width": 200, "height": 200}, "lengths in m"),
        ({"width": 0.2, "height": 0.2, "dots": 10}, "at least 4 others"),
    ],
)
def test_targets_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        design_target(**arguments)


@pytest.mark.parametrize(
    "made",
    [
        design_target(0.12, 0.1, dots=20, bright=False),
        CircleGrid(4, 11, 0.02, 0.005, staggered=True),
        CharucoBoard(7, 5, 0.03, 0.022),
    ],
    ids=["dots", "circles", "charuco"],
)
def test_files_give_back_what_was_written(made, tmp_path):
    path = tmp_path / "target.toml"
    write_target(path, made)
    assert read_target(path) == made
    with pytest.raises(InputError, match="exists"):
        write_target(path, made)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = 'dot'", "did you mean 'dots'"),
        ("", "kind must be one of"),
        ("kind = 'circles'\ncolumns = 4", "lacks something"),
        ("kind = 'circles'\ncolums = 4", "did you mean 'columns'"),
        ("kind = 'dots'\npoints = 'here'\nradius = 1.0\nsize = [1, 1]", r"points must be \[x, y, z\]"),
        ("kind = 'dots'\npoints = [[0, 0, 0]]\nradius = 1.0\nsize = [1, 1]", "7 . 6 dots"),
        ("kind", "not valid TOML"),
    ],
)
def test_files_that_describe_no_target(text, message, tmp_path):
    path = tmp_path / "target.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_target(path)
    assert str(path) in str(error.value)


def test_dots_that_touch_are_refused(target):
    with pytest.raises(InputError, match="touch"):
        DotTarget(target.points, 0.01, target.size)


def test_the_page_has_the_true_size(target):
    """200 mm between the ends of each ruler, on A4; dots where they are: read back from the drawing commands."""
    pdf = to_pdf(target).decode("latin-1")
    mm = 25.4 / 72
    assert [round(float(v) * mm, 2) for v in re.search(r"MediaBox \[(.*?)\]", pdf)[1].split()] == [0, 0, 210, 297]
    x0, y0, x1, y1 = (float(v) * mm for v in re.search(r"(\S+) (\S+) m (\S+) (\S+) l S", pdf).groups())
    assert (x1 - x0, y1 - y0) == pytest.approx((200, 0), abs=1e-3)
    pairs = re.findall(r"^(\S+) (\S+) m .* c f$", pdf, re.MULTILINE)
    starts = np.array([[float(v) for v in pair] for pair in pairs]) * mm
    dots = starts - [1000 * target.radius, 0]
    offset = dots.mean(axis=0) - 1000 * target.points[:, :2].mean(axis=0)
    assert abs(dots - offset - 1000 * target.points[:, :2]).max() < 1e-3


def test_references_of_the_pdf_point_at_objects(target):
    pdf = to_pdf(target)
    start = int(re.search(rb"startxref\n(\d+)", pdf)[1])
    assert pdf[start:].startswith(b"xref")
    for number, place in enumerate(re.findall(rb"^(\d{10}) 00000 n", pdf[start:], re.MULTILINE), start=1):
        assert pdf[int(place) :].startswith(b"%d 0 obj" % number)


def test_a_picture_says_its_resolution_and_shows_the_dots():
    made = design_target(0.1, 0.1, dots=20)
    png = to_png(made, dpi=254)
    assert struct.unpack(">II", png[png.index(b"pHYs") + 4 :][:8]) == (10000, 10000)
    cv2 = pytest.importorskip("cv2")
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert image.shape == (2970, 2100)
    _, _labels, stats, centers = cv2.connectedComponentsWithStats((image[:2000] > 127).astype(np.uint8))
    discs = centers[(abs(stats[:, 4] * 1e-8 / (np.pi * made.radius**2) - 1) < 0.02)] * 1e-4
    found = np.sort(discs[:, 0]) - discs[:, 0].mean()
    assert len(discs) == 20
    assert abs(found - np.sort(made.points[:, 0]) + made.points[:, 0].mean()).max() < 1e-5
    assert zlib.crc32(png[12:29]) == struct.unpack(">I", png[29:33])[0]


def test_svg_is_in_millimeters(target):
    svg = to_svg(target).decode()
    assert 'width="210.0000mm"' in svg
    assert f'r="{1000 * target.radius:.4f}"' in svg
