"""A frozen dataset by its name on the Hub, from a server on this machine that speaks the part of its language that is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import huggingface_hub.constants
import pytest
from old_format import write_one_file
from scoring_probes import write_items
from web_server import Answer, WebServer

from inpaintbench import frozen
from inpaintbench.cli.viewing import parse_viewed, view
from inpaintbench.errors import InputError, NetworkError
from inpaintbench.eval.scoring.parts import frozen_or_hub
from inpaintbench.workbench.server import Server

COMMIT = "1" * 40
NAME = "somebody/clips"


def publish(server: WebServer, files: dict[str, bytes], *, revision: str = "main") -> None:
    about = {"id": NAME, "sha": COMMIT, "private": False, "siblings": [{"rfilename": name} for name in files]}
    server.answers[f"/api/datasets/{NAME}/revision/{revision}"] = [json_answer(about)]
    tree = [
        {"type": "file", "path": name, "size": len(body), "oid": hashlib.sha1(body).hexdigest()} for name, body in files.items()
    ]
    for path in (f"/api/datasets/{NAME}/tree/{COMMIT}", f"/api/datasets/{NAME}/tree/{COMMIT}?recursive=true&expand=false"):
        server.answers[path] = [json_answer(tree)]
    for name, body in files.items():
        etag = hashlib.sha1(body).hexdigest()
        headers = {"X-Repo-Commit": COMMIT}
        server.answers[f"/datasets/{NAME}/resolve/{COMMIT}/{quote(name)}"] = [Answer(body, headers=headers, etag=etag)]


def json_answer(value: object, status: int = 200, **headers: str) -> Answer:
    return Answer(json.dumps(value).encode(), status=status, headers={"Content-Type": "application/json", **headers})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WebServer]:
    with WebServer() as web:
        monkeypatch.setenv("HF_ENDPOINT", web.url("").rstrip("/"))
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        monkeypatch.chdir(tmp_path)
        yield web


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    folder = tmp_path / "made"
    dataset = write_items(folder, count=1, frames=(2,))
    write_one_file(folder, dataset)
    return {path.name.replace(" ", "_"): path.read_bytes() for path in folder.iterdir()}


def test_a_dataset_of_the_hub_is_brought_once_and_loads(server: WebServer, files: dict[str, bytes]) -> None:
    publish(server, files)
    folder = frozen_or_hub(NAME)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert frozen.load(folder).items[0]["item_id"] == "item 0"
    fetched = sum(one.method == "GET" and "/resolve/" in one.path for one in server.seen)
    assert fetched == len(files)
    assert frozen_or_hub(NAME) == folder
    assert sum(one.method == "GET" and "/resolve/" in one.path for one in server.seen) == fetched


def test_a_revision_may_be_named(server: WebServer, files: dict[str, bytes]) -> None:
    publish(server, files, revision="v1")
    assert frozen.load(frozen_or_hub(f"{NAME}@v1")).name == "probes"


def test_view_shows_a_dataset_of_the_hub_whose_files_are_links(
    server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_items(tmp_path / "made", count=1, frames=(2,))
    write_one_file(tmp_path / "made", dataset)
    place = tmp_path / "made"
    publish(server, {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()})
    shown: list[dict[str, Any]] = []

    def look(bench: Server) -> None:
        query = {"dataset": ["0/"], "item": ["item 0"]}
        shown.append({"ids": bench.bench.joined(query).ids, **bench.bench.shown(query)})

    monkeypatch.setattr(Server, "serve_forever", look)
    view([parse_viewed(NAME)], open_browser=False)
    assert shown[0]["ids"] == ["item 0"]
    assert [one["label"] for one in shown[0]["players"]] == ["truth", "input", "hole"]
    assert shown[0]["missing"] == {}


def test_a_folder_comes_before_the_hub(server: WebServer, tmp_path: Path) -> None:
    (tmp_path / "somebody" / "clips").mkdir(parents=True)
    assert frozen_or_hub(NAME) == Path(NAME)
    assert not server.seen


def test_what_is_no_frozen_dataset_says_so(server: WebServer) -> None:
    publish(server, {"README.md": b"hello"})
    with pytest.raises(InputError, match=r"'somebody/clips' of the Hub is not a frozen dataset \(no dataset\.json\)"):
        frozen_or_hub(NAME)


def test_a_dataset_that_is_not_there_is_one_sentence(server: WebServer) -> None:
    missing = json_answer({"error": "no"}, 404, **{"X-Error-Code": "RepoNotFound"})
    server.answers[f"/api/datasets/{NAME}/revision/main"] = [missing]
    with pytest.raises(NetworkError, match=r"no folder 'somebody/clips', and the Hub shows no such dataset or revision"):
        frozen_or_hub(NAME)


def test_without_the_hub_the_error_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        NetworkError, match=r"no folder 'somebody/clips', and the Hub cannot be reached; give the path of a copy$"
    ):
        frozen_or_hub(NAME)


@pytest.mark.parametrize("text", ["", "data", "a/b/c", "../somebody/clips", "somebody/cl ips", "https://somewhere/clips"])
def test_what_is_neither(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if text:
        with pytest.raises(InputError, match=r"is neither a folder nor a dataset of the Hub|is an address of no kind known here"):
            frozen_or_hub(text)
    else:
        assert frozen_or_hub(text) == Path()  # the current folder, as everywhere
