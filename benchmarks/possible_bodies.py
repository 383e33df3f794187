"""Possible bodies: time, agreement of solvers, coverage of the proven bounds, and held-out efforts over noise.

    python -m benchmarks.possible_bodies [seeds] [--rival-python PATH]

- PaLiDA with 19 bodies, none of them shared: processor time of the point estimate; its duality gap; bodies by
  Clarabel and by SCS.
- A seven-axis arm: the physical fits of FIGAROH and mujoco.sysid beside ours on the same data. `--rival-python` names
  an interpreter that has them, and may be repeated; by default this one is tried.
- Robots that can exist, with errors within stated bounds: how many of the proven intervals hold the true parameter.
- Held-out efforts of a five-bar by least squares and by the nearest robot that can exist, over signal-to-noise.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np

from gough.data import MeasuredMotion
from gough.dynamics import PhysicalOptions, base_parameters, certified_bodies, identify, possible_bodies
from gough.dynamics.base_parameters import random_motion
from gough.dynamics.bodies.complete import complete_set
from gough.estimates import Claim, Estimate, FitStats, Status
from gough.region import ConfidenceEllipsoid
from gough.robots import H4, Delta, FiveBar, Hexapod, Palida, efforts
from gough.robots.mechanism import Inertia, MechanismModel
from gough.robots.mechanism.inertia import TERMS
from gough.robots.physical import physical_limits
from gough.simulate.multibody.experiment import seven_axes
from gough.simulate.multibody.mjcf import mjcf
from gough.unknowns import Unknowns

TARGET, AGREEMENT = 3.0, 1e-5


def untied_palida():
    """PaLiDA with parameters of its own for each of its 19 bodies, all ten of each."""
    mechanism = Palida().mechanism
    bodies = []
    for body in mechanism.bodies:
        own = body.inertia
        moments = np.maximum(own.moments, 0.3 * max(own.moments))  # the published ones are not all possible
        inertia = Inertia(own.mass, own.center, tuple(moments.tolist()), (0.0, 0.0, 0.0), symmetry="none")
        bodies.append(replace(body, inertia=inertia, group=""))
    return MechanismModel(replace(mechanism, bodies=tuple(bodies)))


def estimated(robot, analysis, truth, relative, rng):
    """An estimate of the base parameters with errors of a share of their sizes, as an identification has it."""
    C = np.array([base.coefficients for base in analysis.base])
    theta = np.array([truth[name] for name in analysis.names])
    beta = C @ theta
    sigma = relative * np.maximum(abs(beta), 1e-3 * abs(beta).max())
    region = ConfidenceEllipsoid(beta + sigma * rng.normal(size=len(beta)), np.diag(sigma**2), 0.95)
    names = tuple(base.name for base in analysis.base)
    answer = Estimate(region, Claim.CONFIDENCE, Status.OK, Unknowns(names), "", FitStats(n_rows=1), ())
    return SimpleNamespace(
        robot=robot,
        identifiability=analysis,
        blueprint={},
        fixed={},
        estimates={"simulated": answer},
        _by_preference=lambda: {"simulated": answer},
    )


def speed():
    robot, rng = untied_palida(), np.random.default_rng(1)
    analysis = base_parameters(robot)
    nominal = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    truth = perturbed(robot, analysis, nominal, rng)
    print(f"PaLiDA: {len(robot.physical.bodies)} bodies, {len(robot.names)} parameters, rank {analysis.rank}")
    complete = complete_set(physical_limits(robot), analysis, nominal)
    for relative in (1e-6, 0.03):
        identified = estimated(robot, analysis, truth, relative, np.random.default_rng(2))
        found = {}
        # SCS takes minutes for a misfit of this size
        for solver in ("CLARABEL", "SCS") if relative < 1e-3 else ("CLARABEL",):
            for nearest in ("log-det", "frobenius"):
                start = time.process_time()  # other processes may share the cores
                options = PhysicalOptions(nearest=nearest, ranges=False, solver=solver)
                try:
                    answer = possible_bodies(identified, options)
                except ValueError as error:
                    print(f"  {solver} {nearest}: {error}")
                    continue
                found[solver, nearest] = answer
                taken = time.process_time() - start
                how = "exact" if answer.is_exact else f"misfit {answer.misfit:.3g} σ"
                late = f"  more than {TARGET:g} s" if solver == "CLARABEL" and taken > TARGET else ""
                gaps = f"gap {answer.gap / max(answer.distance, 1):.0e}, of the misfit {answer.misfit_gap:.0e} σ"
                line = f"{taken:6.2f} s, {how}, distance {answer.distance:.8g}, {gaps}"
                print(f"  errors {relative:g}, {solver:8} {nearest:9} {line}{late}")
        for nearest in ("log-det", "frobenius"):
            pair = [found.get((solver, nearest)) for solver in ("CLARABEL", "SCS")]
            if None not in pair:
                one, other = (np.array([answer.values[name] for name in complete.names]) for answer in pair)
                off = max(
                    float(np.abs(root @ (body.matrix(one) - body.matrix(other)) @ root.T).max())
                    for body in complete.bodies
                    for root in [np.linalg.inv(np.linalg.cholesky(body.reference))]
                )
                print(f"  errors {relative:g}, {nearest:9} bodies differ by {off:.1e} (wanted: {AGREEMENT:g})")
    start = time.perf_counter()
    possible_bodies(estimated(robot, analysis, truth, 1e-6, np.random.default_rng(2)))
    print(f"  with the range of each of {len(robot.names)} parameters: {time.perf_counter() - start:.1f} s")


def perturbed(robot, analysis, nominal, rng, equal=()):
    """Parameters of a robot that can exist: pseudo-inertias of the blueprint, changed by a factor near 1."""
    complete = complete_set(physical_limits(robot), analysis, nominal, equal=equal)
    values = complete.reference.copy()
    for body in complete.bodies:
        root = np.linalg.cholesky(body.reference)
        change = np.eye(len(root)) + 0.1 * rng.normal(size=root.shape)
        P = root @ change @ change.T @ root.T
        places = list(body.places)
        A = body.forms.reshape(len(places), -1).T
        values[places] = np.linalg.lstsq(A, (P - body.constant).reshape(-1), rcond=None)[0]
        assert np.linalg.eigvalsh(body.matrix(values))[0] > 0 or len(places) < 10
    return nominal | dict(zip(complete.names, (complete.share @ values).tolist(), strict=True))


def bare_arm():
    """The seven-axis arm without rotors and friction: seven bodies of ten parameters each."""
    arm = seven_axes()
    joints = tuple(
        replace(joint, freedoms=tuple(replace(each, friction=None, rotor=None) for each in joint.freedoms))
        for joint in arm.joints
    )
    robot = MechanismModel(replace(arm, joints=joints))
    bodies = tuple(replace(body, rotor=None) for body in robot.physical.bodies)
    vars(robot)["physical"] = replace(robot.physical, bodies=bodies)  # there is no rotor at all
    return robot


def open_chain(interpreters=(sys.executable,)):
    """FIGAROH and mujoco.sysid beside ours on the same data of an arm of seven axes, in their own interpreters."""
    robot = bare_arm()
    nominal = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    analysis = base_parameters(robot)
    bodies = list(robot.physical.bodies)
    order = [robot.names.index(body.terms[term]) for body in bodies for term in TERMS]
    complete = complete_set(physical_limits(robot), analysis, nominal)
    print("seven axes: held-out error of the efforts over their rms; least eigenvalue in units of the blueprint; time")
    for n, noise in ((300, 1e-6), (20, 0.05), (20, 0.2)):
        rng = np.random.default_rng(3)
        truth = perturbed(robot, analysis, nominal, rng)
        true = np.array([truth[name] for name in robot.names])
        moved, other = random_motion(robot, n, rng), random_motion(robot, 300, rng)
        clean, wanted = efforts(robot, true, *moved), efforts(robot, true, *other)
        torque = clean + noise * np.sqrt(np.mean(clean**2, axis=0)) * rng.normal(size=clean.shape)
        start = time.process_time()
        known = identify(robot, measured(robot, moved, torque), methods=["least squares"], compare=False)
        answer = possible_bodies(known, PhysicalOptions(ranges=False))
        taken = time.process_time() - start
        found = {"gough": ({"theta": [answer.values[robot.names[k]] for k in order], "seconds": taken})}
        W = robot.regressor(*moved).reshape(-1, len(robot.names))
        sent = {"Y": W[:, order], "tau": torque.reshape(-1), "prior": robot.nominal[order]}
        sent |= {"bodies": np.array([body.name for body in bodies])}
        sent |= dict(zip(("q", "qd", "qdd"), moved, strict=True))
        sent["mjcf"] = np.array(mjcf(robot.mechanism, np.zeros(7)))
        found |= _by_rivals(sent, interpreters)
        print(f"  {n} samples, noise {noise:g} of the rms")
        for label, result in found.items():
            if "theta" not in result:
                print(f"    {label:30} {result['reason']}")
                continue
            theta = np.empty(len(order))
            theta[order] = result["theta"]
            off = float(np.sqrt(np.mean((efforts(robot, theta, *other) - wanted) ** 2) / np.mean(wanted**2)))
            least = min(
                float(np.linalg.eigvalsh(root @ body.matrix(theta) @ root.T)[0])
                for body in complete.bodies
                for root in [np.linalg.inv(np.linalg.cholesky(body.reference))]
            )
            ratio = result["seconds"] / taken
            print(
                f"    {label:30} {off:.4g}; {least:.2g}; {ratio:.2f} times ours ({result['seconds']:.1f} s)", flush=True
            )


def _by_rivals(sent, interpreters):
    """Answers of the rivals that one of the interpreters has; else the reason why there is none."""
    found = {}
    with TemporaryDirectory() as folder:
        np.savez(Path(folder, "data.npz"), **sent)
        for interpreter in interpreters:
            command = [interpreter, str(Path(__file__).with_name("_open_chain_rivals.py"))]
            command += [str(Path(folder, "data.npz")), str(Path(folder, "answers.json"))]
            subprocess.run(command, check=True, capture_output=True)
            for name, result in json.loads(Path(folder, "answers.json").read_text(encoding="utf-8")).items():
                if name not in found or not result.get("reason", "").startswith("not installed"):
                    found[name] = result
    return found


def planar_motion(rng, n):
    """A five-bar's random motion about a pose that is well inside its workspace."""
    return [2.0, 1.0] + 0.3 * rng.normal(size=(n, 2)), *rng.normal(size=(2, n, 2))


