"""`eval list --for DATASET` of what wings bring."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_listing import listed, write

from inpaintbench.eval.metrics import METRICS


def test_a_dataset_leaves_what_applies_to_it(tmp_path: Path) -> None:
    holes = listed("--for", write(tmp_path / "holes", hole_file_name="hole/a.mp4"))
    assert set(METRICS) - holes["metrics"] > {"wnjd", "success_rate", "reinpaint_psnr"}
    assert not {"humans/corrected", "editboard/paper", "reinpaint/corrected"} & holes["protocols"]
    people = listed("--for", write(tmp_path / "people", attributes={"joints": [{}]}))
    assert ("wnjd" in people["metrics"], "humans/corrected" in people["protocols"]) == (True, True)
    edits = listed("--for", write(tmp_path / "edits", target_prompt="a fox", source_prompt=None))
    assert ("success_rate" in edits["metrics"], "editboard/corrected" in edits["protocols"]) == (True, True)
    second = {"second_hole_file_names": ["hole/b.png"], "attributes": {"second_holes": [{"hole_sha256": "0" * 64}]}}
    again = listed("--for", write(tmp_path / "again", hole_file_name="hole/a.png", **second))
    assert ("reinpaint_psnr" in again["metrics"], "reinpaint/corrected" in again["protocols"]) == (True, True)
