"""FIGAROH: its workflow class with the default decimation and weighted least squares."""

import tempfile
from pathlib import Path

import numpy as np
import yaml
from figaroh.identification.base_identification import BaseIdentification
from figaroh.tools.load_robot import load_robot
from protocol import answer_task

CALL = "BaseIdentification.solve(wls=True, plotting=False): decimation by 10; ± = 1.96 · wls_std_deviations"


class Arm(BaseIdentification):
    """The subclass for one robot that FIGAROH asks for; motions are exact here, so that they are not filtered."""

    recorded = None

    def load_trajectory_data(self, data_source=None):
        return self.recorded

    def filter_kinematics_data(self, filter_config=None):
        names = ("timestamps", "positions", "velocities", "accelerations")
        self.processed_data = {name: self.raw_data[name] for name in names}


def arm(data, stated):
    folder = Path(tempfile.mkdtemp())
    (folder / "arm.urdf").write_text(stated["urdf"], encoding="utf-8")
    joints = [f"joint{k + 1}" for k in range(data["q"].shape[1])]
    tasks = {
        "identification": {
            "enabled": True,
            "joints": {"active_joints": joints},
            "problem": {
                "model_components": {"friction": True, "actuator_inertia": False, "joint_offset": False},
                "wls": True,
            },
            "signal_processing": {"sampling_frequency": stated["rate"], "cutoff_frequency": 20.0},
            "mechanics": {
                "friction_coefficients": {"viscous": [0.0] * len(joints), "static": [0.0] * len(joints)},
                "actuator_inertias": [0.0] * len(joints),
                "joint_offsets": [0.0] * len(joints),
                "reduction_ratios": [1.0] * len(joints),
            },
            "coupling": {"has_coupled_wrist": False},
        }
    }
    (folder / "arm.yaml").write_text(yaml.safe_dump({"robot": {"name": "arm"}, "tasks": tasks}), encoding="utf-8")
    robot = load_robot(str(folder / "arm.urdf"))

    def answer(k):
        solver = Arm(robot, str(folder / "arm.yaml"))
        indices = list(range(len(joints)))  # as the examples of FIGAROH set them in the subclass
        solver.identif_config.update(act_idxq=indices, act_idxv=indices)
        solver.recorded = {
            "timestamps": data["t"],
            "positions": data["q"],
            "velocities": data["dq"],
            "accelerations": data["ddq"],
            "torques": data["efforts"][k],
        }
        solver.initialize()
        solver.solve(wls=True, plotting=False)
        value = np.asarray(solver.phi_base, dtype=float)
        sigma = np.asarray(solver.result["wls_std_deviations"]) / 100 * np.abs(value)
        combinations = np.zeros((len(value), len(stated["standard"])))
        for row, column in np.argwhere(solver._M_matrix != 0):
            name = standard_name(solver._params_r_for_recon[column])
            combinations[row, stated["standard"].index(name)] = solver._M_matrix[row, column]
        return {"value": value, "half": 1.96 * sigma, "combinations": combinations, "single": 0}

    return CALL, {}, answer


def standard_name(name):
    """FIGAROH's name of a parameter as the task has it: Ixx_joint1 is Ixx_link1, fs_joint1 is fc_joint1."""
    term, joint = name.split("_", 1)
    of = f"joint{joint[-1]}" if term in {"fv", "fs"} else f"link{joint[-1]}"
    return f"{'fc' if term == 'fs' else term}_{of}"


if __name__ == "__main__":
    answer_task({"arm": arm}, ["figaroh", "pin", "numpy", "scipy"])
