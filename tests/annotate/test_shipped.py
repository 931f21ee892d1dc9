"""The studies that come with the package say what they promise."""

from __future__ import annotations

import tomllib
from math import comb
from pathlib import Path

import pytest

from inpaintbench.annotate import shipped
from inpaintbench.annotate.study import read_study_file
from inpaintbench.errors import InputError, UnknownNameError

FOLDER = Path("/somewhere")


def test_all_are_found_and_built() -> None:
    assert shipped.names() == ["best_of_100", "devil_labels", "editboard", "removal", "strangers"]
    for name in shipped.names():
        file = shipped.read(name, folder=FOLDER)
        for spec in file.questions:
            assert spec.label
        assert file.welcome.strip()


def test_devil_labels_ask_three_raters_about_water() -> None:
    file = shipped.read("devil_labels", folder=FOLDER)
    asked = {one.leaf: one.raters_per_task for one in file.questions}
    assert asked == {"keep_reject": 1, "scene_motion": 3, "camera_motion": 1}
    assert file.subjects.workspace == "/somewhere/WORKSPACE"
    assert all(raters % 2 for raters in asked.values())  # no draws


def test_the_best_of_study_has_ten_thousand_answers() -> None:
    file = shipped.read("best_of_100", folder=FOLDER)
    (question,) = file.questions
    assert question.leaf == "best_of"
    assert len(file.subjects.methods) == 5
    assert file.subjects.most is not None
    assert file.subjects.most * question.raters_per_task == 10_000
    assert (file.show.original, file.show.input, file.show.outline) == (False, False, False)
    assert file.checks.gold_share == file.checks.repeat_share == 0


def test_editboard_has_thirty_questions_in_each_of_five_dimensions() -> None:
    file = shipped.read("editboard", folder=FOLDER)
    assert [one.label for one in file.questions] == [
        "ff_alpha", "ff_beta", "semantic_score", "success_rate", "clip_similarity"
    ]  # fmt: skip
    assert {one.leaf for one in file.questions} == {"pairwise"}
    assert len({one.instruction for one in file.questions}) == 5
    assert all(one.instruction and one.title for one in file.questions)
    pairs = comb(len(file.subjects.methods), 2)
    assert file.subjects.most is not None
    assert pairs * file.subjects.most == 30
    assert sum(pairs * file.subjects.most * one.raters_per_task for one in file.questions) == 4500


def test_removal_asks_about_the_object_its_effects_and_the_rest_without_a_truth() -> None:
    file = shipped.read("removal", folder=FOLDER)
    assert [one.label for one in file.questions] == ["object_gone", "effect_gone", "background_preserved"]
    assert {one.leaf for one in file.questions} == {"pairwise"}
    assert all(one.raters_per_task % 2 for one in file.questions)
    assert (file.show.original, file.show.input, file.show.outline) == (False, True, True)


def test_strangers_are_asked_with_everything_that_makes_their_answers_worth_something() -> None:
    file = shipped.read("strangers", folder=FOLDER)
    assert file.crowd is not None
    assert file.crowd.qualify.training == "/somewhere/training.csv"
    assert file.crowd.qualify.right == 5
    assert file.subjects.decoys == ("DECOY",)
    assert {"failed_gold", "side_bias", "faster_than_clip"} <= set(file.screening)
    assert [name for name, rule in file.screening.items() if rule.auto] == ["faster_than_clip"]
    assert file.checks.warmup > 0
    # Of a person's tasks enough have a known answer for the window to fill.
    assert file.checks.gold_share * file.crowd.tasks_per_person >= file.checks.window - 1


def test_one_that_was_written_reads_the_same_and_is_never_overwritten(tmp_path: Path) -> None:
    for name in shipped.names():
        path = shipped.write(name, tmp_path / name)
        assert path == tmp_path / name / "study.toml"
        assert read_study_file(path) == shipped.read(name, folder=path.parent)
        path.write_text(path.read_text(), encoding="utf-8-sig")  # as editors of Windows save it
        assert read_study_file(path) == shipped.read(name, folder=path.parent)
        path.write_text("mine")
        with pytest.raises(InputError, match=r"study\.toml' is there already"):
            shipped.write(name, tmp_path / name)
        assert path.read_text() == "mine"
    assert shipped.write("editboard", tmp_path / "own.toml") == tmp_path / "own.toml"


def test_every_field_of_the_format_is_explained_somewhere() -> None:
    """Each line that sets a field in the study that teaches the format has a comment."""
    text = shipped.text("devil_labels")
    assert tomllib.loads(text)["subjects"] == {"workspace": "WORKSPACE", "clips": "all"}
    lines = text.split('welcome = """')[0].splitlines() + text.split('"""')[-1].splitlines()
    setting = [line for line in lines if " = " in line and not line.startswith("#")]
    assert len(setting) > 15
    first_uses = {line.partition(" = ")[0]: line for line in reversed(setting)}
    assert [name for name, line in first_uses.items() if "#" not in line] == []


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'editboard'"):
        shipped.text("edit_board")


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        shipped.write("editboard", tmp_path / "file" / "folder")
