"""Doors of platforms: what their programming interfaces say of somebody's submission, and take: approvals, returns, bonuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from inpaintbench.errors import InputError, NetworkError

# `open`: not handed in; `waiting`: handed in, nobody has decided.
Status = Literal["open", "waiting", "approved", "rejected", "returned", "screened out", "timed out"]

# Pay the reward; pay nothing; ask the person to return it; pay what the study there pays for the test alone.
Action = Literal["approve", "reject", "ask back", "screen out"]


class Refused(InputError):
    """The platform refuses what was asked, in its own words; nothing has changed there."""


class InDoubt(NetworkError):
    """A payment was sent, and nobody knows whether the platform got it."""


@dataclass(frozen=True)
class Submission:
    """What the platform says of one person's submission."""

    status: Status
    study: str
    """The platform's id of the study; of the HIT on MTurk."""
    bonus: int
    """Cents of all bonuses that have been paid."""
    asked_back: bool = False
    """Whether the person was asked to return it."""


@dataclass(frozen=True)
class Bonus:
    """One payment."""

    submission: str
    participant: str
    cents: int
    after: int
    """Cents of all bonuses once it is paid: two payments of one amount differ by it."""
    reason: str = ""


class Door(Protocol):
    """A platform's interface.

    Every method raises ``Refused``, and ``NetworkError`` where the platform does not answer at every try. All may be sent again
    without harm, except for ``pay``.
    """

    name: str
    most: int
    """Bonuses of one payment."""
    repeats: bool
    """Whether the platform pays a payment that is sent again no second time."""
    returns: bool
    """Whether people can be asked to return a submission, and be screened out; else neither may be told."""

    def look(self, submission: str) -> Submission:
        """How a submission stands."""

    def tell(self, action: Action, submission: str, words: str) -> None:
        """Approve, reject, ask back or screen out; ``words`` are the reason that the person reads, or the code of screening."""

    def set_up(self, study: str, bonuses: Sequence[Bonus]) -> str:
        """Prepare a payment of bonuses, which pays nothing yet, and return its key."""

    def pay(self, key: str, bonuses: Sequence[Bonus]) -> None:
        """Pay what was set up.

        Raises:
            InDoubt: it may have got there; unless ``repeats``, it must not be sent again before that is known.
        """

    def places(self, study: str) -> dict[str, object]:
        """What of a study there is taken and left, in the platform's words."""
