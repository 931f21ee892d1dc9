"""How often building decodes and encodes, and that one pass over a source gives what two passes give."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import cv2
import hazards
import numpy as np
import pytest
from worlds import pan_clip, photograph

from inpaintbench import video
from inpaintbench.curation.judging import SOURCE_RULES
from inpaintbench.curation.measuring import measure
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Attribute, Clip
from inpaintbench.workspace import Workspace

BENCH = Path(__file__).parents[2] / "bench" / "building.py"
RECIPE = devil.DevilRecipe(width=96, height=64, clip_frames=30, shortest_clip_frames=20)


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    found = importlib.util.spec_from_file_location("building", BENCH)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["building"] = module
    found.loader.exec_module(module)
    return module


def curate(recipe: devil.DevilRecipe, folder: Path, workspace: Workspace) -> None:
    with LocalExecutor(workspace, workers=0) as executor:
        devil.curate(recipe, [SourceSpec("folder", {"folder": str(folder)})], executor, workspace)


def test_a_source_and_a_clip_are_decoded_once_and_a_clip_is_encoded_once(
    bench: ModuleType, tmp_path: Path, workspace: Workspace
) -> None:
    folder = tmp_path / "films"
    folder.mkdir()
    for number, name in enumerate(("coffee", "astronaut", "chelsea")):
        scene = cv2.GaussianBlur(photograph(name, width=206, height=158), (0, 0), 1.5)
        frames = np.stack([scene[t : t + 96, t : t + 144] for t in range(62)])
        video.write_browser(folder / f"{number}.mp4", frames, fps=25)
    with bench.counted() as counts:
        curate(RECIPE, folder, workspace)
    clips = workspace.table("clips", Clip)
    assert len(clips) == 6
    assert counts["encodings"] == 6
    assert counts["frames decoded"] == 3 * (62 + 1)  # one frame tells what the packets do not
    with bench.counted() as counts, LocalExecutor(workspace, workers=0) as executor:
        devil.label(RECIPE, executor, workspace)
    assert counts == {"frames decoded": 6 * 30}


@pytest.mark.long
def test_one_pass_gives_what_two_passes_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "films"
    folder.mkdir()
    for name, (maker, _) in hazards.HAZARDS.items():
        maker(folder / name)
    foreseen, other, rows = video.ProbingDecoder.foreseen, video.probe(folder / "good.mp4"), []
    for way in ("foreseen", "not foreseen", "foreseen wrongly", "probed before"):
        with monkeypatch.context() as patched:
            if way == "not foreseen":
                patched.setattr(video.ProbingDecoder, "foreseen", lambda _: None)
            elif way == "foreseen wrongly":
                patched.setattr(video.ProbingDecoder, "foreseen", lambda decoder: foreseen(decoder) and other)
            workspace = Workspace(tmp_path / way)
            recipe = RECIPE
            if way == "probed before":
                recipe = RECIPE.model_copy(update={"rules": (devil.Rule(attribute="probe.frames", at_least=1),)})
            curate(recipe, folder, workspace)
            refused = [row for row in workspace.table("rejected", Rejection) if row.step != SOURCE_RULES]
            rows.append((workspace.table("clips", Clip), workspace.table("attributes", Attribute), sorted(refused, key=repr)))
    assert len(rows[0][0]) > 5
    assert rows[1] == rows[2] == rows[3] == rows[0]


def test_what_is_not_good_enough_the_first_time_is_encoded_once_more(bench: ModuleType, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scene = photograph("coffee", width=160, height=120)
    for deviation in (3, 10, 30):
        noisy = np.clip(scene + rng.normal(0, deviation, (20, 120, 160, 3)), 0, 255).astype(np.uint8)
        with bench.counted() as counts:
            encoded = video.write_clip(tmp_path / "clip.mp4", noisy, fps=25)
        assert counts == {"encodings": 2}
        assert 45 <= encoded.psnr_db < 47.5


def test_a_dissolve_over_the_border_of_two_clips_counts_in_both_and_costs_no_decoding(bench: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "films"
    folder.mkdir()
    one, other = (pan_clip(name, pixels_per_frame=1, frames=120, width=160, height=90) for name in ("coffee", "astronaut"))
    weight = np.clip((np.arange(120) - 25.5) / 15, 0, 1)[:, None, None, None]  # frames 26 to 40 are mixed, the clip ends at 30
    video.write_browser(folder / "film.mp4", np.rint((1 - weight) * one + weight * other).astype(np.uint8), fps=25)
    rule = devil.OWN_FOOTAGE_RULES["transitions"]
    counted, shares = {}, {}
    for way, rules in (
        ("without", ()),
        ("in one pass", (rule,)),
        ("in two", (rule, devil.Rule(attribute="probe.frames", at_least=1))),
    ):
        workspace = Workspace(tmp_path / way)
        with bench.counted() as counts:
            curate(RECIPE.model_copy(update={"rules": rules}), folder, workspace)
        with LocalExecutor(workspace, workers=0) as executor:
            measured = measure(executor, workspace, leaf="transition_fraction").columns("subject_id", "value")
        counted[way] = counts["frames decoded"]
        start = {clip.clip_id: clip.start_frame for clip in workspace.table("clips", Clip)}
        values = zip(measured["subject_id"].to_pylist(), measured["value"].to_pylist(), strict=True)
        shares[way] = {start[clip]: value for clip, value in values}
    assert counted["without"] == counted["in one pass"] == 121
    assert shares["without"][0] == 0  # four mixed frames of fifteen
    assert shares["in one pass"] == shares["in two"]
    assert 4 / 30 <= shares["in one pass"][0] <= 8 / 30
    assert 10 / 30 <= shares["in one pass"][30] <= 16 / 30
    assert shares["in one pass"][60] == shares["in one pass"][90] == 0
