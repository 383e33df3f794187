"""Notes of `gough mechanism` on descriptions that are complete but odd."""

from dataclasses import replace

from gough.robots.mechanism import MechanismModel
from gough.robots.mechanism.examination import examine
from gough.simulate.multibody.experiment import seven_axes


def test_drives_without_friction_are_noted():
    arm = seven_axes()
    bare = replace(
        arm,
        joints=tuple(
            replace(joint, freedoms=tuple(replace(each, friction=None) for each in joint.freedoms))
            for joint in arm.joints
        ),
    )
    assert "no friction is stated for the drives q1, q2" in str(examine(MechanismModel(bare)))
    assert not examine(MechanismModel(arm)).frictionless
