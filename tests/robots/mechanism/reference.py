"""Closed-chain dynamics by Pinocchio alone: its frames close the loops, its tree gives the forces.

Independent of the library's equations: positions from a plain Gauss-Newton on Pinocchio's frames, velocities and
accelerations from its Jacobians and their drift, efforts by projection of its inverse dynamics.
"""

import numpy as np
import pinocchio as pin

from gough.robots.mechanism.parts import BASE
from gough.simulate.multibody import pinocchio_model


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


class Reference:
    """A mechanism without a tool frame of its own."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        self.tree = pinocchio_model(mechanism)
        self.model, self.data = self.tree.model, self.tree.model.createData()
        self.frames = []
        for closure in mechanism.closures:
            pair = []
            for end, (body, place) in enumerate(zip(closure.bodies, closure.placements, strict=True)):
                at = pin.SE3(place.matrix, np.array(place.position))
                joint = 0 if body == BASE else self.tree.bodies[body]
                frame = pin.Frame(f"{closure.name}{end}", joint, at, pin.FrameType.OP_FRAME)
                pair.append(self.model.addFrame(frame))
            self.frames.append(pair)
        self.data = self.model.createData()
        names = [mechanism.coordinates[k] for k in self.tree.order]
        self.motors = [names.index(name) for name in mechanism.actuated]
        self.others = [k for k in range(len(names)) if k not in self.motors]

    def closures(self, q, dq):
        """Gaps, their Jacobian and what is left of their second derivative without accelerations."""
        pin.forwardKinematics(self.model, self.data, q, dq, 0 * dq)
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        gaps, rows, drift = [], [], []
        for closure, pair in zip(self.mechanism.closures, self.frames, strict=True):
            M = [self.data.oMf[k] for k in pair]
            J = [pin.getFrameJacobian(self.model, self.data, k, world) for k in pair]
            a = [pin.getFrameClassicalAcceleration(self.model, self.data, k, world) for k in pair]
            v = [pin.getFrameVelocity(self.model, self.data, k, world) for k in pair]
            for direction in closure.directions:
                k = "xyz".index(direction[-1])
                if len(direction) == 1:
                    full = {"x", "y", "z"} <= set(closure.directions)
                    assert full or not v[0].angular[:2].any(), "directions of a tilting frame are not covered here"
                    e = np.eye(3)[k] if full else M[0].rotation[:, k]
                    if not full:  # planar: the plane's own axes do as well
                        e = np.eye(3)[k]
                    gaps.append(e @ (M[1].translation - M[0].translation))
                    rows.append(e @ (J[1][:3] - J[0][:3]))
                    drift.append(e @ (a[1].linear - a[0].linear))
                else:
                    assert closure.directions[3:] == ("rz",), "only universal closures are covered here"
                    x, y = M[0].rotation[:, 0], M[1].rotation[:, 1]
                    gaps.append(x @ y)
                    rows.append(y @ (-skew(x) @ J[0][3:]) + x @ (-skew(y) @ J[1][3:]))
                    second = []
                    for axis, n in ((x, 0), (y, 1)):
                        w = v[n].angular
                        second.append(np.cross(a[n].angular, axis) + np.cross(w, np.cross(w, axis)))
                    rate = np.cross(v[0].angular, x) @ np.cross(v[1].angular, y)
                    drift.append(second[0] @ y + second[1] @ x + 2 * rate)
        return np.array(gaps), np.array(rows), np.array(drift)

    def assembled(self, s, q):
        """The tree's coordinates for motor positions q, near the coordinates s of the mechanism."""
        tree = self.tree.arranged(s).copy()
        tree[self.motors] = q
        for _ in range(30):
            gaps, C, _ = self.closures(tree, 0 * tree)
            tree[self.others] -= np.linalg.lstsq(C[:, self.others], gaps, rcond=None)[0]
        assert np.abs(gaps).max() < 1e-13
        return tree

    def efforts(self, s, q, dq, ddq):
        """Motor efforts without friction, for one sample."""
        tree = self.assembled(s, q)
        _, C, _ = self.closures(tree, 0 * tree)
        closed = np.zeros((len(tree), len(q)))
        closed[self.motors] = np.eye(len(q))
        closed[self.others] = -np.linalg.lstsq(C[:, self.others], C[:, self.motors], rcond=None)[0]
        v = closed @ dq
        _, _, drift = self.closures(tree, v)
        a = closed @ ddq
        a[self.others] -= np.linalg.lstsq(C[:, self.others], drift, rcond=None)[0]
        return closed.T @ pin.rnea(self.model, self.data, tree, v, a)
