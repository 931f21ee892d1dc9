"""Every defect that the released code has, from a list: it is told before anything is measured, or does no harm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.wings.editboard.given import FIDELITY, checked, line, original, square_mask, world, write_frames, write_list

from inpaintbench.executors.local import LocalExecutor
from inpaintbench.models.torch_networks import lacking
from inpaintbench.wings.editboard.checking import Finding

LONG = "a very " * 80 + "white fox"


def found(executor: LocalExecutor, folder: Path, *lines: dict[str, object], **options: object) -> dict[str, list[str]]:
    findings: list[Finding] = checked(executor, write_list(folder, lines), **options)[1]  # type: ignore[arg-type]
    kinds = {kind: [str(one) for one in findings if one.kind == kind] for kind in ("fault", "gap", "note")}
    kinds["note"] = [note for note in kinds["note"] if "512x512" not in note]
    return kinds


def test_nothing_is_said_of_lines_that_are_right(executor: LocalExecutor, tmp_path: Path) -> None:
    assert found(executor, tmp_path, *world(tmp_path)) == {"fault": [], "gap": [], "note": []}


def test_everything_wrong_is_told_at_once_with_its_line(executor: LocalExecutor, tmp_path: Path) -> None:
    world(tmp_path)
    source = original()
    write_frames(tmp_path / "m" / "short", source[:3])
    write_frames(tmp_path / "m" / "tall", source.transpose(0, 2, 1, 3))
    write_frames(tmp_path / "few_mask", square_mask(frames=2))
    write_frames(tmp_path / "damaged", source)
    (tmp_path / "damaged" / "00002.png").write_bytes(b"no image")
    faults = found(
        executor, tmp_path,
        line("m", "fox", id="1", edited_video_path="m/short"), line("m", "fox", id="2", edited_video_path="m/tall"),
        line("m", "fox", id="3", edited_video_path="gone"), line("calm", "fox", id="4", semantic_mask_path="few_mask"),
        line("calm", "fox", id="5", original_video_path="damaged"), line("calm", "fox", id="6"),
    )["fault"]  # fmt: skip
    assert faults[0] == "items.csv line 2: the edit is 3 frames, its original 4 frames"
    assert faults[1].startswith("items.csv line 3: the edit is 48x64, its original 64x48; --side 512 squashes")
    assert faults[2:4] == [
        "items.csv line 4: 'gone' does not exist", "items.csv line 5: the mask is 2 frames, its original 4 frames"
    ]  # fmt: skip
    assert faults[4].startswith("items.csv line 6: 'damaged' cannot be read: 00002.png")
    assert len(faults) == 5


def test_sizes_do_not_matter_where_all_are_squashed(executor: LocalExecutor, tmp_path: Path) -> None:
    world(tmp_path)
    write_frames(tmp_path / "m" / "tall", original().transpose(0, 2, 1, 3))
    asked = line("m", "fox", edited_video_path="m/tall")
    assert found(executor, tmp_path, asked, side=64)["fault"] == []
    assert len(found(executor, tmp_path, asked)["fault"]) == 1


def test_what_will_have_no_value_is_told_and_stops_nothing(executor: LocalExecutor, tmp_path: Path) -> None:
    world(tmp_path)
    for name, level in (("no", 0), ("all", 255)):
        write_frames(tmp_path / f"{name}_mask", np.full((4, 48, 64, 3), level, np.uint8))
    write_frames(tmp_path / "still", original(frames=1))
    asked = [
        line("calm", "fox", id="1", semantic_mask_path=""), line("calm", "fox", id="2", semantic_mask_path="no_mask"),
        line("calm", "fox", id="3", semantic_mask_path="all_mask"),
        line("calm", "fox", id="4", original_video_path="still", edited_video_path="still", semantic_mask_path=""),
        line("calm", "fox", id="5", original_video_path="", semantic_mask_path=""),
        line("calm", "fox", id="6", task="SE", semantic_mask_path=""),
    ]  # fmt: skip
    kinds = found(executor, tmp_path, *asked)
    assert kinds["fault"] == []
    assert kinds["gap"] == [
        "items.csv line 2: there is no semantic_mask_path, so there will be no semantic_score",
        "items.csv line 3: the mask 'no_mask' is empty in every frame, so there will be no semantic_score",
        "items.csv line 4: the mask 'all_mask' covers every frame whole, so there will be no semantic_score",
        "items.csv line 5: has 1 frame, so there will be no ff_alpha or ff_beta",
        "items.csv line 5: there is no semantic_mask_path, so there will be no semantic_score",
        "items.csv line 6: there is no original_video_path, so there will be no ff_alpha, ff_beta or semantic_score",
    ]


@pytest.mark.skipif(lacking() is not None, reason="the words are counted by a package of the extra eval")
def test_a_prompt_of_more_than_77_tokens_is_told_before_anything_is_measured(executor: LocalExecutor, tmp_path: Path) -> None:
    world(tmp_path)
    asked = [
        line("calm", "fox", id="1", target_prompt=LONG), line("calm", "fox", id="2", source_prompt=LONG),
        line("calm", "fox", id="3", target_prompt=""), line("calm", "fox", id="4", target_prompt="a white fox " * 10),
    ]  # fmt: skip
    gaps = found(executor, tmp_path, *asked, metrics=("success_rate", "clip_similarity"))["gap"]
    assert len(gaps) == 3
    assert "line 2: the target_prompt has 164 tokens" in gaps[0]
    assert gaps[0].endswith("so there will be no success_rate or clip_similarity")
    assert gaps[1].endswith("CLIP takes 77 at most, so there will be no success_rate")
    assert gaps[2].endswith("there is no target_prompt, so there will be no success_rate or clip_similarity")


def test_only_what_the_metrics_need_is_looked_at(executor: LocalExecutor, tmp_path: Path) -> None:
    world(tmp_path)
    asked = line("calm", "fox", original_video_path="gone", semantic_mask_path="gone")
    assert found(executor, tmp_path, asked, metrics=("subject_consistency",))["fault"] == []
    assert len(found(executor, tmp_path, asked, metrics=FIDELITY)["fault"]) == 1


def test_an_order_of_text_is_told_once(executor: LocalExecutor, tmp_path: Path) -> None:
    frames = original(frames=11)
    write_frames(tmp_path / "fox", frames, name="frame_{}.png".format)
    write_frames(tmp_path / "calm" / "fox", frames)
    asked = [line("calm", "fox", id=str(number), semantic_mask_path="") for number in range(2)]
    notes = found(executor, tmp_path, *asked)["note"]
    assert len(notes) == 1
    assert "frame_10.png would stand in the place of frame_2.png" in notes[0]


def test_an_edit_of_other_frames_than_its_original_has_is_a_fault(executor: LocalExecutor, tmp_path: Path) -> None:
    frames = original()
    write_frames(tmp_path / "fox", frames)
    write_frames(tmp_path / "calm" / "fox", frames, name=lambda place: f"{5 * place:05d}.png")
    faults = found(executor, tmp_path, line("calm", "fox", semantic_mask_path=""))["fault"]
    assert len(faults) == 1
    assert faults[0].endswith("the numbers of the edit go in steps of 5, those of its original in steps of 1")


@pytest.mark.parametrize(("first", "refused"), [(0, False), (1, False), (7, True)])
def test_a_mask_is_of_the_frames_of_its_numbers(executor: LocalExecutor, tmp_path: Path, first: int, *, refused: bool) -> None:
    frames = original()
    write_frames(tmp_path / "fox", frames)
    write_frames(tmp_path / "calm" / "fox", frames, name=lambda place: f"{7 + place:05d}.png")  # programs count their own frames
    write_frames(tmp_path / "fox_mask", frames, name=lambda place: f"{first + place}.png")
    faults = found(executor, tmp_path, line("calm", "fox", semantic_mask_path="fox_mask"))["fault"]
    why = (
        "the mask is 7.png, 8.png ..., its original 00000.png, 00001.png ...: give the mask of these frames, numbered as they are"
    )
    assert [text.endswith(why) for text in faults] == [True] * refused
