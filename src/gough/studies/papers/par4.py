"""Dynamic modeling and identification of Par4, a very high speed parallel manipulator [NCPP]."""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from gough.experiments.pick_and_place import PickAndPlace
from gough.identification import Identified, Step, identify
from gough.report.words import listed
from gough.robots import Par4, PoseMotion
from gough.studies.demonstration import gain_texts
from gough.studies.papers.machines import Rebuilt, percents, rebuilt, values
from gough.studies.papers.printed import NCPP, NCPP_AGAINST_ADAMS
from gough.studies.papers.reproduction import Reproduction, SideBySide, columns, with_percent

_LEAST_SQUARES = "least squares"


def reproduce(seed: int = 1, on_step: Callable[[Step], object] = lambda _: None) -> Reproduction:
    """Table 1, the cross-validation and the comparison with Adams beside those of the virtual experiment."""
    machine = rebuilt("par4", seed=seed, on_step=on_step)
    on_step(Step(3, 4, "identifying with the paper's model"))
    found = _identified(machine, "paper")
    on_step(Step(4, 4, "identifying with the complete model"))
    complete = _identified(machine, "rods")
    tables = [_table_1(machine, found, complete), _cross_validation(found, complete)]
    if find_spec("pinocchio") is not None:
        tables.append(_adams())
    return Reproduction(
        paper="NCPP",
        title="Dynamic modeling and identification of Par4, a very high speed parallel manipulator",
        about=_about(machine),
        tables=tuple(tables),
        inconsistencies=inconsistencies(),
        differences=_differences(found, complete),
    )


def _identified(machine: Rebuilt, variant: str) -> Identified:
    robot = machine.variant(variant)
    return identify(
        robot, machine.motion, methods=[_LEAST_SQUARES], validation=machine.other, compare=variant == "paper"
    )


def _about(machine: Rebuilt) -> tuple[str, ...]:
    return (
        (
            "A simulated Par4 whose true parameters are those printed, except viscous friction, with rods that have "
            "inertia, under cascade control at 1 kHz; a slow and a fast phase of random motion; "
            f"{machine.motion.n_rows} rows after filtering and masking."
        ),
        f"Amplifier gains from static force tests, as in the paper: {listed(gain_texts(machine.gains))} N·m/V.",
    )


def _table_1(machine: Rebuilt, found: Identified, complete: Identified) -> SideBySide:
    sigma = percents(found[_LEAST_SQUARES])
    chains = _by_parameter(values(complete[_LEAST_SQUARES]))
    truth = _by_parameter(machine.truth)
    parts = {
        "paper (σ)": {name: with_percent(row.value, row.sigma) for name, row in NCPP.items()},
        "ours (σ)": {n: with_percent(v, sigma[n]) for n, v in values(found[_LEAST_SQUARES]).items()},
        "ours, chain by chain, with rods": {name: _range(chains[name]) for name in NCPP if name in chains},
        "truth": {name: _range(truth[name]) for name in NCPP if name in truth},
    }
    caption = "Table 1. Estimated dynamic parameters (SI units)"
    return SideBySide(caption, ("parameter", *parts), columns(tuple(NCPP), parts))


def _by_parameter(named: dict[str, float]) -> dict[str, list[float]]:
    """Values by the name that all chains share: i_act1 … i_act4 are all i_act."""
    found: dict[str, list[float]] = {}
    for name, value in named.items():
        common = name if name in NCPP else name.rstrip("1234").rstrip("_")
        found.setdefault(common, []).append(value)
    return found


def _range(several: list[float]) -> str:
    low, high = min(several), max(several)
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} … {high:.4g}"


def _cross_validation(found: Identified, complete: Identified) -> SideBySide:
    rows = []
    for label, identified in (("6 parameters, as in the paper", found), ("chain by chain, with rods", complete)):
        assert identified.validation is not None
        prediction = identified.validation.predictions[_LEAST_SQUARES]
        rows.append((label, f"{prediction.rms.max():.3g}", f"{100 * prediction.relative_rms.max():.2g} %"))
    heads = ("model", "rms error, N·m", "of the peak torque")
    return SideBySide("Cross-validation on another trajectory (the paper shows a figure)", heads, tuple(rows))


def _adams() -> SideBySide:
    """The simplified models against the complete mechanism, on the paper's own cycle."""
    from gough.experiments.multibody import Par4Mechanism, compare  # noqa: PLC0415 - an extra

    mechanism = Par4Mechanism()
    motion = _cycle()
    compared = compare(mechanism, motion.x, motion.dx, motion.ddx)
    rows = [(model.model, *(f"{100 * ratio:.2g} %" for ratio in compared.ratios(model))) for model in compared.models]
    caption = f"Simplified model against the complete mechanism on the Adept cycle (paper: {NCPP_AGAINST_ADAMS:.0%})"
    return SideBySide(caption, ("model", "rms over peak", "rms over rms"), tuple(rows))


def _cycle() -> PoseMotion:
    way = PickAndPlace(Par4().home, cycles=1)
    return way.at(np.arange(0.0, way.duration, 1e-3))


def inconsistencies() -> tuple[str, ...]:
    """What the paper's own numbers contradict."""
    robot = Par4()
    speed = float(np.abs(robot.joint_motion(*_cycle()).dq).max())
    f_v, f_c = NCPP["f_v"].value, NCPP["f_c"].value
    return (
        (
            f"f_v = {f_v:g} N·m·s/rad would take {f_v * speed:.0f} N·m at the {speed:.1f} rad/s that a motor reaches "
            f"on the paper's own cycle, against {f_c:g} N·m of dry friction: the two may be swapped in the table, or "
            "the unit is another."
        ),
        "Equations (4) and (12) as printed have the wrong index and sign: J becomes −J.",
        (
            "Half 1 of the platform (mass m_1, Jacobian J_1, point D) is the B2B3 side in the matrices, and the B0B1 "
            "side in the list of symbols."
        ),
    )


def _differences(found: Identified, complete: Identified) -> tuple[str, ...]:
    del complete
    assert found.adequacy is not None
    return (
        found.adequacy.verdict,
        (
            "The paper's 2 % is the root mean square error over the peak torque, not over the root mean square torque; "
            "it is the inertia of the rods, whose masses the simplified model halves between their ends."
        ),
    )
