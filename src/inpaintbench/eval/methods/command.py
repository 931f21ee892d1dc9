"""Any program as a method: it reads a folder of pictures or a video and writes either."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.exchange import Fit, Shape, departures, filled, read_output, write_edit, write_input, write_texts
from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.adapters.layouts import READ, SUFFIX, TOLD, WRITTEN, FramesRule, Task, Window, layout_of
from inpaintbench.eval.adapters.progress import Call, told
from inpaintbench.eval.adapters.starting import Usage, both, has_card, machine, scratch_folder, start
from inpaintbench.eval.methods.base import Method
from inpaintbench.ranges import Duration, Seed, Whole
from inpaintbench.types import Frames, Hole, Prompts, content_id
from inpaintbench.view import ItemView

_ITEM_PLACES = ("{input}", "{output}")
_FRAME_PLACES = ("{frame}", "{hole}", "{prediction}")
# How long a container may take to end.
_ENDING_SECONDS = 60
# Most bytes of a file's name on Linux, less some for what programs append.
_NAME_BYTES = 240
# How files of weights end, which names of models do not.
_WEIGHTS = (".ckpt", ".pkl", ".pt", ".pth", ".safetensors", ".tar")
# Programs that run an image with the options of Docker's command line, by preference.
_CONTAINER_PROGRAMS = ("docker", "podman")


class Command(Method):
    """Runs a program once an item or once a frame, in a temporary folder, without a shell and with the caller's environment.

    For an edit ``prompts.json`` lies beside the frames (``{"source": ..., "target": ...}``, null what the item has not, and
    ``"instruction"`` where it has one), and the mask of the object, where there is one, as ``object_mask_0000.png``, white =
    object; for a clip that somebody describes its ``"target"`` is that, and ``"hole"`` what fills the hole.

    The program and arguments that name existing files may be relative to the folder the caller runs in, or to ``folder``. All
    processes that the program started are killed when it ends, when its time is up and when this process dies. Both of its
    streams are kept in the log.

    Args:
        command: program and arguments; ``{input}`` and ``{output}`` stand for the two folders, or ``{frame}``, ``{hole}`` and
            ``{prediction}`` for the files of one frame, where the layout runs the program so. They are appended where none is
            named. By default that of the layout.
        time_limit_seconds: for one item; that of the layout by default.
        layout: a name in ``eval/adapters/layouts.toml``, or a file of that form, which ends in ``.toml``.
        divisor: what the program wants frame sides to be multiples of; one number or (width, height); that of the layout by
            default.
        folder: the program's own folder, ``{repo}``. It runs there, unless its layout says where; by default in a temporary one.
        weights: what stands for ``{weights}``, or for the folder in which the program looks for them: a file or folder of the
            caller's, else of the program's own; a word that is neither is a name.
        seed: what stands for ``{seed}``.
        python: the Python that runs a program whose command begins with ``python``.
        overlap: frames that windows share where a clip is longer than the program takes.
        device: ``any`` lets a program that wants a card start without one.
        image: container image in which the command runs, by docker or podman.
        negative_prompt: what stands for ``{negative_prompt}``; that of the layout by default.

    Raises:
        InputError: a command that cannot be split, names some of its places only, or a program, folder, weights or card that is
            not there.
        UnknownNameError: no such layout.
    """

    name = "command"
    version = "3"
    stateless = True
    needs = ("input",)
    uses = ("hole", "object_mask", "prompts")

    def __init__(
        self,
        *,
        command: str | None = None,
        time_limit_seconds: Duration | None = None,
        layout: str = "plain",
        divisor: Divisor | None = None,
        folder: str | None = None,
        weights: str | None = None,
        seed: Seed = 0,
        python: str | None = None,
        overlap: Whole | None = None,
        device: str | None = None,
        image: str | None = None,
        negative_prompt: str | None = None,
    ) -> None:
        given = layout_of(layout)
        try:
            rule = FramesRule(**{**given.frames_rule.model_dump(), **({} if overlap is None else {"overlap": overlap})})
        except ValueError as error:
            longest = given.frames_rule.max
            takes = "clips of any length" if longest is None else f"at most {longest} frames"
            raise InputError(f"{layout!r} takes {takes}: no windows of it can share {overlap} frames") from error
        self.layout = given.model_copy(update={"frames_rule": rule})
        if folder is not None and not os.path.isdir(folder):
            raise InputError(f"no folder {folder!r} to run {command or layout!r} in")
        self.folder = None if folder is None else Path(folder).absolute()
        if weights is not None:
            weights = self._found_weights(str(weights), image, own=command is None)
        self._fixed = {"{repo}": self.folder, "{weights}": weights, "{seed}": seed}
        self._name = layout
        self._image = None if image is None else [_container_program(image, os.environ.get("PATH", "")), image]
        if command is None and given.device == "cuda" and device != "any" and not has_card():
            why = f" ({given.card})" if given.card else ""
            raise InputError(
                f"{layout!r} runs on an NVIDIA card alone{why}, and there is none; {layout},device=any tries all the same"
            )
        self._places = _FRAME_PLACES if self.layout.runs == "frame" else _ITEM_PLACES
        texts = self.layout.started if command is None else (command,)
        self._needed(*texts, *self.layout.env.values(), *self.layout.files.values(), self.layout.cwd or "")
        self.commands = [self._split(text, python, own=command is None) for text in texts]
        if lacking := [name for name in self.layout.links if self.folder is not None and not self._linked(name).exists()]:
            hint = f" (weights: {self.layout.weights})" if self.layout.weights else ""
            raise InputError(f"{str(self.folder)!r} has no {' and no '.join(lacking)}, which {layout!r} looks for{hint}")
        # A line of the caller's may start containers, where no daemon answers.
        for program in {words[0] for words in self.commands if os.path.basename(words[0]) in _CONTAINER_PROGRAMS}:
            if failure := _daemon_failure(program):
                raise InputError(f"no container can be run: {os.path.basename(program)}: {failure}")
        self._negative = self.layout.negative_prompt if negative_prompt is None else negative_prompt
        self._read = [Path(layout).absolute()] if layout.endswith(SUFFIX) else []
        self.time_limit_seconds = self.layout.timeout if time_limit_seconds is None else time_limit_seconds
        self.divisor: Divisor = self.layout.divisor if divisor is None else divisor
        self.lossy = self.layout.lossy

    @cached_property
    def _identity(self) -> str:
        """The same for all runs of a program on this machine, whatever its seed."""
        words = [] if self.layout.is_preset else self.commands
        return content_id(self._name, str(self.folder), str(self._fixed["{weights}"]), repr(words), machine())

    @property
    def arguments(self) -> list[str]:
        """Program and arguments of the first command."""
        return self.commands[0]

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]`` as the program wrote it.

        Raises:
            NotMeasurable: the program fails, takes too long, or its frames are missing, unreadable or of another size; it takes
                fewer frames; it runs once a frame, and the benchmark hides the hole.
        """
        hole = self._hole(view)
        if self.layout.task == ("editing",) and not view.has("prompts"):
            raise NotMeasurable("the program edits by prompts, which this benchmark does not give")
        texts = (*(word for command in self.commands for word in command), *self.layout.files.values())
        given = view.prompts if view.has("prompts") else None
        if any("{source_prompt}" in text for text in texts) and not (given and given.source):
            raise NotMeasurable("the program takes a prompt for the source, and nobody knows one of this item")
        if any("{instruction}" in text for text in texts) and not (given and given.instruction):
            raise NotMeasurable("the program takes an instruction, and this item has none")
        # Where nothing is to be edited, programs that take a prompt get an empty one.
        if any("{prompt}" in text for text in texts) and given and not given.target:
            raise NotMeasurable("the program takes a prompt for the result, and this item has an instruction alone")
        windows, self.usage = self.layout.windows(view.frames), None
        until = time.monotonic() + self.time_limit_seconds
        kept = self.parts if len(windows) > 1 else None
        before = [None if kept is None else kept.read(window) for window in windows]
        made = []
        for number, (window, part) in enumerate(zip(windows, before, strict=True)):
            if part is None:
                to_come = before[number + 1 :].count(None)
                part = self._window(view, hole, window, until, (number + 1, len(windows), to_come))
                if kept is not None:
                    kept.keep(window, *part)
            made.append(part[0])
            self.usage = both(self.usage, part[1])
        return np.concatenate(made) if len(made) > 1 else made[0]

    def _hole(self, view: ItemView) -> Hole | None:
        """What the program may fill. Of an edit without a hole that is the object, for programs that take a hole.

        Raises:
            NotMeasurable: it takes a hole, and the item gives none.
        """
        if view.has("hole"):
            return view.hole
        if self.layout.runs == "frame":
            raise NotMeasurable("the program is told a file for each hole, which this benchmark does not give")
        if not (self.layout.is_preset and self.layout.takes_hole):
            return None
        if "editing" in self.layout.task and view.has("object_mask"):
            return view.object_mask
        raise NotMeasurable("the program takes a hole, and of this item neither that nor the mask of an object is given")

    def _window(
        self, view: ItemView, hole: Hole | None, window: Window, until: float, place: tuple[int, int, int]
    ) -> tuple[Frames, Usage]:
        """What the program makes of the frames that count of a window, and what that takes.

        Args:
            view: the item.
            hole: what it may fill.
            window: the frames.
            until: when the time of the item is up, by ``time.monotonic``.
            place: number of the window, from 1, of how many, and how many are to come.
        """
        shown = slice(window.start, window.end)
        frames, rule = view.input[shown], self.layout.frames_rule
        order, fit = rule.order(len(frames)), Fit.of(self.layout, width=view.width, height=view.height)
        with scratch_folder() as scratch:
            work, target = scratch / "work", scratch / "output"
            source = work if self.layout.input_at == "cwd" else scratch / "input"
            for folder in {work, source, target}:
                folder.mkdir()
            write_input(source, self.layout, frames[order], None if hole is None else hole[shown][order], fit)
            prompts = view.prompts if view.has("prompts") else None
            if prompts is not None:
                inside = view.object_mask[shown][order] if view.has("object_mask") else ()
                write_edit(source, prompts, [fit.hole(mask) for mask in inside])
            places = self._places_of(source, target, len(order), fit, prompts)
            each = [self._places_of_frame(source, target, place) for place in range(len(order))]
            write_texts(source, self.layout, places, each)
            cwd = self._cwd(work)
            written = {"output": target, "cwd": cwd, "input": source}[self.layout.output_from]
            now, limit = time.time(), self.time_limit_seconds
            call = Call(
                now - limit + until - time.monotonic(), now, limit, len(order), len(order) * math.prod(fit.size), *place,
                str(written), self.layout.prediction or "", self.layout.progress, self._identity,
            )  # fmt: skip
            usage: Usage | None = None
            with told(self.log, call):
                for own in each if self.layout.runs == "frame" else [{}]:
                    for command in self.commands:
                        words = [filled(word, {**places, **own}) for word in command]
                        usage = both(usage, self._start(words, cwd, places, scratch, until))
                first = rule.lead + window.first - window.start
                read = range(first, first + window.last - window.first)
                made = read_output(written, self.layout, written=len(order) - rule.tail, places=read, fit=fit)
            assert usage is not None
            return made, usage

    def departures(self, shapes: Iterable[Shape], *, task: Task) -> list[str]:
        """What the layout changes about the items, and what the program does with them by itself."""
        return departures(self.layout, shapes, task=task, divisor=self.divisor)

    def run_on(self, source: Path, target: Path) -> None:
        """Run the command once on two folders that lie beside each other.

        Raises:
            NotMeasurable: it fails or takes too long.
        """
        scratch, places = source.parent, {"{input}": str(source), "{output}": str(target)}
        until = time.monotonic() + self.time_limit_seconds
        for command in self.commands:
            self._start([filled(word, places) for word in command], self._cwd(scratch), places, scratch, until)

    def content(self, item_id: str) -> str:  # noqa: ARG002 - the program is the same for all items
        """Changes whenever the program, a file among its arguments, its weights or its layout do: names, sizes, times."""
        files = [*(Path(word) for command in self.commands for word in command if os.path.isfile(word)), *self._read]
        weights = self._fixed["{weights}"]
        if weights is not None and os.path.isdir(str(weights)):
            files += [path for path in sorted(Path(str(weights)).rglob("*")) if path.is_file()]
        told = (f"{(file.name, (status := file.stat()).st_size, status.st_mtime_ns)}" for file in files)
        return f"[{self.layout.model_dump_json(exclude=TOLD)!r}, {', '.join(told)}]"

    def _places_of(self, source: Path, target: Path, frames: int, fit: Fit, prompts: Prompts | None) -> dict[str, str]:
        layout, (width, height), prompt = self.layout, fit.size, prompts.target if prompts else ""
        if layout.prompt_in_path:  # becomes the name of a folder, which leads nowhere else and is short enough
            prompt = prompt.replace("/", " ").strip(". ").encode()[:_NAME_BYTES].decode(errors="ignore")
        named = {
            "{frames_dir}": layout.frame and (source / layout.frame).parent,
            "{holes_dir}": layout.hole and (source / layout.hole).parent,
            "{video}": layout.video_in and source / layout.video_in,
            "{hole_video}": layout.hole_video_in and source / layout.hole_video_in,
        }
        return {
            **{place: str(value) for place, value in {**self._fixed, **named}.items() if value is not None},
            "{input}": str(source), "{output}": str(target), "{name}": "clip", "{fps}": str(layout.clip_fps),
            "{frames}": str(frames), "{seconds}": str(math.ceil(frames / layout.clip_fps)), "{width}": str(width),
            "{height}": str(height), "{prompt}": prompt, "{hole_prompt}": (prompts and prompts.hole) or prompt,
            "{negative_prompt}": self._negative, "{source_prompt}": (prompts.source or "") if prompts else "",
            "{instruction}": (prompts.instruction or "") if prompts else "",
            "{device}": "cuda" if has_card() else "cpu",
        }  # fmt: skip

    def _places_of_frame(self, source: Path, target: Path, place: int) -> dict[str, str]:
        layout = self.layout
        named = {"{frame}": (source, layout.frame), "{hole}": (source, layout.hole), "{prediction}": (target, layout.prediction)}
        places = {key: folder / name.format(layout.first + place) for key, (folder, name) in named.items() if name}
        if layout.runs == "frame":
            places["{prediction}"].parent.mkdir(parents=True, exist_ok=True)
        return {key: str(path) for key, path in places.items()}

    def _cwd(self, work: Path) -> Path:
        """Where the program runs; an overlay shows links to what it looks for in its own folder."""
        kind, _, below = (self.layout.cwd or ("repo" if self.folder else "scratch")).partition("/")
        if kind == "overlay":
            assert self.folder is not None
            for name in self.layout.links:
                (work / name).parent.mkdir(parents=True, exist_ok=True)
                (work / name).symlink_to(self._linked(name))
        return work if kind in ("scratch", "overlay") else (self.folder or work) / below

    def _linked(self, name: str) -> Path:
        """What a link of the overlay leads to."""
        weights = self._fixed["{weights}"]
        assert self.folder is not None
        return Path(str(weights)) if weights is not None and name == self.layout.weights_at else self.folder / name

    def _found_weights(self, weights: str, image: str | None, *, own: bool) -> str:
        """The whole path of weights, since the program runs in another folder; or the word, where it is a name.

        Raises:
            InputError: the layout has no place for them; or they can be no name, and lie neither where the caller is nor in the
                program's own folder.
        """
        layout, texts = self.layout, (*self.layout.started, *self.layout.files.values())
        if own and layout.weights_at is None and layout.is_preset and not any("{weights}" in text for text in texts):
            raise InputError(f"{layout.title} takes no weights={weights}, it looks for them itself ({layout.weights})")
        beside = [] if self.folder is None else [self.folder, *(self.folder / name for name in layout.links)]
        for place in (Path(), *beside):
            if (place / weights).exists():
                return str((place / weights).absolute())
        # A container may have them inside.
        if own and image is None and (layout.weights_at or Path(weights).is_absolute() or weights.endswith(_WEIGHTS)):
            there = "" if self.folder is None else f", and none in {str(self.folder)!r}"
            raise InputError(f"no weights {weights!r} here{there}")
        return weights

    def _start(self, arguments: list[str], cwd: Path, places: Mapping[str, str], scratch: Path, until: float) -> Usage:
        # What Python prints into a file it keeps back for long, unless it is told not to.
        env = {"PYTHONUNBUFFERED": "1"} | {name: filled(value, places) for name, value in self.layout.env.items()}
        if self._image is not None:
            arguments, env = self._contained(arguments, cwd, env, scratch), {}
        left, log = max(until - time.monotonic(), 0), self.log or scratch / "log.txt"
        try:
            took = start(arguments, cwd=cwd, env=env, log=log, seconds=left, limit_seconds=self.time_limit_seconds)
        finally:
            if self._image is not None:  # a container goes on when the program that asked for it was stopped
                ending = [self._image[0], "rm", "--force", scratch.name]
                with contextlib.suppress(OSError, subprocess.SubprocessError):
                    subprocess.run(ending, capture_output=True, timeout=_ENDING_SECONDS, check=False)
        # In a container the processes are none of ours, and nobody here can tell their memory.
        return took if self._image is None else took._replace(peak_mebibytes=None)

    def _contained(self, arguments: list[str], cwd: Path, env: Mapping[str, str], scratch: Path) -> list[str]:
        """The line that runs a command in a container, which sees the scratch folder, the program's own and its weights at the
        same paths."""
        assert self._image is not None
        program, image = self._image
        given = (scratch, self.folder, self._fixed["{weights}"])
        seen = dict.fromkeys(str(path) for path in given if path is not None and os.path.exists(str(path)))
        mounts = itertools.chain.from_iterable(("--volume", f"{path}:{path}") for path in seen)
        told = itertools.chain.from_iterable(("--env", f"{name}={value}") for name, value in env.items())
        cards = ["--gpus", "all"] if has_card() else []
        user = f"{os.getuid()}:{os.getgid()}"
        options = ["--rm", "--name", scratch.name, "--user", user, *cards, *mounts, *told, "--workdir", str(cwd)]
        return [program, "run", *options, image, *arguments]

    def _needed(self, *texts: str) -> None:
        """Raise ``InputError`` where the program's folder or weights are named and not given."""
        wants_folder = self.layout.cwd is not None and self.layout.cwd != "scratch"
        if self.folder is None and (wants_folder or any("{repo}" in text for text in texts)):
            raise InputError(
                f"{self._name!r} needs the folder of its program: give --program FOLDER, or {self._name},folder=FOLDER"
            )
        if self._fixed["{weights}"] is None and any("{weights}" in text for text in texts):
            hint = f" ({self.layout.weights})" if self.layout.weights else ""
            raise InputError(f"{self._name!r} needs its weights{hint}: give --method {self._name},weights=PATH")

    def _split(self, command: str, python: str | None, *, own: bool) -> list[str]:
        """Program and arguments, with whole paths and the places of the item; ``own`` of a command that its layout has."""
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"command {command!r} cannot be split into program and arguments: {error}") from error
        if words and words[0] == "python" and python is not None:
            words[0] = python
        # In a container the program is the image's own.
        program = words[0] if words and self._image is not None else None
        if words and program is None:
            # Where it lies: in its own folder when it is named by a path from there, else as the shell would find it.
            there = None if self.folder is None or os.sep not in words[0] else shutil.which(str(self.folder / words[0]))
            program = there or shutil.which(words[0])
        if program is None:
            raise InputError(f"command {command!r} names no program that can be run; name one on the PATH or by its path")
        fixed = {place: str(value) for place, value in self._fixed.items() if value is not None}
        # The program runs in another folder, where relative paths mean nothing; words of a layout are no paths of the caller's.
        arguments = [filled(word if own else _absolute(word, self.folder), fixed) for word in words[1:]]
        script = next((filled(word, fixed) for word in words if own and word.startswith("{repo}/")), None)
        if script is not None and not os.path.exists(script):
            raise InputError(f"{str(self.folder)!r} is no clone of {self.layout.title}: it has no {Path(script).name}")
        return [program if self._image is not None else os.path.abspath(program), *arguments, *self._appended(command)]

    def _appended(self, command: str) -> tuple[str, ...]:
        """Places that stand behind a command that names none.

        Raises:
            InputError: it names what is read or what is written, and not both.
        """
        if self.layout.is_preset or self.layout.input_at == "cwd":
            return ()
        if self.layout.runs == "frame":
            named = [place in command for place in self._places]
            if any(named) and not all(named):
                there = "{frame}, {hole} and {prediction}"
                few = "one" if len(self._places) == 2 or sum(named) == 1 else "two"
                raise InputError(f"command {command!r} names only {few} of {there}; name all or none")
            return () if all(named) else self._places
        reads, names_output = (any(place in command for place in places) for places in (READ, WRITTEN))
        if reads or names_output:
            if not reads or not (names_output or self.layout.output_from != "output"):
                raise InputError(f"command {command!r} names only one of {{input}} and {{output}}; name both or none")
            return ()
        return self._places


