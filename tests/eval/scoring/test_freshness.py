from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from inpaintbench.errors import InputError
from inpaintbench.eval.scoring.run_folder import digest, is_stale, remember_scored, scores_of
from inpaintbench.executors.base import Rejection
from inpaintbench.manifest import column
from inpaintbench.steps import score_step
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace

DATASET = Dataset("d", {}, ({"item_id": "a"}, {"item_id": "b"}), (), {}, {}, {})
PROTOCOL = "fingerprint/corrected"


def prediction(item: str, blob: str) -> Prediction:
    return Prediction("mine", "1", item, blob, True, 0)


def predicted(workspace: Workspace, blobs: dict[str, str], failures: dict[str, str]) -> None:
    step = "predict.mine"
    workspace.write_table("predictions", step, [prediction(*pair) for pair in blobs.items()], Prediction)
    refused = [Rejection(item, step, item, reason) for item, reason in failures.items()]
    workspace.write_table("rejected", step, refused, Rejection)


def stale(workspace: Workspace) -> bool:
    return is_stale(workspace, DATASET, protocol=PROTOCOL, method="mine")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A run of which one item was predicted and scored, and one failed."""
    made = Workspace(tmp_path / "run")
    predicted(made, {"a": "1.png"}, {"b": "no luck"})
    scored = digest(column(DATASET, "item_id"), [prediction("a", "1.png")], {"b": "no luck"})
    remember_scored(made, scored, step=score_step(PROTOCOL, "mine"))
    return made


def test_scores_of_the_same_predictions_are_fresh_and_of_others_stale(workspace: Workspace) -> None:
    assert not stale(workspace)
    for blobs, failures in (
        ({"a": "2.png"}, {"b": "no luck"}),
        ({"a": "1.png", "b": "2.png"}, {}),
        ({"a": "1.png"}, {"b": "another reason"}),
        ({}, {"a": "gone", "b": "no luck"}),
    ):
        predicted(workspace, blobs, failures)
        assert stale(workspace), (blobs, failures)
    predicted(workspace, {"a": "1.png"}, {"b": "no luck"})
    assert not stale(workspace)


def test_where_nothing_tells_scores_are_taken_as_they_are(workspace: Workspace) -> None:
    assert not is_stale(workspace, DATASET, protocol="fingerprint/as-published", method="mine")
    predicted(workspace, {}, {})
    assert not stale(workspace)


def test_a_digest_follows_items_blobs_and_reasons_and_not_their_order() -> None:
    ids, rows = column(DATASET, "item_id"), [prediction("a", "1"), prediction("b", "2")]
    assert digest(ids, rows, {}) == digest(ids, rows[::-1], {})
    # A reason that reads like a blob is still none.
    assert digest(ids, rows[:1], {"b": "2"}) != digest(ids, rows, {})


def test_scores_of_a_dataset_that_grew_are_not_called_older_than_predictions(workspace: Workspace) -> None:
    step = score_step(PROTOCOL, "mine")
    rows = [Score("mine", item, "psnr", "frame", PROTOCOL, "0", value, None) for item, value in (("a", 30.0), ("b", 20.0))]
    workspace.write_table("scores", step, rows, Score)
    assert len(scores_of(workspace, DATASET, Path("data"), PROTOCOL)[0]) == 2
    grown = replace(DATASET, items=(*DATASET.items, {"item_id": "c"}, {"item_id": "d"}))
    with pytest.raises(InputError, match=r"has 2 items more than when 'mine' was run .* `inpaintbench eval run` first"):
        scores_of(workspace, grown, Path("data"), PROTOCOL)
    for blobs in ({"a": "2.png"}, {"a": "1.png", "c": "3.png", "d": "4.png"}):  # another prediction, or new ones not yet scored
        predicted(workspace, blobs, {"b": "no luck"})
        with pytest.raises(InputError, match="are older than its predictions"):
            scores_of(workspace, grown, Path("data"), PROTOCOL)
