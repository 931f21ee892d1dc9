"""Finding, fetching, importing and checking weights, from a real server and real files."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from web_server import Answer, WebServer

from inpaintbench.download import Limits
from inpaintbench.errors import Gone, InputError, NotMeasurable, UnknownNameError
from inpaintbench.models.fetching import fetch, import_file
from inpaintbench.models.weights import Weights, cache_folder, known, located, named, path_of, state

BODY = bytes(range(256)) * 300
HERE = Limits(allow_private=True)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("INPAINTBENCH_WEIGHTS", "INPAINTBENCH_OFFLINE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


@pytest.fixture
def weights(server: WebServer) -> Weights:
    origin = server.say("/net.onnx", Answer(BODY, etag='"1"'))
    return Weights("net", "net.onnx", hashlib.sha256(BODY).hexdigest(), len(BODY), "Apache-2.0", origin, ("leaf",))


def put(path: Path, body: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def test_the_table_names_whole_files_with_licence_and_an_address_whose_bytes_stay() -> None:
    assert len({weights.sha256 for weights in known().values()}) == len({one.file for one in known().values()}) == len(known())
    for weights in known().values():
        assert set(weights.sha256) <= set("0123456789abcdef")
        assert len(weights.sha256) == 64
        assert weights.bytes > 1_000_000 or weights.name in ("aesthetic-linear-vit-l-14", "niqe-pristine")
        assert weights.licence in ("Apache-2.0", "BSD-3-Clause", "MIT", "PolyForm-Noncommercial-1.0.0")
        assert weights.used_by


@pytest.mark.parametrize("name", [name for name, weights in known().items() if weights.origin])
def test_an_address_names_a_commit_or_the_beginning_of_the_hash(name: str) -> None:
    weights = named(name)
    assert weights.origin is not None
    assert weights.origin.startswith("https://")
    assert weights.origin.endswith(f"/{weights.file}")
    parts = weights.origin.split("/")
    commit = any(len(part) == 40 and set(part) <= set("0123456789abcdef") for part in parts)
    hashed = weights.sha256 in parts or Path(weights.file).stem.endswith(f"-{weights.sha256[:8]}")
    # Meta's have no such address; the hash is checked all the same.
    assert commit or hashed or name in ("dino-vit-b-16", "dinov2-giant", "sam-vit-h")


@pytest.mark.real
def test_the_authors_file_of_raft_small_is_the_one_in_the_table(assets: Path, cache: Path) -> None:
    assert import_file(assets / "weights/raft-small/raft-small.pth") == named("raft-small-official")
    assert path_of("raft-small-official") == cache / "raft-small.pth"


def test_missing_weights_without_an_address_say_how_to_import_them() -> None:
    with pytest.raises(NotMeasurable, match=r"weights missing: run `inpaintbench models import raft-small.pth`, or put"):
        path_of("raft-small-official")


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown weights 'yolox-nana', did you mean 'yolox-nano'"):
        path_of("yolox-nana")


def test_missing_weights_say_both_ways_out() -> None:
    assert state(named("yolox-nano")) == "missing"
    with pytest.raises(NotMeasurable) as raised:
        path_of("yolox-nano")
    assert str(raised.value) == (
        "weights missing: run `inpaintbench models fetch yolox-nano`, or put yolox_nano.onnx into a folder and set "
        "INPAINTBENCH_WEIGHTS to it"
    )


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> None:
    assert cache_folder() == cache
    monkeypatch.delenv("INPAINTBENCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "inpaintbench" / "models"
    assert cache_folder("rates") == tmp_path / "xdg" / "inpaintbench" / "rates"


@pytest.mark.parametrize("below", ["", "zoo/"])
def test_a_given_folder_is_searched_one_level_deep(
    weights: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    path = put(tmp_path / f"given/{below}net.onnx", BODY)
    put(tmp_path / "given/a/b/net.onnx", BODY)
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "given"))
    assert located(weights) == path


def test_a_given_folder_that_is_none_is_told(weights: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(cache_folder() / "net.onnx", BODY)
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(put(tmp_path / "net.onnx", BODY)))
    with pytest.raises(NotMeasurable, match="INPAINTBENCH_WEIGHTS names no folder"):
        located(weights)


def test_a_whole_file_is_found_behind_a_damaged_one(
    weights: Weights, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "given/net.onnx", BODY[:-1])
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "given"))
    assert state(weights) == "damaged"
    with pytest.raises(NotMeasurable, match=r"weights damaged: the net.onnx that was found has 76799 bytes instead of 76800"):
        located(weights)
    whole = put(cache / "net.onnx", BODY)
    assert state(weights) == "ready"
    assert located(weights) == whole


def test_changed_bytes_of_the_same_size_are_noticed_though_the_file_was_whole_before(weights: Weights, cache: Path) -> None:
    path = put(cache / "net.onnx", BODY)
    assert located(weights) == path
    put(path, BODY[:-1] + b"\0")
    os.utime(path, ns=(1, 1))
    with pytest.raises(NotMeasurable, match=r"has other bytes than its SHA-256 says; delete it, then run `inpaintbench models"):
        located(weights)


def test_where_no_size_was_published_the_hash_decides(weights: Weights, cache: Path) -> None:
    bounded = replace(weights, bytes=len(BODY) + 1000, bytes_are_known=False)
    path = put(cache / "net.onnx", BODY)
    assert located(bounded) == path
    assert fetch(bounded, limits=HERE) == path
    put(path, BODY[:-1])
    with pytest.raises(NotMeasurable, match=r"the net.onnx that was found has other bytes than its SHA-256 says"):
        located(bounded)
    put(path, BODY * 2)
    assert state(bounded) == "damaged"
    put(path, BODY)
    assert state(replace(bounded, bytes=len(BODY) - 1)) == "damaged"


def test_the_table_says_which_sizes_are_bounds() -> None:
    bounds = {name for name, weights in known().items() if not weights.bytes_are_known}
    assert bounds == {"clip-vit-l-14-336", "dino-vit-b-16", "musiq-spaq"}


def test_fetching_brings_the_file_once(weights: Weights, server: WebServer, cache: Path) -> None:
    path = fetch(weights, limits=HERE)
    assert path == cache / "net.onnx"
    assert path.read_bytes() == BODY
    assert fetch(weights, limits=HERE) == path
    assert len(server.asked("/net.onnx")) == 1
    assert [left.name for left in cache.iterdir() if not left.name.startswith(".")] == ["net.onnx"]


def test_fetching_goes_on_after_a_body_was_cut(weights: Weights, server: WebServer, cache: Path) -> None:
    server.say("/net.onnx", Answer(BODY, etag='"1"', cut=50_000), Answer(BODY, etag='"1"'))
    assert fetch(weights, limits=HERE).read_bytes() == BODY
    assert server.asked("/net.onnx")[1].headers["Range"] == "bytes=50000-"


def test_four_threads_that_fetch_at_once_ask_once(weights: Weights, server: WebServer) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(fetch(weights, limits=HERE))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.read_bytes() == BODY for path in found] == [True] * 4
    assert len(server.asked("/net.onnx")) == 1


def test_other_bytes_are_refused_and_not_kept(weights: Weights, server: WebServer, cache: Path) -> None:
    other = BODY[:-1] + b"\0"
    server.say("/net.onnx", Answer(other))
    digest = hashlib.sha256(other).hexdigest()
    with pytest.raises(InputError, match=rf"/net.onnx gave 76800 bytes with SHA-256 {digest}, which are not .* nothing was kept"):
        fetch(weights, limits=HERE)
    assert [left.name for left in cache.iterdir()] == [".net.onnx.lock"]


def test_a_damaged_file_is_replaced(weights: Weights, cache: Path) -> None:
    put(cache / "net.onnx", b"half")
    assert fetch(weights, limits=HERE).read_bytes() == BODY


def test_a_mirror_is_asked_instead(weights: Weights, server: WebServer) -> None:
    mirror = server.say("/mirror", Answer(BODY))
    assert fetch(replace(weights, origin=None), limits=HERE, mirror=mirror).read_bytes() == BODY
    assert not server.asked("/net.onnx")


def test_nothing_at_the_address(weights: Weights, server: WebServer) -> None:
    server.say("/net.onnx", Answer(status=404))
    with pytest.raises(Gone):
        fetch(weights, limits=HERE)


def test_offline_nothing_is_asked(weights: Weights, server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_OFFLINE", "1")
    with pytest.raises(InputError, match=r"INPAINTBENCH_OFFLINE is set, so net.onnx is not fetched; get it elsewhere"):
        fetch(weights, limits=HERE)
    assert not server.seen
    monkeypatch.setenv("INPAINTBENCH_OFFLINE", "0")
    assert fetch(weights, limits=HERE).is_file()


def test_without_an_address_it_has_to_be_imported(weights: Weights) -> None:
    with pytest.raises(
        InputError, match=r"no address is known for net.onnx; get it elsewhere and run `inpaintbench models import"
    ):
        fetch(replace(weights, origin=None), limits=HERE)


def test_importing_a_stranger_says_where_the_known_files_are_listed(tmp_path: Path) -> None:
    stranger = put(tmp_path / "stranger.onnx", b"abc")
    digest = hashlib.sha256(b"abc").hexdigest()
    with pytest.raises(
        InputError, match=rf"stranger.onnx' \(3 bytes, SHA-256 {digest}\) is none of .*; see `inpaintbench models list"
    ):
        import_file(stranger)
    with pytest.raises(InputError, match=r"it should be yolox_nano.onnx with 3659407 bytes and SHA-256 [0-9a-f]{64};"):
        import_file(put(tmp_path / "yolox_nano.onnx", b"abc"))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        import_file(tmp_path / "nothing")


@pytest.mark.real
def test_importing_recognises_a_file_by_its_bytes(assets: Path, tmp_path: Path, cache: Path) -> None:
    body = (assets / "weights/opencv_zoo-history/yolox_nano.onnx").read_bytes()
    assert import_file(put(tmp_path / "download (1).bin", body)) == named("yolox-nano")
    assert path_of("yolox-nano") == cache / "yolox_nano.onnx"
