from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.poses import CommandPose

BRIGHTEST = """
import json, sys
from pathlib import Path
import numpy as np
from PIL import Image
picture = np.asarray(Image.open(Path(sys.argv[1], "picture.png")))
y, x = np.unravel_index(picture.sum(axis=2).argmax(), picture.shape[:2])
Path(sys.argv[2], "joints.json").write_text(json.dumps([{"name": "nose", "x": int(x), "y": int(y)}]))
"""


def estimate(folder: Path, program: str) -> tuple[Joint, ...]:
    path = folder / "pose.py"
    path.write_text(program)
    picture = np.zeros((12, 20, 3), np.uint8)
    picture[4, 7] = 255
    leaf = CommandPose(f"{sys.executable} {path}")
    return leaf.estimate(picture, item_id="a", of="truth", compute=Compute())


def test_a_program_reads_the_picture_and_writes_joints(tmp_path: Path) -> None:
    assert estimate(tmp_path, BRIGHTEST) == (Joint(0, "nose", None, 7.0, 4.0),)


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("pass", "the program wrote no joints.json"),
        ("raise SystemExit('no model')", "ended with exit status 1: no model"),
        ("import sys; open(sys.argv[2] + '/joints.json', 'w').write('{}')", "holds a dict, wanted a list of joints"),
        ("import sys; open(sys.argv[2] + '/joints.json', 'w').write('[')", "joints.json is no JSON"),
        ("import sys; open(sys.argv[2] + '/joints.json', 'w').write('[{\"name\": \"toe\"}]')", "unknown joint 'toe'"),
    ],
)
def test_what_goes_wrong_is_a_reason(tmp_path: Path, program: str, complaint: str) -> None:
    with pytest.raises(NotMeasurable, match=complaint):
        estimate(tmp_path, program)


def test_nobody_found_is_an_answer(tmp_path: Path) -> None:
    assert estimate(tmp_path, "import sys; open(sys.argv[2] + '/joints.json', 'w').write('[]')") == ()


def test_its_content_changes_with_the_program(tmp_path: Path) -> None:
    path = tmp_path / "pose.py"
    path.write_text("pass")
    before = CommandPose(f"{sys.executable} {path}").content()
    path.write_text("pass  # other")
    assert CommandPose(f"{sys.executable} {path}").content() != before
    with pytest.raises(InputError, match="names no program"):
        CommandPose("no-such-program-at-all")
