"""Snapshots of the folded state: what is folded on from one is what folding all events gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rater_world import Clock, answer_to, make_study, pairwise, skip_of

from inpaintbench.annotate.desk import current_state
from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.current_state import SnapshotUnusable, _parts, packed, stored_state, unpacked
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.records import Event
from inpaintbench.annotate.study import Study

SEEN = {
    "width": 200, "scale": 1.25, "pixel_ratio": 2.0, "zoom": 1.0, "full_screen": False, "portrait": False,
    "browser": "Chrome 140", "hidden_seconds": 0.0, "frame_source": "callback",
}  # fmt: skip


def worked(folder: Path) -> tuple[Study, list[Event], dict[str, dict[str, str]]]:
    """Three raters answer, skip with words and undo, with gold, repeats and rules; raters and an answer are excluded."""
    checks = {"gold_share": 0.2, "repeat_share": 0.2, "repeat_gap": 2}
    questions = [
        pairwise(raters_per_task=2),
        {"leaf": "scene_motion", "must_watch": False},
        {"leaf": "mean_opinion", "name": "é"},
    ]
    study = make_study(questions, subjects=3, golds=1, checks=checks, screening={"side_bias": {"p": 0.01}})
    clock = Clock()
    with Journal(folder / "journal.sqlite") as journal:
        desk = Desk(study, journal, clock=clock)
        for turn in range(70):
            rater = ("a", "b", "ü")[turn % 3]
            work, clock.now = desk.work(rater), clock.now + 40
            undoable = work["progress"]["undoable"]
            if turn % 7 == 6 and undoable:
                desk.undo(rater, {"submission_id": f"u{turn}", "undoes": undoable})
            elif work["queue"] and turn % 11 == 3:
                desk.skip(rater, skip_of(work["queue"][0], f"s{turn}", "other", f"words {turn}"))
            elif work["queue"]:
                seen = {**SEEN, "width": 200 + turn % 3, "hidden_seconds": turn / 8} if turn % 2 else None
                desk.answer(rater, answer_to(work["queue"][0], f"a{turn}", option=turn, dropped_frames=turn % 5, seen=seen))
        done = [event for event in journal.events(study.study_id) if event.kind == "answer"]
        desk.exclude("b", reason="never looked")
        desk.exclude(done[0].rater_id, submission_id=done[0].body["submission_id"], reason="slept")
        desk.include("b", reason="did look")
        desk.exclude("ü", reason="no")
        return study, journal.events(study.study_id), journal.said(study.study_id)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, list[Event], dict[str, dict[str, str]]]:
    return worked(tmp_path_factory.mktemp("snapshot"))


def folded(study: Study, events: list[Event]) -> State:
    state = State(study)
    state.fold(events)
    return state


def loads(coverage: Coverage) -> tuple[object, ...]:
    open_had = {key: count for key, count in coverage._open_had.items() if count}
    had_by = [sorted(raters) for raters in coverage._had_by]
    return (
        coverage._load,
        coverage._holders,
        had_by,
        open_had,
        coverage._open,
        coverage.filled,
        coverage.needed,
        coverage.group_load,
        coverage._live,
    )


@pytest.mark.parametrize("share", [0, 0.11, 0.33, 0.5, 0.71, 0.9, 0.97, 1])
def test_a_state_goes_on_from_its_snapshot_as_if_nothing_were(
    world: tuple[Study, list[Event], dict[str, dict[str, str]]], share: float
) -> None:
    study, events, said = world
    cut = round(share * len(events))
    restored = unpacked(study, packed(folded(study, events[:cut])), said=said)
    assert restored == folded(study, events[:cut])
    now = events[cut - 1].at if cut else 0.0
    whole = State(study)
    followed = Coverage(whole, now=0.0)
    for event in events[:cut]:
        whole.fold([event])
        followed.follow([event], now=event.at)
    followed.expire(now)
    assert loads(Coverage(restored, now=now)) == loads(followed)
    told = [event.body for event in events[:cut] if event.kind == "answer"]
    for body in told:
        frames = {name: body[name] for name in ("dropped_frames", "watched_frames")}
        vote = restored.submissions[body["submission_id"]].vote
        assert vote is not None
        assert vote.seen == ({**body["seen"], **frames} if "seen" in body else None)
    restored.fold(events[cut:])
    assert restored == folded(study, events)
    assert restored.votes() == folded(study, events).votes()


def test_no_words_of_people_are_in_it_and_erased_ones_stay_erased(
    world: tuple[Study, list[Event], dict[str, dict[str, str]]],
) -> None:

    study, events, said = world
    assert any("text" in parts for parts in said.values())
    blob = packed(folded(study, events))
    head, arrays = _parts(blob)
    assert "words " not in str(head)
    assert not any(b"words " in bytes(array) for array in arrays.values())
    restored = unpacked(study, blob, said={})
    assert {sent.text for sent in restored.submissions.values()} == {""}


def test_another_version_study_or_damage_is_no_snapshot(world: tuple[Study, list[Event], dict[str, dict[str, str]]]) -> None:
    study, events, said = world
    blob = packed(folded(study, events))
    for bad in (b"", blob[:-1], blob[:40] + b"x" + blob[41:]):
        with pytest.raises(SnapshotUnusable):
            unpacked(study, bad, said=said)
    first = study.tasks[0]
    corrected = Study(study.study_id, study.file, (replace(first, gold=first.candidates[:1]), *study.tasks[1:]), study.proxies)
    with pytest.raises(SnapshotUnusable, match="of another version or study"):
        unpacked(corrected, blob, said=said)


def test_a_desk_keeps_snapshots_and_starts_from_them(journal_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_state, "WORTH", 20)
    monkeypatch.setattr(current_state, "STEP", 10)
    monkeypatch.setattr(current_state, "_AT_ONCE", 7)
    study, clock = make_study([pairwise(raters_per_task=2)], subjects=4), Clock()
    with Journal(journal_url) as journal:
        desk = Desk(study, journal, clock=clock)
        for turn in range(20):
            desk.answer("a", answer_to(desk.work("a")["queue"][0], f"s{turn}"))
        assert journal.snapshot(study.study_id) is None  # raters do not wait for it
        desk.overview()
        kept = stored_state(study, journal)
        assert kept.last_seq >= 40
        desk.answer("a", answer_to(desk.work("a")["queue"][0], "more"))
        again = Desk(study, journal, clock=clock)
        assert again._live.state == folded(study, journal.events(study.study_id))
        assert loads(again._live.coverage) == loads(desk._live.coverage)
        assert again.work("a") == desk.work("a")
        assert again.overview() == desk.overview()
