"""A design as a value: robot, limits, criterion, and the unknowns and equations of its search."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gough.core.arguments import real, record, refused, whole
from gough.core.arrays import Array, ArrayValue, Mask, array
from gough.core.errors import InputError, require
from gough.core.threads import one_blas_thread
from gough.core.units import LARGEST
from gough.designs.excitation.criteria import Criterion, DOptimal, criterion_named
from gough.designs.excitation.equations import Equations, design_equations, identifiable_about, regressor_kernel
from gough.designs.excitation.limits import Channel, MotionLimits
from gough.designs.excitation.measure import measured
from gough.designs.excitation.tracking import Neighborhood, tracking_text
from gough.methods.statistical.identifiability import Identifiability
from gough.robots.arguments import dynamic_model
from gough.robots.model import DynamicModel
from gough.simulate.equations import as_parallel
from gough.simulate.trajectories import FourierSeries, require_count

_FAR = {"m": 1.0, "rad": np.pi}
"""No coordinate is tried further from home than this."""
_D = DOptimal()
_STEPS = 100
_MOST_SAMPLES = 10_000_000
_WALL = 0.7
"""Share of the least distance to singularity that no step of a search goes below."""


class Evaluation(NamedTuple):
    """A motion, sampled, with what follows from it."""

    moved: tuple[Array, Array, Array]
    W: Array
    """(samples, actuators, base parameters)."""
    h: Array
    """(2, samples, channels): the least and greatest values with tracking errors, in units of each channel's size."""


_MOST_SAMPLES = 1_000_000
"""Samples of a period at which limits are looked at; more do not fit into memory with their derivatives."""


