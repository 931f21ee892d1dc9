from __future__ import annotations

import json
import math
from typing import Any

import pytest
from rater_world import METHODS, Clock, MemoryJournal, answer_to, make_study, pairwise, skip_of, with_suggestion

from inpaintbench.annotate.desk.cards import SKIP_REASONS, letter, pace_words
from inpaintbench.annotate.desk.desk import Desk, Refused
from inpaintbench.annotate.desk.state import votes
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InpaintBenchError

LABELLING = {"leaf": "scene_motion", "must_watch": False}


def desk_of(study: Study) -> tuple[Desk, MemoryJournal]:
    journal = MemoryJournal()
    return Desk(study, journal, clock=Clock(), name_of=lambda rater_id: f"Name of {rater_id}"), journal


def refusal(call: Any, *arguments: Any) -> int:
    with pytest.raises(Refused) as refused:
        call(*arguments)
    assert isinstance(refused.value, InpaintBenchError)
    assert str(refused.value)
    return refused.value.status


@pytest.mark.parametrize(
    ("pace", "to_come", "said"),
    [
        (7.2, 95, "7.2 s each, about 11 min left"), (10.5, 5, "10 s each, about 50 s left"),
        (0.5, 1, "0.5 s each, about 10 s left"), (33.0, 0, "33 s each"),
        (60.0, 125, "60 s each, about 2 h 05 min left"),
    ],
)  # fmt: skip
def test_the_pace_is_said_as_people_would(pace: float, to_come: int, said: str) -> None:
    assert pace_words(pace, to_come) == said


def test_work_has_exactly_the_fields_that_the_browser_knows() -> None:
    study = make_study([pairwise()])
    desk, _ = desk_of(study)
    work = desk.work("a")
    assert set(work) == {"study", "rater", "status", "message", "progress", "queue"}
    assert work["study"] == {"study_id": study.study_id, "title": "T", "welcome": "W", "least_width": 120, "least_scale": 0.0}
    assert work["rater"] == {"rater_id": "a", "name": "Name of a"}
    assert set(work["progress"]) == {"answered", "total", "pace", "undoable"}
    assert set(work["queue"][0]) == {
        "lease_id", "task", "prompt", "question", "media", "players", "outline", "must_watch", "suggestion", "previous",
        "skip_reasons", "revision",
    }  # fmt: skip
    assert work["queue"][0]["skip_reasons"] == list(SKIP_REASONS)
    assert json.loads(json.dumps(work, allow_nan=False)) == work


def test_the_players_lie_where_their_candidate_lies_in_the_proxy_and_are_named_by_place() -> None:
    study = make_study([pairwise()], frames=90)
    desk, journal = desk_of(study)
    swapped = set()
    for number in range(12):
        card = desk.work(f"r{number}")["queue"][0]
        lease = next(one for one in journal.stored if one.body["lease_id"] == card["lease_id"])
        task = study.task_of[lease.body["task_id"]]
        proxy = study.proxies[task.proxy]
        assert card["prompt"] == task.prompt == f"Prompt {task.subject_id.removeprefix('item')}"
        assert card["media"] == {
            "url": f"/media/{proxy.name}", "kind": "video", "fps": 25.0, "frames": 90, "width": 128, "height": 128,
            "bytes": 0, "light": None, "patches": None,
        }  # fmt: skip
        tiles = {tile.candidate: tile for tile in proxy.tiles if tile.candidate}
        for place, method in enumerate(lease.body["shown"]):
            tile = tiles[method]
            assert card["players"][place] == {
                "role": "candidate", "place": place, "label": "AB"[place],
                "x": tile.x, "y": tile.y, "width": tile.width, "height": tile.height,
            }  # fmt: skip
        assert card["players"][2] == {
            "role": "original", "place": None, "label": "Original", "x": 0, "y": 0, "width": 64, "height": 64
        }  # fmt: skip
        assert len(card["players"]) == 3
        assert card["outline"] == {"x": 64, "y": 0, "width": 64, "height": 64}
        swapped.add(lease.body["shown"] == sorted(lease.body["shown"]))
    assert swapped == {True, False}


def test_nothing_that_names_a_method_or_a_task_reaches_the_browser() -> None:
    desk, journal = desk_of(make_study([pairwise(), {"leaf": "best_of"}], golds=1, checks={"gold_share": 0.5, "repeat_gap": 1}))
    work, kinds = desk.work("a"), set()
    while work["queue"] and len(journal.stored) < 80:
        text = json.dumps(work)
        assert not any(word in text for word in (*METHODS, "item", "source", "gold", "purpose"))
        kinds |= {event.body["purpose"] for event in journal.stored if event.kind == "lease"}
        for task_id in {event.body["task_id"] for event in journal.stored if event.kind == "lease"}:
            assert task_id not in text
        work = desk.answer("a", answer_to(work["queue"][0], f"a{len(journal.stored)}"))["work"]
    assert "gold" in kinds


