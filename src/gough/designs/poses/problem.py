"""The choice of poses as a value: robot, candidates, their information, and where accuracy is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.data import Poses
from gough.designs.poses.candidates import Candidates
from gough.designs.poses.criteria import DCriterion, PoseCriterion, criterion_named
from gough.designs.poses.information import PoseInformation, pose_information
from gough.designs.poses.search import greedy
from gough.designs.poses.workspace import Workspace, workspace_of
from gough.robots.kinematics import KinematicModel, checked


@dataclass(frozen=True, eq=False)
class PoseProblem(ArrayValue):
    """Which of the candidates to measure, so that a calibration from them is most accurate.

    Examples:
        >>> from gough.designs.poses import PoseLimits, candidates
        >>> from gough.robots import LinearDelta
        >>> limits = PoseLimits(pose={"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)})
        >>> drawn = candidates(LinearDelta(), limits, sources=["low-discrepancy"], count=200)
        >>> problem = PoseProblem.of(LinearDelta(), drawn.with_noise(2e-5, readings=1e-6))
        >>> problem.needed  # 10 unknowns, three equations at each pose
        4
    """

    model: KinematicModel
    parameters: Array
    candidates: Candidates
    information: PoseInformation
    workspace: Workspace
    criterion: PoseCriterion
    repeats: bool = False
    """May a configuration be chosen more than once?"""

    @classmethod
    def of(
        cls,
        model: KinematicModel,
        candidates: Candidates,
        *,
        criterion: str = "D",
        parameters: Any = None,
        fixed: Sequence[str] = (),
        scale: bool = False,
        measured: Poses | None = None,
        repeats: bool = False,
    ) -> "PoseProblem":
        """The problem of choosing from candidates whose noise is stated.

        Args:
            model: The robot.
            candidates: The candidates.
            criterion: "D", "A", "E" or "pose" (predicted positions over the workspace).
            parameters: The robot's, by default the blueprint's.
            fixed: Parameters that the calibration will not touch.
            scale: Will the calibration also find the scale of measured positions?
            measured: Poses that were measured already: the new ones are chosen to complete them.
            repeats: May a configuration be chosen more than once?
        """
        theta = checked(model, model.nominal if parameters is None else parameters)
        information = pose_information(
            model, candidates.poses, parameters=theta, fixed=fixed, scale=scale, measured=measured
        )
        workspace = workspace_of(model, theta, candidates, information)
        chosen = criterion_named(criterion, information, workspace.sensitivity[:, :3])
        return cls(model, theta, candidates, information, workspace, chosen, repeats)

    @cached_property
    def needed(self) -> int:
        """The fewest poses that identify all that can be: found by choosing greedily from as many as equations ask."""
        information = self.information
        most = min(len(self.candidates), 4 * information.n_parameters)
        order: list[int] = []
        for count in range(
            1 if information.known.any() else -(-information.n_parameters // information.n_chains), most + 1
        ):
            order = greedy(information.Z, count, DCriterion(), information.known, first=order)
            if not information.is_singular(information.of(order)):
                return count
        raise InputError(
            f"{most} of the {len(self.candidates)} candidates do not identify the {information.n_parameters} "
            "unknowns that they could: they are too much alike. Widen the limits, or draw more"
        )

    def require_count(self, count: int) -> None:
        """Raise InputError unless so many poses can be chosen, and identify what can be identified."""
        n = len(self.candidates)
        require(self.repeats or count <= n, f"{count} poses are requested, but only {n} candidates keep the limits")
        information = self.information
        if count < self.needed:
            raise InputError(
                f"{count} poses do not identify {information.n_parameters} unknowns with {information.n_chains} "
                f"equations each: {self.needed} poses are needed at least, better {2 * self.needed}"
            )
