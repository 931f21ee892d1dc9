"""What this installation can do: with everything, with parts missing, with parts broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import inpaintbench
from inpaintbench.api import installation as doctor
from inpaintbench.api.installation import LOOKED_FOR, Finding
from inpaintbench.cli import app
from inpaintbench.cli import installed as command
from inpaintbench.errors import how_to_install
from inpaintbench.models.weights import known


def by_part(found: list[Finding]) -> dict[str, Finding]:
    return {one.part: one for one in found}


def asked(*, folder: Path | None = None, **environment: str) -> tuple[int, dict[str, dict[str, Any]], str]:
    """Status, findings by part and standard error of `doctor --json` in a new process, with modules of ``folder`` first."""
    places = {"PYTHONPATH": str(folder)} if folder else {}
    done = subprocess.run(
        [sys.executable, "-m", "inpaintbench", "doctor", "--json"], env=os.environ | places | environment, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["works"] == (done.returncode == 0)
    return done.returncode, {row["part"]: row for row in answer["findings"]}, done.stderr


def test_broken_and_missing_parts_are_told_one_by_one_and_the_others_nonetheless(tmp_path: Path) -> None:
    (tmp_path / "torchcodec").mkdir()
    (tmp_path / "torchcodec" / "__init__.py").write_text("__version__ = '9'")
    (tmp_path / "torchcodec" / "decoders.py").write_text("raise OSError('libavutil.so.60: cannot open shared object file')")
    (tmp_path / "torch.py").write_text("import os; os._exit(11)")
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    hidden = ["gradio", "ray", "numba"]
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nfor name in {hidden}: sys.modules[name] = None\n")
    (tmp_path / "skimage.py").write_text("raise ImportError('numpy.core.multiarray failed to import')")
    bare = {"PATH": str(tmp_path), "INPAINTBENCH_CACHE": str(tmp_path), "FLICKR_API_KEY": "verysecret", "FLICKR_API_SECRET": ""}
    status, found, said = asked(folder=tmp_path, **bare)
    assert status == 1
    assert said.splitlines()[-1].startswith("inpaintbench: nothing works until this does: scikit-image; pip install")
    assert found["scikit-image"]["told"].startswith("ImportError: numpy.core")
    assert "libavutil.so.60" in found["torchcodec"]["told"]
    assert "FFmpeg's shared libraries" in found["torchcodec"]["todo"]
    assert found["PyTorch"]["told"] == "importing it ended the process with status 11"
    assert "nms" in found["torchvision"]["told"]
    assert found["NumPy"]["state"] == found["datasets"]["state"] == found["encoder"]["state"] == "ok"
    assert found["ffmpeg program"]["state"] == found["fontconfig"]["state"] == "absent"
    assert "bundled DejaVu Sans" in found["fontconfig"]["told"]
    assert "set FLICKR_API_SECRET in" in found["Flickr"]["todo"]
    assert "secret" not in json.dumps(found).replace("API_SECRET", "")
    assert {found[part]["state"] for part in ("gradio", "Ray", "numba")} == {"absent"}
    assert found["gradio"]["todo"] == f"for the browser app of `annotate`: {how_to_install('annotate')}"
    assert found["inpaintbench"]["told"].startswith(inpaintbench.__version__)
    assert "GiB free" in found["this folder"]["told"]
    assert {found[one.name]["told"] for one in known().values()} == {"missing"}
    assert all(row["todo"] or row["state"] == "ok" or row["part"] == "none" for row in found.values())


def test_the_table_for_people_names_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('not now')")  # for the process that imports: it is quick without
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("You can start: `inpaintbench demo` ")
    too_wide = [line for line in shown.stdout.splitlines() if len(line) > 80]
    assert all(max(map(len, line.split())) > 80 - 30 for line in too_wide), too_wide  # a path alone, which is not cut
    for part in ("PyAV", "ffmpeg program", "temporary folder", *known(), *(name for name, _, _ in LOOKED_FOR.values())):
        assert part in shown.output


def test_a_gpu_that_is_not_used_is_told_with_the_way_out() -> None:
    devices = [{"name": "A GPU", "bytes": 16 * 2**30}]
    (one,) = doctor._gpu({"works": True, "devices": devices, "mps": False})
    assert one.told.startswith("A GPU, 16 GiB, driver ")
    (apple,) = doctor._gpu({"works": True, "devices": [], "mps": True})
    assert apple.part == "mps"


def test_a_weights_file_with_other_bytes_is_damaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "here"))
    first, *rest = known().values()
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / first.file).write_bytes(b"x")
    found = by_part(list(doctor._weights()))
    assert (found[first.name].told, found[first.name].state) == ("damaged", "broken")
    assert all(found[one.name].state == "absent" for one in rest)


def test_the_first_line_says_that_nothing_can_start() -> None:
    broken = [Finding("core", "NumPy", "broken", "ImportError: gone", "pip install numpy", core=True)]
    first, counts, *rest = command._lines([Finding("core", "SciPy", "ok", "1", core=True), *broken], broken)
    assert first == "You cannot start yet: 1 of the parts that all commands need is broken."
    assert counts == "1 ok, 0 absent, 0 warning, 1 broken"
    assert rest == ["\ncore", "  SciPy 1", "x NumPy broken: ImportError: gone; pip install numpy"]


def test_encoders_under_the_gpl_are_told() -> None:
    with_both = doctor._licence({"licence": "LGPL version 3 or later", "gpl": ["libx264", "libx265"]})
    assert with_both.endswith("libx264 and libx265 in it are GPL: an image or installer that holds it is passed on as GPLv3")
    without = doctor._licence({"licence": "LGPL version 2.1 or later", "gpl": []})
    assert without == "its FFmpeg says 'LGPL version 2.1 or later' and holds no encoder under the GPL"


def test_a_check_that_fails_hides_no_other() -> None:
    def fails() -> Any:
        raise OSError("gone")

    (one,) = doctor._surviving("disk", fails)
    assert (one.group, one.state, one.told) == ("disk", "warning", "failed: OSError: gone")
