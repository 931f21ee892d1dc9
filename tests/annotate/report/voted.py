"""Two studies with their votes, drawn from planted truths: five methods in five dimensions, and labelled clips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from inpaintbench.annotate import records
from inpaintbench.annotate.records import Event
from inpaintbench.annotate.study import Checks, Proxy, QuestionSpec, StopRule, Study, StudyFile, StudyTask, Subjects

BEGIN = 1_767_600_000.0  # 2026-01-05 08:00 UTC
METHODS = ("Flowlens", "Patchwork", "Propagate", "Slowfill", "Vacuum_V2")
STRENGTH = {"Flowlens": 0.7, "Patchwork": -0.5, "Propagate": 1.1, "Slowfill": 0.1, "Vacuum_V2": -1.4}
DIMENSIONS = {
    "overall": "Which looks more natural?",
    "seams": "Seams around the hole",
    "flicker": "Flicker",
    "motion": "Motion as in the original",
    "sharpness": "Sharpness",
}
RATERS = tuple(f"person{number:02}@lab" for number in range(1, 13))


@dataclass(frozen=True)
class Vote:
    submission_id: str
    rater_id: str
    task_id: str
    question: str
    subject_id: str
    cluster: str
    candidates: tuple[str, ...]
    shown: tuple[str, ...]
    purpose: str
    given: Mapping[str, str]
    choice: str
    seconds: float
    at: float
    stuttered: bool = False
    suggestion_shown: str = "hidden"
    seen: Mapping[str, object] | None = None
    revision: int = 0
    right: bool | None = None
    sides = records.Vote.sides


@dataclass(frozen=True)
class World:
    study: Study
    votes: list[Vote]
    events: list[Event]


def proxy() -> Proxy:
    return Proxy("0" * 32 + ".mp4", 90, 25.0, 1664, 960, ())


def events_of(votes: list[Vote], rng: np.random.Generator) -> list[Event]:
    """Answers with their frames, some skips and an undo."""
    found = []
    for number, vote in enumerate(votes, 1):
        dropped = int(rng.integers(3, 20)) if vote.stuttered else int(rng.random() < 0.1)
        body = {
            "submission_id": vote.submission_id,
            "task_id": vote.task_id,
            "dropped_frames": dropped,
            "plays": 1.0 + rng.random(),
        }
        found.append(Event(number, vote.at, "answer", vote.rater_id, body))
    for number in range(9):
        body = {
            "submission_id": f"skip{number}",
            "task_id": votes[0].task_id,
            "reason": ("broken", "unsure")[number % 3 == 0],
            "text": "",
        }
        found.append(Event(len(votes) + number + 1, BEGIN + 500.0 * number, "skip", RATERS[number], body))
    found.append(Event(len(found) + 1, BEGIN + 9000, "undo", RATERS[2], {"submission_id": "undo", "undoes": "skip2"}))
    return found


def _moments(rng: np.random.Generator) -> dict[str, list[float]]:
    """For each rater when they answer: some sittings over four days."""
    return {rater: [BEGIN + 86400 * int(rng.integers(4)) + float(rng.uniform(0, 9 * 3600)) for _ in range(3)] for rater in RATERS}


def comparison_world(*, seed: int = 1, items: int = 10) -> World:
    """Every pair of five methods in five dimensions on some items, a few raters each."""
    rng = np.random.default_rng(seed)
    specs = tuple(
        QuestionSpec(leaf="pairwise", name=name, title=title, constants={"both_bad": True}, raters_per_task=4,
                     instruction=f"Look at {name} alone.\nWhatever else differs does not count.")
        for name, title in DIMENSIONS.items()
    )  # fmt: skip
    file = StudyFile(
        title="Video inpainting: which fill looks right?", subjects=Subjects(dataset="d", runs=("r",)), questions=specs,
        stop=StopRule(kind="stable_ranking"), checks=Checks(),
    )  # fmt: skip
    tasks = [
        StudyTask(f"{name}-{item}-{a}-{b}", name, f"item{item:02}", f"source{item // 2}", (a, b), proxy().name,
                  f"DAVIS_2017/clip_{item:02}")
        for name in DIMENSIONS for item in range(items) for a, b in combinations(METHODS, 2)
    ]  # fmt: skip
    gold = [
        StudyTask(f"gold{n}", "overall", f"gold{n}", "gold", ("Propagate", "Vacuum_V2"), proxy().name, gold=("Propagate",))
        for n in range(6)
    ]
    study = Study("c0ffee00c0ffee00", file, (*tasks, *gold), {proxy().name: proxy()})
    votes, moments = [], _moments(rng)
    tilt = {(name, item): rng.normal(0, 0.5) for name in DIMENSIONS for item in range(items)}

    def vote(task: StudyTask, rater: str, purpose: str) -> Vote:
        place = RATERS.index(rater)
        dimension = list(DIMENSIONS).index(task.question)
        a, b = task.candidates
        gap = (
            STRENGTH[a]
            - STRENGTH[b]
            + 0.25 * dimension * (len(a) - len(b)) / 4
            + tilt.get((task.question, int(task.subject_id[-2:]) if purpose != "gold" else 0), 0)
        )
        shown = (a, b) if rng.random() < 0.5 else (b, a)
        gap += (0.8 if place == 4 else 0.0) * (1 if shown[0] == a else -1)
        gap *= 0.1 if place == 9 else 1.3
        roll = rng.random()
        choice = (
            "tie"
            if roll < 0.16 - 0.03 * abs(gap)
            else "both_bad"
            if roll > 0.955
            else a
            if rng.random() < 1 / (1 + np.exp(-gap))
            else b
        )
        sitting = int(rng.integers(3))
        moments[rater][sitting] += (seconds := float(rng.lognormal(1.9 + 0.05 * place, 0.45))) + float(rng.exponential(2))
        given = {"better": choice if choice in ("tie", "both_bad") else f"place-{shown.index(choice)}"}
        stuttered = bool(rng.random() < (0.12 if place == 7 else 0.02))
        return Vote(f"s{len(votes)}", rater, task.task_id, task.question, task.subject_id, task.cluster, task.candidates, shown,
                    purpose, given, choice, seconds, moments[rater][sitting], stuttered)  # fmt: skip

    for task in tasks:
        for rater in rng.choice(RATERS, size=int(rng.integers(2, 5)), replace=False):
            votes.append(vote(task, str(rater), "vote"))
    votes.extend(vote(task, rater, "gold") for rater in RATERS for task in gold)
    answered = list(votes)
    for place in rng.choice(len(answered), size=60, replace=False):
        if answered[place].purpose == "vote":
            votes.append(vote(study.task_of[answered[place].task_id], answered[place].rater_id, "repeat"))
    return World(study, votes, events_of(votes, rng))


def labelling_world(*, seed: int = 2, clips: int = 60) -> World:
    """Clips labelled for scene motion, camera motion and whether they are to be kept, and graded predictions."""
    rng = np.random.default_rng(seed)
    specs = (
        QuestionSpec(leaf="scene_motion", raters_per_task=5, suggestion="after", suggested_by="flow"),
        QuestionSpec(leaf="camera_motion", raters_per_task=3, suggestion="prefill", suggested_by="camera_motion_level"),
        QuestionSpec(leaf="keep_reject", raters_per_task=3),
    )
    file = StudyFile(title="DEVIL labels: scene motion of 60 clips", subjects=Subjects(workspace="w"), questions=specs)
    shares, tasks, votes, moments = ("0", "5", "10", "25", "50", "75", "100"), [], [], _moments(rng)
    for clip in range(clips):
        water, high, bad = int(rng.choice(7, p=[0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])), rng.random() < 0.4, rng.random() < 0.25
        hard = rng.random() < 0.3
        for spec in specs:
            subject = f"clip{clip:03}"
            suggestion = {
                "scene_motion": shares[min(6, max(0, water + int(rng.integers(-1, 2))))],
                "camera_motion": ("low", "high")[high],
            }
            task = StudyTask(f"{spec.leaf}-{clip}", spec.label, subject, f"film{clip // 3}", (), proxy().name,
                             f"flickr/harbour_{clip:03}.mp4:0", suggestion=suggestion.get(spec.leaf))  # fmt: skip
            tasks.append(task)
            for rater in map(str, rng.choice(RATERS, size=spec.raters_per_task, replace=False)):
                given = _label(spec.leaf, water, high, bad, hard, shares, rng)
                sitting = int(rng.integers(3))
                moments[rater][sitting] += (seconds := float(rng.lognormal(1.6, 0.5))) + float(rng.exponential(2))
                votes.append(Vote(f"s{len(votes)}", rater, task.task_id, spec.label, subject, task.cluster, (), (), "vote", given,
                                  next(iter(given.values())), seconds, moments[rater][sitting], bool(rng.random() < 0.03),
                                  spec.suggestion))  # fmt: skip
    return World(Study("feedbeeffeedbeef", file, tuple(tasks), {proxy().name: proxy()}), votes, events_of(votes, rng))


def _label(
    leaf: str, water: int, high: bool, bad: bool, hard: bool, shares: tuple[str, ...], rng: np.random.Generator
) -> dict[str, str]:
    if leaf == "scene_motion":
        other = shares[int(rng.choice(7, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02]))]
        slip = int(rng.integers(-2, 3)) if hard else int(rng.random() < 0.2)
        return {"water": "unclear" if hard and rng.random() < 0.2 else shares[min(6, max(0, water + slip))], "other": other}
    if leaf == "camera_motion":
        return {
            "motion": "unclear" if rng.random() < 0.05 else ("low", "high")[high != (rng.random() < (0.35 if hard else 0.05))]
        }
    if bad != (rng.random() < (0.4 if hard else 0.05)):
        return {"verdict": "reject", "reason": str(rng.choice(["shot_change", "overlay", "foreground_object", "bad_quality"]))}
    return {"verdict": "keep"}


def rankings() -> dict[str, Any]:
    """What fitting gives, in its plain form."""
    found = {}
    for number, label in enumerate(DIMENSIONS):
        order = sorted(METHODS, key=lambda name: -STRENGTH[name])
        rows = [
            {"name": name, "strength": STRENGTH[name] + 0.05 * number, "low": STRENGTH[name] - 0.35, "high": STRENGTH[name] + 0.4,
             "rank": place, "rank_low": max(1, place - (place in (2, 3))), "rank_high": min(5, place + (place in (1, 2))),
             "best": (0.9, 0.1, 0, 0, 0)[place - 1], "win_share": 1 / (1 + np.exp(-STRENGTH[name])), "votes": 112 + place}
            for place, name in enumerate(order, 1)
        ]  # fmt: skip
        found[label] = {"methods": rows, "ties": 0.14, "both_bad": 0.05, "position_bias": (0.1, -0.05, 0.25), "votes": 280,
                        "sources": 5, "notes": ["5 sources are few: intervals are wide and rest on Student's t"],
                        "stable": number % 2 == 0}  # fmt: skip
    return found


def dimensions() -> dict[str, Any]:
    labels = list(DIMENSIONS)
    size = range(len(labels))
    return {
        "questions": labels, "n": 25, "notes": ["Pearson over methods and items."],
        "correlation": [[1.0 if i == j else round(0.8 - 0.25 * abs(i - j), 2) for j in size] for i in size],
    }  # fmt: skip
