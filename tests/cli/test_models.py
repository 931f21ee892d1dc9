"""`models list|fetch|verify|import`, in this process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner
from web_server import Answer, WebServer

from inpaintbench.cli.installed import app
from inpaintbench.errors import InputError
from inpaintbench.models.weights import Weights, known


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("INPAINTBENCH_WEIGHTS", "INPAINTBENCH_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


@pytest.mark.real
def test_importing_recognises_a_file_by_its_bytes(assets: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "download (1).bin"
    renamed.write_bytes((assets / "weights/opencv_zoo-history/yolox_nano.onnx").read_bytes())
    done = CliRunner().invoke(app, ["import", str(renamed)], catch_exceptions=False)
    assert done.output == "yolox-nano: imported, Apache-2.0, used by foreground_fraction, scenery_object_fraction\n"
    assert "yolox-nano: ready" in CliRunner().invoke(app, ["verify", "yolox-nano"], catch_exceptions=False).output


@pytest.mark.real
def test_the_command_fetches_from_another_address_and_shows_the_licence(assets: Path, server: WebServer, cache: Path) -> None:
    body = (assets / "weights/opencv_zoo-history/yolox_nano.onnx").read_bytes()
    address = server.say("/elsewhere", Answer(body))
    command = ["fetch", "yolox-nano", "--from", address, "--allow-private"]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    assert f"yolox-nano: Apache-2.0, 3.7 MB, from {address}" in done.output
    assert (cache / "yolox_nano.onnx").read_bytes() == body


def test_the_command_lists_what_is_missing_and_verifying_fails() -> None:
    listed = CliRunner().invoke(app, ["list"], catch_exceptions=False).output
    assert all(name in listed for name in known())
    assert listed.count("missing") == len(known())
    done = CliRunner().invoke(app, ["verify"], catch_exceptions=False)
    assert done.exit_code == 1
    assert done.output.count("weights missing: run `inpaintbench models fetch") == len(known()) - 1
    assert "raft-small-official: weights missing: run `inpaintbench models import raft-small.pth`, or put" in done.output


def test_another_address_is_for_one_name() -> None:
    with pytest.raises(InputError, match=f"--from gives one file, {len(known())} were asked for: name one of yolox-nano"):
        CliRunner().invoke(app, ["fetch", "--from", "https://example.org/x"], catch_exceptions=False)


def test_without_names_files_without_an_address_are_left_out(
    server: WebServer, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    body = b"parameters"
    rows = [("here", server.say("/here.pth", Answer(body))), ("nowhere", None)]
    table = {
        name: Weights(name, f"{name}.pth", hashlib.sha256(body).hexdigest(), len(body), "MIT", origin, ("leaf",))
        for name, origin in rows
    }
    for name in list(known()):
        monkeypatch.delitem(known(), name)
    for name, weights in table.items():
        monkeypatch.setitem(known(), name, weights)
    done = CliRunner().invoke(app, ["fetch", "--allow-private"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "nowhere" not in done.output
    assert [path.name for path in cache.glob("*.pth")] == ["here.pth"]
