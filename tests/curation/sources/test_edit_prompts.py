"""Tables of edits as others keep them: their columns, tasks and instructions, in CSV, JSON lines and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inpaintbench.curation.sources.edit_folders import edit_of
from inpaintbench.curation.sources.edit_prompts import Asked, read_columns, read_prompts, task_fault
from inpaintbench.errors import InputError

FIVE = {"video_name": "0001_bus", "source_prompt": "a bus", "target_prompt": "a tram", "save_dir": "edit1"}


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def read(path: Path, **options: Any) -> list[Asked]:
    asked, faults = read_prompts(path, fewest=1, **options)
    assert faults == []
    return asked


def fault(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_prompts(path, fewest=1, **options)
    return str(caught.value)


# Columns of others


@pytest.mark.parametrize(
    ("columns", "mapping"),
    [
        (("video_name", "edit_prompt"), "clip=video_name,target_prompt=edit_prompt"),
        (("video_name", "source_prompt", "target_prompt", "save_dir"), "clip=video_name"),
        (("Video Name", "source_prompt", "edit-prompt", "target_prompt"), "'clip=Video Name,instruction=edit-prompt'"),
        (("edited_type", "prompt", "original_video"), "clip=original_video,instruction=prompt,task=edited_type"),
        (("clip", "edit_type", "target_prompt"), "task=edit_type"),
        (("instruction", "input_caption", "output_caption", "video_id", "mask_id"),
         "clip=video_id,target_prompt=output_caption,source_prompt=input_caption,object=mask_id"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json"])
def test_columns_of_others_are_answered_with_a_mapping_that_reads_them(
    suffix: str, columns: tuple[str, ...], mapping: str, tmp_path: Path
) -> None:
    cells = {name: "3" if name == "mask_id" else f"some_{place}" for place, name in enumerate(columns)}
    sign = "\t" if suffix == "tsv" else ","
    text = {"json": json.dumps([cells]), "jsonl": json.dumps(cells)}.get(
        suffix, f"{sign.join(cells)}\n{sign.join(cells.values())}\n"
    )
    path = written(tmp_path / f"p.{suffix}", text)
    said = fault(path)
    assert "have no column" in said
    assert said.endswith(f"if this is what they mean, add --columns {mapping}")
    wanted = read_columns(mapping.strip("'"))
    (edit,) = read(path, columns=wanted)
    for ours, theirs in wanted.items():
        assert str(getattr(edit, ours)) == cells[theirs]


def test_what_nothing_can_be_guessed_for_is_left_to_say(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "film,what\nbear,a panda\n")
    assert fault(path) == (
        f"prompts {str(path)!r} have no column 'clip' and no 'target_prompt' or 'instruction', they have film, what; say what "
        "they call these: --columns clip=THEIRS,target_prompt=THEIRS"
    )
    (edit,) = read(path, columns={"clip": "film", "instruction": "what"})
    assert (edit.clip, edit.instruction, edit.target_prompt, edit.task) == ("bear", "a panda", None, "edit")
    assert "unknown column 'fil', did you mean 'film'?" in fault(path, columns={"clip": "fil"})


def test_a_mapping_goes_before_a_column_of_our_name(tmp_path: Path) -> None:
    path = written(tmp_path / "p.json", [{**FIVE, "clip": "7", "task": "SE"}])
    assert read(path)[0].clip == "7"
    assert read(path, columns={"clip": "video_name"})[0].clip == "0001_bus"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clip", "'clip' is not OURS=THEIRS"),
        ("clip=", "'clip=' is not OURS=THEIRS"),
        ("clop=video", "unknown column 'clop', did you mean 'clip'?"),
        ("clip=a,clip=b", "clip is 'a' and 'b'; name one"),
    ],
)
def test_texts_that_are_no_mapping(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_columns(text)
    assert read_columns("clip=video name, task = type") == {"clip": "video name", "task": "type"}


# JSON


def test_lists_objects_and_objects_of_lists_say_the_same(tmp_path: Path) -> None:
    edits = {"bear": {"task": "SE", "target_prompt": "a bear in oil"}, "bus": {"task": "SE", "instruction": "paint it"}}
    flat = read(written(tmp_path / "list.json", [{"clip": clip, **edit} for clip, edit in edits.items()]))
    assert [(one.clip, one.target_prompt, one.instruction) for one in flat] == [
        ("bear", "a bear in oil", None), ("bus", None, "paint it"),
    ]  # fmt: skip
    assert [one.where for one in flat] == ["list.json entry 1", "list.json entry 2"]
    named = read(written(tmp_path / "named.json", edits))
    nested = read(written(tmp_path / "nested.json", {clip: [edit] for clip, edit in edits.items()}))
    assert [one.where for one in (*named, *nested)] == [
        "named.json 'bear'", "named.json 'bus'", "nested.json 'bear' entry 1", "nested.json 'bus' entry 1",
    ]  # fmt: skip
    for other in (named, nested):
        assert [vars(one) | {"where": ""} for one in other] == [vars(one) | {"where": ""} for one in flat]


def test_keys_are_clips_only_where_nothing_else_names_them(tmp_path: Path) -> None:
    wrapped = written(tmp_path / "p.json", {"short": [FIVE]})
    assert fault(wrapped).endswith("add --columns clip=video_name")
    assert read(wrapped, columns={"clip": "video_name"})[0].clip == "0001_bus"
    # What a thing is called need not be its clip.
    named = written(tmp_path / "q.json", {"bear": {"name": "Bear in oil", "target_prompt": "a bear in oil"}})
    assert read(named)[0].clip == "bear"
    assert read(written(tmp_path / "r.json", {"0": {"clip": "bear", "target_prompt": "x"}}))[0].clip == "bear"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{]", "is not JSON"),
        ("3", "hold neither a list of edits nor an object whose keys name clips"),
        ({"bear": "a panda"}, "p.json 'bear' is \"a panda\", not an edit and not a list of edits"),
        (["a panda"], 'p.json entry 1 is "a panda", not an object that says what is asked'),
        ([], "hold no edit"),
        ({}, "hold no edit"),
    ],
)
def test_json_that_is_no_table(value: Any, words: str, tmp_path: Path) -> None:
    assert words in fault(written(tmp_path / "p.json", value))
    with pytest.raises(InputError, match="cannot be read"):
        read_prompts(tmp_path / "missing.json")


def test_several_texts_in_one_place_are_told(tmp_path: Path) -> None:
    path = written(tmp_path / "p.json", [{"clip": "bear", "target_prompt": ["a", "b"]}, {"clip": "bear", "target_prompt": 7}])
    asked, faults = read_prompts(path, fewest=1)
    assert faults == ['p.json entry 1: target_prompt is ["a", "b"], not one text']
    assert [one.target_prompt for one in asked] == ["7"]


# Tasks and instructions


def test_tasks_of_ones_own_are_taken_and_slips_are_told() -> None:
    for task in ("SOSA", "MOA", "global_style", "remove", "set", "PAINT", "3d-swap", "Übermalen"):
        assert task_fault(task) is None
    for task, near in (("SOS", "SOSA"), ("SOSE", "SOSA"), ("sosa", "SOSA"), ("Moa", "MOA")):
        assert task_fault(task) == f"unknown task {task!r}, did you mean {near!r}?"
    for task in ("a/b", "-x", "x" * 41, "(rigid)", "a.b"):
        assert "is no short word" in str(task_fault(task))


def test_blanks_in_tasks_become_what_slices_may_be_called(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "clip,task,target_prompt\nbear,Subject Motion,a\nbear,,b\n")
    asked, faults = read_prompts(path, fewest=1)
    assert [one.task for one in asked] == ["Subject_Motion"]
    assert faults == ["p.csv line 3: there is no task"]


def test_an_edit_needs_a_prompt_or_an_instruction(tmp_path: Path) -> None:
    lines = ("bear,SE,,paint it in oil", "bear,SE,a bear in oil,", "bear,SE,,", "bear,SE,,Paint  it in oil")
    path = written(tmp_path / "p.csv", "\n".join(["clip,task,target_prompt,instruction", *lines]))
    asked, faults = read_prompts(path)
    assert [(one.target_prompt, one.instruction) for one in asked[:2]] == [(None, "paint it in oil"), ("a bear in oil", None)]
    assert faults == ["p.csv line 4: there is no target_prompt", "p.csv line 5: asks the same as p.csv line 2"]


def test_questions_about_an_edit_come_along_and_tables_may_be_parquet(tmp_path: Path) -> None:
    asked = {"source_yes_no_question": "", "target_yes_no_question": "Is it a tram?", "multiple_choice_question": "What? a) b)"}
    row = {"clip": "bus", "target_prompt": "a tram", **asked}
    told = {name: text for name, text in asked.items() if text}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "p.parquet")
    for path in (written(tmp_path / "p.json", [row]), tmp_path / "p.parquet"):
        (edit,) = read(path)
        assert edit.questions == told
        assert edit_of(edit)["questions"] == told
    (edit,) = read(written(tmp_path / "q.json", [{"clip": "bus", "target_prompt": "a tram"}]))
    assert "questions" not in edit_of(edit)  # nor in what an item is called after
