"""A challenge on the Hub: its inputs are published, its truth is not by accident."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from held_back_films import make_films
from hub_server import HubServer, Request
from publishing_data import contents, make_dataset
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli import app
from inpaintbench.errors import InputError, NetworkError
from inpaintbench.export.holding_back import hold_back
from inpaintbench.export.publishing.fetch import fetch
from inpaintbench.export.publishing.push import plan, push
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


def test_a_repository_whose_manifest_had_the_truth_takes_no_challenge(hub: HubServer, challenge: Challenge) -> None:
    push(plan(challenge.whole), NAME)
    before = hub.files(NAME)
    with pytest.raises(InputError, match="had the truths of test, which its history keeps; push to a new repository"):
        push(plan(challenge.public), NAME)
    assert hub.files(NAME) == before


@pytest.mark.usefixtures("history")
def test_a_challenge_is_pushed_again_and_goes_on_where_it_was_cut(hub: HubServer, challenge: Challenge) -> None:
    made = plan(challenge.public)
    hub.spoil("POST", "/commit/main", status=400, times=1)
    with pytest.raises(NetworkError):
        push(made, NAME)
    push(made, NAME)
    again = push(made, NAME)
    assert (again.sent, again.there) == (0, len(made.sha256))


def test_holding_back_more_than_before_needs_a_new_repository(hub: HubServer, tmp_path: Path) -> None:
    whole = make_films(tmp_path / "made", splits=("validation", "test"))
    for name, splits in (("less", ["validation"]), ("more", ["validation", "test"])):
        hold_back(whole, splits=splits, public=tmp_path / name, truth=tmp_path / f"{name}-truth")
    push(plan(tmp_path / "less"), NAME)
    before = hub.files(NAME)
    assert any(name.startswith("truth/") for name in before)
    with pytest.raises(InputError, match="had the truths of test, which its history keeps; push to a new repository"):
        push(plan(tmp_path / "more"), NAME)
    assert hub.files(NAME) == before


@pytest.mark.usefixtures("history")
def test_a_push_of_the_whole_that_was_cut_off_has_shown_truths(hub: HubServer, challenge: Challenge) -> None:
    def cut_the_last_commit(request: Request) -> None:
        if "/commit/" in request.path and len(hub.asked("POST", "/commit/")) == 2:
            hub.spoil("POST", "/commit/", status=400)

    hub.on_request = cut_the_last_commit
    with pytest.raises(NetworkError):
        push(plan(challenge.whole), NAME)
    hub.on_request = lambda request: None
    assert "dataset.json" not in hub.files(NAME)
    with pytest.raises(InputError, match=r"'somebody/challenge' holds media that this challenge does not .*truth/c0\.mp4"):
        push(plan(challenge.public), NAME)
    # Removed by hand, the truths stay in the history, and on the branches.
    branch = hub.repositories[NAME].branches["main"]
    for name in [name for name in branch if "/" in name]:
        del branch[name]
    assert hub.files(NAME) == {}
    with pytest.raises(InputError, match=r"the history of 'somebody/challenge' holds media .* at commit [0-9a-f]{12}\); push to"):
        push(plan(challenge.public), NAME)
    assert hub.files(NAME) == {}


@pytest.mark.usefixtures("history")
def test_another_branch_shows_truths_as_well(hub: HubServer, challenge: Challenge) -> None:
    push(plan(challenge.whole), NAME, revision="whole")
    with pytest.raises(InputError, match="the history of 'somebody/challenge' holds media that this challenge does not"):
        push(plan(challenge.public), NAME)
    push(plan(challenge.whole), NAME)  # what holds nothing back goes anywhere


@pytest.mark.usefixtures("history")
def test_media_under_the_manifest_of_the_challenge_itself_are_found(hub: HubServer, challenge: Challenge) -> None:
    push(plan(challenge.public), NAME)
    hub.repositories[NAME].branches["main"]["alphas/c1.mkv"] = b"..."
    with pytest.raises(InputError, match=r"holds media that this challenge does not \(alphas/c1\.mkv\)"):
        push(plan(challenge.public), NAME)


def test_truths_are_found_where_the_server_lists_no_commits(hub: HubServer, challenge: Challenge) -> None:
    push(plan(challenge.public), "somebody/new")
    push(plan(challenge.public), "somebody/new")
    assert {request.status for request in hub.asked("GET", "/(commits|refs)")} == {404}
    hub.repositories["somebody/new"].branches["main"]["truth/c1.mp4"] = b"..."
    with pytest.raises(InputError, match="holds media that this challenge does not"):
        push(plan(challenge.public), "somebody/new")
