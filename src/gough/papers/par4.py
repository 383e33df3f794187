"""Dynamic modeling and identification of Par4, a very high speed parallel manipulator [NCPP]."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from gough.control import Comparison
from gough.core.arrays import Array
from gough.core.progress import Phase
from gough.core.tables import Table
from gough.core.text import listed, signed
from gough.dynamics import Identified, identify, recorded
from gough.export import RobotModel
from gough.papers.closed_loop import can_be_controlled, controlled, poses
from gough.papers.demonstration import gain_texts
from gough.papers.printed import NCPP, NCPP_AGAINST_ADAMS
from gough.papers.rebuilt import Rebuilt, cross_validation_figure, percents, rebuild, values
from gough.papers.reproduction import Reproduction, columns, side_by_side, with_percent
from gough.report import Drawing
from gough.report.base.charts import Chart, Line, Panel
from gough.report.base.drawing import QUIET, SERIES, WIDTH, blank, style
from gough.report.base.panels import charted
from gough.robots import Par4, PoseMotion
from gough.simulate import Loop
from gough.simulate.trajectories import PickAndPlace

_LEAST_SQUARES = "least squares"
_RATE = 1000.0
_ROD_MASSES = (0.02, 0.04, 0.06, 0.08, 0.12, 0.16)
"""kg: masses of one rod for which the error of the simplified model is shown; the paper prints none."""
_HALVED = "with halved rods and the weight of arms and rods"


def reproduce(seed: int = 1, on_step: Callable[[Phase], object] = lambda _: None) -> Reproduction:
    """Table 1, the cross-validation and the comparison with Adams beside those of the virtual experiment."""
    rebuilt = rebuild("par4", seed=seed, on_step=on_step, of=7)
    on_step(Phase(3, 7, "identifying with the paper's model"))
    identified = _identified(rebuilt, "paper")
    on_step(Phase(4, 7, "identifying with the complete model"))
    complete = _identified(rebuilt, "rods")
    on_step(Phase(5, 7, "comparing models on the Adept cycle"))
    cycle = AdeptCycle.of(Par4())
    against = _adams() if find_spec("pinocchio") is not None else None
    numbers = _numbers(rebuilt, identified, complete, cycle)
    on_step(Phase(6, 7, "following the Adept cycle in closed loop"))
    followed = _closed_loop(rebuilt, complete) if can_be_controlled() else None
    on_step(Phase(7, 7, "drawing"))
    tables = [_table_1(rebuilt, identified, complete), _cross_validation(identified, complete)]
    if against is not None:
        table, numbers["against_full_mechanism"] = against
        tables.append(table)
    tables.append(_rods(cycle))
    drawings = [_figure_6(cycle), _figure_of_rods(cycle), _figure_7(identified)]
    if followed is not None:
        numbers["closed_loop"] = _overshoot(followed)
        tables.append(_figure_4_table(numbers["closed_loop"]))
        drawings.insert(0, _figure_4(followed))
    return Reproduction(
        paper="NCPP",
        title="Dynamic modeling and identification of Par4, a very high speed parallel manipulator",
        about=_about(rebuilt),
        tables=tuple(tables),
        inconsistencies=_inconsistencies(numbers),
        differences=_differences(identified, numbers),
        drawings=tuple(drawings),
        numbers=numbers,
    )


def _identified(rebuilt: Rebuilt, variant: str) -> Identified:
    robot = rebuilt.variant(variant)
    return identify(
        robot, rebuilt.motion, methods=[_LEAST_SQUARES], validation=rebuilt.other, compare=variant == "paper"
    )


def _about(rebuilt: Rebuilt) -> tuple[str, ...]:
    robot = rebuilt.robot
    return (
        (
            "A simulated Par4 whose true parameters are those printed, except viscous friction, with rods that have "
            "inertia, under cascade control at 1 kHz; a slow and a fast phase of random motion; "
            f"{rebuilt.motion.n_rows} rows after filtering and masking."
        ),
        (
            "The paper prints neither dimensions nor the mass of a rod. Assumed are arms of "
            f"{robot.geometry.arm:g} m, rods of {robot.geometry.rod:g} m and of "  # type: ignore[attr-defined]
            f"{1e3 * rebuilt.truth['m_rod']:g} g each, with masses that add up to Table 1."
        ),
        f"Amplifier gains from static force tests, as in the paper: {listed(gain_texts(rebuilt.gains))} N·m/V.",
    )


def _table_1(rebuilt: Rebuilt, identified: Identified, complete: Identified) -> Table:
    sigma = percents(identified[_LEAST_SQUARES])
    chains = _by_parameter(values(complete[_LEAST_SQUARES]))
    truth = _by_parameter(rebuilt.truth)
    parts = {
        "paper (σ)": {name: row.text for name, row in NCPP.items()},
        "ours (σ)": {n: with_percent(v, sigma[n]) for n, v in values(identified[_LEAST_SQUARES]).items()},
        "ours, by chain, with rods": {name: _range(chains[name]) for name in NCPP if name in chains},
        "truth": {name: _range(truth[name]) for name in NCPP if name in truth},
    }
    caption = "Table 1. Estimated dynamic parameters (SI units)"
    return side_by_side(caption, ("parameter", *parts), columns(tuple(NCPP), parts))


def _by_parameter(named: Mapping[str, float]) -> dict[str, list[float]]:
    """Values by the name that all chains share: i_act1 … i_act4 are all i_act."""
    by_name: dict[str, list[float]] = {}
    for name, value in named.items():
        common = name if name in NCPP else name.rstrip("1234").rstrip("_")
        by_name.setdefault(common, []).append(value)
    return by_name


def _range(several: list[float]) -> str:
    low, high = min(several), max(several)
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} … {high:.4g}"


def _cross_validation(paper_model: Identified, complete: Identified) -> Table:
    rows = []
    for label, identified in (("6 parameters, as in the paper", paper_model), ("chain by chain, with rods", complete)):
        assert identified.validation is not None
        prediction = identified.validation.predictions[_LEAST_SQUARES]
        worst, together = f"{prediction.rms.max():.3g}", f"{_over_all_motors(identified):.3g}"
        rows.append((label, together, worst, f"{100 * prediction.relative_rms.max():.2g} %"))
    heads = ("model", "rms error of all motors, N·m", "of the worst motor, N·m", "worst, of its peak torque")
    return side_by_side("Cross-validation on another trajectory (the paper shows a figure)", heads, tuple(rows))


def _over_all_motors(identified: Identified) -> float:
    """The rms error over all validation rows, N·m."""
    assert identified.validation is not None
    rms, n = identified.validation.predictions[_LEAST_SQUARES].rms, identified.validation.n_rows
    return float(np.sqrt((n * rms**2).sum() / n.sum()))


@dataclass(frozen=True, eq=False)
class AdeptCycle:
    """One Adept cycle: torques of the simplified model, and what rods of 1 kg that are rods would add to them.

    The simplified model has half of each rod at either end; its parameters are those of Table 1, whatever the rods'
    mass. A rod of mass m adds m times a column of the complete model, which equals the full mechanism but for the
    turning of rods about their own axes.

    Examples:
        >>> cycle = AdeptCycle.of(Par4())
        >>> over_peak, over_rms = cycle.errors(0.08)
        >>> round(over_peak, 3), round(over_rms, 3)
        (0.021, 0.039)
        >>> light, heavy = cycle.mass_for(0.02)
        >>> bool(abs(cycle.errors(light)[0] - 0.02) < 1e-9), bool(abs(cycle.errors(heavy)[1] - 0.02) < 1e-9)
        (True, True)
    """

    motion: PoseMotion
    simplified: Array
    """(N, motors) N·m, without friction."""
    column: Array
    """(N, motors) N·m per kg of a rod."""
    speed: float
    """Greatest speed of a motor, rad/s."""

    @classmethod
    def of(cls, robot: Par4) -> "AdeptCycle":
        """The cycle around home."""
        way = PickAndPlace(robot.home, cycles=1)
        motion = way.at(np.arange(0.0, way.duration, 1 / _RATE))
        rods = replace(robot, variant="rods")
        regressor = rods.regressor_kernel()(*motion)
        nominal = dict(zip(rods.names, rods.nominal, strict=True))
        kept = [0.0 if name == "m_rod" or name.startswith("f_") else nominal[name] for name in rods.names]
        speed = float(np.abs(robot.joint_motion(*motion).dq).max())
        return cls(motion, regressor @ np.array(kept), regressor[..., rods.names.index("m_rod")], speed)

    def complete(self, rod_mass: float) -> Array:
        """Torques (N, motors) with rods of so many kg."""
        return np.asarray(self.simplified + rod_mass * self.column)

    def errors(self, rod_mass: float) -> tuple[float, float]:
        """The rms error of the simplified model over the peak torque, and over the rms torque."""
        full = self.complete(rod_mass)
        error = rod_mass * _rms(self.column)
        return error / float(abs(full).max()), error / _rms(full)

    def mass_for(self, error: float) -> tuple[float, float]:
        """Mass of a rod (kg) with which each of the two ratios is `error`."""
        masses = []
        for ratio in (0, 1):
            low, high = 0.0, 10.0
            for _ in range(100):
                middle = (low + high) / 2
                low, high = (middle, high) if self.errors(middle)[ratio] < error else (low, middle)
            masses.append((low + high) / 2)
        return masses[0], masses[1]


def _rms(values_: Array) -> float:
    return float(np.sqrt(np.mean(values_**2)))


def _adams() -> tuple[Table, dict[str, Any]]:
    """The simplified models against the complete mechanism, on the Adept cycle."""
    from gough.simulate.multibody import compare  # noqa: PLC0415 - an extra

    robot = Par4()
    motion = AdeptCycle.of(robot).motion
    compared = compare(robot, motion.x, motion.dx, motion.ddx)
    ratios = {model.model: compared.ratios(model) for model in compared.models}
    rows = [(model, *(f"{100 * ratio:.2g} %" for ratio in pair)) for model, pair in ratios.items()]
    caption = (
        f"Simplified models against the full mechanism on the Adept cycle, rods of {1e3 * robot.parts.rod_mass:g} g "
        f'(paper: "about {NCPP_AGAINST_ADAMS}")'
    )
    numbers = {
        "rod_mass": robot.parts.rod_mass,
        "peak": compared.peak,
        "rms": compared.rms,
        "rms_over_peak_and_over_rms": {model: list(pair) for model, pair in ratios.items()},
    }
    return side_by_side(caption, ("model", "rms over peak", "rms over rms"), tuple(rows)), numbers


_LAWS = ("pd", "feedforward", "computed-torque", "predictive")
_LOOP = Loop(rate=_RATE, limit=200.0, bandwidth=15.0)


def _closed_loop(rebuilt: Rebuilt, complete: Identified) -> Comparison:
    """The Adept cycle under control, with every part of the robot a body [NCPP, §III]."""
    return controlled(RobotModel.of(complete), rebuilt.truth, motion="adept", laws=_LAWS, loop=_LOOP)


def _overshoot(followed: Comparison) -> dict[str, dict[str, float]]:
    """For each controller: distances from the path, how far x goes beyond the ends of the transfer, torques."""
    robot: Any = followed.study.dynamics.robot
    end = PickAndPlace(robot.home).span / 2
    return {
        run.label: {
            "largest_distance": float(np.max(run.position_error)),  # type: ignore[arg-type]
            "rms_distance": _rms(np.asarray(run.position_error)),
            # to a micrometer, below which rounding decides
            "overshoot_of_x": round(max(0.0, float(np.abs(poses(followed, run, robot)[:, 0]).max()) - end), 6),
            "peak_torque": float(run.tracked.peak_effort.max()),
        }
        for run in followed.outcomes
        if run.tracked.lost_at is None and run.parameters != "blueprint"  # which is the truth here
    }


def _figure_4_table(runs: Mapping[str, Mapping[str, float]]) -> Table:
    rows = tuple(
        (
            label,
            *(f"{1e3 * run[key]:.2f}" for key in ("rms_distance", "largest_distance", "overshoot_of_x")),
            f"{run['peak_torque']:.0f}",
        )
        for label, run in runs.items()
    )
    heads = ("controller, parameters", "rms distance, mm", "largest distance, mm", "overshoot of x, mm", "peak, N·m")
    caption = (
        "The Adept cycle in closed loop at 5 m/s, 150 m/s² and 0.25 s, with every part of the robot a body (the paper "
        'shows Fig. 4 of a P and PI controller: "the overshoot is important", without a number)'
    )
    return side_by_side(caption, heads, rows)


def _figure_4(followed: Comparison) -> Drawing:
    """Desired and obtained positions along x."""
    robot: Any = followed.study.dynamics.robot
    pose, n = followed.motion.pose, len(followed.motion)
    assert pose is not None
    shown = [run for run in followed.outcomes if run.parameters in ("", "identified") and run.tracked.lost_at is None]
    obtained = [(run.label, 1e3 * poses(followed, run, robot)[:, 0]) for run in shown]
    lines = (Line("desired", 1e3 * pose.x[:, 0], 0), *(Line(label, x, k) for k, (label, x) in enumerate(obtained, 1)))
    errors = tuple(Line(label, x - 1e3 * pose.x[:, 0], k) for k, (label, x) in enumerate(obtained, 1))
    panels = (Panel("position along x", "mm", lines), Panel("error along x", "mm", errors, symmetric=True))
    caption = "Figure 4. Position along x on the Adept cycle: desired, and as followed under each controller."
    chart = Chart(0.0, 1 / followed.motion.rate, n, "time", "s", panels)
    return charted(
        "figure-4-adept-cycle", chart, "Desired and obtained positions along x over four Adept cycles.", caption
    )


def _rods(cycle: AdeptCycle) -> Table:
    rows = tuple((f"{1e3 * mass:g}", *(f"{100 * ratio:.2g} %" for ratio in cycle.errors(mass))) for mass in _ROD_MASSES)
    caption = f'Error of the model {_HALVED}, by the mass of a rod (paper: "about {NCPP_AGAINST_ADAMS}")'
    return side_by_side(caption, ("mass of a rod, g", "rms over peak", "rms over rms"), rows)


def printed_jacobian() -> float:
    """How far J_1 of [NCPP, eqs. (2)-(4)], times the true inverse of J, is from −1 at home, with u_i as rotation axis.

    Examples:
        >>> printed_jacobian() < 1e-12
        True
    """
    robot = Par4()
    of, (*position, theta) = robot.geometry, robot.home
    alpha, second = np.array(of.alpha), np.array([1.0, 1.0, 0.0, 0.0])
    radial = np.column_stack([np.cos(alpha), np.sin(alpha), np.zeros(4)])
    u = np.column_stack([-np.sin(alpha), np.cos(alpha), np.zeros(4)])
    q = robot.inverse(robot.home)
    P = of.h * np.outer(second - 0.5, [0.0, 1.0, 0.0]) + of.base * radial
    PA = of.arm * (np.cos(q)[:, None] * radial - np.outer(np.sin(q), [0.0, 0.0, 1.0]))
    B = position + of.h * np.outer(second, [-np.sin(theta), np.cos(theta), 0.0])
    AB = B - (P + PA)
    turn = -of.h * second * (np.cos(theta) * AB[:, 0] + np.sin(theta) * AB[:, 1])
    J = np.linalg.solve(np.column_stack([AB, turn]), np.diag((np.cross(AB, PA) * u).sum(axis=1)))
    dx = np.eye(4)
    inverse = robot.joint_motion(np.tile(robot.home, (4, 1)), dx, np.zeros((4, 4))).dq.T
    return float(abs(J @ inverse + np.eye(4)).max())


def _numbers(rebuilt: Rebuilt, identified: Identified, complete: Identified, cycle: AdeptCycle) -> dict[str, Any]:
    adequacy = identified.adequacy
    assert adequacy is not None
    robot = rebuilt.variant("rods")
    other = recorded(robot, rebuilt.other)
    truth = np.array([rebuilt.truth[name] for name in robot.names])
    over_peak, over_rms = cycle.mass_for(float(NCPP_AGAINST_ADAMS.rstrip("%")) / 100)
    f_v = NCPP["f_v"].number
    return {
        "rows": rebuilt.motion.n_rows,
        "truth": rebuilt.truth,
        "least_squares": {"6": values(identified[_LEAST_SQUARES]), "19": values(complete[_LEAST_SQUARES])},
        "adequacy": {
            "used": adequacy.used,
            "recommended": adequacy.recommended,
            "fits": [
                {
                    "variant": fit.variant,
                    "parameters": fit.n_parameters,
                    "adds": fit.adds,
                    "rms": fit.overall,
                    "gain": fit.gain,
                    "gain_sigma": fit.gain_sigma,
                }
                for fit in adequacy.fits
            ],
            "gain_of_general_terms": adequacy.generic_gain,
            "gain_of_general_terms_sigma": adequacy.generic_sigma,
            "shifts": {name: list(shift) for name, shift in adequacy.shifts.items()},
        },
        "rms_left_by_the_true_parameters": _rms(np.asarray(other.y) - np.asarray(other.W) @ truth),
        "adept_cycle": {
            "peak_torque_without_friction": float(abs(cycle.complete(rebuilt.truth["m_rod"])).max()),
            "peak_motor_speed": cycle.speed,
            "printed_f_v_times_speed": f_v * cycle.speed,
            "errors_by_rod_mass": {f"{mass:g}": list(cycle.errors(mass)) for mass in _ROD_MASSES},
            "rod_mass_for_the_printed_error": {"rms_over_peak": over_peak, "rms_over_rms": over_rms},
            "error_at_the_assumed_rod_mass": list(cycle.errors(rebuilt.truth["m_rod"])),
        },
        "printed_J_plus_J": printed_jacobian(),
    }


def _inconsistencies(numbers: Mapping[str, Any]) -> tuple[str, ...]:
    """Contradictions in the paper's own numbers and equations."""
    cycle = numbers["adept_cycle"]
    f_v, f_c = NCPP["f_v"].value, NCPP["f_c"].value
    return (
        (
            f"f_v = {f_v} N·m·s/rad would take {cycle['printed_f_v_times_speed']:.0f} N·m at the "
            f"{cycle['peak_motor_speed']:.1f} rad/s that a motor of this Par4 reaches on an Adept cycle of 0.25 s. All "
            f"other torques of that cycle add up to {cycle['peak_torque_without_friction']:.0f} N·m at most, and dry "
            f"friction to {f_c} N·m."
        ),
        (
            "Equations (4) and (12) have the opposite sign of J_q if u_i is the axis about which q_i turns and q_i > 0 "
            "lowers the arm, as (18) has it: J as printed is then −J (checked at home: the difference is "
            f"{_bounded(numbers['printed_J_plus_J'])})."
        ),
        (
            "The list of symbols has the mass m_1 on the B2B3 side and its matrix M_1 on the B0B1 side. In equations "
            "(3) and (11) half 1, with J_1 and point D, is the B2B3 side."
        ),
    )


