"""Study files that would fail once strangers are at work: a sentence each, before anybody is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crowds import CODES, prepare_honey_study, write_crowd_study
from study_world import tiles

from inpaintbench.annotate.preparing.crowds import faults, need
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError

# Of 24 ordinary tasks with a fifth of known answers a person gets at least 5.
CHECKS = {"gold": "gold.csv", "gold_share": 0.2, "repeat_share": 0.0, "window": 5, "least_accuracy": 0.7}


def study_in(folder: Path, *, checks: dict[str, Any] | None = None, gold: int = 8, **crowd: Any) -> Study:
    made = {"subjects": 60, "right": 1, "tasks_per_person": 24, "places": 60, **crowd}
    return write_crowd_study(folder, "https://platform.test", gold=gold, checks={**CHECKS, **(checks or {})}, **made)


def told(study: Study) -> list[str]:
    crowd = study.file.crowd
    assert crowd is not None
    return list(faults(study, crowd))


BAD: dict[str, dict[str, Any]] = {
    "the consent says 'NAME' where": {"consent_text": "Write to NAME, INSTITUTION."},
    "the consent says 'MINUTES' where": {"consent_text": "It takes about MINUTES minutes."},
    "crowd.study_id 'STUDY_ID' is no id of a study on prolific, which looks like [0-9a-f]{24}": {
        "platform": "prolific", "link": {}, "signed": True, "study_id": "STUDY_ID",
    },
    "crowd.codes has no code for 'completed'": {"codes": {**CODES, "completed": ""}},
    "crowd.codes has no code for 'screened_out'": {"codes": {**CODES, "screened_out": ""}},
    "no line of the gold file 'gold.csv' is about a task": {"gold": 0},
    "crowd.qualify.right is 9, and the test has 2 tasks, so nobody could pass": {"right": 9},
    "crowd.qualify.right is 0, so that everybody passes": {"right": 0},
    "checks.window is 5, and a person with 24 ordinary tasks gets 4 with a known answer": {"gold": 4},
    "checks.window is 10, and a person with 24 ordinary tasks gets 5": {"checks": {"window": 10}},
    "crowd.places is 2, and 147 answers need 7 people with 24 each": {"places": 2},
    "crowd.most_minutes is 1, and a person needs about ": {"most_minutes": 1},
}  # fmt: skip


@pytest.mark.parametrize(("sentence", "fields"), BAD.items())
def test_every_bad_file_has_its_sentence(tmp_path: Path, sentence: str, fields: dict[str, Any]) -> None:
    said = told(study_in(tmp_path / "study", **fields))
    assert [one.replace(f"{tmp_path}/study/", "")[: len(sentence)] for one in said] == [sentence]


def test_a_good_file_has_none_and_codes_may_lie_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(study_in(tmp_path / "good")) == []
    bare = study_in(tmp_path / "bare", codes={})
    assert len(told(bare)) == 4
    for outcome in CODES:
        monkeypatch.setenv(f"INPAINTBENCH_CODE_{outcome.upper()}", outcome)
    assert told(bare) == []


def test_rules_and_rankings_that_can_find_nothing_are_told(tmp_path: Path) -> None:
    study = study_in(tmp_path / "study")
    file = study.file.model_copy(update={"screening": {"failed_gold": rule(least=7)}})
    (said,) = told(replace(study, file=file))
    assert said.startswith("screening.failed_gold.least is 7, and a person gets 5 with")
    assert told(replace(study, file=study.file.model_copy(update={"screening": {"failed_gold": rule(least=5)}}))) == []
    stop = study.file.stop.model_copy(update={"kind": "stable_ranking"})
    (said,) = told(replace(study, file=study.file.model_copy(update={"stop": stop})))
    assert said.startswith("no order of the methods can be settled, so that strangers would be paid for none: 0 sources")


def rule(**constants: Any) -> Any:
    from inpaintbench.annotate.study import RuleSpec

    return RuleSpec(**constants)


def test_a_person_gets_at_least_as_many_known_answers_as_are_promised(tmp_path: Path) -> None:
    """The draws of the server itself, for a hundred people."""
    from inpaintbench.annotate.desk.assign import _GOLD, _drawn_kinds

    study = study_in(tmp_path / "study", gold=20)
    crowd = study.file.crowd
    assert crowd is not None
    least = need(study, crowd).golds
    fewest = []
    for number in range(100):
        kinds = _drawn_kinds(0, f"rater {number}", 64, 0.2, 0.0, 20)[3:]  # after practice and test
        ordinary = (kinds != _GOLD).cumsum()
        end = int((ordinary == 24).argmax())
        fewest.append(int((kinds[: end + 1] == _GOLD).sum()))
    assert least <= min(fewest) <= least + 1


def test_pictures_that_say_what_to_choose_are_laid_out_and_as_large_as_others(tmp_path: Path) -> None:
    """What the page and its requests tell of such a task, they tell of any; the pictures ask for what the known answer is not."""
    study = prepare_honey_study(tmp_path)
    honey = [task for task in study.tasks if task.use == "honey"]
    assert len(honey) == 2
    for task in honey:
        alike = [other for other in study.tasks if other.candidates == task.candidates and other.subject_id == task.subject_id]
        (plain,) = [other for other in alike if other is not task]
        assert task.gold == ("decoy",) != plain.gold
        ours, theirs = study.proxies[task.proxy], study.proxies[plain.proxy]
        assert ours == replace(theirs, name=ours.name, light=ours.light, psnr_db=ours.psnr_db)
        shown, before = tiles(tmp_path / "study", ours), tiles(tmp_path / "study", theirs)
        assert (shown["original", None] == before["original", None]).all()
        for name in task.candidates:
            red, green, blue = shown["candidate", name][0].reshape(-1, 3).astype(int).T
            assert ((red > 250) & (green > 250)).mean() > 0.2
            marks = [int(((own > 90) & (other < 40) & (blue < 40)).sum()) for own, other in ((red, green), (green, red))]
            assert (marks[1] > 20 * marks[0] + 20) == (name == "decoy"), marks
    assert [task.use for task in prepare_honey_study(tmp_path / "none", honey=0).tasks if task.use] == []


def test_pictures_that_say_what_to_choose_need_who_looks_and_tasks_enough(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"crowd.honey has nobody who looks at it"):
        prepare_honey_study(tmp_path / "rule", screening={})
    with pytest.raises(InputError, match=r"crowd.honey is 9, and the study has 8 comparisons with a known answer in which"):
        prepare_honey_study(tmp_path / "many", honey=9)
    with pytest.raises(InputError, match=r"missed is 3, and a person gets 2 tasks of crowd\.honey, so nobody is found"):
        prepare_honey_study(tmp_path / "few", screening={"signs_of_a_program": {"missed": 3}})
