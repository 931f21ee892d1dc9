"""Shipped fetchers keep the contract of fetchers, and those that break it are told how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from datasets import Dataset
from web_footage import clip_bytes, write_list
from web_server import Answer, WebServer

from inpaintbench.contracts import outcomes
from inpaintbench.download import Limits
from inpaintbench.wings.fetch import FETCHERS, contract
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher
from inpaintbench.wings.fetch.lists import UrlList


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A list of one video on a server of this machine."""
    monkeypatch.setattr(contract, "LIMITS", replace(contract.LIMITS, allow_private=True))
    with WebServer() as server:
        address = server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1)))
        yield write_list(tmp_path / "list.csv", f"{address},CC0-1.0", columns="url,licence")


def test_shipped_fetchers_keep_it(listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLICKR_API_KEY", raising=False)
    Dataset.from_dict({"clip": [listed.read_text().splitlines()[1].split(",")[0]]}).save_to_disk(tmp_path / "data")
    constants = {
        "urls": {"list": str(listed), "allow_private": True},
        "hf_dataset": {"dataset": str(tmp_path / "data"), "column": "clip"},
        "yt_dlp": {"list": str(listed), "allow_private": True},
        "flickr": {"query": "sea"},
    }
    assert set(FETCHERS) == set(constants)
    for name, given in constants.items():
        found = list(outcomes(contract.CHECKS, FETCHERS.get(name)(**given)))
        assert [(outcome.check, outcome.fault) for outcome in found if outcome.fault] == [], name
        skipped = {outcome.check for outcome in found if outcome.skipped}
        assert len(skipped) == (2 if name == "flickr" else 0), (name, found)  # nobody's key


class Careless(UrlList):
    """States another size than the file has, and lists every address twice."""

    def candidates(self) -> Iterator[Candidate]:
        for candidate in super().candidates():
            yield from (candidate, candidate)

    def fetch(self, candidate: Candidate, *, part: Path, limits: Limits) -> Fetched:
        fetched = super().fetch(candidate, part=part, limits=limits)
        return replace(fetched, received=replace(fetched.received, bytes=1))


def test_a_careless_fetcher_is_told(listed: Path) -> None:
    leaf: Fetcher = Careless(list=str(listed), allow_private=True)
    leaf.media = "sound"
    faults = [outcome.fault for outcome in outcomes(contract.CHECKS, leaf)]
    assert faults[0] == "its media is 'sound', not 'video' or 'image'"
    assert faults[1] is not None
    assert faults[1].startswith("two candidates are called")
    assert faults[2] is not None
    assert "it states bytes and digest (1, " in faults[2]