def test_a_silent_repeat_looks_like_a_task_never_seen() -> None:
    checks = {"gold_share": 0.0, "repeat_share": 0.5, "repeat_gap": 1}
    desk, journal = desk_of(make_study([LABELLING], subjects=20, checks=checks))
    work, seen = desk.work("a"), []
    while work["queue"]:
        seen.append(work["queue"][0]["task"])
        work = desk.answer("a", answer_to(work["queue"][0], f"a{len(seen)}"))["work"]
    assert len(set(seen)) == len(seen)
    assert any(event.body.get("purpose") == "repeat" for event in journal.stored)


@pytest.mark.parametrize(
    ("mode", "before", "after"),
    [
        ("hidden", None, None),
        ("after", None, {"part": "water", "value": "25"}),
        ("prefill", {"part": "water", "value": "25", "mode": "prefill"}, None),
    ],
)
def test_the_suggestion_is_shown_when_the_study_says_so(mode: str, before: object, after: object) -> None:
    study = with_suggestion(make_study([{**LABELLING, "suggestion": mode}]), "25")
    desk, journal = desk_of(study)
    card = desk.work("a")["queue"][0]
    assert card["suggestion"] == before
    sent = answer_to(card, "s")
    assert desk.answer("a", sent)["suggestion"] == after
    assert desk.answer("a", sent)["suggestion"] == after  # the reply was lost and is asked for again
    assert next(event for event in journal.stored if event.kind == "answer").body["suggestion_shown"] == mode


def shown_in(journal: MemoryJournal) -> list[str]:
    return [event.body["suggestion_shown"] for event in journal.stored if event.kind == "answer"]


def test_who_takes_an_answer_back_has_seen_what_the_machine_says() -> None:
    study = with_suggestion(make_study([{**LABELLING, "suggestion": "after", "raters_per_task": 2}]), "25")
    desk, journal = desk_of(study)
    for turn in range(3):
        desk.answer("a", answer_to(desk.work("a")["queue"][0], f"s{turn}", option=turn))
        if turn < 2:
            desk.undo("a", {"submission_id": f"u{turn}", "undoes": f"s{turn}"})
    desk.answer("a", answer_to(desk.work("a")["queue"][0], "next"))
    desk.answer("b", answer_to(desk.work("b")["queue"][0], "other"))
    assert shown_in(journal) == ["after", "seen", "seen", "after", "after"]
    assert [vote.suggestion_shown for vote in votes(study, journal.stored)] == ["seen", "after", "after"]


def test_what_is_asked_once_more_was_seen_too_and_a_skip_shows_nothing() -> None:
    checks = {"gold_share": 0.0, "repeat_share": 0.5, "repeat_gap": 1}
    study = with_suggestion(make_study([{**LABELLING, "suggestion": "after"}], subjects=20, checks=checks), "25")
    desk, journal = desk_of(study)
    desk.skip("a", skip_of(desk.work("a")["queue"][0], "skipped"))
    desk.undo("a", {"submission_id": "u", "undoes": "skipped"})
    for turn in range(20):
        desk.answer("a", answer_to(desk.work("a")["queue"][0], f"a{turn}"))
    told = {(vote.purpose, vote.suggestion_shown) for vote in votes(study, journal.stored)}
    assert told == {("vote", "after"), ("repeat", "seen")}


def test_where_the_machine_has_no_answer_nothing_was_shown() -> None:
    desk, journal = desk_of(make_study([{**LABELLING, "suggestion": "after"}]))
    assert desk.answer("a", answer_to(desk.work("a")["queue"][0], "s"))["suggestion"] is None
    assert next(event for event in journal.stored if event.kind == "answer").body["suggestion_shown"] == "hidden"


def test_letters() -> None:
    assert [letter(place) for place in (0, 1, 25, 26, 27, 701, 702)] == ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]