def measured(robot, moved, torque):
    names = {name: getattr(robot, name) for name in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    return MeasuredMotion(100.0, *moved, torque, np.ones(torque.shape, dtype=bool), **names)


def true_five_bar(robot, rng):
    """Parameters of a five-bar that can exist, up to 30 % off the blueprint."""
    theta = robot.nominal * rng.uniform(0.7, 1.3, size=len(robot.nominal))
    for k in range(4):
        m, x, y, moment = theta[4 * k : 4 * k + 4]
        theta[4 * k + 3] = max(moment, 1.02 * (x * x + y * y) / m)
    return theta


def untied(robot, *groups):
    """The robot with parameters of their own for all bodies of some groups of equal bodies, and these groups."""
    mechanism = robot.mechanism
    equal = [tuple(body.name for body in mechanism.bodies if body.group == group) for group in groups]
    free = {name for group in equal for name in group}
    bodies = tuple(replace(body, group="") if body.name in free else body for body in mechanism.bodies)
    return MechanismModel(replace(mechanism, bodies=bodies)), equal


def covered_robots():
    """Robots by name: the model, groups of equal bodies that are stated, and a generator of motions."""
    arms, equal = untied(Delta(), "arm")
    return {
        "five-bar": (FiveBar.demo(), (), planar_motion),
        "Delta, 3 bodies": (MechanismModel(Delta().mechanism), (), None),
        "Delta, 5 bodies": (arms, (), None),
        "Delta, 5 bodies, arms equal": (arms, equal, None),
        "H4, 4 bodies": (MechanismModel(H4().mechanism), (), None),
        "6-UPS, 3 bodies": (Hexapod(), (), None),
        "PaLiDA, 4 bodies": (Palida(), (), None),
    }


def coverage(seeds, only=""):
    """Of robots up to 30 % off their blueprints: how many proven intervals hold the truth, how wide, how long."""
    print("robot: intervals that hold the truth; width over that without physics; processor time of a robot")
    for label, (robot, equal, motion) in covered_robots().items():
        if only not in label:
            continue
        held, total, ratio, taken = 0, 0, [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            truth, n = true_robot(robot, equal, rng), int(rng.choice([15, 30, 60]))
            moved = motion(rng, n) if motion else random_motion(robot, n, rng)
            clean = efforts(robot, np.array([truth[name] for name in robot.names]), *moved)
            bound = 0.05 * np.sqrt(np.mean(clean**2, axis=0))
            torque = clean + bound * rng.uniform(-1, 1, size=clean.shape)
            identified = identify(
                robot, measured(robot, moved, torque), methods=["weighted", "hull"], bound=bound, compare=False
            )
            start = time.process_time()
            answer = certified_bodies(identified, equal=equal)
            taken.append(time.process_time() - start)
            assert not answer.is_empty
            known = exact_values(robot, identified, truth)
            for name in answer.names:
                lower, upper = answer.interval(name)
                total += 1
                held += Fraction(lower) <= known[name] if lower > -np.inf else 1
                held -= Fraction(upper) < known[name] if upper < np.inf else 0
                if name in answer.alone:
                    other = answer.alone[name]
                    ratio.append((upper - lower) / (other.upper - other.lower))
        widths = f"median {np.median(ratio):.2f}, least {min(ratio):.2g}, largest {max(ratio):.4g}"
        print(f"  {label:28} {held} of {total}; {widths}; median {np.median(taken):.1f} s", flush=True)


def true_robot(robot, equal, rng):
    """Parameters of a robot that can exist: the pseudo-inertia of each body, friction and rotors are up to 30 % off."""
    if isinstance(robot, FiveBar):
        return dict(zip(robot.names, true_five_bar(robot, rng).tolist(), strict=True))
    nominal = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    truth = perturbed(robot, base_parameters(robot), nominal, rng, equal)
    for limit in robot.physical.nonnegative:
        truth[limit.name] = nominal[limit.name] * rng.uniform(0.7, 1.3)
    return truth


def exact_values(robot, identified, truth):
    """The true parameters, base parameters and total mass, as exact rationals."""
    known = {name: Fraction(x) for name, x in truth.items()}
    analysis = identified.identifiability
    for base in analysis.base:
        terms = zip(analysis.names, base.coefficients.tolist(), strict=True)
        known[base.name] = sum(Fraction(c) * Fraction(truth[name]) for name, c in terms if c)
    listed = {each.name: len(each.members) for each in getattr(robot, "parameters", ())}
    masses = [body.terms["m"] for body in robot.physical.bodies]
    masses += [limit.name for limit in robot.physical.nonnegative if limit.what == "mass"]
    known["total mass"] = sum(listed.get(name, 1) * Fraction(truth[name]) for name in masses)
    return known


def held_out(seeds):
    robot = FiveBar.demo()
    print("five-bar, 25 samples: rms error of held-out efforts over their rms, median over seeds")
    print("  noise/rms   least squares   possible   not possible exactly")
    for noise in (0.02, 0.05, 0.1, 0.2, 0.4):
        errors, impossible = [], 0
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            truth = true_five_bar(robot, rng)
            moved, other = planar_motion(rng, 25), planar_motion(rng, 500)
            clean, wanted = efforts(robot, truth, *moved), efforts(robot, truth, *other)
            size = float(np.sqrt(np.mean(clean**2)))
            torque = clean + noise * size * rng.normal(size=clean.shape)
            identified = identify(robot, measured(robot, moved, torque), methods=["least squares"], compare=False)
            answer = possible_bodies(identified, PhysicalOptions(ranges=False))
            impossible += not answer.is_exact
            W = robot.regressor(*other)
            pair = [identified.parameters(), np.array([answer.values[name] for name in robot.names])]
            errors.append([float(np.sqrt(np.mean((W @ theta - wanted) ** 2) / np.mean(wanted**2))) for theta in pair])
        fit, possible = np.median(errors, axis=0)
        print(f"  {noise:9.2f}   {fit:13.4f}   {possible:8.4f}   {impossible} of {seeds}")


def main(seeds=20, interpreters=(sys.executable,)):
    speed()
    open_chain(interpreters)
    coverage(seeds)
    held_out(seeds)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("seeds", type=int, nargs="?", default=20)
    options.add_argument("--rival-python", action="append", metavar="PATH")
    given = options.parse_args()
    main(given.seeds, given.rival_python or (sys.executable,))
