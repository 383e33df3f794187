"""Figures of the H4's papers [PRV03i] and [PRV03e], from our data."""

from collections.abc import Mapping, Sequence

import numpy as np

from gough.core.arrays import Array
from gough.region import Box, Ellipsoid
from gough.report import Drawing
from gough.report.base.drawing import INK, QUIET, SERIES, WIDTH, blank, style

Boxes = Mapping[str, tuple[float, float]]
_CIRCLE = np.linspace(0.0, 2 * np.pi, 181)


def boxes(printed: Boxes, ours: Mapping[str, Boxes], truth: Mapping[str, float]) -> Drawing:
    """[PRV03i, Table 1] as intervals: printed, and ours by each method, with the true value."""
    with style():
        figure = blank(WIDTH, 4.6)
        grid = figure.subplots(3, 5)
        for axes, name in zip(grid.flat, printed, strict=False):
            for place, intervals in enumerate((printed, *ours.values())):
                axes.plot([place, place], intervals[name], color=SERIES[place], linewidth=4, solid_capstyle="butt")
            axes.axhline(truth[name], color=INK, linewidth=0.8)
            axes.set_xlim(-0.7, len(ours) + 0.7)
            axes.set_xticks([])
            axes.set_title(name, loc="left")
            axes.tick_params(labelsize=7)
        for axes in grid.flat[len(printed) :]:
            axes.set_axis_off()
        labels = ("paper", *(f"ours, {name}" for name in ours), "truth")
        handles = [*grid.flat[0].lines[: len(labels) - 1], grid.flat[0].lines[-1]]
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    described = "Intervals of 14 parameters: the paper's, and ours by two methods, with the true values."
    caption = (
        "Table 1 as intervals (SI units): the paper's boxes, ours by interval Gauss–Seidel and by the exact hull, with "
        "the same error bound and initial boxes. The paper's robot and ours are not the same robot."
    )
    return Drawing("table-1-boxes", figure, described, caption)


def widths(rows: Sequence[int], gauss_seidel: Array, hull: Array) -> Drawing:
    """Widths of both boxes over the number of rows: (parts, parameters)."""
    with style():
        figure = blank(WIDTH, 3.0)
        axes = figure.subplots()
        for label, values, color in (("Gauss–Seidel", gauss_seidel, SERIES[1]), ("exact hull", hull, SERIES[2])):
            relative = values / hull[-1]
            axes.plot(
                rows, np.median(relative, axis=1), color=color, marker="o", markersize=3, label=f"{label}, median"
            )
            axes.fill_between(rows, relative.min(axis=1), relative.max(axis=1), color=color, alpha=0.18, linewidth=0)
        axes.set_xscale("log")
        axes.set_xticks(list(rows), [str(n) for n in rows])
        axes.set_xticks([], minor=True)
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("rows, taken in random order")
        axes.set_ylabel("width / width of the hull of all rows")
        axes.legend(loc="upper right")
    described = f"Widths of the Gauss–Seidel box and of the hull from {rows[0]} to {rows[-1]} rows."
    caption = (
        "Widths of the boxes as rows are added, each parameter relative to its exact hull from all rows: median and "
        "range of these ratios over 14 parameters. The ratio of two medians differs from the median of ratios."
    )
    return Drawing("widths", figure, described, caption)


def sizes(rows: Sequence[int], recursive: Array, axes_of: Array, tight: float) -> Drawing:
    """The size of the recursive ellipsoid over the rows: log₁₀ det M⁻¹, and its semi-axes (parts, parameters)."""
    with style():
        figure = blank(WIDTH, 4.6)
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot(rows, recursive, color=SERIES[0], label="recursive, one pass")
        above.axhline(tight, color=SERIES[2], linestyle="--", label="tight, all rows")
        above.set_title("log₁₀ det M⁻¹", loc="left")
        above.legend(loc="upper right")
        below.plot(rows, np.log10(axes_of), color=SERIES[0], linewidth=0.8)
        below.set_title("log₁₀ of the semi-axes (SI units)", loc="left")
        below.set_xlabel("rows processed")
    described = f"Determinant and semi-axes of the recursive ellipsoid over {rows[-1]} rows."
    caption = (
        "The recursive ellipsoid as rows are processed in the order of their recording: log₁₀ of det M⁻¹ beside that "
        "of the tight ellipsoid, and the lengths of its semi-axes."
    )
    return Drawing("sizes", figure, described, caption)


def projections(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], sets: Mapping[str, Ellipsoid], hull: Box, truth: Array
) -> Drawing:
    """Ellipsoids and the hull, projected on the planes of pairs of parameters."""
    with style():
        figure = blank(WIDTH, 3.4)
        for axes, pair in zip(np.atleast_1d(figure.subplots(1, len(pairs))), pairs, strict=True):
            i, j = (names.index(name) for name in pair)
            for color, (label, region) in zip(SERIES, sets.items(), strict=False):
                axes.plot(*_outline(region, i, j), color=color, label=label)
            (a, c), (b, d) = hull.lower[[i, j]], hull.upper[[i, j]]
            axes.plot([a, b, b, a, a], [c, c, d, d, c], color=SERIES[2], label="exact hull")
            axes.plot(truth[i], truth[j], "o", color=QUIET, markersize=4, label="truth")
            axes.set_xlabel(pair[0])
            axes.set_ylabel(pair[1])
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    described = f"Projections of ellipsoids and of the hull on {' and '.join(f'{a}, {b}' for a, b in pairs)}."
    caption = (
        "Projections on pairs of parameters (SI units): the recursive and the tight ellipsoid, and the exact hull, all "
        "of the same rows with the same bound."
    )
    return Drawing("projections", figure, described, caption)


def _outline(region: Ellipsoid, i: int, j: int) -> Array:
    """The edge (2, points) of an ellipsoid's projection on two axes."""
    root = np.linalg.cholesky(region.shape[np.ix_([i, j], [i, j])])
    return np.asarray(region.center[[i, j]][:, None] + root @ np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)]))
