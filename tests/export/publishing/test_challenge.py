"""A challenge on the Hub: its inputs are published, its truth is not by accident."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from hub_server import HubServer
from publishing_data import contents, make_dataset
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli import app
from inpaintbench.errors import InputError
from inpaintbench.export.holding_back import hold_back
from inpaintbench.export.publishing.fetch import fetch
from inpaintbench.export.publishing.plan import plan
from inpaintbench.export.publishing.push import push
from inpaintbench.export.verify import file_problems

NAME = "somebody/challenge"


class Challenge(NamedTuple):
    whole: Path
    public: Path
    truth: Path


@pytest.fixture
def challenge(tmp_path: Path) -> Challenge:
    whole = make_dataset(tmp_path / "made", licences=("MIT",) * 3, name="small")
    made = Challenge(whole, tmp_path / "small", tmp_path / "small-truth")
    hold_back(whole, splits=["test"], public=made.public, truth=made.truth)
    return made


def test_inputs_are_published_and_fetched_and_no_truth_is_among_them(
    hub: HubServer, challenge: Challenge, tmp_path: Path
) -> None:
    push(plan(challenge.public), NAME, public=True)
    assert not any(name.startswith("truth/") for name in hub.files(NAME))
    fetch(NAME, tmp_path / "whole")
    assert contents(tmp_path / "whole") == contents(challenge.public)
    fetched = fetch(NAME, tmp_path / "part", slices=["low"]).dataset
    assert {row["item_id"] for row in fetched.items} == {"i0", "i1"}
    assert not file_problems(tmp_path / "part")
    row = frozen.load(tmp_path / "part").items[0]
    view = frozen.input_view(tmp_path / "part", row)
    whole = next(one for one in frozen.load(challenge.whole).items if one["item_id"] == row["item_id"])
    assert (view.input == frozen.input_view(challenge.whole, whole).input).all()


def test_the_truth_is_not_shown_to_everybody_by_mistake(hub: HubServer, challenge: Challenge) -> None:
    wanted = ["export", "push", str(challenge.truth), "--repo", "somebody/truth"]
    done = CliRunner().invoke(app, [*wanted, "--public"])
    assert isinstance(done.exception, InputError)
    assert "is the truth that" in str(done.exception)
    assert not hub.seen
    assert CliRunner().invoke(app, wanted).exit_code == 0  # private, for those who score
    assert hub.repositories["somebody/truth"].private
    assert CliRunner().invoke(app, [*wanted[:-1], "somebody/over", "--public", "--publish-held-back"]).exit_code == 0
    assert not hub.repositories["somebody/over"].private


def test_a_repository_whose_history_has_the_truth_takes_no_challenge(hub: HubServer, challenge: Challenge) -> None:
    push(plan(challenge.whole), NAME)
    before = hub.files(NAME)
    with pytest.raises(InputError, match="had all truths, which its history keeps; push to a new repository"):
        push(plan(challenge.public), NAME)
    assert hub.files(NAME) == before
    push(plan(challenge.public), "somebody/new")
    push(plan(challenge.public), "somebody/new")  # again is nothing new