def _bounded(value: float) -> str:
    return "below 1e-12" if value < 1e-12 else f"{value:.1e}"


def _differences(identified: Identified, numbers: Mapping[str, Any]) -> tuple[str, ...]:
    assert identified.adequacy is not None
    cycle, left = numbers["adept_cycle"], numbers["rms_left_by_the_true_parameters"]
    masses, errors = cycle["rod_mass_for_the_printed_error"], cycle["error_at_the_assumed_rod_mass"]
    lines = [
        identified.adequacy.verdict,
        _shifts_of_means(numbers["least_squares"]),
        (
            f"The true parameters of the complete model leave {left:.3f} N·m rms on the same validation trajectory: "
            "noise of the simulated measurement, and what its filtering adds."
        ),
        (
            f"The paper says that its model and Adams differ by about {NCPP_AGAINST_ADAMS}, but says neither "
            f"relative to what nor how heavy its rods are. The error of the model {_HALVED} grows with the "
            f"mass of a rod: it is {NCPP_AGAINST_ADAMS} of the peak torque (rms) for rods of "
            f"{1e3 * masses['rms_over_peak']:.0f} g, and {NCPP_AGAINST_ADAMS} of the rms torque for rods of "
            f"{1e3 * masses['rms_over_rms']:.0f} g. With the "
            f"{1e3 * numbers['truth']['m_rod']:g} g assumed here it is {100 * errors[0]:.1f} % and "
            f"{100 * errors[1]:.1f} %. Which of the two ratios the paper means cannot be determined from its figure."
        ),
    ]
    against = numbers.get("against_full_mechanism")
    if against is not None:
        *_, (_, halved), (_, complete) = against["rms_over_peak_and_over_rms"].items()
        lines.append(
            f"That error is due to the inertia of the rods: against the full mechanism, the model {_HALVED} "
            f"is off by {100 * halved[0]:.1f} % of the peak torque, and with the column of the rods' inertia "
            f"by {100 * complete[0]:.0e} %."
        )
    runs = numbers.get("closed_loop")
    if runs is not None and {"pd", "feedforward, identified"} <= set(runs):
        alone, fed = runs["pd"], runs["feedforward, identified"]
        lines.append(
            'Figure 4 and its "important" overshoot: under PD control of the joints, x goes '
            f"{1e3 * alone['overshoot_of_x']:.0f} mm beyond the ends of the transfer, and the platform is up to "
            f"{1e3 * alone['largest_distance']:.0f} mm from where it should be. With the identified model as "
            f"feedforward these are {1e3 * fed['overshoot_of_x']:.2f} mm and {1e3 * fed['largest_distance']:.2f} mm. "
            'The expectation of the paper that "a dynamic control" gives better results holds in simulation. The paper '
            f"prints no gains; ours have a bandwidth of {_LOOP.bandwidth:g} Hz and no integral."
        )
    return tuple(lines)


