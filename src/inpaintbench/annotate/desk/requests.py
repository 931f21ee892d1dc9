"""Requests of browsers, checked, and their refusal."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from inpaintbench.annotate.questions.base import TEXT_LIMIT
from inpaintbench.errors import InpaintBenchError

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
# Without NUL, which databases cannot keep; halves of surrogate pairs are no strings anyway.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
_DAY_SECONDS = 86400
_COUNT = 10**7
_LONGEST_MESSAGE = 300


def _at_most(limit: int) -> AfterValidator:
    """Validator that lowers larger numbers to ``limit``.

    A tab that lay open for days, or a confused clock, must not cost anybody their answer.
    """
    return AfterValidator(lambda number: min(number, limit))


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False), _at_most(_DAY_SECONDS)]
Plays = Annotated[float, Field(ge=0, allow_inf_nan=False), _at_most(_COUNT)]
Count = Annotated[int, Field(ge=0), _at_most(_COUNT)]


class Refused(InpaintBenchError):
    """A request that is not carried out; ``status`` is its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…")
        self.status = status
        """400 malformed, 403 of another rater, 404 unknown, 409 settled by another submission, 423 paused."""


class Sent(BaseModel):
    """Fields of every submission."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    submission_id: Id
    """Made by the browser; sending again what was stored changes nothing."""


class SentAnswer(Sent):
    """``POST /api/answers``."""

    lease_id: Id
    given: dict[str, Text]
    seconds: Seconds
    """From the first frame shown to the answer; a day at most."""
    watched_frames: Count
    """Different frames of the proxy that were shown."""
    dropped_frames: Count
    plays: Plays
    stuttered: bool


class SentSkip(Sent):
    """``POST /api/skips``."""

    lease_id: Id
    reason: Literal["broken", "unclear", "uncomfortable", "other"]
    text: Text = Field("", max_length=TEXT_LIMIT)


class SentUndo(Sent):
    """``POST /api/undos``."""

    undoes: Id


_S = TypeVar("_S", bound=Sent)


def parsed(kind: type[_S], fields: Any) -> _S:
    """``fields`` as the model ``kind``.

    Raises:
        Refused: status 400; not an object, a field is missing, unknown, of another type or out of range.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise Refused(400, f"{place + ': ' if place else ''}{first['msg']}") from error
