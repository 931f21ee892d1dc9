from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.eval.metrics.editboard import flickering
from tests.wings.editboard.given import (
    FIDELITY,
    PUBLISHED,
    checked,
    line,
    measured,
    original,
    scored,
    square_mask,
    values,
    world,
    write_frames,
    write_list,
)

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Frames, Score
from inpaintbench.view import ItemView
from inpaintbench.wings.editboard import scoring
from inpaintbench.wings.editboard.scoring import Measuring


def alone(truth: Frames, edit: Frames, mask: np.ndarray, *, protocol: str) -> dict[str, float | None]:
    """Each metric of one edit by itself, from arrays."""
    found = {}
    for metric in PROTOCOLS.get(protocol).build_metrics(FIDELITY):
        view = ItemView.of_arrays(truth=truth, prediction=edit, object_mask=mask[..., 0] > 0)
        found[metric.name] = metric.measure(view)["frame"].value
    return found


@pytest.mark.parametrize("protocol", ["editboard/as-published", "editboard/corrected"])
def test_every_number_is_that_of_the_metric_by_itself(tmp_path: Path, protocol: str) -> None:
    lines = world(tmp_path)
    found = values(scored(tmp_path / "out", write_list(tmp_path, lines), protocol=protocol))
    sources = {"fox": original(right=1), "ship": original(right=2)}
    for cells in lines:
        name, amplitude = str(cells["original_video_path"]), 4 if cells["model"] == "calm" else 40
        expected = alone(sources[name], flickering(sources[name], amplitude=amplitude), square_mask(), protocol=protocol)
        assert {metric: found[str(cells["model"]), str(cells["id"]), metric] for metric in FIDELITY} == expected
    assert len(found) == 3 * len(lines)
    assert sum(value is not None for value in found.values()) > 10


@pytest.mark.long
def test_eight_workers_and_any_order_give_the_same_rows_as_one(tmp_path: Path) -> None:
    lines = world(tmp_path)
    one = scored(tmp_path / "one", write_list(tmp_path, lines), workers=0)
    random.Random(3).shuffle(lines)
    eight = scored(tmp_path / "eight", write_list(tmp_path, lines), workers=8)
    assert eight == one
    assert scored(tmp_path / "single", write_list(tmp_path, lines[:1]), workers=2).rows == [
        row for row in one.rows if (row.method, row.item_id) == (lines[0]["model"], lines[0]["id"])
    ]


def test_what_was_done_before_a_kill_is_not_done_again(tmp_path: Path) -> None:
    lines = world(tmp_path)
    manifest = write_list(tmp_path, lines)
    whole = scored(tmp_path / "whole", manifest)

    def killed(step: str, done: int, total: int) -> None:
        if step.startswith("score") and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scored(tmp_path / "out", manifest, progress=killed)
    done = measured(tmp_path / "out")
    assert 0 < done < len(lines)
    random.Random(2).shuffle(lines)
    assert scored(tmp_path / "out", write_list(tmp_path, lines)) == whole
    assert measured(tmp_path / "out") == len(lines)
    assert scored(tmp_path / "out", manifest) == whole
    assert measured(tmp_path / "out") == len(lines)


def test_edits_that_come_or_go_leave_the_others_alone(tmp_path: Path) -> None:
    world(tmp_path)
    source = original()
    lines = []
    for number in range(7):
        write_frames(tmp_path / "many" / str(number), flickering(source, amplitude=number))
        lines.append(line("many", "fox", id=f"{number}", edited_video_path=f"many/{number}"))
    whole = scored(tmp_path / "whole", write_list(tmp_path, lines))
    for chosen, done in ((lines[2:], 5), (lines[1:6], 6), (lines, 7), (lines[::-2], 7)):
        found = scored(tmp_path / "out", write_list(tmp_path, chosen))
        assert measured(tmp_path / "out") == done
        kept = {cells["id"] for cells in chosen}
        assert found.rows == [row for row in whole.rows if row.item_id in kept]
    write_frames(tmp_path / "other", flickering(source, amplitude=99))
    lines[3]["edited_video_path"] = "other"
    assert (
        values(scored(tmp_path / "out", write_list(tmp_path, lines)))["many", "3", "semantic_score"]
        != (values(whole)["many", "3", "semantic_score"])
    )
    assert measured(tmp_path / "out") == 8


