"""Prepared studies: what their players show, and that nothing is made twice, lost or left behind."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from study_world import METHODS, few_items, pictures, predicted, psnr_db, run_by_hand, study_file, tiles

from inpaintbench import frozen, regions, video
from inpaintbench.annotate import study as studies
from inpaintbench.annotate.preparing.pictures import outline
from inpaintbench.annotate.preparing.prepare import prepare
from inpaintbench.annotate.preparing.proxies import encoded
from inpaintbench.annotate.study import Study, StudyFile
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.types import Attribute, Clip, Frames, Hole, Prediction, Selection
from inpaintbench.workspace import Blobs, Workspace

PAIRS = ({"leaf": "pairwise", "name": "better"}, {"leaf": "pairwise", "name": "steadier"})


@pytest.fixture(scope="module")
def world(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``dataset`` (4 items of 2 sources), ``run`` (blank) and ``other`` (two more methods, one item fewer)."""
    folder = tmp_path_factory.mktemp("world")
    root = few_items(benchmark, folder / "dataset")
    predicted(root, folder / "run", METHODS[:1])
    predicted(root, folder / "other", METHODS[1:], items=3)
    return folder


SUBJECTS = {"dataset": "dataset", "runs": ["run", "other"]}


@pytest.fixture(scope="module")
def comparison(world: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path]:
    """A prepared study of two dimensions of pairs, and all methods at once."""
    target = tmp_path_factory.mktemp("comparison") / "study"
    return prepare(study_file(world, [*PAIRS, {"leaf": "best_of"}], subjects=SUBJECTS), target), target


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "proxies").iterdir()}


def known(root: Path, item_id: str) -> tuple[dict[str, Any], Frames, Hole]:
    row = next(row for row in frozen.load(root).items if row["item_id"] == item_id)
    return dict(row), video.read_frames(root / row["truth_file_name"]), video.read_hole(root / row["hole_file_name"])


def blob_of(run: Path, method: str, item_id: str) -> Path:
    workspace = Workspace(run, create=False)
    rows = workspace.table("predictions", Prediction)
    return workspace.blobs.path(next(row.blob for row in rows if (row.method, row.item_id) == (method, item_id)))


def test_every_tile_shows_what_it_should(world: Path, comparison: tuple[Study, Path]) -> None:
    study, target = comparison
    for task in [task for task in study.tasks if task.question in ("better", "best_of")][::3]:
        row, truth, hole = known(world / "dataset", task.subject_id)
        wanted = {("original", None): truth, ("input", None): np.where(hole[..., None], row["fill"], truth)}
        wanted["outline", None] = np.stack([outline(frame, size=(row["width"], row["height"])) for frame in hole])
        for method in task.candidates:
            filled = video.read_frames(blob_of(world / ("run" if method == "blank" else "other"), method, task.subject_id))
            wanted["candidate", method] = np.where(hole[..., None], filled, truth)
        proxy = study.proxies[task.proxy]
        assert (proxy.frames, proxy.fps) == (row["frames"], row["fps"])
        shown = tiles(target, proxy)
        shown.pop(("mask", None))
        assert set(shown) == set(wanted)
        for player, frames in wanted.items():
            assert psnr_db(shown[player], frames.astype(np.uint8)) > 30, player
            others = [other for other in wanted.values() if (other != frames).any()]
            assert all(psnr_db(shown[player], other) < psnr_db(shown[player], frames) for other in others)


def test_the_original_is_in_a_file_once_and_sizes_tell_nothing(
    world: Path, comparison: tuple[Study, Path], tmp_path: Path
) -> None:
    study, target = comparison
    sizes: dict[str, set[tuple[int, int]]] = {}
    for task in study.tasks:
        proxy = study.proxies[task.proxy]
        sizes.setdefault(task.subject_id, set()).add((proxy.bytes, proxy.light_bytes))
        assert (target / "proxies" / proxy.name).stat().st_size == proxy.bytes
        places = {tile.role: tile for tile in proxy.tiles}
        sheet = video.read_frames(target / "proxies" / proxy.name)

        def part(role: str) -> Frames:
            tile = places[role]  # noqa: B023 - called here alone
            return sheet[:, tile.y : tile.y + tile.height, tile.x : tile.x + tile.width]  # noqa: B023

        _, _, hole = known(world / "dataset", task.subject_id)
        far = ~regions.dilate(hole, radius=24)
        assert part("candidate")[far].max() < 24 < part("original")[far].max()
        assert (part("mask")[hole] > 200).all()
    assert all(len({full for full, _ in of_subject}) == 1 for of_subject in sizes.values())
    assert all(len(of_subject) == 1 for of_subject in sizes.values())
    # Predictions that count as whole frames are shown whole.
    run = predicted(world / "dataset", tmp_path / "run", ("blank", "telea"), items=1, full=True)
    file = study_file(tmp_path, [{"leaf": "pairwise"}], subjects={"dataset": str(world / "dataset"), "runs": [str(run)]})
    whole = prepare(file, tmp_path / "study")
    assert "mask" not in {tile.role for proxy in whole.proxies.values() for tile in proxy.tiles}


