"""Targets: their design, files, and what is printed."""

import re
import struct
import zlib

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.vision import (
    AprilGrid,
    ArucoGrid,
    Camera,
    CharucoBoard,
    Chessboard,
    CircleGrid,
    DotTarget,
    design_target,
    find_target,
    measure_pose,
    read_target,
    target_drawing,
    to_pdf,
    to_png,
    to_svg,
    write_target,
)  # fmt: skip
from gough.vision.targets import closest, cross_ratio, target_id


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
        Chessboard(10, 7, 1.5),
        ArucoGrid(5, 7, 0.04, 0.01, "6X6_250", first=20),
        AprilGrid(6, 6, 0.088, 0.0264),
    ],
    ids=["dots", "circles", "charuco", "chessboard", "aruco", "aprilgrid"],
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
        ("kind = 'circles'\ncolumns = 4", "lacks rows, spacing, radius"),
        (
            "kind = 'chessboard'\ncolumns = 9\nrows = 6\nsquare = 25.4",
            'line 4, square: 25.4 would be 25.4 m.*"25.4 mm"',
        ),
        ("kind = 'chessboard'\ncolumns = 9.5\nrows = 6\nsquare = 0.02", "line 2, columns: must be a whole number"),
        ("kind = 'chessboard'\ncolumns = 9\nrows = 6\nsquare = '25.4'", "line 4, square: .25.4. has no unit"),
        ("kind = 'chessboard'\ncolumns = 9\nrows = 6\nsquare = '25 kg'", "line 4, square: 'kg' cannot become 'm'"),
        ("kind = 'chessboard'\ncolumns = 9\nrows = 6\nsquare = [1]", "line 4, square: must be a length"),
        ("kind = 'chessboard'\nunit = 3\ncolumns = 9\nrows = 6\nsquare = 1", "line 2, unit: must be a unit"),
        (
            "kind = 'circles'\ncolumns = 4\nrows = 5\nspacing = 0.02\nradius = 0.01\nbright = 1",
            "line 6, bright: must be true",
        ),
        ("kind = 'charuco'\ndictionary = '5X5'\ncolumns = 7\nrows = 5\nsquare = 0.03\nmarker = 0.02", "mean '5X5_50'"),
        (
            "kind = 'charuco'\ncolumns = 20\nrows = 10\nsquare = 0.03\nmarker = 0.02\ndictionary = '5X5_50'",
            "needs markers 0 to 99, but the dictionary 5X5_50 has 0 to 49",
        ),
        ("kind = 'circles'\ncolums = 4", "did you mean 'columns'"),
        ("kind = 'dots'\nunit = 'm'\npoints = 'here'\nradius = 1.0\nsize = [1, 1]", "points must be"),
        ("kind = 'dots'\nunit = 'm'\npoints = [[0, 0, 0]]\nradius = 1.0\nsize = [1, 1]", "7 . 6 dots"),
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


@pytest.mark.parametrize(
    "text", ["square = '25.4 mm'", "square = 0.0254", "square = '1in'", "unit = 'mm'\nsquare = 25.4"]
)
def test_lengths_have_units(text, tmp_path):
    path = tmp_path / "board.toml"
    path.write_text(f"kind = 'chessboard'\ncolumns = 9\nrows = 6\n{text}\n")
    assert read_target(path).square == pytest.approx(0.0254, rel=1e-12)


MM = 25.4 / 72


def drawn(target, paper=None):
    """Page, ends of the lines, and dots in mm, read back from the drawing commands."""
    pdf = to_pdf(target, paper).decode("latin-1")
    page = [float(v) * MM for v in re.search(r"MediaBox \[(.*?)\]", pdf)[1].split()][2:]
    lines = np.array(
        [[float(v) for v in each] for each in re.findall(r"^(\S+) (\S+) m (\S+) (\S+) l S", pdf, re.MULTILINE)]
    )
    dots = np.array([[float(v) for v in pair] for pair in re.findall(r"^(\S+) (\S+) m .* c f$", pdf, re.MULTILINE)])
    boxes = np.array(
        [[float(v) for v in each] for each in re.findall(r"^(\S+) (\S+) (\S+) (\S+) re f", pdf, re.MULTILINE)]
    )
    return page, lines * MM, dots.reshape(-1, 2) * MM - [1000 * target.radius, 0], boxes.reshape(-1, 4) * MM, pdf


@pytest.mark.parametrize(
    ("size", "bright", "paper", "page"),
    [
        ((0.19, 0.19), True, None, (210, 297)),
        ((0.2, 0.2), True, None, (210, 297)),
        ((0.2032, 0.2032), True, None, (215.9, 279.4)),
        ((0.19, 0.19), False, "letter", (215.9, 279.4)),
        ((0.25, 0.25), True, None, (297, 420)),
        ((0.26, 0.17), True, "A4", (297, 210)),
    ],
)
def test_everything_is_printed_inside_the_margins(size, bright, paper, page):
    made = design_target(*size, bright=bright, dots=30)
    paper_size, lines, dots, boxes, pdf = drawn(made, paper)
    assert paper_size == pytest.approx(page, abs=1e-3)
    r = 1000 * made.radius
    inked = [lines[:, :2], lines[:, 2:], dots - r, dots + r, boxes[:, :2], boxes[:, :2] + boxes[:, 2:]]
    places = np.vstack([part for part in inked if len(part)])
    assert places.min() > 8 - 1e-3
    assert (places < np.array(page) - 8 + 1e-3).all()
    if bright:
        left, bottom, width, height = boxes[0]
        low, high = (dots - r).min(axis=0), (dots + r).max(axis=0)
        assert (low - [left, bottom] > 0.39 * r).all()
        assert ([left + width, bottom + height] - high > 0.39 * r).all()
    assert target_id(made) in pdf


