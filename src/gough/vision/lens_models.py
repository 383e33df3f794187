"""Nested models of a lens, and the choice between them by how they predict images that they were not fitted to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest
from gough.core.tables import Table, table
from gough.vision.adjustment import Adjustment, Columns, View, adjust, pattern
from gough.vision.lens import BROWN, FISHEYE, Camera

_PRICE = 1.0
"""Held-out log-likelihood that each further coefficient must gain: in theory noise gains more in 1 of 22 cases."""
_LEVEL = 1e-3
"""Level of the test for patterns in the residuals."""
_DEGREE = 6


@dataclass(frozen=True)
class Lens:
    """A model of a lens: its coefficients that are estimated; the others are zero.

    Examples:
        >>> LENSES["k3"].terms
        ('k1', 'k2', 'p1', 'p2', 'k3')
    """

    name: str
    kind: str
    terms: tuple[str, ...]
    about: str

    @property
    def free(self) -> Array:
        """Which parameters of a camera with this lens are estimated."""
        known = FISHEYE if self.kind == "fisheye" else BROWN[: self.length]
        return np.array([True] * 4 + [name in self.terms for name in known])

    @property
    def length(self) -> int:
        """Number of coefficients that a camera with this lens has."""
        if self.kind == "fisheye":
            return len(FISHEYE)
        last = max((BROWN.index(name) for name in self.terms), default=-1)
        return next(n for n in (5, 8, 12) if n > last)

    def start(self, camera: Camera) -> Camera:
        """A camera with this lens that projects about as another one does, from which an adjustment may start."""
        k = camera.distortion
        if self.kind == "fisheye":
            first = k[:4] if camera.lens == "fisheye" else [k[0] + 1 / 3, 0.0, 0.0, 0.0]
        elif camera.lens == "fisheye":
            first = [k[0] - 1 / 3]
        else:
            first = np.pad(k, (0, len(BROWN) - len(k)))[: self.length] * self.free[4:]
        values = np.pad(np.asarray(first, dtype=float), (0, self.length - len(first)))
        return replace(camera, distortion=values, lens=self.kind, covariance=None)


_RADIAL_TANGENTIAL = ("k1", "k2", "p1", "p2", "k3")
LENSES: Mapping[str, Lens] = {
    lens.name: lens
    for lens in (
        Lens("k1", "brown", ("k1",), "radial"),
        Lens("k2", "brown", ("k1", "k2"), "radial of higher order"),
        Lens("tangential", "brown", ("k1", "k2", "p1", "p2"), "and tangential distortion"),
        Lens("k3", "brown", _RADIAL_TANGENTIAL, "and radial of third order"),
        Lens("fisheye", "fisheye", FISHEYE, "angles instead of tangents (Kannala-Brandt)"),
        Lens("rational", "brown", (*_RADIAL_TANGENTIAL, "k4", "k5", "k6"), "k3 over a second polynomial"),
        Lens("prism", "brown", (*_RADIAL_TANGENTIAL, "s1", "s2", "s3", "s4"), "k3 and a thin prism"),
    )
}
"""Models from the fewest coefficients to the most."""


class LensFinding(Enum):
    """Result of the comparison of lens models, about the one that was used; the value is a text for people.

    Examples:
        >>> LensFinding.ADEQUATE.value
        'the lens model that was used is adequate'
    """

    ADEQUATE = "the lens model that was used is adequate"
    INADEQUATE = "the lens model that was used leaves out an effect that the images show"
    LARGER_THAN_NEEDED = "a simpler lens model predicts as well"


@dataclass(frozen=True)
class LensFit:
    """One model fitted to all images."""

    lens: Lens
    rms: float
    """Residuals over their standard deviations, root mean square; NaN where these images do not determine the model."""
    gain: float
    """Log-likelihood of held-out images above that of the first model."""

    @property
    def score(self) -> float:
        """Gain less the price of the coefficients: the largest one is chosen."""
        return self.gain - _PRICE * len(self.lens.terms) if np.isfinite(self.gain) else -np.inf


@dataclass(frozen=True)
class LensChoice:
    """Models of the lens judged on images that they were not fitted to, and the pattern of what is left."""

    used: Lens
    fits: tuple[LensFit, ...]
    pattern: float
    """Probability that chance alone gives residuals so much of a smooth pattern over the image."""

    @property
    def best(self) -> LensFit:
        """The model that predicts best for its number of coefficients."""
        return max(self.fits, key=lambda fit: fit.score)

    @property
    def finding(self) -> LensFinding:
        """Whether the model that was used is adequate."""
        mine = next((fit for fit in self.fits if fit.lens.name == self.used.name), None)
        lacks = self.best.lens is not self.used and not (
            mine is not None and mine.gain >= self.best.gain - _PRICE * len(self.used.terms)
        )
        if self.pattern < _LEVEL or (lacks and not set(self.used.terms) > set(self.best.lens.terms)):
            return LensFinding.INADEQUATE
        if self.best.lens is not self.used and len(self.used.terms) > len(self.best.lens.terms):
            return LensFinding.LARGER_THAN_NEEDED
        return LensFinding.ADEQUATE

    @property
    def verdict(self) -> str:
        """The finding, its evidence, and what to do."""
        best = self.best.lens
        text = f"Lens '{self.used.name}' ({', '.join(self.used.terms)}): {self.finding.value}."
        if self.pattern < _LEVEL:
            text += (
                f" The residuals follow a pattern over the image (p = {self.pattern:.1g}, level {_LEVEL:g}) that it "
                "does not describe: the stated standard deviations are too small."
            )
        if self.finding is not LensFinding.ADEQUATE and best is not self.used:
            text += f" Use --lens {best.name}."
        elif self.pattern < _LEVEL:
            text += " Check that focus and zoom are locked and that the target is flat and rigid."
        return text

    def table(self) -> Table:
        """A row for each model: coefficients, residuals, and the log-likelihood of held-out images."""
        rows = [
            [
                fit.lens.name + (" (used)" if fit.lens is self.used else ""),
                ", ".join(fit.lens.terms),
                f"{fit.rms:.3f}" if np.isfinite(fit.rms) else "not determined",
                f"{fit.gain:+.1f}" if np.isfinite(fit.gain) else "—",
            ]
            for fit in self.fits
        ]
        heads = ["lens", "coefficients", "residuals / σ", "held-out log-likelihood"]
        return table(heads, rows, "llrr", "Models of the lens")


def lens_named(name: str) -> Lens:
    """The model of this name.

    Examples:
        >>> lens_named("k2").about
        'radial of higher order'
    """
    if name not in LENSES:
        raise InputError(f"no lens model is called '{name}'{nearest(name, LENSES)} ({', '.join(LENSES)})")
    return LENSES[name]


def fit_lenses(
    camera: Camera, points: Array, radius: float, views: Sequence[View], print_sigma: float | None, *, start: Array
) -> dict[str, Adjustment]:
    """Each model fitted to all views; those that the views do not determine are left out."""
    out: dict[str, Adjustment] = {}
    for lens in LENSES.values():
        first = out["k3"].camera if lens.kind == "brown" and "k3" in out else camera
        try:
            out[lens.name] = adjust(lens.start(first), points, radius, views, lens.free, print_sigma, start=start)
        except InputError:
            if not out:
                raise
    return out


def compare(fits: Mapping[str, Adjustment]) -> tuple[LensFit, ...]:
    """Models by the log-likelihood of held-out views, each with its pose profiled out and one common noise."""
    first = next(iter(fits.values()))
    freedom = sum(view.residuals.size - 6 for view in first.views)
    out = []
    for lens in LENSES.values():
        fit = fits.get(lens.name)
        if fit is None:
            out.append(LensFit(lens, np.nan, np.nan))
            continue
        ratio = fit.held_out.sum() / first.held_out.sum()
        out.append(LensFit(lens, float(np.sqrt(fit.cost / fit.freedom)), float(-freedom / 2 * np.log(ratio)) + 0.0))
    return tuple(out)


def pattern_probability(adjusted: Adjustment, nominal: Array, lens: Lens, print_sigma: float | None) -> float:
    """Probability that chance gives residuals that a smooth field over the image explains so well.

    The field is a polynomial of degree 6 in u and v for each of both coordinates; what camera, poses and dots can
    imitate of it does not count.
    """
    statistic, rank = pattern(adjusted, nominal, lens.free, print_sigma, _smooth(adjusted.camera.size))
    if rank == 0:
        return 1.0
    from scipy.special import fdtrc  # noqa: PLC0415 - start-up time

    return float(fdtrc(rank, max(adjusted.freedom - rank, 1.0), max(statistic / rank, 0.0)))


def _smooth(size: tuple[int, int]) -> Columns:
    """Chebyshev polynomials over the image, for both coordinates."""

    def columns(pixels: Array) -> Array:
        u, v = (2 * pixels / (np.array(size) - 1) - 1).T
        inside = np.clip(np.column_stack([u, v]), -1.2, 1.2)
        field = np.polynomial.chebyshev.chebvander2d(inside[:, 0], inside[:, 1], [_DEGREE, _DEGREE])
        i, j = np.indices((_DEGREE + 1, _DEGREE + 1))
        terms = field[:, (i + j <= _DEGREE).ravel()]
        k = terms.shape[1]
        out = np.zeros((len(pixels), 2, 2 * k))
        out[:, 0, :k] = out[:, 1, k:] = terms
        return out

    return columns