def test_the_light_encoding_takes_fewer_bytes_and_shows_the_same(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (24, 96, 128, 3), dtype=np.uint8)
    sheets = [cv2.GaussianBlur(one, (5, 5), 0) for one in noise]
    full, light = encoded(lambda: iter(sheets), blobs := Blobs(tmp_path), fps=25.0, frames=24, picture=(128, 96))
    sizes = [blobs.path(name).stat().st_size for name in (full, light)]
    assert sizes[1] < 0.8 * sizes[0]
    shown = [video.read_frames(blobs.path(name)) for name in (full, light)]
    assert psnr_db(*shown) > 30
    calm = [np.full((96, 128, 3), level, np.uint8) for level in range(100, 124)]
    assert encoded(lambda: iter(calm), blobs, fps=25.0, frames=24, picture=(128, 96))[1] == ""


def test_tasks_are_all_pairs_and_sets_with_the_source_as_cluster(world: Path, comparison: tuple[Study, Path]) -> None:
    study, target = comparison
    rows = {row["item_id"]: row for row in frozen.load(world / "dataset").items}
    whole, last = list(rows)[:3], list(rows)[3]
    for question in ("better", "steadier"):
        found = [(task.subject_id, task.candidates) for task in study.tasks if task.question == question]
        assert len(found) == len(set(found)) == 9
        assert {subject for subject, _ in found} == set(whole)
    assert [task.subject_id for task in study.tasks if task.question == "best_of"] == whole
    assert all(task.cluster == rows[task.subject_id]["source_id"] for task in study.tasks)
    left_out = (target / "left_out.csv").read_text().splitlines()
    assert len(left_out) == 1 + 3 + 3 + 1
    assert f"better,{last},blank|telea,telea has no prediction of it" in left_out


def test_questions_that_show_the_same_share_their_proxy_and_places_are_drawn(comparison: tuple[Study, Path]) -> None:
    study, target = comparison
    proxy_of = {
        label: {(t.subject_id, t.candidates): t.proxy for t in study.tasks if t.question == label} for label in study.spec_of
    }
    assert proxy_of["better"] == proxy_of["steadier"]
    assert len(study.proxies) == 9 + 3
    # What encoding lost stands in the study.
    assert all((proxy.psnr_db or 0) > 30 and proxy.flicker_added is not None for proxy in study.proxies.values())
    orders = {tuple(tile.candidate for tile in proxy.tiles if tile.candidate) for proxy in study.proxies.values()}
    pairs = {order for order in orders if len(order) == 2}
    assert any(order[::-1] in pairs for order in pairs)
    lights = {proxy.light for proxy in study.proxies.values() if proxy.light}
    assert {path.name for path in (target / "proxies").iterdir()} == {*study.proxies, *lights}
    assert all(len(Path(name).stem) == 32 and int(Path(name).stem, 16) >= 0 for name in study.proxies)


def test_a_second_run_makes_nothing_and_gives_the_same(world: Path, comparison: tuple[Study, Path]) -> None:
    study, target = comparison
    before = {path: path.stat().st_mtime_ns for path in (target / "proxies").iterdir()}
    ledger = (target / "making" / "ledger" / "make_proxies.jsonl").read_bytes()
    told: list[str] = []
    again = prepare(study.file, target, log=told.append)
    assert again == study == studies.load(target)
    assert {path: path.stat().st_mtime_ns for path in (target / "proxies").iterdir()} == before
    assert (target / "making" / "ledger" / "make_proxies.jsonl").read_bytes() == ledger
    assert sorted(told) == sorted(
        [f"left out 2 tasks of {question!r}: telea has no prediction of it" for question in ("better", "steadier")]
        + [f"left out 1 task of {question!r}: temporal_median has no prediction of it" for question in ("better", "steadier")]
        + ["left out 1 task of 'best_of': telea has no prediction of it"]
    )


