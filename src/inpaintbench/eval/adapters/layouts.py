"""The table of layouts, this package's own and those of others in a file of the same form; and the numbers of frames that a
program takes."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, NotMeasurable, UnknownNameError
from inpaintbench.files import read_text


class Window(NamedTuple):
    """Frames ``start..end`` of a clip that a program is given in one go, half open, and ``first..last``, what counts of them."""

    start: int
    end: int
    first: int
    last: int


class Cut(BaseModel):
    """Windows that give what the whole clip would: of ``length`` frames, with so many frames ``before`` and ``after`` as the
    program's result for a frame may depend on."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    length: PositiveInt
    before: NonNegativeInt = 0
    after: NonNegativeInt = 0

    def windows(self, frames: int) -> list[Window]:
        """The windows of a clip of ``frames``."""
        starts = range(0, frames, self.length)
        spans = [(first, min(first + self.length, frames)) for first in starts]
        return [Window(max(first - self.before, 0), min(last + self.after, frames), first, last) for first, last in spans]


class FramesRule(BaseModel):
    """Rule for the number of frames: ``step * n + offset``, at least ``min``, at most ``max``.

    A shorter clip repeats its last frame; what was added is cut off again. ``lead`` frames more are repeated before the first and
    ``tail`` after the last, for programs that lose those. A longer clip is refused, or cut into windows that share ``overlap``
    frames: half of those come from either window.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    step: PositiveInt = 1
    offset: NonNegativeInt = 0
    min: PositiveInt = 1
    max: PositiveInt | None = None
    lead: NonNegativeInt = 0
    tail: NonNegativeInt = 0
    overlap: PositiveInt | None = None

    @model_validator(mode="after")
    def _windows_go_on(self) -> FramesRule:
        if self.overlap is not None and (self.max is None or self._longest() <= self.overlap):
            raise ValueError("overlap takes a max whose windows are longer than it")
        return self

    def count(self, frames: int) -> int:
        """Frames that a program is given for ``frames`` of a clip."""
        least = max(frames + self.lead + self.tail, self.min)
        return max(math.ceil((least - self.offset) / self.step), 0) * self.step + self.offset

    def order(self, frames: int) -> npt.NDArray[np.intp]:
        """Index of the clip's frame at each place of what the program is given, ``intp[count]``."""
        return np.clip(np.arange(self.count(frames)) - self.lead, 0, frames - 1)

    def windows(self, frames: int) -> list[Window]:
        """The windows of a clip of ``frames``; one of all frames where the program takes them.

        Raises:
            NotMeasurable: more frames than it takes, and windows are not asked for.
        """
        if self.max is None or self.count(frames) <= self.max:
            return [Window(0, frames, 0, frames)]
        if self.overlap is None:
            raise NotMeasurable(
                f"the program takes at most {self.max} frames, the clip has {frames}; overlap=N cuts it into windows"
            )
        longest = self._longest()
        starts = [*range(0, frames - longest, longest - self.overlap), frames - longest]
        meet = [(before + longest + start) // 2 for before, start in itertools.pairwise(starts)]
        return [Window(at, at + longest, *kept) for at, *kept in zip(starts, [0, *meet], [*meet, frames], strict=True)]

    def _longest(self) -> int:
        assert self.max is not None
        return max((frames for frames in range(1, self.max + 1) if self.count(frames) <= self.max), default=0)


# A layout whose name ends so is a file, not a row of the table.
SUFFIX = ".toml"
# What stands in a command for the folders and files of one item, and which of those are read and written.
READ, WRITTEN = ("{input}", "{frames_dir}", "{video}", "{frame}"), ("{output}", "{prediction}")
# Fields that are told and change no result.
TOLD = {
    "title", "task", "looks_into", "composites", "dilates", "threshold", "seeded", "timeout", "home", "commit", "licence",
    "needs", "weights", "weights_at", "card", "expect", "note", "source", "unchecked", "progress", "cut",
}  # fmt: skip
Task = Literal["inpainting", "removal", "editing"]
Level = Annotated[int, Field(ge=0, le=255)]


def _counting(pattern: str) -> str:
    """A regular expression that names what it counts."""
    try:
        if "done" in re.compile(pattern).groupindex:
            return pattern
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    raise ValueError(f"{pattern!r} has no group (?P<done>...)")


Counter = Annotated[str, AfterValidator(_counting)]


def _below(name: str) -> str:
    """A file name that stays in its folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"{name!r} is no name below the folder")
    return name


def _numbered(template: str) -> str:
    """A file name that tells frames apart and stays in its folder."""
    try:
        names = [template.format(number) for number in (1, 2)]
    except (IndexError, KeyError, ValueError) as error:
        raise ValueError(f"{template!r} is no file name with one place for a number, such as frame_{{:04d}}.png") from error
    if names[0] == names[1] or Path(names[0]).is_absolute() or ".." in Path(names[0]).parts:
        raise ValueError(f"{template!r} needs a place for a number, such as frame_{{:04d}}.png, below the folder")
    return template


def _ending(name: str, endings: tuple[str, ...], why: str) -> str:
    if not name.endswith(endings):
        raise ValueError(f"{name!r} does not end in {why}")
    return name


Template = Annotated[str, AfterValidator(_numbered)]
Written = Annotated[Template, AfterValidator(
    lambda name: _ending(name, (".png", ".jpg"), ".png, or .jpg for PNG under that name: frames must arrive without loss")
)]  # fmt: skip
Name = Annotated[str, AfterValidator(_below)]
Clip = Annotated[Name, AfterValidator(
    lambda name: _ending(name, (".mp4", ".mkv"), ".mp4 or .mkv, which are written without loss")
)]  # fmt: skip


class Layout(BaseModel):
    """Layout of the folders of a program: one row of the table, whose head says what its fields mean."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    title: str
    task: tuple[Task, ...] = ("inpainting",)
    frame: Written | None = None
    hole: Written | None = None
    video_in: Clip | None = None
    hole_video_in: Clip | None = None
    prediction: Template | None = None
    video_out: Name | None = None
    hole_level: Literal["white", "black"] = "white"
    hole_mode: Literal["1", "L", "RGB"] = "L"
    hole_value: Annotated[int, Field(ge=1, le=255)] = 255
    hole_fill: tuple[Level, Level, Level] | None = None
    looks_into: str | None = None
    first: int = 0
    runs: Literal["item", "frame"] = "item"
    divisor: PositiveInt | tuple[PositiveInt, PositiveInt] = 1
    size: tuple[PositiveInt, PositiveInt] | None = None
    square_size: tuple[PositiveInt, PositiveInt] | None = None
    max_area: PositiveInt | None = None
    least_side: PositiveInt | tuple[PositiveInt, PositiveInt] = 1
    clip_fps: PositiveInt = 24
    frames_rule: FramesRule = FramesRule()
    cut: Cut | None = None
    command: str = "PROGRAM"
    commands: tuple[str, ...] = ()
    cwd: str | None = None
    input_at: Literal["input", "cwd"] = "input"
    links: tuple[Name, ...] = ()
    env: dict[str, str] = {}
    files: dict[Name, str] = {}
    each_frame: dict[Name, str] = {}
    output_from: Literal["output", "cwd", "input"] = "output"
    newest: bool = False
    crop_out: tuple[float, float, float, float] | None = None
    lossy: str | None = None
    composites: Literal["hole", "dilated", "blurred", "no"] = "hole"
    dilates: str = "none"
    threshold: str | None = None
    device: Literal["any", "cuda", "cpu"] = "any"
    seeded: bool = True
    negative_prompt: str = ""
    prompt_in_path: bool = False
    timeout: PositiveFloat = 3600.0
    progress: tuple[Counter, ...] = ()
    home: str | None = None
    commit: str | None = None
    licence: str | None = None
    needs: str | None = None
    weights: str | None = None
    weights_at: Name | None = None
    card: str | None = None
    expect: str | None = None
    note: str | None = None
    source: str = "a file of yours"
    unchecked: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _fields_fit(self) -> Layout:
        if self.frame is None and self.video_in is None:
            raise ValueError("give frame, video_in, or both: what the program reads")
        if (self.prediction is None) == (self.video_out is None):
            raise ValueError("give either prediction or video_out: what the program writes")
        if self.runs == "frame" and None in (self.frame, self.hole, self.prediction):
            raise ValueError("a program that runs once a frame takes frame, hole and prediction")
        if self.cwd is not None and self.cwd not in ("scratch", "overlay") and self.cwd.partition("/")[0] != "repo":
            raise ValueError(f"cwd {self.cwd!r} is none of scratch, overlay, repo and repo/FOLDER")
        if self.links and self.cwd != "overlay":
            raise ValueError('links are for cwd = "overlay"')
        if self.cut is not None and (self.frames_rule.max or self.frames_rule.lead or self.frames_rule.tail):
            raise ValueError("cut is for programs that take clips of any length, as they are")
        if self.weights_at is not None and self.weights_at not in self.links:
            raise ValueError("weights_at is one of links")
        return self

    def __str__(self) -> str:
        level = f" ({self.hole_level} is hole)" if self.takes_hole else ""
        size = f", {self.size[0]}x{self.size[1]}" if self.size else ""
        read = ", ".join(filter(None, (self.frame, self.hole, self.video_in, self.hole_video_in)))
        return f"{read}{level} -> {self.prediction or self.video_out}{size}"

    @property
    def takes_hole(self) -> bool:
        """Whether the program is told what to fill, by pictures or by a video."""
        return bool(self.hole or self.hole_video_in)

    @property
    def started(self) -> tuple[str, ...]:
        """Commands of the program in their order."""
        return self.commands or (self.command,)

    def windows(self, frames: int) -> list[Window]:
        """In which windows the program works on a clip of ``frames``.

        Raises:
            NotMeasurable: more frames than it takes, and windows are not asked for.
        """
        return self.cut.windows(frames) if self.cut else self.frames_rule.windows(frames)

    @property
    def is_preset(self) -> bool:
        """Return whether the command is ready to run once its folder and weights are named."""
        return any("{repo}" in command for command in self.started) or (self.cwd or "").startswith("repo")


@lru_cache(maxsize=1)
def layouts() -> dict[str, Layout]:
    """The layouts of this package, by name."""
    text = files("inpaintbench.eval.adapters").joinpath("layouts.toml").read_text()
    return {name: Layout(**row) for name, row in tomllib.loads(text).items()}


def presets() -> dict[str, Layout]:
    """Layouts that say how their program is started."""
    return {name: layout for name, layout in layouts().items() if layout.is_preset}


def layout_of(name: str) -> Layout:
    """The layout ``name``; a name that ends in ``.toml`` is a file with the fields of one.

    Raises:
        UnknownNameError: no such layout. InputError: no such file, or one with other fields.
    """
    if not name.endswith(SUFFIX):
        if name not in layouts():
            raise UnknownNameError(unknown_name("layout", name, layouts()))
        return layouts()[name]
    path = Path(name)
    try:
        return Layout(**({"title": path.stem} | tomllib.loads(read_text(path))))
    except OSError as error:
        raise InputError(f"the layout {str(path)!r} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = min(error.errors(), key=lambda one: one["type"] == "missing")  # what is wrong before what is not there yet
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"the layout {str(path)!r} is not one: {where}{': ' if where else ''}{first['msg']}") from error
    except ValueError as error:
        raise InputError(f"the layout {str(path)!r} is not TOML: {error}") from error