@cache
def _daemon_failure(program: str) -> str | None:
    return _failure([program, "info"])


@cache
def _container_program(image: str, path: str) -> str:
    """The program, among those on ``path``, that can run an image now.

    Raises:
        InputError: there is none, none that works, or it has no such image.
    """
    programs = {name: found for name in _CONTAINER_PROGRAMS if (found := shutil.which(name, path=path))}
    if not programs:
        raise InputError(f"an image needs {' or '.join(_CONTAINER_PROGRAMS)}, and neither is on the PATH")
    failures = {name: _failure([found, "info"]) for name, found in programs.items()}
    able = [name for name, failure in failures.items() if failure is None]
    if not able:
        told = "; ".join(f"{name}: {failure}" for name, failure in failures.items())
        raise InputError(f"the image {image!r} cannot be run: {told}")
    lacking = {name: _failure([programs[name], "image", "inspect", image]) for name in able}
    if chosen := next((name for name in able if lacking[name] is None), None):
        return programs[chosen]
    raise InputError(
        f"{' and '.join(able)} {'has' if len(able) == 1 else 'have'} no image {image!r}: {able[0]} pull {image}, or build it"
    )


def _failure(arguments: list[str]) -> str | None:
    """The last line that a program fails with; None where it works."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=_ENDING_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: {error}"
    words = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else words[-1] if words else f"exit status {done.returncode}"


def _absolute(argument: str, folder: Path | None) -> str:
    """An argument that names a file or folder, by its whole path; ``folder`` is where the program runs."""
    if folder is not None and (folder / argument).exists():
        return str(folder / argument)
    return os.path.abspath(argument) if os.path.exists(argument) else argument
