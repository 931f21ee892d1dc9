"""A manifest from elsewhere leads nobody out of the dataset's folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inpaintbench import frozen
from inpaintbench.errors import InputError, VerifyError

PLAIN = {
    "name": "small", "recipe": {}, "slices": [], "left_out": {}, "versions": {}, "format_version": 3,
    "items": [], "files": {},
}  # fmt: skip
ROW = {"item_id": "i", "source_id": "s", "frames": 1, "width": 8, "height": 8, "fps": 1.0}


@pytest.mark.parametrize("name", ["../out.mp4", "/etc/passwd", "truth/../../out.mp4", "..\\out.mp4", "", "a\0b"])
@pytest.mark.parametrize("place", ["files", "truth_file_name", "second_hole_file_names"])
def test_names_that_lead_out_of_the_folder_are_refused(name: str, place: str, tmp_path: Path) -> None:
    if place == "files":
        fields = {**PLAIN, "files": {name: "0" * 64}}
    else:
        fields = {**PLAIN, "items": [{**ROW, place: [name] if place.endswith("s") else name}]}
    (tmp_path / frozen.MANIFEST).write_text(json.dumps(fields))
    with pytest.raises(VerifyError, match="which cannot lie in a dataset"):
        frozen.load(tmp_path)


def test_names_of_all_kinds_inside_are_taken(tmp_path: Path) -> None:
    row = {
        **ROW,
        "truth_file_name": "truth/a b.mp4",
        "hole_file_name": None,
        "second_hole_file_names": ["holes/..b.png"],
        "attributes": {"second_holes": [{"hole_sha256": "0" * 64}]},
    }
    (tmp_path / frozen.MANIFEST).write_text(json.dumps({**PLAIN, "items": [row], "files": {"README.md": "0" * 64}}))
    assert frozen.load(tmp_path).items == (row,)


def test_who_names_the_workspace_is_told_where_its_dataset_is(tmp_path: Path) -> None:
    made = tmp_path / "exports" / "devil"
    made.mkdir(parents=True)
    (made / frozen.MANIFEST).write_text(json.dumps(PLAIN))
    with pytest.raises(InputError, match=r"no dataset.json\); it is a workspace, and its dataset is .*exports/devil$"):
        frozen.load(tmp_path)
    with pytest.raises(InputError, match=r"is not a frozen dataset \(no dataset.json\); give a folder that"):
        frozen.load(tmp_path / "exports")
