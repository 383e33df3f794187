"""The map of a calibrated workspace: how well poses are predicted where, as a figure and as data."""

import json
from typing import TYPE_CHECKING

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number, signed
from gough.geometry import Calibrated
from gough.geometry.workspace_map import WorkspaceMap, workspace_map
from gough.region import ConfidenceEllipsoid
from gough.report.base.drawing import FAINT, QUIET, SERIES, WIDTH, Drawing, blank, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE = "workspace-map.json"
_LEVELS = 7
_SLICE, _VOLUME = 31, 9
"""Positions along each axis."""


def slices(found: Calibrated) -> tuple[WorkspaceMap, ...]:
    """The horizontal slice through the middle of the measured poses, and an upright one where the robot moves in z.

    None where the calibration states no covariance, or the middle of its poses is nowhere near them.
    """
    if not isinstance(found.estimate.region, ConfidenceEllipsoid):
        return ()
    planes = ("xy", "xz") if 2 in found.model.freedoms else ("xy",)
    maps = tuple(workspace_map(found, plane, resolution=_SLICE) for plane in planes)
    return tuple(each for each in maps if np.isfinite(each.position).sum() > 3)


def map_figure(found: Calibrated, maps: tuple[WorkspaceMap, ...]) -> Drawing:
    """Each slice as a grid of squares, darker where poses are predicted worse, with the measured poses on it."""
    kinds = ["position", *(["orientation"] if maps[0].orientation is not None else [])]
    with style():
        figure = blank(WIDTH, 0.3 + 2.3 * len(kinds))
        rows = figure.subplots(len(kinds), len(maps), squeeze=False)
        for kind, row in zip(kinds, rows, strict=True):
            shown = [_values(each, kind) for each in maps]
            edges = _edges(shown)
            for k, (each, values, axes) in enumerate(zip(maps, shown, row, strict=True)):
                _draw(axes, each, values, edges)
                axes.plot(*_seen(found, each), ".", color=QUIET, markersize=2.5)
                axes.set_title(f"σ of {kind}, {'mm' if kind == 'position' else '°'}" if k == 0 else " ", loc="left")
            _key(row[-1], edges)
    worst, where = max((each.worst for each in maps), key=lambda pair: pair[0])
    place = ", ".join(f"{name} = {signed(f'{1e3 * value:.0f}')} mm" for name, value in where.items())
    description = f"Standard deviation of predicted poses over {len(maps)} slices of the workspace; worst near {place}."
    caption = (
        "Standard deviation of poses predicted from exact readings, by the covariance of the parameters: slices "
        "through the middle of the measured poses (dots), in their mean orientation. Worst on them: "
        f"{number(1e3 * worst, digits=2)} mm at {place}. Empty where readings would leave the range that was measured."
    )
    return Drawing("map", figure, description, caption)


def map_data(found: Calibrated, maps: tuple[WorkspaceMap, ...]) -> bytes:
    """The slices, and a coarse volume, as JSON in SI units."""
    axes = "".join(name for i, name in enumerate("xyz") if i in found.model.freedoms)
    volume = workspace_map(found, axes, resolution=_VOLUME)
    data = {
        "about": "Standard deviations of poses predicted from exact readings, by the covariance of the parameters; "
        "null where readings would leave the range that was measured.",
        "units": {"position_sigma": "m", "orientation_sigma": "rad", "axes": "m"},
        "slices": [each.to_dict() for each in maps],
        "volume": volume.to_dict(),
    }
    return (json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _values(shown: WorkspaceMap, kind: str) -> Array:
    if kind == "position":
        return 1e3 * shown.position
    assert shown.orientation is not None
    return np.degrees(shown.orientation)


def _edges(shown: list[Array]) -> Array:
    """Edges of the levels: from the least to the greatest value, in steps of equal ratio where that is large."""
    known = np.concatenate([values[np.isfinite(values)] for values in shown])
    low, high = float(known.min()), float(known.max())
    high = high if high > low * (1 + 1e-9) else low * (1 + 1e-9) + 1e-300
    edges = np.geomspace(low, high, _LEVELS + 1) if high > 4 * low > 0 else np.linspace(low, high, _LEVELS + 1)
    return np.asarray(edges)


def _strength(level: int) -> float:
    """Opacity of a level."""
    return 0.12 + 0.83 * level / (_LEVELS - 1)


def _draw(axes: "Axes", shown: WorkspaceMap, values: Array, edges: Array) -> None:
    """All squares of a level as one patch: so a page stays small, and takes its colors from the reader's scheme."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - start-up time
    from matplotlib.path import Path  # noqa: PLC0415 - start-up time

    x, y = (1e3 * each for each in shown.grid)
    dx, dy = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    level = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _LEVELS - 1)
    for k in range(_LEVELS):
        places = np.argwhere((level == k) & np.isfinite(values))
        if len(places) == 0:
            continue
        corners = np.array([(-dx, -dy), (dx, -dy), (dx, dy), (-dx, dy), (-dx, -dy)])
        squares = np.concatenate([corners + np.array([x[i], y[j]]) for i, j in places])
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(places)
        axes.add_patch(PathPatch(Path(squares, codes), color=SERIES[0], alpha=_strength(k), linewidth=0))
    axes.set(xlim=(x[0] - dx, x[-1] + dx), ylim=(y[0] - dy, y[-1] + dy))
    axes.set_aspect("equal")
    axes.set(xlabel=f"{shown.axes[0]}, mm", ylabel=f"{shown.axes[1]}, mm")


def _key(axes: "Axes", edges: Array) -> None:
    """Legend of the colors, beside the last slice."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - start-up time

    def text(value: float) -> str:
        return number(float(value), digits=3)

    patches = [
        Patch(
            facecolor=SERIES[0], alpha=_strength(k), edgecolor=FAINT, label=f"{text(edges[k])} – {text(edges[k + 1])}"
        )
        for k in range(_LEVELS)
    ]
    axes.legend(handles=patches[::-1], loc="center left", bbox_to_anchor=(1.02, 0.5), handlelength=1.2, fontsize=8)


def _seen(found: Calibrated, shown: WorkspaceMap) -> list[Array]:
    places = ["xyz".index(name) for name in shown.axes]
    return [1e3 * found.scale * found.poses.position[:, i] for i in places]
