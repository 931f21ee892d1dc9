"""Any program as a pose estimator: it reads a folder with a picture and writes its joints."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.methods.command import Command
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.poses import JOINT_NAMES, Of, Picture, PoseEstimator, joints_of

PICTURE, JOINTS = "picture.png", "joints.json"
# Time limit of a program for one picture.
_SECONDS = 600.0


class CommandPose(PoseEstimator):
    """Runs a program once a picture, as the method ``command`` runs programs.

    The input folder holds ``picture.png``. The program writes ``joints.json`` into the output folder: a list of ``{"name":
    "knee", "side": "left", "x": 10.5, "y": 20, "person": 0}``, empty where it finds nobody. Coordinates are pixels, (0, 0) is the
    centre of the upper left one, and sides are the person's own.

    Args:
        command: program and arguments; ``{input}`` and ``{output}`` stand for the two folders, which else are appended.

    Raises:
        InputError: a command that cannot be split, names only one of the folders, or a program that does not exist.
    """

    name = "command"
    version = "1"
    argument = "program"
    joint_names = JOINT_NAMES

    def __init__(self, command: str) -> None:
        self._program = Command(command=command, time_limit_seconds=_SECONDS)

    def content(self) -> str:
        """The command with names, sizes and times of its files."""
        return f"{self._program.arguments[1:]} {self._program.content('')}"

    def estimate(self, picture: Picture, *, item_id: str, of: Of, compute: Compute) -> tuple[Joint, ...]:  # noqa: ARG002
        """Joints that the program wrote.

        Raises:
            NotMeasurable: it fails, takes too long, or writes no joints.
        """
        with tempfile.TemporaryDirectory(prefix="inpaintbench-", ignore_cleanup_errors=True) as scratch:
            source, target = Path(scratch, "input"), Path(scratch, "output")
            source.mkdir()
            target.mkdir()
            video.write_image(source / PICTURE, picture)
            self._program.run_on(source, target)
            try:
                rows = json.loads((target / JOINTS).read_bytes())
                if not isinstance(rows, list):
                    raise NotMeasurable(f"the program's {JOINTS} holds a {type(rows).__name__}, wanted a list of joints")
                return joints_of(rows, where=f"the program's {JOINTS}")
            except FileNotFoundError as error:
                raise NotMeasurable(f"the program wrote no {JOINTS}") from error
            except ValueError as error:
                raise NotMeasurable(f"the program's {JOINTS} is no JSON: {error}") from error
            except InputError as error:
                raise NotMeasurable(str(error)) from error
