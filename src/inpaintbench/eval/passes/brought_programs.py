"""Programs that users bring: they read the frames of a clip and write what a network of theirs says of them.

For networks whose licence keeps them out of this program, or that nobody has written anew. A variable of the environment holds
the command; it is run once for the clip of a method and once for the truth, as the method ``command`` runs programs.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import InputError, NotMeasurable, Unavailable
from inpaintbench.eval.adapters.starting import scratch_folder
from inpaintbench.eval.methods.command import Command
from inpaintbench.types import Hole, Plain

Pictures = Sequence[npt.NDArray[np.uint8]] | npt.NDArray[np.uint8]
# What the input folder holds.
FRAME, MASK, ITEM = "frame_{:04d}.png", "mask_{:04d}.png", "item.json"
# What a program writes into the output folder.
NUMBERS, ARRAY = "numbers.json", "array.npy"
_SECONDS = 3600.0


@dataclass(frozen=True)
class BroughtProgram:
    """A command that a variable of the environment holds."""

    variable: str
    what: str
    """What the program does, after "set VARIABLE to a program that"."""
    licence: str
    """That of what it is expected to run, and why it is not part of this program."""

    def state(self) -> str:
        """Changes whenever the command does, or a file among its words; ``missing`` where there is none."""
        try:
            program = self._command()
        except NotMeasurable:
            return "missing"
        return f"{program.arguments[1:]} {program.content('')}"

    def numbers(
        self, frames: Pictures, masks: Hole | None = None, *, fps: float, item_id: str, facts: Plain | None = None
    ) -> dict[str, Any]:
        """The object that the program wrote as ``numbers.json``.

        Args:
            frames: ``uint8[H, W, 3]`` each, of any size.
            masks: of the hole, ``bool[T, H, W]``.
            fps: frames a second.
            item_id: of the item.
            facts: what else ``item.json`` says.

        Raises:
            NotMeasurable: there is no program.
            Unavailable: it fails, takes too long, or writes something else.
        """
        text = self._written(NUMBERS, frames, masks, {"item_id": item_id, "fps": fps, **(facts or {})})
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unavailable(f"the program of {self.variable} wrote a {NUMBERS} that is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise Unavailable(f"the program of {self.variable} wrote a {type(found).__name__} into {NUMBERS}, wanted an object")
        return found

    def array(
        self, shape: Sequence[int | None], frames: Pictures, masks: Hole | None = None, *, fps: float, item_id: str
    ) -> npt.NDArray[np.float32]:
        """The array that the program wrote as ``array.npy``, ``float32`` of ``shape``, where None stands for any number.

        Raises what ``numbers`` raises, and ``Unavailable`` for another shape or numbers that are not finite.
        """
        text = self._written(ARRAY, frames, masks, {"item_id": item_id, "fps": fps})
        try:
            found = np.asarray(np.lib.format.read_array(io.BytesIO(text), allow_pickle=False), np.float32)
        except (ValueError, EOFError, OSError) as error:
            raise Unavailable(f"the program of {self.variable} wrote an {ARRAY} that NumPy cannot read") from error
        fits = len(found.shape) == len(shape) and all(want in (None, have) for want, have in zip(shape, found.shape, strict=True))
        if not fits:
            wanted = ", ".join("any" if want is None else str(want) for want in shape)
            raise Unavailable(f"the program of {self.variable} wrote an array of {found.shape}, wanted ({wanted})")
        if not np.isfinite(found).all():
            raise Unavailable(f"the program of {self.variable} wrote numbers that are not finite")
        return found

    def _written(self, name: str, frames: Pictures, masks: Hole | None, facts: Plain) -> bytes:
        program = self._command()
        with scratch_folder() as scratch:
            source, target = scratch / "input", scratch / "output"
            source.mkdir()
            target.mkdir()
            for index, frame in enumerate(frames):
                video.write_image(source / FRAME.format(index), frame)
            for index, mask in enumerate(() if masks is None else masks):
                video.write_image(source / MASK.format(index), mask)
            told = {**facts, "frames": len(frames)}
            (source / ITEM).write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
            try:
                program.run_on(source, target)
            except NotMeasurable as error:
                raise Unavailable(str(error)) from error
            try:
                return (target / name).read_bytes()
            except OSError as error:
                raise Unavailable(f"the program of {self.variable} wrote no {name}") from error

    def _command(self) -> Command:
        given = os.environ.get(self.variable)
        if not given:
            raise NotMeasurable(f"{self.licence}: set {self.variable} to a program that {self.what}")
        try:
            return _program(given)
        except InputError as error:
            raise NotMeasurable(f"{self.variable}: {error}") from error


@lru_cache(maxsize=8)
def _program(command: str) -> Command:
    return Command(command=command, time_limit_seconds=_SECONDS)
