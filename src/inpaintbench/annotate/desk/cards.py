"""Requests of browsers, checked, and the replies to them as JSON.

Candidates are letters by place: no name of a method is in a reply.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from inpaintbench.annotate.languages import Said
from inpaintbench.annotate.questions.base import TEXT_LIMIT
from inpaintbench.annotate.records import Lease, SuggestionShown, Vote
from inpaintbench.annotate.study import PATCHED, Proxy, Study, StudyTask, Tile
from inpaintbench.errors import InpaintBenchError
from inpaintbench.pages.words import duration, number
from inpaintbench.types import content_id

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
# Without NUL, which databases cannot keep; halves of surrogate pairs are no strings anyway.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
# Seconds of a day, the most that an answer counts as having taken.
_DAY_SECONDS = 86400
# What is left is said in minutes from here on.
_MINUTES_FROM_SECONDS = 90
# Frames or plays that are counted at most; a confused browser may report any number.
_COUNT = 10**7
# Characters of a refusal; what browsers sent may stand in it.
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
        self.said = message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"
        super().__init__(self.said)
        self.status = status
        """400 malformed, 403 of another rater, 404 unknown, 409 settled by another submission, 423 paused."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", strict=True)


class Sent(_Message):
    """Fields of every submission."""

    submission_id: Id
    """Made by the browser; sending again what was stored changes nothing."""


# Changes of the study that were made when a card was drawn, as the card says; None where the client does not say it.
Revision = Annotated[int, Field(ge=0, le=2**31)]


# Name and main version of a browser.
Browser = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{1,20}( \d{1,5})?$")]
Ratio = Annotated[float, Field(ge=0, allow_inf_nan=False), _at_most(1000)]


class SentSeen(_Message):
    """How a task was seen, as the browser says. Coarse facts: none of them tells one person from another."""

    width: Count
    """CSS pixels of the smallest candidate's picture while it was judged."""
    scale: Ratio
    """Pixels of the screen for each pixel of the proxy, of the same."""
    pixel_ratio: Ratio
    """Pixels of the screen for each CSS pixel; page zoom changes it."""
    zoom: Ratio
    """Of two fingers, at the answer; 1 is none."""
    full_screen: bool
    portrait: bool
    browser: Browser
    hidden_seconds: Seconds
    """The page was in the background, before the answer."""
    frame_source: Literal["callback", "poll"]
    """Whether the browser says which frame it presents, or is asked at every repaint."""
    keys: Count | None = None
    """Pressed since the last answer, as are all counts up to ``trapped``; None of what was not done."""
    presses: Count | None = None
    """Of a mouse or a pen, and of buttons by keys."""
    touches: Count | None = None
    moves: Count | None = None
    """Of a mouse or a pen; where it went is not told."""
    scripted: Count | None = None
    """Of all these, those that a script made (``isTrusted`` is false)."""
    trapped: Count | None = None
    """Presses of a button that people cannot see and that asks programs to press it."""
    driven: bool | None = None
    """The browser says that a program drives it (``navigator.webdriver``); None where the client does not say it."""
    quality: Literal["full", "light"] | None = None
    """Which of the two encodings was shown; None where the client does not say it."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,35}$")] | None = None
    """In which the page was; as the server knows, never the client."""


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
    seen: SentSeen | None = None
    """None where the client does not say it."""
    revision: Revision | None = None


class SentSkip(Sent):
    """``POST /api/skips``."""

    lease_id: Id
    reason: Literal["broken", "unclear", "uncomfortable", "other"]
    text: Text = Field("", max_length=TEXT_LIMIT)
    revision: Revision | None = None


class SentUndo(Sent):
    """``POST /api/undos``."""

    undoes: Id


# Tasks that a browser may have in hand, the one on the screen too.
MOST_AHEAD = 10


class SentWork(_Message):
    """``POST /api/work``."""

    ahead: int = Field(0, ge=0, le=MOST_AHEAD)
    """Tasks that the browser has room for; what it said before by default."""


class SentStep(_Message):
    """``POST /api/steps``: a stranger's step that is no answer."""

    step: Literal["consent", "reread", "leave", "withdraw"]
    answer: bool = True
    """Whether they agree; of a consent alone."""
    sure: bool = False
    """They were asked a second time; of a withdrawal alone."""


_S = TypeVar("_S", bound=BaseModel)


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


# The last four are those of strangers.
Status = Literal["working", "done", "paused", "waiting", "consent", "rereading", "resting", "ended"]
# The reason of a skip that asks for a few words.
OTHER = "other"
SKIP_REASONS = (
    {"value": "broken", "label": "Does not play", "key": "1"},
    {"value": "unclear", "label": "I cannot tell", "key": "2"},
    {"value": "uncomfortable", "label": "I would rather not see this", "key": "3"},
    {"value": OTHER, "label": "Something else", "key": "4"},
)
_LABELS = {"original": "Original", "input": "Input", "clip": "Clip"}


