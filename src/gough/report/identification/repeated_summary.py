"""A report on repeats as plain data: every verdict and every number behind it, no curves."""

from typing import Any

import gough
from gough.dynamics import BenchmarkVerdict
from gough.methods.noise.repeats import RepeatNoise
from gough.report.identification.repeated import RepeatedReport
from gough.report.identification.repeated_tables import regroupings
from gough.report.identification.summary import encoded


def repeated_summary(report: RepeatedReport) -> dict[str, Any]:
    """What report.json holds of an identification from repeats."""
    found, motion = report.found, report.found.motion
    unknowns = found.likeliest.unknowns
    data = {
        "title": report.title,
        "lead": list(report.lead),
        "written_by": f"gough {gough.__version__}",
        "robot": found.robot.name,
        "variant": getattr(found.robot, "variant", ""),
        "parameters": list(found.robot.names),
        "unknowns": list(unknowns.names),
        "units": list(unknowns.units),
        "regrouping": regroupings(found),
        "truth": report.truth,
        "fixed": dict(found.fixed),
        "premises": list(found.premises),
        "verdicts": list(found.verdicts),
        "is_refuted": found.is_refuted,
        "data": {
            "rate": motion.rate,
            "period": motion.period,
            "repeats": motion.n_repeats,
            "samples": motion.n_samples,
            "channels": list(motion.channels),
        },
        "methods": {
            label: {
                "status": e.status.name,
                "method": e.method,
                "notes": list(e.notes),
                "chance_of_distance": found.disagreement[label],
            }
            for label, e in found.estimates.items()
        },
        "refused": dict(found.refused),
        "order": {
            "chosen": found.order.order,
            "reason": found.order.reason,
            "is_refuted": found.order.is_refuted,
            "tried": [row._asdict() for row in found.order.rows],
            "bic_of_positions": {str(order): value for order, value in found.by_positions.items()},
        },
        "covariance": found.covariance,
        "noise": None if found.noise is None else _noise(found.noise),
        "benchmarks": {name: _benchmark(verdict) for name, verdict in found.benchmarks.items()},
    }
    return {key: encoded(value) for key, value in data.items()}


def _noise(noise: RepeatNoise) -> dict[str, Any]:
    tests = {"gaussian": noise.gaussian, "white": noise.white, "alike": noise.alike}
    return {
        "channels": list(noise.names),
        "sigma": noise.sigma,
        "sigma_interval": list(noise.sigma_interval()),
        "covariance": noise.covariance,
        "covariance_sigma": noise.covariance_sigma,
        "dof": noise.dof,
        "memory": noise.memory,
        **{
            name: [{"statistic": t.what, "value": t.statistic, "p": t.p, "is_refuted": t.is_refuted} for t in found]
            for name, found in tests.items()
        },
    }


def _benchmark(verdict: BenchmarkVerdict) -> dict[str, Any]:
    return {
        "actuators": list(verdict.actuators),
        "units": list(verdict.effort_units),
        "order": verdict.order,
        "model_variance": verdict.model_variance,
        "measurement_variance": verdict.measurement_variance,
        "residual_variance": verdict.residual_variance,
        "expected_variance": verdict.expected_variance,
        "p": verdict.p,
        "bias": [bias.name for bias in verdict.bias],
        "is_unbiased": verdict.is_unbiased,
        "verdicts": list(verdict.verdicts),
    }
