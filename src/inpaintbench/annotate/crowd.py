"""A study with strangers whom a platform sends: what ``[crowd]`` of a study file says, and what the platforms want."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

PlatformName = Literal["prolific", "connect", "link", "mturk"]
# How somebody's part in a study ended.
Outcome = Literal[
    "completed", "no_more_tasks", "failed_checks", "screened_out", "declined", "returned", "withdrawn"
]  # fmt: skip
# Ends at which nothing is owed.
UNPAID: frozenset[Outcome] = frozenset({"declined", "returned", "withdrawn"})
# Identifiers come from anybody: what is longer or holds anything else is none.
IDENTIFIER = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
# Ids of Prolific are those of MongoDB; those of MTurk are as its API states them (`CustomerId`, `EntityId`).
_OF_PROLIFIC, _OF_WORKERS, _OF_MTURK = (re.compile(of, re.ASCII) for of in ("[0-9a-f]{24}", "A[A-Z0-9]{1,63}", "[A-Z0-9]{1,64}"))
# Where Prolific publishes the keys of its signed links.
PROLIFIC_KEYS = "https://api.prolific.com/.well-known/study/jwks.json"
# A placeholder that the platform did not fill in.
PLACEHOLDER = re.compile(r"^(\{\{.*\}\}|\$\{.*\}|%[A-Za-z_]+%)$")
# Where workers of MTurk hand in; no other address may be posted to.
MTURK_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
# Of so many known answers of a rater the second one is of a task whose pictures say what to choose, while there are any.
HONEY_EVERY = 3


class Strict(BaseModel):
    """A part of a study file: nothing in it that is not known, and no numbers without end."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", allow_inf_nan=False)


class Codes(Strict):
    """Codes that the platform gives meaning to: money, so the environment (``INPAINTBENCH_CODE_COMPLETED`` ...) may hold them."""

    completed: str = ""
    failed_checks: str = ""
    screened_out: str = ""
    no_more_tasks: str = ""


class Link(Strict):
    """Names of the parameters of a platform that is not known by name, and its address to come back to."""

    participant: str = "participant"
    session: str = ""
    study: str = ""
    back: str = ""
    """Address with ``{code}`` and, if wanted, ``{participant}``, ``{session}`` and ``{study}``."""


class Qualify(Strict):
    """Practice with feedback, then a test without; both CSV files as gold is, practice with a column ``why``."""

    training: str | None = None
    test: str | None = None
    right: int = Field(0, ge=0, le=10**4)
    """Right answers of the test that are needed."""


class Crowd(Strict):
    """``[crowd]``."""

    platform: PlatformName = "prolific"
    places: int = Field(50, ge=1, le=10**6)
    """People who may take part until the end."""
    tasks_per_person: int = Field(40, ge=1, le=10**5)
    """Ordinary tasks; known answers and repeats come on top."""
    most_minutes: float = Field(60, gt=0, le=24 * 60)
    """After so long, without an end, a place is somebody else's. Who is late may still finish."""
    break_every_minutes: float = Field(10, gt=0, le=24 * 60)
    break_seconds: float = Field(30, ge=0, le=3600)
    consent: str = ""
    """File whose text is shown before anything else."""
    consent_text: str = ""
    """The text, where it stands here."""
    signed: bool = False
    """Only links that Prolific has signed are taken ("Secured External URL" there)."""
    keys: str = PROLIFIC_KEYS
    """File or address of the key set (JWKS) that the signatures are checked with."""
    study_id: str = ""
    """The platform's id of the study there: links of other studies are refused. Signed links need it."""
    places_a_network: int = Field(5, ge=0, le=10**6)
    """People of one network (/24 of IPv4, /64 of IPv6) who may be at work at once where links are not signed; 0: any number."""
    honey: int = Field(0, ge=0, le=1000)
    """Comparisons with a known answer whose pictures themselves ask for another one ("choose this", a tick), which no text of
    the page says: every third known answer of a person from the second on, while there are any. They count for no result and
    pause nobody; ``[screening.signs_of_a_program]`` looks at them."""
    keep_votes: bool = False
    """Answers of those who withdraw still count, as the consent must say; otherwise they are excluded."""
    exclude_studies: tuple[str, ...] = ()
    """Folders of prepared studies: who agreed to take part in one of them, on the same platform, is not taken here."""
    codes: Codes = Codes()
    link: Link = Link()
    qualify: Qualify = Qualify()

    @model_validator(mode="after")
    def _codes_differ(self) -> Crowd:
        codes = [code for code in self.codes.model_dump().values() if code]
        if len(set(codes)) < len(codes):
            raise ValueError("two outcomes have the same code; the platform could not tell them apart")
        if self.platform == "link" and self.link.back and "{code}" not in self.link.back:
            raise ValueError(f"link.back {self.link.back!r} has no place for {{code}}")
        if self.link.back and not re.match(r"https?://", self.link.back):
            raise ValueError(f"link.back {self.link.back!r} is no address; it begins with https://")
        if self.signed and (self.platform != "prolific" or not self.study_id):
            raise ValueError("signed links are those of Prolific, and need study_id: the id that the study has there")
        if self.platform == "link" and self.study_id and not self.link.study:
            raise ValueError("study_id needs link.study: the parameter that brings it")
        if self.qualify.right and self.qualify.test is None:
            raise ValueError("qualify.right needs a test; name its file")
        return self

    def code(self, outcome: Outcome) -> str:
        """The completion code of an outcome; empty where there is none."""
        stated = self.codes.model_dump().get(outcome)
        return "" if stated is None else os.environ.get(f"INPAINTBENCH_CODE_{outcome.upper()}", stated)


@dataclass(frozen=True)
class Platform:
    """What a platform's link brings, and where people go back to."""

    participant: str
    """Name of the parameter."""
    session: str
    study: str
    back: str
    """Address to come back to, empty where a form is posted instead."""
    person: re.Pattern[str] = IDENTIFIER
    """Form of the ids of participants."""
    other: re.Pattern[str] = IDENTIFIER
    """Form of the ids of sessions and studies."""


_PLATFORMS: Mapping[PlatformName, Platform] = {
    "prolific": Platform(
        "PROLIFIC_PID", "SESSION_ID", "STUDY_ID", "https://app.prolific.com/submissions/complete?cc={code}", _OF_PROLIFIC,
        _OF_PROLIFIC,
    ),
    "connect": Platform(
        "participantId", "assignmentId", "projectId", "https://connect.cloudresearch.com/participant/project/{study}/complete"
    ),
    "mturk": Platform("workerId", "assignmentId", "hitId", "", _OF_WORKERS, _OF_MTURK),
}  # fmt: skip


def address(crowd: Crowd, origin: str) -> str:
    """The address of a study for its platform, with the platform's own placeholders where it needs them."""
    known, entry = platform_of(crowd), f"{origin}/enter"
    if crowd.platform == "prolific":
        return f"{entry}?" + "&".join(f"{name}={{{{%{name}%}}}}" for name in (known.participant, known.study, known.session))
    if crowd.platform == "link":
        return f"{entry}?" + "&".join(f"{name}=..." for name in (known.participant, known.session, known.study) if name)
    return entry


def platform_of(crowd: Crowd) -> Platform:
    """The platform of a study."""
    link = crowd.link
    return _PLATFORMS.get(crowd.platform) or Platform(link.participant, link.session, link.study, link.back)
