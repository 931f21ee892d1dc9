"""What a workspace knows of its own errors, counted by hand."""

from __future__ import annotations

import pytest
from selection_world import fill

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.evidence import AGREEMENT, Agreement, evidence, protocols, raters
from inpaintbench.recipes.removal import RemovalRecipe
from inpaintbench.types import Answer, Corruption
from inpaintbench.workspace import Workspace


def test_an_empty_workspace_knows_only_its_protocol(workspace: Workspace) -> None:
    assert set(evidence(workspace, DevilRecipe())) == {"protocols"}


def test_rules_are_told_with_what_they_drop_and_how_often_people_agree(workspace: Workspace) -> None:
    found = evidence(fill(workspace), DevilRecipe())
    selection = found["selection"]
    # Clip n has cut score n/12 (none: 3) and crispness 1 - n/12; of the even clips people keep 0, 2, 4 and reject 6, 8, 10.
    assert selection["clips"] == 12
    assert selection["kept"] == 3  # 0, 2 and 4; 1 and 5 wait for an answer
    dropped = {one["rule"].partition(" ")[0]: (one["judged"], one["dropped"]) for one in selection["rules"]}
    assert dropped == {"calm": (11, 6), "crispness": (12, 2), "answer:keep_reject": (6, 3)}
    rules = {one["rule"].partition(" ")[0]: one for one in found["rules"]}
    assert set(rules) == {"calm", "crispness", "all"}
    assert [rules["calm"][name]["count"] for name in ("precision", "recall")] == [2, 2]
    assert [rules["calm"][name]["total"] for name in ("precision", "recall")] == [2, 3]
    assert rules["calm"]["n"] == 6
    assert rules["crispness"]["recall"]["value"] == pytest.approx(1 / 3)
    assert found == evidence(workspace, DevilRecipe())


def test_answers_are_told_by_question(workspace: Workspace) -> None:
    fill(workspace)
    rows = [
        Answer("c00", "scene_motion", "25", None, 4, 0.75),
        Answer("c01", "scene_motion", None, "no answer has most", 2, 0.5),
        Answer("c02", "scene_motion", "0", None, 1, 1.0),
        Answer("c03", "scene_motion", "0", "known beforehand", 0, None),  # of a gold task
        Answer("gone", "scene_motion", "0", None, 3, 1.0),
    ]
    workspace.write_table("answers", "annotate.x", rows, Answer)
    told = {one["question"]: one for one in raters(workspace)}
    assert told["scene_motion"] == {
        "question": "scene_motion", "clips": 3, "votes": 7, "undecided": 1, "agreement": 0.625, "agreement_clips": 2,
    }  # fmt: skip
    assert (told["keep_reject"]["clips"], told["keep_reject"]["votes"]) == (6, 18)


def agreement(part: str, alpha: float | None, *, question: str = "keep_reject") -> Agreement:
    return Agreement(question, part, 3, 6, 18, alpha, None, None, None if alpha else "nothing varies")


def test_stored_agreement_is_told_beside_the_answers(workspace: Workspace) -> None:
    fill(workspace)
    workspace.write_table(AGREEMENT, "annotate.x", [agreement("choice", 0.7)], Agreement)
    (told,) = raters(workspace)
    assert (told["raters"], told["alpha"], told["votes"]) == (3, 0.7, 18)
    assert "part" not in told
    workspace.write_table(AGREEMENT, "annotate.x", [agreement("choice", 0.7), agreement("reason", None)], Agreement)
    assert [(one["part"], one["alpha"], one["alpha_reason"]) for one in raters(workspace)] == [
        ("choice", 0.7, None), ("reason", None, "nothing varies"),
    ]  # fmt: skip
    # Two studies asked: neither alpha is that of all votes.
    workspace.write_table(AGREEMENT, "annotate.y", [agreement("choice", 0.2)], Agreement)
    (told,) = raters(workspace)
    assert "alpha" not in told


def test_protocols_are_those_that_scoring_takes(workspace: Workspace) -> None:
    hole = [Corruption("k", "c", "devil_blobs", {}, 0, None, "blob.mp4", "0")]
    workspace.write_table("corruptions", "render", hole, Corruption)
    (usual,) = protocols(workspace, DevilRecipe())
    assert usual == {"name": "devil/corrected", "fingerprint": PROTOCOLS.get("devil/corrected").fingerprint, "usual": True}
    assert [one["name"] for one in protocols(workspace, RemovalRecipe())] == ["removal/paired"]