def test_nothing_is_written_into_the_folders_of_frames_which_may_be_read_only(tmp_path: Path) -> None:
    lines = world(tmp_path)
    manifest = write_list(tmp_path, lines)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    folders = [path for path in before if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        out = tmp_path.parent / f"{tmp_path.name}-out"
        found = scored(out, manifest)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert None not in {values(found)[str(cells["model"]), str(cells["id"]), "semantic_score"] for cells in lines}
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_one_folder_in_two_lines_and_a_slash_at_its_end_do_no_harm(tmp_path: Path) -> None:
    world(tmp_path)
    lines = [line("calm", "fox", id=str(number), edited_video_path="calm/fox" + "/" * number) for number in range(2)]
    found = values(scored(tmp_path / "out", write_list(tmp_path, lines)))
    assert found["calm", "0", "ff_beta"] == found["calm", "1", "ff_beta"] is not None


def test_a_line_without_a_mask_lacks_its_semantic_score_alone(tmp_path: Path) -> None:
    world(tmp_path)
    lines = [line("calm", "fox", id="with"), line("calm", "fox", id="without", semantic_mask_path="")]
    found = scored(tmp_path / "out", write_list(tmp_path, lines))
    assert [row.metric for row in found.rows if row.value is None] == ["semantic_score"]
    assert next(row for row in found.rows if row.value is None).reason == "the item has no mask of an object"


@pytest.mark.parametrize(("level", "reason"), [(0, "empty in every frame"), (255, "4 of 4 frames lack a pixel|no frame has")])
def test_empty_and_full_masks_give_no_number(tmp_path: Path, level: int, reason: str) -> None:
    world(tmp_path)
    write_frames(tmp_path / "odd", np.full((4, 48, 64, 3), level, np.uint8))
    found = scored(tmp_path / "out", write_list(tmp_path, [line("calm", "fox", semantic_mask_path="odd")]))
    row = next(row for row in found.rows if row.metric == "semantic_score")
    assert row.value is None
    assert any(part in str(row.reason) for part in reason.split("|"))


def of_pair(folder: Path, source: Frames, edit: Frames, **options: object) -> dict[str, Score]:
    """The rows of one edit of one original, without a mask."""
    write_frames(folder / "a", source)
    write_frames(folder / "b", edit)
    cells = {"original_video_path": "a", "edited_video_path": "b"}
    found = scored(folder / "out", write_list(folder, [cells]), **options)  # type: ignore[arg-type]
    return {row.metric: row for row in found.rows}


def test_a_frozen_edit_and_a_still_original_are_measured(tmp_path: Path) -> None:
    source = original()
    frozen = of_pair(tmp_path / "frozen", source, np.repeat(source[:1], 4, axis=0))
    # Next to nothing moves in the edit, so its directions have nothing to do with those of the original.
    assert frozen["ff_beta"].value == pytest.approx(1.0, abs=0.1)
    flat = np.full((4, 48, 64, 3), 90, np.uint8)
    still = of_pair(tmp_path / "still", flat, flat)
    assert still["ff_beta"].value == pytest.approx(1.0, abs=1e-6)
    assert still["ff_alpha"].value == 0.0
    assert still["ff_alpha"].details["valid_share"] == 1.0


def test_where_flow_explains_too_little_there_is_no_ff_alpha_and_never_0(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (4, 48, 64, 3), dtype=np.uint8)
    found = of_pair(tmp_path, noise, noise)
    assert found["ff_alpha"].value is None
    assert "FF-beta applies" in str(found["ff_alpha"].reason)
    assert found["ff_beta"].details["applies"] == "ff_beta"
    assert found["ff_beta"].value is not None


def test_one_frame_has_reasons_in_place_of_numbers(tmp_path: Path) -> None:
    found = of_pair(tmp_path, original(frames=1), original(frames=1))
    assert [row.value for row in found.values()] == [None, None, None]
    assert found["ff_alpha"].reason == "one frame has no next frame"


def test_portrait_frames_are_measured_like_those_that_lie(tmp_path: Path) -> None:
    source, edit = original(), flickering(original(), amplitude=30)
    lying = of_pair(tmp_path / "lying", source, edit)
    upright = of_pair(tmp_path / "upright", source.transpose(0, 2, 1, 3), edit.transpose(0, 2, 1, 3))
    assert upright["ff_alpha"].value == pytest.approx(lying["ff_alpha"].value, rel=0.02)
    assert upright["ff_beta"].value == pytest.approx(lying["ff_beta"].value, rel=0.05)


def test_an_edit_without_an_original_says_so(tmp_path: Path) -> None:
    write_frames(tmp_path / "b", original())
    found = scored(tmp_path / "out", write_list(tmp_path, [{"edited_video_path": "b"}]))
    assert {row.reason for row in found.rows} == {"the list names no original video"}


def test_a_video_file_gives_what_its_frames_give(tmp_path: Path) -> None:
    source, edit = original(), flickering(original(), amplitude=30)
    expected = of_pair(tmp_path / "folders", source, edit)
    for name, frames in (("a", source), ("b", edit)):
        video.write_lossless(tmp_path / f"{name}.mkv", frames, fps=8.0)
    cells = {"original_video_path": "a.mkv", "edited_video_path": "b.mkv"}
    found = scored(tmp_path / "out", write_list(tmp_path, [cells]))
    assert [row.value for row in found.rows] == [expected[row.metric].value for row in found.rows]


def test_squashed_videos_are_measured_at_that_size_and_marked(tmp_path: Path) -> None:
    source, edit = original(), flickering(original(), amplitude=30)
    row = of_pair(tmp_path, source, edit, side=48)["ff_alpha"]
    assert row.fingerprint.endswith("+squashed-48")
    plain = of_pair(tmp_path / "plain", source, edit)["ff_alpha"]
    assert "+" not in plain.fingerprint
    assert row.value != plain.value


def test_faulty_lines_have_rows_with_their_reason(tmp_path: Path) -> None:
    world(tmp_path)
    lines = [line("calm", "fox"), line("calm", "ship", edited_video_path="gone")]
    found = scored(tmp_path / "out", write_list(tmp_path, lines))
    assert found.failures == 0
    spoilt = [row for row in found.rows if row.item_id == "ship-None"]
    assert [(row.value, row.reason) for row in spoilt] == [(None, "'gone' does not exist")] * 3
    assert len(found.rows) == 6


def test_what_an_unexpected_error_spoiled_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world(tmp_path)
    manifest = write_list(tmp_path, [line("calm", "fox"), line("wild", "fox")])
    metric = type(PROTOCOLS.get("editboard/as-published").build_metrics(["ff_beta"])[0])

    def broken(self: object, views: Sequence[ItemView]) -> None:
        raise RuntimeError("out of memory")

    with monkeypatch.context() as patched:
        patched.setattr(metric, "measure_together", broken)
        spoilt = scored(tmp_path / "out", manifest)
        assert scored(tmp_path / "out", manifest).failures == 2
    assert spoilt.failures == 2
    reasons = {row.reason for row in spoilt.rows if row.metric == "ff_beta"}
    assert reasons == {"could not be measured: RuntimeError: out of memory"}
    whole = scored(tmp_path / "out", manifest)
    assert whole.failures == 0
    assert whole == scored(tmp_path / "anew", manifest)
    assert whole == scored(tmp_path / "out", manifest)
    assert measured(tmp_path / "out") == 6


def test_what_vanishes_after_it_was_looked_at_is_a_failure_that_is_tried_again(executor: LocalExecutor, tmp_path: Path) -> None:
    world(tmp_path)
    manifest = write_list(tmp_path, [line("calm", "fox"), line("wild", "fox")])
    edits, _ = checked(executor, manifest)
    frame = tmp_path / "wild" / "fox" / "00002.png"
    data = frame.read_bytes()
    frame.unlink()
    measuring = Measuring(PROTOCOLS.get(PUBLISHED), FIDELITY, Compute(device="cpu"))
    torn = measuring.score(executor, edits)
    assert torn.failures == 1
    assert {row.method: row.value is None for row in torn.rows} == {"calm": False, "wild": True}
    assert "it changed after it was looked at" in str(torn.rows[-1].reason)
    frame.write_bytes(data)
    assert measuring.score(executor, edits).failures == 0


def test_edits_that_do_not_fit_into_memory_together_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = write_list(tmp_path, world(tmp_path))
    expected = scored(tmp_path / "together", manifest)
    monkeypatch.setattr(scoring, "_HELD_BYTES", 1)
    assert scored(tmp_path / "apart", manifest) == expected


@pytest.mark.real
def test_the_published_sample_has_the_published_numbers(assets: Path, tmp_path: Path) -> None:
    folder = assets / "edited" / "edited-editboard-bear" / "sample"
    there = [row for row in (folder / "script.csv").read_text().splitlines() if "edited" in row or "bear_white" in row]
    (tmp_path / "sample").symlink_to(folder)
    manifest = tmp_path / "script.csv"
    manifest.write_text(os.linesep.join(there))
    found = values(scored(tmp_path / "out", manifest))
    white = {metric: value for (_, item, metric), value in found.items() if item == "sample/bear_white"}
    assert white["ff_alpha"] == pytest.approx(15.5556, abs=0.01)
    assert white["ff_beta"] == pytest.approx(0.2193, abs=1e-4)
    assert white["semantic_score"] == pytest.approx(34.8610, abs=1e-4)
