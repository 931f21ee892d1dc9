from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.errors import InputError
from inpaintbench.recipes.preview import backdrops


def test_blocks_over_joints_need_people(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^--images cannot be used: joint_blocks needs people with labelled joints"):
        backdrops("joint_blocks", width=32, height=32, frames=1, count=1, seed=0, images=tmp_path)
