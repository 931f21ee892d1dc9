"""Label Studio's JSON goes out with every answer and comes back the same; its own annotations come in."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from studies_made import write_study

from inpaintbench import video
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import votes
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.outcomes.judgements import Imported, export_judgements, import_judgements, write_gold
from inpaintbench.annotate.outcomes.label_studio import order_of, write_media
from inpaintbench.annotate.records import Submission, Vote
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.errors import InputError

QUESTIONS: list[dict[str, Any]] = [
    {"leaf": "pairwise", "raters_per_task": 2, "must_watch": False, "constants": {"both_bad": True}},
    {"leaf": "best_of", "raters_per_task": 2, "must_watch": False},
    {"leaf": "mean_opinion", "raters_per_task": 2, "must_watch": False},
    {"leaf": "keep_reject", "raters_per_task": 2, "must_watch": False},
    {"leaf": "scene_motion", "raters_per_task": 2, "must_watch": False},
]
METHODS = ("deep", "flow", "patch")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path, list[Vote]]:
    """A study with every kind of question, and answers of two raters to all of it: every option in turn."""
    folder = tmp_path_factory.mktemp("asked") / "study"
    study = write_study(folder, QUESTIONS, subjects=3, methods=METHODS, proxies=2)
    with Journal(folder / "journal.sqlite") as journal:
        journal.register(study.study_id, title="S")
        clock = iter(range(1_000, 10**9, 60))
        desk = Desk(study, journal, clock=lambda: float(next(clock)))
        turn = 0
        for rater in ("zoe", "max"):
            while queue := desk.work(rater)["queue"]:
                given: dict[str, str] = {}
                for part in queue[0]["question"]["form"]["parts"]:
                    if part["when"] and given.get(part["when"][0]) != part["when"][1]:
                        continue
                    option = part["options"][turn % len(part["options"])]["value"]
                    given[part["name"]] = option
                    if part["text_with"] == option:
                        given[f"{part['name']}_text"] = "Ränder <flackern>"
                turn += 1
                seen = {"watched_frames": 30, "dropped_frames": 0, "plays": 1.0, "stuttered": turn % 3 == 0}
                lease = queue[0]["lease_id"]
                desk.answer(rater, {"submission_id": f"{rater}{turn}", "lease_id": lease, "given": given, "seconds": 2.5, **seen})
        answers = votes(study, journal.events(study.study_id))
    assert len(answers) == 2 * len(study.tasks)
    return study, folder, answers


def rows(study: Study, answers: list[Vote], path: Path) -> list[dict[str, Any]]:
    export_judgements(study, answers, path, names={"zoe": "Zoe", "max": "Max"})
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_goes_out_comes_back_the_same(asked: tuple[Study, Path, list[Vote]], tmp_path: Path) -> None:
    study, _, answers = asked
    path = tmp_path / "tasks.json"
    assert export_judgements(study, answers, path, names={"zoe": "Zoe", "max": "Max"}) == len(answers)
    with Journal(tmp_path / "other.sqlite") as journal:
        journal.register(study.study_id, title="S")
        assert import_judgements(path, study, journal, at=0) == Imported(len(answers), 0)
        assert import_judgements(path, study, journal, at=0) == Imported(0, len(answers))
        back = votes(study, journal.events(study.study_id))
    before, after = rows(study, answers, tmp_path / "before.jsonl"), rows(study, back, tmp_path / "after.jsonl")
    by_id = {row["submission_id"]: row for row in after}
    assert [by_id[row["submission_id"]] for row in before] == before
    assert len(after) == len(before)


def test_no_name_of_a_method_is_in_what_people_would_see(asked: tuple[Study, Path, list[Vote]], tmp_path: Path) -> None:
    study, _, answers = asked
    path = tmp_path / "tasks.json"
    export_judgements(study, answers, path)
    tasks = json.loads(path.read_text())
    assert not re.search("|".join(METHODS), json.dumps([task["data"] for task in tasks]))
    assert Counter(task["data"]["question"] for task in tasks) == Counter(task.question for task in study.tasks)
    pairs = [task["data"] for task in tasks if task["data"]["question"] == "pairwise"]
    assert all({"left", "right"} <= set(data) and data["left"] != data["right"] for data in pairs)
    firsts = Counter(order_of(study, task)[0] for task in study.tasks if task.question == "pairwise")
    assert len(firsts) > 1
    interface = ElementTree.parse(tmp_path / "tasks-keep_reject.xml").getroot()
    assert [video.get("value") for video in interface.iter("Video")] == ["$video"]
    assert [choice.get("alias") for choice in interface.find("Choices").iter("Choice")] == ["keep", "reject"]  # type: ignore[union-attr]
    assert {area.get("name") for area in interface.iter("TextArea")} == {"reason_text"}


def test_sides_of_pairs_are_cut_from_their_proxies(asked: tuple[Study, Path, list[Vote]], tmp_path: Path) -> None:
    study, folder, answers = asked
    path = tmp_path / "tasks.json"
    export_judgements(study, answers, path, media="https://here.test/media/")
    made = write_media(study, folder, tmp_path / "media")
    named = {
        name.removeprefix("https://here.test/media/")
        for task in json.loads(path.read_text())
        for key, name in task["data"].items()
        if key in ("left", "right", "video")
    }
    assert {file.name for file in (tmp_path / "media").iterdir()} == named
    assert made == len(named)
    task = next(task for task in study.tasks if task.question == "pairwise")
    proxy = study.proxies[task.proxy]
    tiles = {tile.candidate: tile for tile in proxy.tiles}
    data = next(one["data"] for one in json.loads(path.read_text()) if one["data"]["task_id"] == task.task_id)
    assert data["left"].startswith("https://here.test/media/")
    whole = video.read_frames(folder / "proxies" / task.proxy)
    for side, method in zip(("left", "right"), order_of(study, task), strict=True):
        tile, cut = tiles[method], video.read_frames(tmp_path / "media" / Path(data[side]).name)
        part = whole[:, tile.y : tile.y + tile.height, tile.x : tile.x + tile.width]
        assert cut.shape == part.shape
        assert abs(cut.astype(int) - part).mean() < 6


def test_annotations_of_label_studio_itself_come_in(asked: tuple[Study, Path, list[Vote]], tmp_path: Path) -> None:
    """Its control for pairs, people by number or address, what was cancelled or is ground truth; tasks that never were ours."""
    study, _, _ = asked
    pair = next(task for task in study.tasks if task.question == "pairwise")
    clip = next(task for task in study.tasks if task.question == "keep_reject")
    order = order_of(study, pair)

    def chosen(part: str, value: str) -> list[dict[str, Any]]:
        return [{"from_name": part, "to_name": "video", "type": "choices", "value": {"choices": [value]}}]

    pairwise = [{"from_name": "pw", "to_name": "pw", "type": "pairwise", "value": {"selected": "right"}}]
    cancelled = {"id": 3, "completed_by": 2, "was_cancelled": True, "result": []}
    known = {"id": 4, "completed_by": 2, "ground_truth": True, "result": pairwise}
    tasks = [
        {
            "id": 1,
            "data": {"task_id": pair.task_id, "left": "/data/left.mp4", "right": "/data/right.mp4"},
            "annotations": [
                {"id": 1, "completed_by": 7, "created_at": "2026-11-23T12:00:00.5Z", "lead_time": 4.25, "result": pairwise},
                {"id": 2, "completed_by": {"email": "ann@lab.test"}, "result": chosen("better", "tie")},
                cancelled,
                known,
            ],
        },
        {
            "data": {"question": "pairwise", "item": pair.subject_id, "left": pair.candidates[1], "right": pair.candidates[0]},
            "annotations": [{"id": 5, "completed_by": 9, "result": chosen("better", "left")}],
        },
        {
            "data": {"question": "keep_reject", "item": clip.subject_id},
            "annotations": [{"id": 6, "completed_by": 7, "result": chosen("verdict", "keep")}],
        },
        {"data": {"question": "keep_reject", "item": clip.subject_id}, "annotations": []},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8-sig")
    with Journal(tmp_path / "other.sqlite") as journal:
        journal.register(study.study_id, title="S")
        assert import_judgements(path, study, journal, at=50.0) == Imported(4, 0, cancelled=1, truths=1)
        assert import_judgements(path, study, journal, at=60.0) == Imported(0, 4, cancelled=1, truths=1)
        found = votes(study, journal.events(study.study_id))
    assert [(vote.rater_id, vote.choice, vote.shown, vote.seconds) for vote in found] == [
        ("ls:7", order[1], order, 4.25),
        ("ls:ann@lab.test", "tie", order, None),
        ("ls:9", pair.candidates[1], pair.candidates[::-1], None),
        ("ls:7", "keep", (), None),
    ]
    assert found[0].at == pytest.approx(1795435200.5)
    assert found[1].at == 50.0
    assert write_gold(path, study, tmp_path / "gold.csv") == 1
    head, line = (tmp_path / "gold.csv").read_text().splitlines()
    assert head == "subject,question,answers,candidates"
    assert line == f"{pair.subject_id},pairwise,{order[1]},{'|'.join(pair.candidates)}"


def test_known_answers_and_skips_go_out_and_come_back(asked: tuple[Study, Path, list[Vote]], tmp_path: Path) -> None:
    study = asked[0]
    known = [replace(task, gold=_every_second_choice(study, task)) for task in study.tasks]
    gold = replace(study, tasks=tuple(known))
    skip = Submission(50.0, "skip", "max", study.tasks[0].task_id, "vote", (), reason="unclear")
    path = tmp_path / "tasks.json"
    assert export_judgements(gold, [], path, skips=[skip], gold=True) == 0
    annotations = [of for task in json.loads(path.read_text()) for of in task["annotations"]]
    assert Counter((of["was_cancelled"], of["ground_truth"]) for of in annotations) == {
        (True, False): 1, (False, True): sum(len(task.gold) for task in known)
    }  # fmt: skip
    with Journal(tmp_path / "other.sqlite") as journal:
        journal.register(study.study_id, title="S")
        done = import_judgements(path, gold, journal, at=0)
        assert (done.stored, done.cancelled, done.truths) == (0, 1, len(annotations) - 1)
    assert write_gold(path, gold, tmp_path / "gold.csv") == len(known)
    rows = csv.DictReader((tmp_path / "gold.csv").read_text().splitlines())
    told = {(row["question"], row["subject"], row["candidates"]): set(row["answers"].split("|")) for row in rows}
    assert told == {(task.question, task.subject_id, "|".join(task.candidates)): set(task.gold) for task in known}
    export_judgements(gold, [], path)
    assert json.loads(path.read_text()) == []  # known answers go out where that is asked alone


def _every_second_choice(study: Study, task: StudyTask) -> tuple[str, ...]:
    main, question = study.form(task).parts[0], study.question_of[task.question]
    choices = [question.choice({main.name: option.value}, shown=task.candidates) for option in main.options]
    return tuple(choices[::2])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot be read as JSON of Label Studio"),
        ("{}", "is no list of tasks"),
        ('[{"annotations": []}]', r"task 1: it has no data"),
        (
            '[{"data": {"question": "pairwise", "item": "x"}, "annotations": [{"completed_by": 1, "result": []}]}]',
            "it chooses nothing",
        ),
        ('[{"data": {}, "annotations": [{"result": [{"type": "choices"}]}]}]', r"task 1, annotation 1: it is no annotation"),
        (
            '[{"data": {"task_id": "no"}, "annotations": [{"completed_by": 1, "result": [{"from_name": "verdict", '
            '"type": "choices", "value": {"choices": ["keep"]}}]}]}]',
            r"annotation 1: the study has no task with",
        ),
    ],
)
def test_what_says_nothing_is_told_in_one_sentence(
    content: str, said: str, asked: tuple[Study, Path, list[Vote]], tmp_path: Path
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content)
    with Journal(tmp_path / "other.sqlite") as journal:
        journal.register(asked[0].study_id, title="S")
        with pytest.raises(InputError, match=said):
            import_judgements(path, asked[0], journal, at=0)
        assert not journal.events(asked[0].study_id)