def test_a_damaged_proxy_is_not_shown(world: Path, tmp_path: Path) -> None:
    target, file = tmp_path / "study", study_file(world, [{"leaf": "mean_opinion"}], subjects={**SUBJECTS, "most": 1})
    prepare(file, target)
    before = contents(target)
    shown = sorted((target / "proxies").iterdir())[0]
    content = shown.read_bytes()
    made = next(path for path in (target / "making" / "blobs").glob("*/*") if content.startswith(path.read_bytes()))
    shown.write_bytes(content[:-1] + b"x")
    prepare(file, target)  # is mended from what was made
    assert contents(target) == before
    made.write_bytes(made.read_bytes()[:-1] + b"x")
    with pytest.raises(VerifyError, match=f"{made.name}' is damaged"):
        prepare(file, target)
    made.unlink()  # the way out that was told
    prepare(file, target)
    assert contents(target) == before


def test_another_study_in_the_folder_takes_the_old_ones_proxies_away_unless_it_has_answers(world: Path, tmp_path: Path) -> None:
    target = tmp_path / "study"
    file = study_file(world, [{"leaf": "mean_opinion"}], subjects={**SUBJECTS, "most": 1}, seed=3)
    first = prepare(file, target)
    kept = contents(target)
    other = file.model_copy(update={"show": file.show.model_copy(update={"original": False, "outline": False})})
    asked: list[str] = []

    def answers_of(study_id: str) -> int:
        asked.append(study_id)
        return 7

    with pytest.raises(InputError, match=r"holds a study with 7 answers, and this would make another study of it"):
        prepare(other, target, answers_of=answers_of)
    assert asked == [first.study_id]
    assert studies.load(target) == first
    assert contents(target) == kept
    assert prepare(file, target, answers_of=answers_of) == first
    renamed = file.model_copy(update={"title": "Another title"})
    assert prepare(renamed, target, answers_of=answers_of).study_id == first.study_id
    second = prepare(other, target, answers_of=lambda study_id: 0)
    assert second.study_id != first.study_id
    light = {one.light for one in second.proxies.values() if one.light}
    assert set(contents(target)) == set(second.proxies) | light
    assert not set(second.proxies) & set(first.proxies)
    blobs = list((target / "making" / "blobs").glob("*/*"))
    assert len(blobs) == len(contents(target))
    assert [[tile.role for tile in proxy.tiles] for proxy in second.proxies.values()] == [["input", "candidate"]] * 3


def test_gold_and_draws_reach_the_tasks(world: Path, tmp_path: Path) -> None:
    rows = frozen.load(world / "dataset").items
    (tmp_path / "gold.csv").write_text(
        f"subject,question,answers\n{rows[1]['item_id']},better,telea\n{rows[2]['item_id']},better,tie\n"
    )
    file = study_file(world, PAIRS[:1], subjects={**SUBJECTS, "most": 2}, checks={"gold": str(tmp_path / "gold.csv")}, seed=5)
    told: list[str] = []
    study = prepare(file, tmp_path / "study", log=told.append)
    subjects = {task.subject_id for task in study.tasks}
    assert len(subjects) <= 2
    for task in study.tasks:
        right = {rows[1]["item_id"]: ("telea",) if "telea" in task.candidates else (), rows[2]["item_id"]: ("tie",)}
        assert task.gold == right.get(task.subject_id, ())
    golden = sum(bool(task.gold) for task in study.tasks)
    assert golden > 0
    assert f"{golden} gold {'task' if golden == 1 else 'tasks'} from 2 lines" in told
    idle = [row for row in rows[1:3] if row["item_id"] not in subjects]
    assert any("about nothing that the study shows, first gold.csv line" in said for said in told) == bool(idle)
    assert prepare(file.model_copy(update={"seed": 6}), tmp_path / "other").study_id != study.study_id


CODES = {"completed": "A", "no_more_tasks": "B", "failed_checks": "C", "screened_out": "D"}
CROWD = {"consent_text": "We store your answers.", "codes": CODES}


