"""A small frozen dataset, and a Hub on this machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import datasets
import hub_server
import huggingface_hub.constants
import pytest
from hub_server import TOKEN, Answer, HubServer, Repository, Request
from publishing_data import make_dataset


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("small"))


@pytest.fixture
def small(_made: Path, tmp_path: Path) -> Path:
    """A copy of it, with one source of a known licence and two without."""
    return Path(shutil.copytree(_made, tmp_path / "small"))


@pytest.fixture(autouse=True)
def _with_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests, and the rater's app, want these libraries without one; they read their environment when they are imported."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    with HubServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        # The library reads its environment when it is imported.
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
        yield server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were to be slept, one after the other; nobody sleeps."""
    asked: list[float] = []
    monkeypatch.setattr("time.sleep", asked.append)
    return asked


@pytest.fixture
def one_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` without a second decoder, whose own start takes ten times as long as these three clips."""
    monkeypatch.setattr("inpaintbench.export.verify.available", list)


@pytest.fixture
def history(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub lists commits and branches, as the real one does."""
    log: dict[tuple[str, str], list[tuple[str, str]]] = {}
    name = r"([\w.-]+/[\w.-]+)"

    def of(repository: str, branch: str, held: Repository) -> list[tuple[str, str]]:
        first = Repository(private=True).tree("main")
        assert first is not None
        held.commits.setdefault(first[0], first[1])
        return log.setdefault((repository, branch), list(log.get((repository, "main"), [(first[0], "initial commit")])))

    def commit(hub: HubServer, held: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
        answer = hub_server._commit(hub, held, found, request, body)
        if answer.status == 200:
            of(found[1], found[2], held).append((answer.body["commitOid"], held.messages[-1]))
        return answer

    def commits(hub: HubServer, held: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
        rest = {"authors": [], "date": "2024-01-01T00:00:00.000Z", "message": ""}
        return Answer(body=[{"id": oid, "title": title, **rest} for oid, title in reversed(of(found[1], found[2], held))])

    def refs(hub: HubServer, held: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
        told = [{"name": one, "ref": f"refs/heads/{one}", "targetCommit": held.tree(one)[0]} for one in held.branches]
        return Answer(body={"branches": told, "converts": [], "tags": []})

    more = ((f"/api/datasets/{name}/commit/(.+)", commit), (f"/api/datasets/{name}/commits/(.+)", commits))
    monkeypatch.setattr("hub_server._ROUTES", (*more, (f"/api/datasets/{name}/refs", refs), *hub_server._ROUTES))
