"""Files of prompts, and everything that can be wrong in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inpaintbench.curation.sources.edit_folders import read_prompts
from inpaintbench.errors import InputError

ROWS = [
    {"clip": "bear", "source_prompt": "a bear", "task": "SOSA", "target_prompt": "a white bear"},
    {"clip": "bear/", "source_prompt": "", "task": "SOSA", "target_prompt": "a red bear", "object": "2"},
]


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    table = write(
        tmp_path / "p.csv", "clip;source_prompt;task;target_prompt;object", "bear;a bear;SOSA;a white bear;",
        "bear/;;SOSA;a red bear;2",
    )  # fmt: skip
    lines = write(tmp_path / "p.jsonl", json.dumps(ROWS[0]), "", json.dumps(ROWS[1]))
    (first, faults), (second, none) = read_prompts(table), read_prompts(lines)
    assert faults == none == []
    assert [(one.clip, one.task, one.source_prompt, one.target_prompt, one.object) for one in first] == [
        ("bear", "SOSA", "a bear", "a white bear", None), ("bear", "SOSA", None, "a red bear", 2),
    ]  # fmt: skip
    assert [one.where for one in first] == ["p.csv line 2", "p.csv line 3"]
    assert [one.where for one in second] == ["p.jsonl line 1", "p.jsonl line 3"]
    assert [vars(one) | {"where": ""} for one in first] == [vars(one) | {"where": ""} for one in second]


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    table = write(
        tmp_path / "p.csv",
        "clip,task,target_prompt,object",
        "bear,SOS,a white bear,",
        "bear,SE,,",
        ",SE,a bear in oil,",
        "bear,SOSA,a white bear,bear",
        "bear,SOSA,a white bear,",
        "./bear,SOSA,a white bear,",
    )
    asked, faults = read_prompts(table)
    assert [one.where for one in asked] == ["p.csv line 6", "p.csv line 7"]
    assert faults == [
        "p.csv line 2: unknown task 'SOS', did you mean 'SOSA'?",
        "p.csv line 3: there is no target_prompt",
        "p.csv line 4: there is no clip",
        "p.csv line 5: object 'bear' is not its number in the masks, 1 to 255",
        "p.csv line 7: asks the same as p.csv line 6",
        "clip 'bear' has 1 target prompt in SOSA, at least 2 are needed",
    ]
    assert read_prompts(table, fewest=1)[1] == faults[:-1]


def test_blanks_and_capitals_make_no_other_prompt_and_the_source_is_no_target(tmp_path: Path) -> None:
    table = write(
        tmp_path / "p.csv",
        "clip,source_prompt,task,target_prompt",
        "bear,a bear,SE,a bear in oil",
        "bear,a bear,SE,A bear  in oil",
        "bear,a bear,SE,A bear",
    )
    assert read_prompts(table)[1] == [
        "p.csv line 3: asks the same as p.csv line 2",
        "p.csv line 4: the target prompt is the source prompt, so nothing is to be edited",
    ]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("p.csv", "clip,task\nbear,SE\n", "have no column 'target_prompt'"),
        ("p.csv", "clip,task,target_prompt\n", "hold no edit"),
        ("p.jsonl", "{]\n", "p.jsonl line 1 is not JSON"),
        ("p.jsonl", "[1]\n", "p.jsonl line 1 is not an object"),
    ],
)
def test_files_that_are_no_prompts(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words):
        read_prompts(tmp_path / name)
    with pytest.raises(InputError, match="cannot be read"):
        read_prompts(tmp_path / "missing" / name)