def test_the_page_has_the_true_size(target):
    """The ruler is as long as it says, and dots are where they are."""
    _, lines, dots, _, pdf = drawn(target)
    stated = float(re.search(r"This ruler must be (\d+) mm long", pdf)[1])
    lengths = np.linalg.norm(lines[:, 2:] - lines[:, :2], axis=1)
    assert stated == pytest.approx(lengths.max(), abs=1e-3)
    offset = dots.mean(axis=0) - 1000 * target.points[:, :2].mean(axis=0)
    assert abs(dots - offset - 1000 * target.points[:, :2]).max() < 1e-3


def test_a_paper_that_is_too_small_or_unknown(target):
    with pytest.raises(InputError, match="does not fit A4"):
        to_pdf(design_target(0.25, 0.25), "A4")
    with pytest.raises(InputError, match="did you mean 'Letter'"):
        to_svg(target, "Leter")


def test_boards_are_drawn_too():
    _, _, _, boxes, _ = drawn(Chessboard(8, 5, 0.02))
    assert boxes.shape == (20, 4)
    assert boxes[:, 2:] == pytest.approx(20, abs=1e-3)
    assert to_svg(AprilGrid(3, 3, 0.04, 0.01)).count(b"<rect") > 50


@pytest.mark.parametrize("bright", [True, False])
@pytest.mark.parametrize("z", [0.32, 0.6])
def test_printed_sheets_are_measured_like_bare_dots(bright, z, monkeypatch):
    """A sheet with its numbers and rulers, seen by a ray caster: as many dots are used as without numbers."""
    cv2 = pytest.importorskip("cv2")
    made = design_target(0.19, 0.19, bright=bright)
    printed = cv2.imdecode(np.frombuffer(to_png(made, dpi=254), np.uint8), 0)
    monkeypatch.setattr(target_drawing, "_numbers", lambda *_: ())
    bare = cv2.imdecode(np.frombuffer(to_png(made, dpi=254), np.uint8), 0)
    assert (printed != bare).sum() > 5000
    camera = Camera((400, 300), [420.0, 420.0], [199.5, 149.5])
    R, t = exp([0.2, -0.15, 0.1]) @ np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, z])
    fine = 4
    u, v = np.meshgrid(*((np.arange(n * fine) + 0.5) / fine - 0.5 for n in camera.size))
    rays = camera.rays(np.column_stack([u.ravel(), v.ravel()]))
    x, y, w = np.linalg.solve(np.column_stack([R[:, :2], t]), np.column_stack([rays, np.ones(len(rays))]).T)
    row = (8.0 + 95.0) * 10 - 1e4 * y / w  # the target's middle is 103 mm below the upper edge of the paper
    used = []
    for sheet in (printed, bare):
        column = sheet.shape[1] / 2 + 1e4 * x / w
        places = [(a.reshape(u.shape) + 1999.5).astype(np.float32) for a in (column, row)]
        padded = np.pad(sheet, 2000, constant_values=90).astype(np.float32)
        seen = cv2.GaussianBlur(cv2.remap(padded, *places, cv2.INTER_LINEAR, borderValue=90.0), (0, 0), 0.7 * fine)
        clean = 20 + 0.7 * seen.reshape(300, fine, 400, fine).mean(axis=(1, 3))
        image = (clean + np.random.default_rng(1).normal(0, 1.5, clean.shape)).clip(0, 255).astype(np.uint8)
        assert len(find_target(image, made, camera)) == 45
        pose = measure_pose(image, made, camera)
        used.append(len(pose.which))
        assert abs((pose.position - t) / pose.sigma[:3]).max() < 4.5
    assert used[0] >= used[1] - 2


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
    _, _labels, stats, centers = cv2.connectedComponentsWithStats((image[:1100] > 127).astype(np.uint8))
    discs = centers[(abs(stats[:, 4] * 1e-8 / (np.pi * made.radius**2) - 1) < 0.02)] * 1e-4
    found = np.sort(discs[:, 0]) - discs[:, 0].mean()
    assert len(discs) == 20
    assert abs(found - np.sort(made.points[:, 0]) + made.points[:, 0].mean()).max() < 1e-5
    assert zlib.crc32(png[12:29]) == struct.unpack(">I", png[29:33])[0]


def test_svg_is_in_millimeters(target):
    svg = to_svg(target).decode()
    assert 'width="210.0000mm"' in svg
    assert f'r="{1000 * target.radius:.4f}"' in svg
