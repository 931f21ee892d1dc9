from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import hazards
import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.curation.footage import clips_foreseen
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.curation.splitters.windows import Windows
from inpaintbench.errors import InpaintBenchError, InputError, Rejected, RunError
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import display_name
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec, check_sources
from inpaintbench.types import Clip, Source
from inpaintbench.workspace import Workspace

SMALL = devil.DevilRecipe(width=96, height=64, clip_frames=50)


def curate(folder: Path, workspace: Workspace, *, workers: int = 0, recipe: devil.DevilRecipe = SMALL) -> None:
    with LocalExecutor(workspace, workers=workers) as executor:
        devil.curate(recipe, [SourceSpec("folder", {"folder": str(folder)})], executor, workspace)


def foreseen(path: Path) -> int:
    try:
        return clips_foreseen(str(path), splitter=SMALL.cutting.splitter, fps=None, hdr="exclude")
    except InpaintBenchError:
        return 0


def test_every_hazard_is_clips_or_a_row_with_a_reason_and_the_run_goes_on(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    for name, (maker, _) in hazards.HAZARDS.items():
        maker(folder / name)
    curate(folder, workspace, workers=2)
    names = {row.uri: display_name(row.uri) for row in workspace.table("sources", Source)}
    of_source = {row.source_id: names[row.uri] for row in workspace.table("sources", Source)}
    clips = Counter(of_source[clip.source_id] for clip in workspace.table("clips", Clip))
    refused = {display_name(row.name): row.reason for row in workspace.table("rejected", Rejection)}
    for name, (_, reason) in hazards.HAZARDS.items():
        shown = name.replace("\n", "%0A")
        if reason is None:
            assert shown in clips
        else:
            assert reason in refused[shown]
        assert foreseen(folder / name) == clips.get(shown, 0)
    assert not set(clips) & set(refused)
    for clip in workspace.table("clips", Clip):
        path = workspace.blobs.path(clip.blob)
        assert video.read_frames(path).shape == (clip.frames, 64, 96, 3)
        assert video.decoded_hashes(path) == (clip.yuv_sha256, clip.rgb_sha256)


def test_a_file_without_permission_is_a_row_with_a_reason(tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    hazards.unreadable(folder / "secret.mp4")
    hazards.good(folder / "good.mp4")
    program = (
        "import ctypes, os\n"
        "if os.geteuid() == 0:\n"  # root reads everything, unless it gives up its capabilities
        "    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()\n"
        "    assert ctypes.CDLL(None).capset(header, none) == 0\n"
        "from inpaintbench.recipes import devil\n"
        "from inpaintbench.executors.base import Rejection\n"
        "from inpaintbench.executors.local import LocalExecutor\n"
        "from inpaintbench.workspace import Workspace\n"
        f"workspace = Workspace({str(tmp_path / 'workspace')!r})\n"
        "with LocalExecutor(workspace, workers=0) as executor:\n"
        f"    source = devil.SourceSpec('folder', {{'folder': {str(folder)!r}}})\n"
        "    devil.curate(devil.DevilRecipe(width=96, height=64), [source], executor, workspace)\n"
        "print([row.reason for row in workspace.table('rejected', Rejection)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['cannot be read: Permission denied']", done.stderr


def test_the_same_bytes_twice_are_one_source(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "sources"
    (folder / "sub").mkdir(parents=True)
    hazards.good(folder / "a.mp4")
    shutil.copy(folder / "a.mp4", folder / "sub" / "b.mp4")
    curate(folder, workspace)
    assert len(workspace.table("clips", Clip)) == 1
    (row,) = workspace.table("rejected", Rejection)
    assert (row.name, row.reason) == ("sub/b.mp4", "has the same bytes as a.mp4")


def test_links_in_a_circle_and_hidden_files_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    hazards.good(tmp_path / "sub" / "a.MP4")
    (tmp_path / "sub" / "circle").symlink_to(tmp_path)
    (tmp_path / ".hidden.mp4").write_text("")
    (tmp_path / "notes.txt").write_text("")
    os.mkfifo(tmp_path / "pipe.mp4")
    assert [piece.uri for piece in FolderSource(folder=str(tmp_path)).footage()] == ["sub/a.MP4"]


def test_names_that_are_not_text_survive(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/\xff\xfe.mp4"
    hazards.good(tmp_path / "a.mp4")
    os.rename(tmp_path / "a.mp4", raw)
    leaf = FolderSource(folder=str(tmp_path))
    (piece,) = leaf.footage()
    assert piece.uri == "%FF%FE.mp4"
    assert os.fsencode(leaf.obtain(piece.payload, "")) == raw


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda folder: hazards.text(folder / "a.mp4"), "no clips from 1 file: a.mp4: cannot be opened as video"),
    (lambda folder: hazards.one_frame(folder / "a.mp4"), "a.mp4: 1 frames decode, a clip needs at least 45"),
])  # fmt: skip
def test_zero_clips_say_why(make: object, sentence: str, tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "sources").mkdir()
    make(tmp_path / "sources")  # type: ignore[operator]
    with pytest.raises(RunError, match=sentence):
        curate(tmp_path / "sources", workspace)


def test_a_folder_without_footage_is_told_before_anything_is_done(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "notes.txt").write_text("none")
    with pytest.raises(InputError, match="no clips: the source folder holds no video files"):
        curate(tmp_path / "sources", workspace)
    with pytest.raises(InputError, match="no clips: the source folder holds no pictures"):
        check_sources([SourceSpec("folder", {"folder": str(tmp_path / "sources"), "media": "image"})])


def test_a_missing_source_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist or is not a folder"):
        FolderSource(folder=str(tmp_path / "typo"))


@pytest.mark.parametrize(("frames", "spans"), [
    (45, [(0, 45)]), (90, [(0, 90)]), (134, [(0, 90)]), (135, [(0, 90), (90, 135)]), (270, [(0, 90), (90, 180), (180, 270)]),
])  # fmt: skip
def test_windows_keep_a_remainder_of_half_a_window(frames: int, spans: list[tuple[int, int]]) -> None:
    assert list(Windows().spans("", frames=frames, fps=30.0)) == spans


def test_windows_refuse_what_is_too_short() -> None:
    with pytest.raises(Rejected, match="44 frames decode, a clip needs at least 45"):
        list(Windows().spans("", frames=44, fps=30.0))
    with pytest.raises(InputError, match="got shortest 91 and length 90"):
        Windows(length=90, shortest=91)


def test_cover_takes_the_published_columns_of_full_hd() -> None:
    wide = np.zeros((1080, 1920, 3), np.uint8)
    wide[:, :, 0] = np.linspace(0, 255, 1920).astype(np.uint8)
    made = Cover().apply(wide, pixel_aspect=1.0)
    assert made.shape == (480, 832, 3)
    # 854 columns after scaling, of which 11..842 stay.
    expected = (np.arange(11, 843) + 0.5) / 854 * 255
    assert np.abs(made[240, :, 0] - expected).max() < 1.5


@pytest.mark.parametrize(("shape", "aspect"), [((1080, 1920), 1.0), ((480, 720), 32 / 27), ((97, 161), 1.0), ((1280, 544), 1.0)])
def test_cover_gives_the_asked_size_with_square_pixels(shape: tuple[int, int], aspect: float) -> None:
    height, width = shape
    rows, columns = np.mgrid[:height, :width]
    radius = min(height, width * aspect) / 4
    disk = ((rows - height / 2) ** 2 + ((columns - width / 2) * aspect) ** 2 < radius**2)[..., None] * np.full(3, 255, np.uint8)
    made = Cover(width=320, height=240).apply(disk.astype(np.uint8), pixel_aspect=aspect)[..., 0] > 127
    assert made.shape == (240, 320)
    tall, wide = made.any(axis=1).sum(), made.any(axis=0).sum()
    assert abs(int(tall) - int(wide)) <= 2


def test_anamorphic_and_turned_sources_keep_their_shapes(tmp_path: Path, workspace: Workspace) -> None:
    hazards.rotated(tmp_path / "turned.mp4")
    curate(tmp_path, workspace, recipe=devil.DevilRecipe(width=48, height=80))
    (clip,) = workspace.table("clips", Clip)
    made = video.read_frames(workspace.blobs.path(clip.blob))[0]
    upright = np.rot90(hazards.moving(60)[0], -1)
    expected = Cover(width=48, height=80).apply(np.ascontiguousarray(upright), pixel_aspect=1.0)
    assert np.abs(made.astype(int) - expected).mean() < 12
