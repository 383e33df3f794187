"""Recursive least squares with forgetting, whose σ accounts for autocorrelated residuals."""

from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.watch.changes import Block
from gough.watch.model import WatchedModel

_BLOCKS = 60
"""Blocks whose median is the noise level: a change of the robot does not count as noise."""
_PRIOR = 1e-3
"""Weight of the identification, so that directions that the last seconds do not excite keep its values."""


class Recursive:
    """The unknowns of a model by least squares with exponential forgetting, block by block; it *changes*.

    Information and scores of blocks are summed with weights that fall by `keep` per block. Scores of blocks contain the
    autocorrelation of the residuals within a block: their scatter, not that of single rows, makes σ. The estimate of
    the identification is a weak prior with its covariance.
    """

    def __init__(self, model: WatchedModel, keep: float) -> None:
        self.keep, self._model = keep, model
        p = len(model.unknown)
        self._R, self._b = np.zeros((p, p)), np.zeros(p)
        known = model.covariance
        self._known = np.linalg.pinv(known) if known.any() else np.zeros((p, p))
        self._squares = np.zeros(0)

    def take(self, block: Block, p: int) -> None:
        """Take in a block whose last p effects are the unknowns' columns."""
        g, G, _, n = block.scores
        if n == 0:
            return
        g, G = g[-p:], G[-p:, -p:]
        self._R, self._b = self.keep * self._R + G, self.keep * self._b + g
        scale = G.diagonal()
        shift = self._shift()
        left = g - G @ shift
        usable = scale > 0
        if usable.any():
            squares = float(np.mean(left[usable] ** 2 / scale[usable]))
            self._squares = np.append(self._squares, squares)[-_BLOCKS:]

    def _shift(self) -> Array:
        return np.asarray(np.linalg.lstsq(self._information(), self._b, rcond=None)[0])

    def _information(self) -> Array:
        return np.asarray(self._R + _PRIOR * max(self.noise, 1e-300) * self._known)

    @property
    def noise(self) -> float:
        """Variance of standardized scores of blocks: that of the residuals, with their autocorrelation."""
        return float(np.median(self._squares)) if len(self._squares) else 0.0

    def estimate(self) -> tuple[Array, Array]:
        """The unknowns, and their standard deviations."""
        information = self._information()
        value = np.asarray(self._model.unknowns.nominal) + self._shift()
        with np.errstate(all="ignore"):
            sigma = np.sqrt(np.maximum(np.linalg.pinv(information).diagonal() * self.noise, 0.0))
        return value, np.asarray(sigma)

    def state(self) -> dict[str, Any]:
        """Arrays and numbers from which `restore` continues."""
        return {"R": self._R, "b": self._b, "squares": self._squares}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        self._R, self._b = np.array(state["R"]), np.array(state["b"])
        self._squares = np.array(state["squares"])
