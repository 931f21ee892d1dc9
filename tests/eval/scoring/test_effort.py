"""What methods of a run took comes from its ledgers, for the predictions that are there."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.eval.scoring.test_predict import scene, write_dataset

from inpaintbench.eval.scoring.effort import Effort, efforts_of
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace

PROGRAM = """
import pathlib, shutil, sys, time
held = bytearray(200 << 20)
time.sleep(0.8)
for path in pathlib.Path(sys.argv[1]).glob("frame_*"):
    shutil.copy(path, sys.argv[2])
"""


def efforts(tmp_path: Path, *specs: MethodSpec, dataset: Dataset) -> dict[str, Effort]:
    workspace = Workspace(tmp_path / "run")
    with LocalExecutor(workspace, workers=0) as executor:
        for spec in specs:
            predict(executor, dataset, root=tmp_path / "data", method=spec)
    return efforts_of(workspace, dataset, [spec.label for spec in specs])


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return write_dataset(tmp_path / "data", *scene())


def test_a_program_is_timed_by_itself_and_a_folder_not_at_all(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "saved" / "item").mkdir(parents=True)
    command = shlex.join([sys.executable, "-S", str(tmp_path / "program.py"), "{input}", "{output}"])
    program = MethodSpec("mine", "command", {"command": command})
    saved = MethodSpec("saved", "saved_folder", {"folder": str(tmp_path / "saved")})
    found = efforts(tmp_path, program, MethodSpec("telea", "telea"), saved, dataset=dataset)
    mine, telea = found["mine"], found["telea"]
    assert mine.items == telea.items == 1
    assert mine.seconds_a_frame is not None
    assert telea.seconds_a_frame is not None
    assert mine.seconds_a_frame >= 0.1  # 0.8 s for 8 frames
    assert telea.seconds_a_frame < mine.seconds_a_frame
    assert mine.peak_mebibytes is not None
    assert 200 <= mine.peak_mebibytes < 260  # not this process, which is larger
    assert mine.machine.endswith("cores")
    assert not replace(found["saved"], between_items="")
    assert Effort.of(mine.told) == mine
    (item,) = mine.of_items
    assert (item.item_id, item.frames, item.peak_mebibytes) == ("item", 8, mine.peak_mebibytes)
    assert item.seconds / 8 == pytest.approx(mine.seconds_a_frame, abs=1e-4)


def test_a_lossy_form_and_another_task_are_told(tmp_path: Path, dataset: Dataset) -> None:
    layout = tmp_path / "lossy.toml"
    layout.write_text('frame = "frame_{:04d}.png"\nprediction = "frame_{:04d}.png"\nlossy = "jpeg"\nseeded = false\n'
                      'hole_fill = [1, 2, 3]\n')  # fmt: skip
    spec = MethodSpec("mine", "command", {"command": "sh -c 'cp $0/* $1' {input} {output}", "layout": str(layout)})
    found = efforts(tmp_path, spec, dataset=dataset)["mine"]
    assert found.ceiling_low is not None
    assert 25 < found.ceiling_low == found.ceiling_high < 50
    assert found.task == (
        "Finds the colour (1, 2, 3) under the hole, as it wants it, and not what other methods find there.",
        "Two runs differ: it takes no seed.",
    )
    # Asked for by another layout, nothing of that stands.
    plain = replace(spec, constants={**spec.constants, "layout": "plain"})
    assert efforts(tmp_path, plain, dataset=dataset)["mine"].task == ()
