"""How well a motion excites each parameter: singular values, and the part of its effect that no other can imitate."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.tables import Cell, Table, table
from gough.core.text import percent, short_labels
from gough.methods.statistical.whitening import Unweighted, triangle
from gough.problem import LinearProblem
from gough.report.base.drawing import FAINT, SERIES, WIDTH, Drawing, blank, style


@dataclass(frozen=True, eq=False)
class Excitation:
    """Excitation of the columns of W, each scaled to unit length, so that units do not matter."""

    names: tuple[str, ...]
    singular_values: Array
    """Falling; the first over the last is the condition number."""
    own: Array
    """For each parameter, the length of what is left of its column after all others have been projected out: 1 where
    no other parameter has a like effect, 0 where others imitate it perfectly."""

    def table(self) -> Table:
        """Own part of each parameter's effect, the smallest first."""
        labels = short_labels(self.names)
        order = np.argsort(self.own, kind="stable")
        rows = [[labels[i], Cell(percent(self.own[i]), share=float(self.own[i]))] for i in order]
        return table(["parameter", "own part of its effect"], rows, "lr", "Own part of the effect of each parameter")


def excitation(problem: LinearProblem) -> Excitation:
    """How well the rows of a problem tell its unknowns apart.

    Examples:
        >>> import gough
        >>> W = [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
        >>> found = excitation(gough.LinearProblem(W, [0, 0, 0], gough.Unknowns(["a", "b", "c"])))
        >>> found.own.round(3)
        array([0.707, 0.707, 1.   ])
    """
    R = triangle(problem, Unweighted())[:-1, :-1]
    norms = np.linalg.norm(R, axis=0)
    scaled = R / np.where(norms > 0, norms, 1.0)
    _, values, vectors = np.linalg.svd(scaled)
    with np.errstate(divide="ignore"):
        own = 1 / np.sqrt(((vectors / values[:, None]) ** 2).sum(axis=0))
    return Excitation(problem.unknowns.names, values, np.where(norms > 0, np.nan_to_num(own), 0.0).round(12))


def excitation_figure(found: Excitation) -> Drawing:
    """Singular values beside what each parameter has for its own."""
    labels = short_labels(found.names)
    n = len(labels)
    with style():
        figure = blank(WIDTH, 1.0 + 0.24 * n)
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.5])
        left.semilogx(found.singular_values, range(n), "o-", color=SERIES[0], markersize=4)
        left.set_title("singular values", loc="left")
        left.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        left.xaxis.set_minor_formatter("")
        left.set_ylim(n - 0.4, -0.6)
        left.set_yticks(range(n), [str(k + 1) for k in range(n)])
        right.barh(range(n), found.own, color=SERIES[0], height=0.62)
        right.set_title("own part of each effect", loc="left")
        right.set_yticks(range(n), labels)
        right.set_ylim(n - 0.4, -0.6)
        right.set_xlim(0, 1)
        right.spines["left"].set_color(FAINT)
        right.grid(visible=False, axis="y")
    weakest = labels[int(found.own.argmin())]
    return Drawing(
        "excitation",
        figure,
        f"Singular values of the scaled regressor, and the own part of each of {n} parameters' effects; the smallest "
        f"is that of {weakest}.",
        "Left: singular values after scaling each column to unit length; the largest over the smallest is the "
        "condition number. Right: the part of each parameter's effect on the efforts that no combination of the others "
        f"can imitate; the smallest is that of {weakest}.",
    )