def _shifts_of_means(estimates: Mapping[str, Mapping[str, float]]) -> str:
    """How far the parameters are off for which the model of 19 parameters has a value for each chain."""
    means = {name: float(np.mean(each)) for name, each in _by_parameter(estimates["19"]).items() if len(each) > 1}
    off = {name: 100 * (estimates["6"][name] / mean - 1) for name, mean in means.items() if name in estimates["6"]}
    named = [f"{name} by {signed(f'{off[name]:+.1f}')} %" for name in sorted(off, key=lambda name: -abs(off[name]))]
    return (
        f"Of the parameters that the 19-parameter model has for each chain, those of the 6-parameter model are off the "
        f"mean of the chains: {listed(named)}."
    )


def _figure_6(cycle: AdeptCycle) -> Drawing:
    """Figure 6: torques of the simplified and of the complete model on the Adept cycle."""
    mass = float(dict(zip(Par4().names, Par4().nominal, strict=True))["m_rod"])
    full = cycle.complete(mass)
    panels = []
    for i in range(full.shape[1]):
        lines = (Line("complete", full[:, i], 0, 1.6), Line("rods halved, weights", cycle.simplified[:, i], 1, 1.0))
        panels.append(Panel(f"motor {i + 1}", "N·m", lines, 140, axis=False))
    # By the symmetry of the cycle motors 4 and 3 repeat the errors of 1 and 2, which are drawn wider, beneath.
    errors = tuple(
        Line(f"error, motor {i + 1}", (cycle.simplified - full)[:, i], i + 2, width)
        for i, width in enumerate((4.0, 4.0, 1.3, 1.3))
    )
    panels.append(Panel("rods halved, weights − complete", "N·m", errors, 110, symmetric=True))
    chart = Chart(0.0, 1 / _RATE, len(full), "time", "s", tuple(panels))
    description = "Torques of four motors on one Adept cycle, by the complete and by the simplified model."
    caption = (
        f"Figure 6. Torques on one Adept cycle without friction: the complete model with rods of {1e3 * mass:g} g, "
        f"which stands for the paper's Adams model, and the model {_HALVED}; below, their difference. By the symmetry "
        "of the cycle the errors of motors 1 and 4 are the same, and those of 2 and 3: the first two are drawn wider."
    )
    return charted("figure-6-adept-cycle", chart, description, caption)