BAD_ANSWERS = [
    {"submission_id": ""}, {"submission_id": "x" * 65}, {"submission_id": "a b"}, {"submission_id": "a\n"}, {"submission_id": 7},
    {"submission_id": None}, {"lease_id": "../../etc/passwd"}, {"lease_id": ["a"]}, {"lease_id": "é"},
    {"given": None}, {"given": []}, {"given": {}}, {"given": {"better": 1}}, {"given": {"better": "place-2"}},
    {"given": {"better": "alpha"}}, {"given": {"better": "both_bad"}}, {"given": {"better": ["place-0"]}},
    {"given": {"better": "place-0", "more": "x"}}, {"given": {"better": "\x00"}},
    {"seconds": -0.1}, {"seconds": math.nan}, {"seconds": math.inf}, {"seconds": "4"}, {"seconds": True},
    {"seconds": None}, {"watched_frames": -1}, {"watched_frames": 1.5}, {"watched_frames": "90"},
    {"watched_frames": True}, {"dropped_frames": -1}, {"dropped_frames": None}, {"plays": -1}, {"plays": math.inf},
    {"plays": "1"}, {"stuttered": 0}, {"stuttered": "false"}, {"stuttered": None},
    {"rater_id": "b"}, {"at": 0}, {"purpose": "gold"}, {"choice": "alpha"}, {"shown": ["alpha", "beta"]},
]  # fmt: skip


@pytest.mark.parametrize("change", BAD_ANSWERS, ids=repr)
def test_answers_that_no_browser_of_ours_sends_are_refused_and_leave_no_trace(change: dict[str, Any]) -> None:
    desk, journal = desk_of(make_study([pairwise()]))
    card = desk.work("a")["queue"][0]
    before = list(journal.stored)
    assert refusal(desk.answer, "a", {**answer_to(card, "s"), **change}) == 400
    assert journal.stored == before
    assert desk.answer("a", answer_to(card, "s"))["stored"]


@pytest.mark.parametrize("field", ["submission_id", "lease_id", "given", "seconds", "watched_frames", "plays", "stuttered"])
def test_answers_with_a_field_missing_are_refused(field: str) -> None:
    desk, _ = desk_of(make_study([pairwise()]))
    sent = answer_to(desk.work("a")["queue"][0], "s")
    assert refusal(desk.answer, "a", {name: value for name, value in sent.items() if name != field}) == 400


@pytest.mark.parametrize("fields", [None, [], "x", 3, {}, {"submission_id": {}}])
def test_what_is_no_request_at_all_is_refused(fields: Any) -> None:
    desk, _ = desk_of(make_study([pairwise()]))
    assert {refusal(call, "a", fields) for call in (desk.answer, desk.skip, desk.undo)} == {400}


@pytest.mark.parametrize(
    ("reason", "text"), [("bored", ""), ("other", ""), ("other", " \n"), ("other", "x" * 501), ("other", "a\x00b"), (None, "")]
)
def test_skips_need_a_reason_that_is_offered(reason: Any, text: str) -> None:
    desk, _ = desk_of(make_study([pairwise()]))
    assert refusal(desk.skip, "a", skip_of(desk.work("a")["queue"][0], "s", reason, text)) == 400


def test_numbers_at_the_ends_of_their_ranges_are_taken() -> None:
    desk, journal = desk_of(make_study([pairwise()]))
    for name, seconds in (("s" * 64, 0), ("A-z_0", 86400.0)):
        desk.answer("a", answer_to(desk.work("a")["queue"][0], name, seconds=seconds, plays=0, watched_frames=0))
    assert [event.body["seconds"] for event in journal.stored if event.kind == "answer"] == [0, 86400]


def test_numbers_that_are_far_too_large_cost_nobody_their_answer() -> None:
    desk, journal = desk_of(make_study([pairwise()]))
    sent = answer_to(desk.work("a")["queue"][0], "s", seconds=3e6, plays=1e300, watched_frames=10**40, dropped_frames=10**9)
    assert desk.answer("a", sent)["stored"]
    (body,) = (event.body for event in journal.stored if event.kind == "answer")
    assert (body["seconds"], body["plays"], body["watched_frames"], body["dropped_frames"]) == (86400, 10**7, 10**7, 10**7)


def test_a_clip_that_must_be_watched_is_not_answered_before_its_last_frame() -> None:
    desk, _ = desk_of(make_study([pairwise(must_watch=True)], frames=90))
    card = desk.work("a")["queue"][0]
    assert card["must_watch"] is True
    with pytest.raises(Refused, match="Please watch the whole clip first: 89 of 90 frames were shown"):
        desk.answer("a", answer_to(card, "s", watched_frames=89))
    assert desk.answer("a", answer_to(card, "s", watched_frames=90))["stored"]


def test_a_refusal_repeats_no_more_than_a_line_of_what_was_sent() -> None:
    desk, _ = desk_of(make_study([pairwise()]))
    with pytest.raises(Refused) as refused:
        desk.answer("a", answer_to(desk.work("a")["queue"][0], "s", given={"better": "x" * 10**6}))
    assert len(str(refused.value)) <= 300