@dataclass(frozen=True, eq=False)
class SeriesSpace:
    """Series as vectors z of numbers near 1: for each coordinate its offset, μ_1 … μ_n, ν_1 … ν_n, and ω last.

    With six coordinates and five harmonics these are 67 numbers [AHG, §III].
    """

    home: Array
    span: Array
    """How far each coordinate can go from home (m,)."""
    n_harmonics: int
    frequencies: tuple[float, float]
    """Least and greatest fundamental frequency, Hz."""
    n_samples: int
    """Evenly spaced in a period."""

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return len(self.home) * (2 * self.n_harmonics + 1) + 1

    @property
    def pulsation(self) -> float:
        """By which ω is measured."""
        return float(2 * np.pi * np.sqrt(self.frequencies[0] * self.frequencies[1]))

    @cached_property
    def scale(self) -> Array:
        """The sizes (m, 2n+1) that the numbers of z count."""
        one = np.full(2 * self.n_harmonics + 1, self.pulsation / np.sqrt(self.n_harmonics))
        one[0] = 0.5
        return np.outer(self.span, one)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Lower and upper bound of each entry of z; wide, except for ω."""
        ends = [2 * np.pi * f / self.pulsation for f in self.frequencies]
        return [(-20.0, 20.0)] * (self.n - 1) + [(ends[0], ends[1])]

    def series(self, z: Array) -> FourierSeries:
        """The series of a vector."""
        offset, mu, nu, omega = self._parts(z)
        return FourierSeries(offset, mu, nu, float(omega / (2 * np.pi)))

    def vector(self, series: FourierSeries) -> Array:
        """The vector of a series."""
        parts = np.column_stack([series.offset - self.home, series.mu, series.nu]) / self.scale
        return np.append(parts, 2 * np.pi * series.frequency / self.pulsation)

    def motion(self, z: Array) -> tuple[Array, Array, Array]:
        """x, dx, ddx (samples, m) at the sampled phases of a period, whatever the period is."""
        offset, mu, nu, omega = self._parts(z)
        sine, cosine, k = self._waves
        kw = k * omega
        x = offset + sine @ (mu / kw).T - cosine @ (nu / kw).T
        return x, cosine @ mu.T + sine @ nu.T, cosine @ (nu * kw).T - sine @ (mu * kw).T

    def pulled_back(self, z: Array, by_x: Array, by_dx: Array, by_ddx: Array) -> Array:
        """The gradient by z of a number whose gradients by the motion (samples, m) are given."""
        _, mu, nu, omega = self._parts(z)
        sine, cosine, k = self._waves
        kw = k * omega
        xs, xc, as_, ac = by_x.T @ sine, by_x.T @ cosine, by_ddx.T @ sine, by_ddx.T @ cosine
        by_mu = xs / kw + by_dx.T @ cosine - as_ * kw
        by_nu = -xc / kw + by_dx.T @ sine + ac * kw
        by_omega = ((xc * nu - xs * mu) / kw / omega + (ac * nu - as_ * mu) * k).sum()
        by_parts = np.column_stack([by_x.sum(axis=0), by_mu, by_nu]) * self.scale
        return np.append(by_parts, by_omega * self.pulsation)

    def shrunk(self, z: Array, share: float, towards_home: float = 1.0) -> Array:
        """The same motion, smaller by `share` about its mean pose, and that nearer to home by `towards_home`."""
        parts = z[:-1].reshape(len(self.home), -1).copy()
        parts[:, 1:] *= share
        parts[:, 0] *= towards_home
        return np.append(parts, z[-1])

    def drawn(self, rng: np.random.Generator) -> Array:
        """A random vector, mean pose near home."""
        parts = rng.normal(size=(len(self.home), 2 * self.n_harmonics + 1))
        parts[:, 0] *= 0.3
        low, high = self.bounds[-1]
        return np.append(parts, rng.uniform(low, high))

    def _parts(self, z: Array) -> tuple[Array, Array, Array, float]:
        parts = z[:-1].reshape(len(self.home), -1) * self.scale
        n = self.n_harmonics
        return self.home + parts[:, 0], parts[:, 1 : n + 1], parts[:, n + 1 :], float(z[-1] * self.pulsation)

    @cached_property
    def _waves(self) -> tuple[Array, Array, Array]:
        k = np.arange(1.0, self.n_harmonics + 1)
        angle = 2 * np.pi * np.outer(np.arange(self.n_samples) / self.n_samples, k)
        return np.sin(angle), np.cos(angle), k


@dataclass(frozen=True, eq=False)
class DesignProblem(ArrayValue):
    """The search for a periodic motion that is most informative about a robot's parameters within its limits.

    The motion is a Fourier series with a common frequency [AHG, eqs. (13)-(14)] in the pose of a parallel robot, in
    the joints of another. Parameters that no motion determines individually are regrouped first.

    Examples:
        >>> from gough.robots import Delta
        >>> problem = DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=10.0), sigma=0.2, n_harmonics=2)
        >>> problem.n_variables, problem.names
        (16, ('i_act1', 'i_act2', 'i_act3', 'm_plate', 'gS_arm1', 'gS_arm2', 'gS_arm3', 'f_c1', 'f_c2', 'f_c3', \
'f_v1', 'f_v2', 'f_v3', 'm_rod'))
    """

    robot: DynamicModel
    limits: MotionLimits
    sigma: Any = 1.0
    """Standard deviation of the efforts' errors, one for all actuators or one each, or their covariance Σ (n, n)."""
    criterion: Any = _D
    """A `Criterion`, or the name of one: D, A, E, condition, scaled condition."""
    n_harmonics: int = 5
    frequency: Any = (0.1, 0.5)
    """Fundamental frequency in Hz: one number, or the least and the greatest."""
    recorded: int = 1000
    """How many samples the experiment records in all: information is proportional to it."""
    rate: float | None = None
    """Samples a second of the later recording: the period becomes a whole number of samples."""
    home: Any = None
    """Pose (or joint positions) about which to move; the robot's own by default."""
    parameters: Any = None
    """By which efforts are predicted; the robot's nominal ones by default."""
    friction_speed: float = 0.03
    """Dry friction is smoothed below about this speed while searching; limits are verified with its plain sign."""
    n_samples: int | None = None
    """At how many instants of a period limits are checked while searching; 20 per harmonic, and at least 60, by
    default: even of a single harmonic the robot makes more."""

    def __post_init__(self) -> None:
        dynamic_model(self.robot)
        how = "gough.designs.excitation.MotionLimits(speeds=8.0, efforts=10.0)"
        object.__setattr__(self, "limits", record(self.limits, "limits", MotionLimits, how))
        if isinstance(self.criterion, str):
            object.__setattr__(self, "criterion", criterion_named(self.criterion))
        if not isinstance(self.criterion, Criterion) or isinstance(self.criterion, type):
            raise refused("criterion", self.criterion, "a Criterion or its name", 'criterion="D"')
        for name in ("n_harmonics", "recorded"):
            require_count(getattr(self, name), name)
        if self.n_samples is not None:
            whole(self.n_samples, "n_samples", 1, _MOST_SAMPLES)
        if self.rate is not None:
            object.__setattr__(self, "rate", real(self.rate, "rate"))
        object.__setattr__(self, "friction_speed", real(self.friction_speed, "friction_speed"))
        whole(self.n_harmonics, "n_harmonics", 1, _MOST_SAMPLES // 20)
        object.__setattr__(self, "n_samples", self.n_samples or max(60, 20 * self.n_harmonics))
        require(self._n > 4 * self.n_harmonics, f"{self._n} samples are too few for {self.n_harmonics} harmonics")
        ends = np.sort(np.atleast_1d(array(self.frequency, "frequency", ndim=(0, 1))))
        good = len(ends) in (1, 2) and bool((ends > 0).all() and (ends < LARGEST).all())
        require(
            good, f"frequency must be one positive number in Hz, or the least and the greatest, not {self.frequency}"
        )
        object.__setattr__(self, "frequency", (float(ends[0]), float(ends[-1])))
        require(self.friction_speed > 0, f"friction_speed must be positive, but is {self.friction_speed}")
        object.__setattr__(self, "home", self._home())
        parameters = self.robot.nominal if self.parameters is None else array(self.parameters, "parameters", ndim=1)
        wanted = len(self.robot.names)
        require(
            len(parameters) == wanted, f"{self.robot.name} has {wanted} parameters, but {len(parameters)} are given"
        )
        object.__setattr__(self, "parameters", parameters)
        object.__setattr__(self, "sigma", _covariance(self.sigma, len(self.robot.actuators)))
        if self.rate is not None:
            good = 0 < self.rate <= _MOST_SAMPLES * self.frequency[0]
            require(good, f"a period must have at most {_MOST_SAMPLES:g} samples: lower the rate of {self.rate:g} Hz")
            self.whole_frequency(self.frequency[0])
        self._refuse_home()

    def __getstate__(self) -> dict[str, Any]:
        """What is costly to find travels along to another process."""
        kept = {field.name for field in fields(self)} | {
            "identifiability",
            "equations",
            "neighborhood",
            "space",
            "channels",
        }
        assert self.equations
        assert self.neighborhood
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def refined(self, factor: int) -> "DesignProblem":
        """The same problem with `factor` times as many samples in a period."""
        finer = replace(self, n_samples=self._n * factor)
        for name in ("identifiability", "equations", "neighborhood", "channels"):
            finer.__dict__[name] = getattr(self, name)
        finer.__dict__["space"] = replace(self.space, n_samples=self._n * factor)
        return finer

    @property
    def names(self) -> tuple[str, ...]:
        """The base parameters, with their regrouping."""
        return tuple(base.name for base in self.identifiability.base)

    @property
    def n_variables(self) -> int:
        """Unknowns of the search: offset and amplitudes of each coordinate, and the frequency [AHG, eq. (14)]."""
        return self.space.n

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """Everything that is limited."""
        return self.limits.channels(self.robot, self.home)

    @cached_property
    def identifiability(self) -> Identifiability:
        """Rank and regrouping of the parameters."""
        with one_blas_thread():
            return identifiable_about(self.robot, self.home)

    @cached_property
    def base_values(self) -> Array:
        """The base parameters' values."""
        return np.array([base.coefficients for base in self.identifiability.base]) @ self.parameters

    @cached_property
    def equations(self) -> Equations:
        """Regressor and limits as a kernel, with its adjoint."""
        return design_equations(
            self.robot,
            self.identifiability.kept,
            self.base_values,
            self.channels,
            friction_speed=self.friction_speed,
            tracking=self.tracking,
        )

    @cached_property
    def tracking(self) -> Array:
        """The greatest tracking error of each actuator (n,), rad or m."""
        return self.limits.tracking_errors(self.robot)

    @property
    def default_tracking(self) -> Array:
        """The tracking error of each actuator (n,) that is assumed where none is stated, rad or m."""
        return replace(self.limits, tracking=None).tracking_errors(self.robot)

    @cached_property
    def neighborhood(self) -> Neighborhood:
        """The poses that tracking errors lead to."""
        return Neighborhood(self.robot, self.channels, self.tracking)

    @cached_property
    def space(self) -> SeriesSpace:
        """Series as vectors of numbers near 1."""
        return SeriesSpace(self.home, self._span(), self.n_harmonics, self.frequency, self._n)

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """Least and greatest values (channels,), in units of each channel's size."""
        sizes = self._sizes
        return (
            np.array([one.lower for one in self.channels]) / sizes,
            np.array([one.upper for one in self.channels]) / sizes,
        )

    def evaluate(self, z: Array) -> Evaluation:
        """The motion of a vector, its regressor and what is limited."""
        moved = self.space.motion(z)
        W, h = self._looked(*moved)
        return Evaluation(moved, W, h)

    def _looked(self, x: Array, dx: Array, ddx: Array) -> tuple[Array, Array]:
        """Regressor, and least and greatest values of what is limited, in units of their sizes."""
        values, n = self.equations.forward.evaluate(x, dx, ddx), len(x)
        # a kernel's output of one entry has no axis of its own
        h = values["h"].reshape(n, len(self.channels))
        spread = values["spread"].reshape(h.shape) if "spread" in values else np.zeros_like(h)
        both = np.stack([h - spread, h + spread]) / self._sizes
        return values["W"].reshape(n, len(self.robot.actuators), -1), both

    def regressor(self, x: Array, dx: Array, ddx: Array) -> Array:
        """Efforts per unit of each of the robot's parameters (N, actuators, parameters), with plain dry friction."""
        return np.asarray(regressor_kernel(self.robot)(x, dx, ddx))

    def information(self, W: Array, *, weighted: bool = True) -> Array:
        """WᵀΣ⁻¹W (p, p) of all recorded samples [AHG, eqs. (7)-(8)], or WᵀW."""
        rows = (_by_row(self._whitener, W) if weighted else W).reshape(-1, W.shape[-1])
        return np.asarray(rows.T @ rows) * (self.recorded / len(W))

    def value(self, z: Array, criterion: Criterion | None = None) -> float:
        """The criterion of a motion; infinite where it cannot be made."""
        W, by = self.evaluate(z).W, criterion or self.criterion
        if not np.isfinite(W).all():
            return np.inf
        return by.value(self.information(W, weighted=by.is_weighted), self.typical)

    @cached_property
    def typical(self) -> Array:
        """The sizes of the base parameters; 1 where one is zero."""
        return np.where(self.base_values != 0, np.abs(self.base_values), 1.0)

    def lagrangian(self, z: Array, of_limits: Callable[[Array], tuple[float, Array]]) -> tuple[float, Array]:
        """The criterion plus a function of h (2, samples, channels), and the gradient of the sum.

        Infinite where the motion cannot be made, or comes too near a singularity.

        Args:
            z: The motion.
            of_limits: Value and gradient by h of what is added.
        """
        at = self.evaluate(z)
        if not (np.isfinite(at.W).all() and np.isfinite(at.h).all() and (at.h.mean(axis=0) >= self._walls).all()):
            return np.inf, np.zeros_like(z)
        by, typical = self.criterion, self.typical
        M = self.information(at.W, weighted=by.is_weighted)
        value = by.value(M, typical)
        if not np.isfinite(value):
            return np.inf, np.zeros_like(z)
        by_M = by.derivative(M, typical) * (2 * self.recorded / len(at.W))
        by_W = (at.W.reshape(-1, len(by_M)) @ by_M).reshape(at.W.shape)
        if by.is_weighted:
            by_W = _by_row(self._whitener.T @ self._whitener, by_W)
        added, by_h = of_limits(at.h)
        by_low, by_high = by_h / self._sizes
        weights = [by_W, by_low + by_high, by_high - by_low][: len(self.equations.forward.outputs)]
        shapes = (port.shape for port in self.equations.forward.outputs)
        shaped = (each.reshape(len(each), *shape) for each, shape in zip(weights, shapes, strict=True))
        back = self.equations.adjoint.evaluate(*at.moved, *shaped)
        gradient = self.space.pulled_back(z, back["x_adjoint"], back["dx_adjoint"], back["ddx_adjoint"])
        if not np.isfinite(gradient).all():
            return np.inf, np.zeros_like(z)
        return value + added, gradient

    def violation(self, h: Array) -> float:
        """By how much, in units of the channels' sizes, sampled values lie outside; negative inside."""
        low, high = self.ends
        worst = float(np.maximum(low - h[0], h[1] - high).max())
        return worst if np.isfinite(h).all() else np.inf

    def room(self, x: Array, dx: Array, ddx: Array) -> tuple[Array, Array]:
        """How far samples (N, channels) are from the lower and from the upper limits, in units of the channels' sizes.

        Dry friction is smooth, and tracking errors are of first order, as in the search.
        """
        h, (low, high) = self._looked(x, dx, ddx)[1], self.ends
        return h[0] - low, high - h[1]

    def holds(self, x: Array, dx: Array, ddx: Array) -> Mask:
        """Which samples (N,) keep all limits, as the search sees them."""
        below, above = self.room(x, dx, ddx)
        with np.errstate(invalid="ignore"):
            return np.asarray(((below >= 0) & (above >= 0)).all(axis=1))

    def whole_frequency(self, frequency: float) -> float:
        """The nearest frequency whose period is a whole number of samples at `rate`, within the range."""
        if self.rate is None:
            return frequency
        low, high = self.frequency
        least, most = np.ceil(self.rate / high * (1 - 1e-12)), np.floor(self.rate / low * (1 + 1e-12))
        if least > most:
            raise InputError(
                f"no period of {low:g} to {high:g} Hz is a whole number of samples at {self.rate:g} Hz: "
                f"take {self.rate / max(round(self.rate / low), 1):g} Hz, or another rate"
            )
        return float(self.rate / np.clip(round(self.rate / frequency), least, most))

    def series(self, z: Array) -> FourierSeries:
        """The motion of a vector."""
        return self.space.series(z)

    @property
    def _n(self) -> int:
        assert self.n_samples is not None
        return self.n_samples

    @cached_property
    def _sizes(self) -> Array:
        return np.array([one.size for one in self.channels])

    @cached_property
    def _whitener(self) -> Array:
        return np.linalg.inv(np.linalg.cholesky(self.sigma))

    @cached_property
    def _walls(self) -> Array:
        """Least values (channels,) of which not even a search goes beyond: near a singularity information is infinite.

        A penalty, however large, is finite there.
        """
        low = self.ends[0]
        near = np.array([one.kind == "margin" for one in self.channels])
        return np.where(near, _WALL * low, -np.inf)

    def _home(self) -> Array:
        in_pose = as_parallel(self.robot)
        if self.home is not None:
            home = array(self.home, "home", ndim=1)
            m = len(self.robot.coordinates if in_pose is None else in_pose.pose_names)
            require(len(home) == m, f"home of {self.robot.name} must be {m} numbers, but has {len(home)}")
            return home
        if in_pose is None:
            raise InputError(
                f"{self.robot.name} states no home: give home = the positions of {', '.join(self.robot.coordinates)} "
                "about which it is to move"
            )
        return in_pose.home

    def _refuse_home(self) -> None:
        """A robot that breaks a limit while it stands at home can keep it in no small motion."""
        still = np.zeros((1, len(self.home)))
        values = measured(self.robot, self.parameters, self.channels, (self.home[None], still, still))[0]
        for channel, value in zip(self.channels, values, strict=True):
            if not channel.beyond(value) < 0:
                raise InputError(
                    f"{self.robot.name} cannot stand at its home: {channel.name} is {value:.4g} {channel.unit} there, "
                    f"but must lie between {channel.lower:.4g} and {channel.upper:.4g}. Loosen that limit, or give "
                    "another home"
                )
        low, high = self.neighborhood.extremes(self.home[None])
        for channel, least, most in zip(self.channels, low[0], high[0], strict=True):
            if channel.follows_positions and not max(channel.beyond(least), channel.beyond(most)) < 0:
                raise InputError(
                    f"{self.robot.name} cannot keep its limits at home with tracking errors of "
                    f"{tracking_text(self.robot, self.tracking)}: {channel.name} is then {least:.4g} to {most:.4g} "
                    f"{channel.unit}, but must lie between {channel.lower:.4g} and {channel.upper:.4g}. State a "
                    "smaller 'tracking' if your controller keeps it, loosen that limit, or give another home"
                )

    def _span(self) -> Array:
        """How far each coordinate alone can go from home, at rest, until a limit is met."""
        in_pose = as_parallel(self.robot)
        units = self.robot.coordinate_units if in_pose is None else in_pose.pose_units
        spans = []
        for i, unit in enumerate(units):
            steps = _FAR[unit] * np.arange(1, _STEPS + 1) / _STEPS
            poses = np.repeat(self.home[None], 2 * _STEPS, axis=0)
            poses[:, i] += np.concatenate([steps, -steps])
            still = np.zeros_like(poses)
            kept = self.holds(poses, still, still).reshape(2, _STEPS)
            first = np.where(kept.all(axis=1), _STEPS, np.argmin(kept, axis=1)).max()
            spans.append(_FAR[unit] * max(int(first), 1) / _STEPS)
        return np.array(spans)


def _by_row(A: Array, W: Array) -> Array:
    """A W of each sample, as one product."""
    rows = np.ascontiguousarray(W.transpose(1, 0, 2)).reshape(len(A), -1)
    return np.asarray((A @ rows).reshape(len(A), len(W), -1).transpose(1, 0, 2))


def _covariance(sigma: Any, n: int) -> Array:
    values = array(sigma, "sigma", ndim=(0, 1, 2))
    if values.ndim < 2:
        require(values.shape in ((), (n,)), f"sigma: give one number, one for each of {n} actuators, or a covariance")
        require(bool((values > 0).all()), f"sigma must be positive, but is {sigma}")
        return np.diag(np.broadcast_to(values, (n,)) ** 2)
    require(values.shape == (n, n), f"the covariance of {n} efforts must be {n} × {n}, but is {values.shape}")
    require(np.allclose(values, values.T, rtol=1e-9), "the covariance of the efforts must be symmetric")
    try:
        np.linalg.cholesky(values)
    except np.linalg.LinAlgError as error:
        raise InputError(
            "the covariance of the efforts is not positive definite: some combination of them would have no error. "
            "Estimate it from more samples than actuators"
        ) from error
    return values