def test_a_test_that_nobody_could_pass_is_refused(world: Path, tmp_path: Path) -> None:
    rows = frozen.load(world / "dataset").items
    (tmp_path / "test.csv").write_text(f"subject,question,answers\n{rows[1]['item_id']},better,tie\n")
    crowd = {**CROWD, "qualify": {"test": str(tmp_path / "test.csv"), "right": 9}}
    file = study_file(world, PAIRS[:1], subjects=SUBJECTS, crowd=crowd)
    with pytest.raises(InputError, match=r"qualify.right is 9, and the test has \d tasks?, so nobody could pass"):
        prepare(file, tmp_path / "study")


def test_a_stop_rule_that_can_never_hold_is_told(world: Path, tmp_path: Path) -> None:
    told: list[str] = []
    study = prepare(
        study_file(world, PAIRS[:1], subjects=SUBJECTS, stop={"kind": "stable_ranking"}), tmp_path / "study", log=told.append
    )
    sources = len({task.cluster for task in study.tasks})
    assert sources < 6
    assert f"no order can be settled, so that every task is asked of all its raters: {too_few(sources)}" in told


def test_the_people_that_a_crowd_study_takes_are_told(world: Path, tmp_path: Path) -> None:
    crowd = {**CROWD, "tasks_per_person": 2, "places": 70}
    pairs = {**PAIRS[0], "raters_per_task": 3}
    told: list[str] = []
    study = prepare(study_file(world, [pairs], subjects=SUBJECTS, crowd=crowd), tmp_path / "study", log=told.append)
    answers = 3 * len(study.tasks)
    assert told[-1].startswith(
        f"{answers} answers asked for: {-(-answers // 2)} people with 2 ordinary tasks each, about 1 min a"
    )
    assert told[-1].endswith("places is 70")


def test_what_would_fail_with_people_at_work_is_refused(world: Path, tmp_path: Path) -> None:
    crowd = {**CROWD, "consent_text": "Asked by NAME of INSTITUTION."}
    with pytest.raises(InputError, match="the consent says 'NAME'"):
        prepare(study_file(world, PAIRS[:1], subjects=SUBJECTS, crowd=crowd), tmp_path / "study")
    assert not (tmp_path / "study" / "study.json").exists()


def test_a_language_that_lacks_a_text_is_refused(world: Path, tmp_path: Path) -> None:
    asked = {"title": "Besser?", "instruction": "Schauen Sie genau hin."}
    pair = {**PAIRS[0], "title": "Better?", "instruction": "Look closely."}
    spoken = {"title": "Eine Studie", "questions": {"better": asked}}
    for language, lacking in ((spoken, ""), ({**spoken, "questions": {"better": {**asked, "instruction": ""}}}, "Look closely.")):
        file = study_file(world, [pair], subjects=SUBJECTS, languages={"de": language})
        if not lacking:
            made = prepare(file, tmp_path / "study")
            assert made.spoken["de"]("Look closely.") == "Schauen Sie genau hin."
            continue
        with pytest.raises(InputError, match=rf"languages\.de has nothing for '{lacking}'"):
            prepare(file, tmp_path / "other")
    assert not (tmp_path / "other" / "study.json").exists()


def test_a_decoy_must_be_a_method_of_the_runs(world: Path, tmp_path: Path) -> None:
    file = study_file(world, PAIRS[:1], subjects={**SUBJECTS, "decoys": ["nois"]})
    with pytest.raises(InputError, match=r"subjects.decoys: .*nois"):
        prepare(file, tmp_path / "study")


def clip_study(benchmark: Path, *, clips: str = "all", **question: Any) -> StudyFile:
    subjects = {"workspace": str(benchmark), "clips": clips}
    return study_file(Path("/"), [{"leaf": "camera_motion", **question}], subjects=subjects, show={"largest_side": 64})


