"""`masks preview` and the `build` commands that share one form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inpaintbench.masks.generators import GENERATORS


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inpaintbench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("generator", [name for name in GENERATORS if name not in ("saved_masks", "given_blocks", "devil_blobs")])
def test_every_generator_can_be_looked_at(generator: str, tmp_path: Path) -> None:
    done = program("masks", "preview", generator, "--count", "2", "--size", "96x96", "--out", str(tmp_path / "sheet.html"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "sheet.html").read_text()
    assert f"Masks of {generator}" in page
    assert page.count('id="mask-1-') == 2


def test_a_parameter_is_varied_over_panels(tmp_path: Path) -> None:
    out = tmp_path / "new" / "sheet.html"
    done = program(
        "masks", "preview", "patches", "--vary", "ratio=0.2;0.6", "--vary", "size=16;32", "--count", "1", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert "4 masks" in done.stdout
    page = out.read_text()
    assert all(f"ratio {ratio}, size {size}" in page for ratio in (0.2, 0.6) for size in (16, 32))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("masks", "preview", "brush_bx", "--out", "x.html"), "unknown mask generator 'brush_bx', did you mean 'brush_box'?"),
        (("masks", "preview", "patches", "--out", "x.html", "--set", "ratio"), "'ratio' is not NAME=VALUE"),
        (("masks", "preview", "patches", "--out", "x.html", "--set", "sise=3"), "cannot be built"),
        (("masks", "preview", "brush_box", "--out", "x.html", "--set", "area=[0.5,0.2]"), "area"),
        (("masks", "preview", "patches", "--out", "{tmp}"), "is a folder; name the HTML file"),
        (("masks", "preview", "patches", "--out", "x.html", "--images", "{tmp}"), "holds no pictures"),
        (("build", "reinpaint", "--out", "{tmp}/w"), "give either --sources FOLDER or --demo"),
        (("build", "decaption", "--out", "{tmp}/w", "--demo", "--sources", "{tmp}"), "give either --sources FOLDER or --demo"),
        (("build", "humans", "--out", "{tmp}/w"), "give either --people FORMAT=ANNOTATIONS:IMAGES or --demo"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpii"), "is not FORMAT=ANNOTATIONS:IMAGES"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpi=a:b"), "did you mean 'mpii'?"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpii=a:b", "--crop", "gro=1"), "cannot be built"),
        (("build", "humans", "--out", "{tmp}/w", "--originals", "{tmp}"), "belong together"),
        (("build", "humans", "--out", "{tmp}/w", "--originals", "{tmp}", "--blocks", "{tmp}/no.json"), "no.json cannot be read"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--bins", "0,x"), "bins '0,x' are not edges in per cent"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--bins", "40,20"), "ascending"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--ratio", "1.5"), "ratio '1.5' should be"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--preset", "thik-512"), "did you mean 'thick-512'?"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--reach", "grown"), "reach"),
        (("build", "decaption", "--out", "{tmp}/w", "--demo", "--form", "lossy"), "form"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--sources", "{tmp}/none"), "does not exist or is not a folder"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--sources", "{tmp}"), "no clips"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--saved-masks", "{tmp}/none"), "no folder of masks"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = program(*(part.replace("{tmp}", str(tmp_path)) for part in arguments))
    assert done.returncode == 1, done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()[-1]) < 400
