from __future__ import annotations

from tests.wings.align.planted_answers import ballot

from inpaintbench.wings.align.reading import Answers, without


def test_alignment_leaves_out_answers_about_it() -> None:
    answers = Answers((ballot("i", "good", "fair", "good"), ballot("i", "blank", "fair", "fair", count=3)), {"other": 2})
    found = without(answers, {"blank"})
    assert [one.candidates for one in found.ballots] == [("good", "fair")]
    assert found.left_out == {"other": 2, "answers about a reference method, which does not compete": 3}
    assert without(answers, set()) == answers