def card(study: Study, lease: Lease, *, revision: int) -> dict[str, Any]:
    """One task, ready to be shown; ``revision``: changes of the study so far."""
    task = study.task_of[lease.task_id]
    spec, proxy = study.spec_of[task.question], study.proxies[task.proxy]
    return {
        "lease_id": lease.lease_id,
        "revision": revision,
        "task": content_id("card", lease.lease_id),  # of the lease: a silent repeat must not be known by its id
        "question": {"name": task.question, "leaf": spec.leaf, "form": study.form(task).json()},
        "prompt": task.prompt,
        "media": media_of(proxy),
        "players": players_of(proxy, lease.shown),
        "outline": outline_of(proxy),
        "must_watch": spec.must_watch,
        "suggestion": suggestion(study, task, mode="prefill"),
        "previous": dict(lease.previous) if lease.previous is not None else None,
        "skip_reasons": [dict(reason) for reason in SKIP_REASONS],
    }


def suggestion(study: Study, task: StudyTask, *, mode: Literal["after", "prefill"]) -> dict[str, str] | None:
    """The machine's answer where the study shows it in this ``mode``."""
    if suggestion_shown(study, task) != mode or task.suggestion is None:
        return None
    return {"part": study.form(task).parts[0].name, "value": task.suggestion, "mode": mode}


def suggestion_shown(study: Study, task: StudyTask, *, answered: bool = False) -> SuggestionShown:
    """Return how the suggestion is shown: ``hidden`` too where there is nothing to show. ``answered``: they saw it before."""
    mode = study.spec_of[task.question].suggestion if task.suggestion is not None else "hidden"
    return "seen" if answered and mode == "after" else mode


def stored(study: Study, vote: Vote | None, work: dict[str, Any], *, duplicate: bool) -> dict[str, Any]:
    """The reply to an answer, a skip or an undo (``vote`` None); after practice whether it was right, what was, and why."""
    shown, feedback = None, None
    if vote is not None:
        task = study.task_of[vote.task_id]
        if after := suggestion(study, task, mode="after"):
            shown = {"part": after["part"], "value": after["value"]}
        if vote.purpose == "training":
            labels = {option.value: option.label for option in study.form(task).parts[0].options}
            place = {method: letter(number) for number, method in enumerate(vote.shown)}
            named = [place.get(right) or labels.get(right, right) for right in task.gold]
            feedback = {"right": study.passes(task, vote.choice), "answers": named, "why": task.why}
    return {"stored": True, "duplicate": duplicate, "suggestion": shown, "feedback": feedback, "work": work}


def progress(answered: int, to_come: int, pace: float | None, undoable: str | None) -> dict[str, Any]:
    """Return how far a rater is. ``pace`` in seconds a task."""
    said = "" if pace is None else pace_words(pace, to_come)
    return {"answered": answered, "total": answered + to_come, "pace": said, "undoable": undoable}


def pace_words(pace: float, to_come: int) -> str:
    """Seconds a task, and how long the others will take: ``7.2 s each, about 11 min left``."""
    left, each = pace * to_come, number(pace, digits=2)
    about = f"{max(10, round(left, -1)):.0f} s" if left < _MINUTES_FROM_SECONDS else duration(left)
    return Said("{each} s each, about {about} left", each=each, about=about) if to_come else Said("{each} s each", each=each)


def outline_of(proxy: Proxy) -> dict[str, int] | None:
    """Place of the hole's outline, where there is one."""
    return next((_box(tile) for tile in proxy.tiles if tile.role == "outline"), None)


def letter(place: int) -> str:
    """A, B ... Z, AA ..."""
    name = ""
    number = place + 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def media_of(proxy: Proxy) -> dict[str, Any]:
    """Address, kind, frames and size of what is shown, and the address of the light encoding."""
    return {
        "url": f"/media/{proxy.name}",
        "kind": "video" if proxy.name.endswith(".mp4") else "image",
        "fps": proxy.fps,
        "frames": proxy.frames,
        "width": proxy.width,
        "height": proxy.height,
        "bytes": proxy.bytes,
        "light": f"/media/{proxy.light}" if proxy.light else None,
        "patches": patches_of(proxy),
    }


def patches_of(proxy: Proxy) -> dict[str, Any] | None:
    """Places of the mask, the original, and the patches that players lay over it, where the sheet has them."""
    places = {tile.role: _box(tile) for tile in proxy.tiles}
    patched = [_box(tile) for tile in proxy.tiles if tile.role in PATCHED]
    return {"mask": places["mask"], "original": places["original"], "tiles": patched} if "mask" in places else None


def players_of(proxy: Proxy, shown: tuple[str, ...]) -> list[dict[str, Any]]:
    """Candidates by place first: the order of tiles in the proxy is nobody's business."""
    placed = {shown.index(tile.candidate): tile for tile in proxy.tiles if tile.candidate in shown}
    players = [
        {"role": "candidate", "place": place, "label": letter(place), **_box(tile)} for place, tile in sorted(placed.items())
    ]
    for role, label in _LABELS.items():
        players += [{"role": role, "place": None, "label": label, **_box(tile)} for tile in proxy.tiles if tile.role == role]
    return players


def _box(tile: Tile) -> dict[str, int]:
    return {"x": tile.x, "y": tile.y, "width": tile.width, "height": tile.height}
