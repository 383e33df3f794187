"""Events of a watch: what happened, when, and the evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

INCONSISTENT, PAYLOAD, FRICTION, CHANGED = "inconsistent", "payload", "friction", "changed"
STUCK, SIGN, GAIN, CLOCK, OUTSIDE, DATA = "stuck", "sign", "gain", "clock", "outside", "data"
KINDS: Mapping[str, str] = {
    INCONSISTENT: "no parameters of the admitted set explain the window within the error bounds (proof)",
    PAYLOAD: "the mass on the platform changed",
    FRICTION: "the friction of an actuator changed or drifts",
    CHANGED: "residuals changed, and no effect of the list explains them",
    STUCK: "a channel repeats one value while the robot moves",
    SIGN: "an effort has the opposite sign",
    GAIN: "an effort is scaled",
    CLOCK: "times jump, samples are lost, or efforts lag behind positions",
    OUTSIDE: "the motion leaves the range of the identification",
    DATA: "lines or samples cannot be read",
}
"""The kinds of events, and what each states."""


@dataclass(frozen=True)
class Event:
    """One event.

    Examples:
        >>> Event(3, "payload", 12.5, "", "the platform carries 0.20 ± 0.03 kg more", "0.1 an hour").line
        '12.500 s  payload       the platform carries 0.20 ± 0.03 kg more'
    """

    number: int
    """Counted from 1 over the whole watch, restarts included."""
    kind: str
    time: float
    """Seconds of the source's clock at which it was found."""
    subject: str
    """Channel or actuator that it is about; empty for the whole robot."""
    message: str
    claim: str
    """"PROOF", or the false-alarm rate of its test."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Numbers behind the message."""
    certificate: str = ""
    """Name of the certificate's file, for a proof."""
    problem: str = ""
    """Name of the file with the rows that the certificate is about."""

    @property
    def line(self) -> str:
        """One line of text."""
        proof = f" [proof: {self.certificate}]" if self.certificate else ""
        return f"{self.time:.3f} s  {self.kind:<13} {self.message}{proof}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        known = {name: value for name, value in vars(self).items() if value != ""}
        numbers = {name: _finite(value) for name, value in self.evidence.items()}
        return {"type": "event", **known, "evidence": numbers}


def _finite(value: Any) -> Any:
    """None in place of a number that JSON has no word for."""
    return None if isinstance(value, float) and not isfinite(value) else value


class Latch:
    """Lets a condition raise one event, and arms again once it has been absent for some seconds.

    Examples:
        >>> latch = Latch(quiet=1.0)
        >>> latch.met(0.0), latch.met(0.5)
        (True, False)
        >>> latch.absent(1.0), latch.met(1.4)  # not absent for long enough
        (None, False)
        >>> latch.absent(3.0), latch.met(3.1)
        (None, True)
    """

    def __init__(self, quiet: float) -> None:
        self.quiet = quiet
        self.last: float | None = None
        """When the condition was met last, since the event; None while armed."""

    def met(self, time: float) -> bool:
        """The condition is met; says whether this is a new event."""
        is_new, self.last = self.last is None, time
        return is_new

    def absent(self, time: float) -> None:
        """The condition is not met."""
        if self.last is not None and (time - self.last >= self.quiet or time < self.last):
            self.last = None
