"""What this installation can do, in one table."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inpaintbench.cli import app
from inpaintbench.models.weights import known


def rows_of_doctor() -> dict[str, str]:
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0, shown.output
    cells = [[cell.strip() for cell in re.split("[│┃|]", line)] for line in shown.output.splitlines()]
    return {row[1]: row[2] for row in cells if len(row) > 3}


@pytest.mark.parametrize(
    ("part", "module"), [("Ray", "ray"), ("yt-dlp", "yt_dlp"), ("flickrapi", "flickrapi"), ("scenedetect", "scenedetect")]
)
def test_what_curation_uses_is_in_the_table(part: str, module: str) -> None:
    assert rows_of_doctor()[part] == ("yes" if importlib.util.find_spec(module) else "no")


def test_the_state_of_the_flickr_key_is_told_but_not_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLICKR_API_KEY", "verysecret")
    monkeypatch.delenv("FLICKR_API_SECRET", raising=False)
    assert rows_of_doctor()["Flickr key"] == "no"
    monkeypatch.setenv("FLICKR_API_SECRET", "moresecret")
    assert rows_of_doctor()["Flickr key"] == "yes"
    assert "secret" not in str(rows_of_doctor())


def test_the_state_of_all_weights_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "here"))
    first, *rest = known().values()
    assert [rows_of_doctor()[f"{one.name} weights"] for one in known().values()] == ["missing"] * len(known())
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / first.file).write_bytes(b"x")
    found = rows_of_doctor()
    assert found[f"{first.name} weights"] == "damaged"
    assert all(found[f"{one.name} weights"] == "missing" for one in rest)