def test_clips_are_shown_smaller_whole_and_with_what_the_machine_says(benchmark: Path, tmp_path: Path) -> None:
    workspace = Workspace(benchmark, create=False)
    study = prepare(clip_study(benchmark, suggested_by="camera_motion_level", suggestion="after"), tmp_path / "study")
    clips = {clip.clip_id: clip for clip in workspace.table("clips", Clip)}
    assert {task.subject_id for task in study.tasks} == set(clips)
    captions = [task.caption for task in study.tasks]
    assert captions == sorted(captions)
    levels = {row.subject_id: row.value for row in workspace.table("attributes", Attribute) if row.name == "camera_motion_level"}
    assert {task.subject_id: task.suggestion for task in study.tasks} == {name: levels.get(name) for name in clips}
    assert {"low", "high"} <= set(levels.values())
    for task in study.tasks:
        shown = tiles(tmp_path / "study", study.proxies[task.proxy])
        assert list(shown) == [("clip", None)]
        truth = video.read_frames(workspace.blobs.path(clips[task.subject_id].blob))
        smaller = truth.reshape(len(truth), 40, 2, 64, 2, 3).mean(axis=(2, 4)).round().astype(np.uint8)
        assert psnr_db(shown["clip", None], smaller) > 30
    assert not (tmp_path / "study" / "left_out.csv").exists()


def test_only_kept_clips_and_clips_that_decode(benchmark: Path, tmp_path: Path) -> None:
    source = Workspace(benchmark, create=False)
    clips = source.table("clips", Clip)
    workspace = Workspace(tmp_path / "workspace")
    broken = Clip(**{**vars(clips[1]), "blob": f"{hashlib.sha256(b'no video').hexdigest()}.mp4"})
    path = workspace.blobs.path(broken.blob)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no video")
    for clip in clips[:1]:
        target = workspace.blobs.path(clip.blob)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.blobs.path(clip.blob).read_bytes())
    workspace.write_table("clips", "cut", [clips[0], broken, clips[2]], Clip)
    workspace.write_table("selection", "select", [Selection(clips[2].clip_id, "rule", 1.0, False, "no")], Selection)
    study = prepare(clip_study(workspace.path, clips="kept"), tmp_path / "study")
    assert [task.subject_id for task in study.tasks] == [clips[0].clip_id]
    left_out = (tmp_path / "study" / "left_out.csv").read_text().splitlines()
    assert len(left_out) == 2
    assert left_out[1].startswith(f"camera_motion,{broken.clip_id},,its players cannot be made: cannot be opened as video")


def test_pictures_are_shown_exactly_with_and_without_a_hole_and_two_methods_may_agree(tmp_path: Path) -> None:
    root = pictures(tmp_path / "dataset")
    coffee, chelsea = (video.read_frames(root / f"{name}.png") for name in ("coffee", "chelsea"))
    made = {
        ("one", "item-coffee"): coffee[:, ::-1], ("two", "item-coffee"): coffee[:, :, ::-1],
        ("twin", "item-coffee"): coffee[:, ::-1], ("one", "item-chelsea"): chelsea[:, ::-1], ("two", "item-chelsea"): chelsea,
    }  # fmt: skip
    run_by_hand(tmp_path / "holes", {key: frames for key, frames in made.items() if key[0] != "two"}, full=False)
    run_by_hand(tmp_path / "whole", {key: frames for key, frames in made.items() if key[0] == "two"}, full=True)
    file = study_file(tmp_path, PAIRS[:1], subjects={"dataset": "dataset", "runs": ["holes", "whole"]})
    study = prepare(file, tmp_path / "study")
    hole = video.read_hole(root / "coffee hole.png")[..., None]
    wanted = {
        "item-coffee": {
            ("original", None): coffee, ("input", None): np.where(hole, 0, coffee), ("candidate", "two"): coffee[:, :, ::-1],
            ("candidate", "one"): np.where(hole, coffee[:, ::-1], coffee),
            ("outline", None): outline(hole[0, ..., 0], size=(101, 75))[None],
        },
        "item-chelsea": {
            ("original", None): chelsea, ("input", None): chelsea // 2, ("candidate", "one"): chelsea[:, ::-1],
            ("candidate", "two"): chelsea,
        },
    }  # fmt: skip
    assert len(study.tasks) == 3 + 1
    for task in [task for task in study.tasks if task.candidates == ("one", "two")]:
        assert task.proxy.endswith(".png")
        shown = tiles(tmp_path / "study", study.proxies[task.proxy])
        assert set(shown) == set(wanted[task.subject_id])
        for player, frames in wanted[task.subject_id].items():
            height, width = frames.shape[1:3]
            assert (shown[player][:, :height, :width] == frames).all(), player
            assert shown[player].shape[1:3] == (height + height % 2, width + width % 2)
    same = {task.candidates: task.proxy for task in study.tasks if task.subject_id == "item-coffee"}
    assert len(set(same.values())) == 3
    for candidates, name in same.items():
        assert {tile.candidate for tile in study.proxies[name].tiles if tile.candidate} == set(candidates)