def _figure_of_rods(cycle: AdeptCycle) -> Drawing:
    """The error of the simplified model over the mass of a rod."""
    masses = np.linspace(0.0, 0.16, 81)
    errors = 100 * np.array([cycle.errors(mass) for mass in masses])
    printed = float(NCPP_AGAINST_ADAMS.rstrip("%"))
    with style():
        figure = blank(WIDTH, 3.0)
        axes = figure.subplots()
        axes.plot(1e3 * masses, errors[:, 0], color=SERIES[0], label="rms over peak")
        axes.plot(1e3 * masses, errors[:, 1], color=SERIES[1], label="rms over rms")
        axes.axhline(printed, color=QUIET, linewidth=0.8, linestyle="--", label=f"paper: about {NCPP_AGAINST_ADAMS}")
        axes.set_xlabel("mass of a rod, g")
        axes.set_ylabel("error, %")
        axes.set_xlim(0.0, 160.0)
        axes.set_ylim(bottom=0.0)
        axes.legend(loc="upper left")
    description = f"Error of the model {_HALVED} in percent, over the mass of a rod, by two definitions."
    caption = (
        f"Error of the model {_HALVED} on the Adept cycle, by the mass of a rod, with the parameters of "
        "Table 1 kept. The paper does not print that mass."
    )
    return Drawing("rod-mass", figure, description, caption)


def _figure_7(identified: Identified) -> Drawing:
    """Figure 7: measured torques of another trajectory, and those calculated with the identified parameters."""
    caption = (
        "Figure 7. Cross-validation: torques of another trajectory as measured, and as calculated with the six "
        "parameters identified; below each, measured minus calculated on a scale of its own."
    )
    return cross_validation_figure("figure-7-cross-validation", identified, _LEAST_SQUARES, caption)
