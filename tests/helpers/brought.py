"""Programs in place of those that users bring."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from inpaintbench.eval.passes.brought_programs import BroughtProgram

_BEGIN = """
import json, sys
from pathlib import Path
import numpy as np
source, target = map(Path, sys.argv[1:])
from PIL import Image
frames = [np.asarray(Image.open(path)) for path in sorted(source.glob("frame_*.png"))]
masks = [np.asarray(Image.open(path)) for path in sorted(source.glob("mask_*.png"))]
item = json.loads((source / "item.json").read_text())
"""


def give(program: BroughtProgram, body: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let ``program`` be a script that has ``frames``, ``masks``, ``item`` and ``target``; its file."""
    path = folder / f"{program.variable.lower()}.py"
    path.write_text(_BEGIN + body)
    monkeypatch.setenv(program.variable, shlex.join([sys.executable, str(path), "{input}", "{output}"]))
    return path