def test_a_study_that_cannot_be_is_told_and_leaves_nothing(world: Path, benchmark: Path, tmp_path: Path) -> None:
    target = tmp_path / "study"
    wrong = [
        (study_file(world, [{"leaf": "scene_motion"}], subjects=SUBJECTS), "is about clips, but the subjects are items"),
        (study_file(world, PAIRS, subjects={"workspace": str(benchmark)}), "is about predictions, but the subjects are clips"),
        (study_file(world, PAIRS, subjects={**SUBJECTS, "methods": ["telea"]}), "the runs have only telea"),
        (
            study_file(world, PAIRS, subjects={**SUBJECTS, "slices": ["size-hihg"]}),
            "unknown slice 'size-hihg', did you mean 'size-high'",
        ),
        (
            study_file(world, PAIRS, subjects={"workspace": "nowhere"}),
            "the study's workspace cannot be used: .* is not a workspace",
        ),
        (study_file(world, PAIRS, subjects={"dataset": "nowhere", "runs": ["run"]}), "is not a frozen dataset"),
        (study_file(world, PAIRS, subjects=SUBJECTS, checks={"gold": "none.csv"}), "gold answers .* cannot be read"),
        (clip_study(benchmark, suggested_by="no_such"), "has no attribute 'no_such' to suggest answers with"),
    ]
    for file, told in wrong:
        with pytest.raises(InputError, match=told):
            prepare(file, target)
        assert not target.exists()
    target.write_text("a file")
    with pytest.raises(InputError, match="is a file; name a folder for the study"):
        prepare(study_file(world, PAIRS, subjects=SUBJECTS), target)


def test_a_question_without_any_task_is_told(world: Path, tmp_path: Path) -> None:
    items = [row["item_id"] for row in frozen.load(world / "dataset").items]
    zeros = np.zeros((2, 8, 8, 3), np.uint8)
    run_by_hand(tmp_path / "run", {(method, items[0]): zeros for method in ("one", "two")}, full=True)
    file = study_file(tmp_path, PAIRS, subjects={"dataset": str(world / "dataset"), "runs": ["run"]})
    told = "question 'better' has no task left; of the first one: what one predicted cannot be shown: it is 8x8, not 128x80"
    with pytest.raises(InputError, match=told):
        prepare(file, tmp_path / "study")
    assert not (tmp_path / "study" / "study.json").exists()


PROGRAM = """
import json, sys
from pathlib import Path
from inpaintbench.annotate.preparing.prepare import prepare
from inpaintbench.annotate.study import StudyFile
from inpaintbench.executors.local import LocalExecutor
if __name__ == "__main__":
    file = StudyFile.model_validate(json.loads(Path(sys.argv[1]).read_text()))
    prepare(file, Path(sys.argv[2]), executor_of=lambda workspace: LocalExecutor(workspace, workers=2))
"""


@pytest.mark.long
def test_a_killed_run_goes_on_and_workers_change_nothing(world: Path, comparison: tuple[Study, Path], tmp_path: Path) -> None:
    study, finished = comparison
    target, ledger = tmp_path / "study", tmp_path / "study" / "making" / "ledger" / "make_proxies.jsonl"
    (tmp_path / "study.json").write_text(json.dumps(study.file.model_dump(mode="json")))
    (tmp_path / "program.py").write_text(PROGRAM)
    run = subprocess.Popen([sys.executable, str(tmp_path / "program.py"), str(tmp_path / "study.json"), str(target)])
    while not ledger.exists() or len(ledger.read_bytes().splitlines()) < 2:
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert not (target / "study.json").exists()
    done = len([line for line in ledger.read_bytes().splitlines() if line.endswith(b"}")])
    assert 2 <= done < len(study.proxies)
    assert prepare(study.file, target) == study
    assert contents(target) == contents(finished)
    entries = [line for line in ledger.read_bytes().splitlines() if line.endswith(b"}")]
    assert len(entries) == len(study.proxies)
    assert not list((target / "making" / "scratch").iterdir())
