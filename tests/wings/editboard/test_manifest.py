from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.wings.editboard.given import line, world, write_list

from inpaintbench.errors import InputError
from inpaintbench.wings.editboard.media import COLUMNS, MODEL, plain, read_manifest


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_five_columns_of_editboard_are_enough_and_empty_cells_are_left_out(tmp_path: Path) -> None:
    path = write(
        tmp_path / "script.csv",
        "original_video_path,edited_video_path,semantic_mask_path,source_prompt,target_prompt\n"
        "./bear,./bear_white/,./bear_mask,a bear,a white bear\n"
        "./bear,bear_grass,,,a bear on grass\n",
    )
    (tmp_path / "bear_white").mkdir()
    white, grass = read_manifest(path).edits
    assert read_manifest(path).faults == []
    assert (white.item_id, white.model, white.task) == ("bear_white", MODEL, None)
    assert (white.edited, white.mask) == (tmp_path / "bear_white", tmp_path / "bear_mask")
    assert (grass.mask, grass.source_prompt, grass.target_prompt) == (None, None, "a bear on grass")


def test_paths_from_the_folder_above_as_editboards_own_list_has_them(tmp_path: Path) -> None:
    (tmp_path / "sample" / "bear_white").mkdir(parents=True)
    path = write(tmp_path / "sample" / "script.csv", "original_video_path,edited_video_path\n./sample/bear,./sample/bear_white\n")
    found = read_manifest(path)
    assert found.edits[0].edited == tmp_path / "sample" / "bear_white"
    assert found.edits[0].original == tmp_path / "sample" / "bear"
    assert plain(found.edits[0], found.folder)["edited_video_path"] == "sample/bear_white"


def test_csv_json_lines_and_a_list_of_objects_say_the_same(tmp_path: Path) -> None:
    lines = world(tmp_path)
    told = read_manifest(write_list(tmp_path, lines)).edits
    jsonl = write(tmp_path / "items.jsonl", "".join(json.dumps(cells) + "\n" for cells in lines))
    whole = write(tmp_path / "items.json", json.dumps(lines))
    tabs = write(
        tmp_path / "tabs.csv",
        "\n".join("\t".join(str(cell) for cell in cells) for cells in [list(lines[0]), *(cells.values() for cells in lines)]),
    )
    for path in (jsonl, whole, tabs):
        assert [plain(edit, tmp_path) for edit in read_manifest(path).edits] == [plain(edit, tmp_path) for edit in told]
    assert set(plain(told[0], tmp_path)) == set(COLUMNS)


def test_ids_do_not_depend_on_the_order_and_tell_two_prompts_of_one_folder_apart(tmp_path: Path) -> None:
    lines = [
        {"edited_video_path": "a", "target_prompt": "one"}, {"edited_video_path": "a/", "target_prompt": "two"},
        {"edited_video_path": "b", "target_prompt": "one"},
    ]  # fmt: skip
    ids = {edit.item_id for edit in read_manifest(write_list(tmp_path, lines)).edits}
    assert ids == {"a | one", "a | two", "b"}
    random.Random(1).shuffle(lines)
    assert {edit.item_id for edit in read_manifest(write_list(tmp_path, lines)).edits} == ids


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    lines = [
        line("m", "fox", task="SOSE"), line("m", "fox", id="x"), line("m", "ship", id="x"),
        line("m", "ship", edited_video_path=""),
    ]  # fmt: skip
    faults = read_manifest(write_list(tmp_path, [{**cells, "promt": "p"} for cells in lines])).faults
    assert len(faults) == 4
    assert "column 'promt'" in faults[0]
    assert "items.csv line 2: unknown task 'SOSE', did you mean 'SOSA'?" in faults[1]
    assert "line 5: there is no edited_video_path" in faults[2]
    assert "line 4: id 'x' of model 'm' is that of items.csv line 3 too" in faults[3]


def test_one_id_may_stand_for_the_same_edit_by_two_models(tmp_path: Path) -> None:
    found = read_manifest(write_list(tmp_path, [line("m", "fox", id="x"), line("n", "fox", id="x")]))
    assert found.faults == []
    assert [edit.name for edit in found.edits] == ["m/x", "n/x"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "edited_video_path\n", "lists no edit"),
        ("a.xlsx", "PK", "save it as CSV"),
        ("a.json", '{"edited_video_path": "a"}', "not a list of objects"),
        ("a.json", "[", "cannot be read"),
        ("a.toml", "", "choose from"),
    ],
)
def test_what_is_no_list_is_told_in_a_sentence(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_manifest(write(tmp_path / name, text))


def test_a_list_without_the_column_of_edits_is_told_once(tmp_path: Path) -> None:
    faults = read_manifest(write_list(tmp_path, [{"target_prompt": "p"}, {"target_prompt": "q"}])).faults
    assert len(faults) == 1
    assert "no column 'edited_video_path'" in faults[0]
