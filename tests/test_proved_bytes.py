"""Bytes are compared with the hashes of their dataset, or with their name, when they are used."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from footage import write_sources
from made_once import once
from program import run_here
from publishing_data import make_dataset

from inpaintbench import frozen
from inpaintbench.errors import VerifyError
from inpaintbench.files import file_sha256
from inpaintbench.streaming import stream
from inpaintbench.types import Clip
from inpaintbench.workbench.server import Bench
from inpaintbench.workspace import Blobs, Workspace


def flip_bit(path: Path, *, place: int = -1, bit: int = 3) -> None:
    """Another bit at one byte of a file, by default in its middle; its size and name stay."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if place < 0 else place] ^= 1 << bit
    path.write_bytes(data)


def test_a_media_file_comes_with_the_hash_that_was_measured_of_it(dataset: Path) -> None:
    loaded = frozen.load(dataset)
    row = loaded.items[0]
    for part in ("truth", "hole"):
        proved = frozen.proved(dataset, row, part)
        assert proved.path == dataset / row[f"{part}_file_name"]
        assert proved.sha256 == file_sha256(proved.path) == loaded.files[row[f"{part}_file_name"]]


def test_a_file_is_read_once_for_its_hash_and_again_when_it_was_written(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row, read = frozen.load(dataset).items[0], list[str]()
    real = frozen.measured_sha256.__globals__["file_sha256"]
    monkeypatch.setitem(frozen.measured_sha256.__globals__, "file_sha256", lambda path: (read.append(path.name), real(path))[1])
    for _ in range(3):
        frozen.truth_and_hole(dataset, row)
    name = Path(row["truth_file_name"]).name
    assert read.count(name) == 1
    flip_bit(dataset / row["truth_file_name"])
    with pytest.raises(VerifyError):
        frozen.truth_and_hole(dataset, row)
    assert read.count(name) == 2


@pytest.mark.parametrize("part", ["truth", "hole"])
def test_other_bytes_are_refused_by_item_and_name_with_the_way_out(part: str, dataset: Path) -> None:
    row, other = frozen.load(dataset).items[:2]
    name = row[f"{part}_file_name"]
    flip_bit(dataset / name)
    said = f"^{part} of item {row['item_id']}, {name} of .*devil' differs from the manifest; `inpaintbench export verify` lists"
    for read in (frozen.truth_and_hole, lambda *given: frozen.input_view(*given).input):
        with pytest.raises(VerifyError, match=said):
            read(dataset, row)
    if other[f"{part}_file_name"] != name:
        shutil.copyfile(dataset / other[f"{part}_file_name"], dataset / name)  # whole, and another clip's
        with pytest.raises(VerifyError, match=said):
            frozen.truth_and_hole(dataset, row)
    (dataset / name).unlink()
    with pytest.raises(VerifyError, match=f"{name} of .* is missing"):
        frozen.truth_and_hole(dataset, row)
    os.mkfifo(dataset / name)  # whoever reads it waits for ever
    with pytest.raises(VerifyError, match="no regular file"):
        frozen.truth_and_hole(dataset, row)


def test_links_lead_into_the_dataset_or_the_blobs_of_the_hubs_cache(dataset: Path, tmp_path: Path) -> None:
    row = frozen.load(dataset).items[0]
    name, outside = row["truth_file_name"], tmp_path / "outside.mp4"
    shutil.move(dataset / name, outside)
    (dataset / name).symlink_to(outside)
    with pytest.raises(VerifyError, match=r"is a link to .*outside.mp4', outside of the dataset, and is not followed"):
        frozen.proved(dataset, row, "truth")
    cached = tmp_path / "hub" / "datasets--o--n"
    (cached / "blobs").mkdir(parents=True)
    snapshot = cached / "snapshots" / "0123"
    shutil.copytree(dataset, snapshot, symlinks=True)
    shutil.move(outside, cached / "blobs" / "x")
    (snapshot / name).unlink()
    (snapshot / name).symlink_to("../../../blobs/x")
    assert frozen.proved(snapshot, row, "truth").sha256
    (tmp_path / "linked").symlink_to(snapshot)  # people may call their folders what they like
    assert frozen.proved(tmp_path / "linked", row, "truth").sha256


def test_a_blob_has_the_hash_of_its_name(workspace: Workspace) -> None:
    blobs = Blobs(workspace.path)
    (workspace.path / "scratch").mkdir()
    name, _ = blobs.put(".json", lambda path: path.write_text("{}"))
    assert blobs.proved(name) == blobs.path(name)
    assert name == file_sha256(blobs.path(name)) + ".json"
    flip_bit(blobs.path(name))
    with pytest.raises(VerifyError, match=f"{name}' is damaged: .* delete it and run the command"):
        blobs.proved(name)
    blobs.path(name).unlink()
    with pytest.raises(VerifyError, match=f"{name}' is missing; run the command again"):
        blobs.proved(name)
    for strange in ("../../../etc/passwd", "/etc/passwd", "..", "", "a/b", "a\0"):
        with pytest.raises(VerifyError, match="is no name of a blob"):
            blobs.proved(strange)


def commands(dataset: Path, run: Path) -> dict[str, tuple[str | Path, ...]]:
    return {
        "run": ("eval", "run", dataset, "--run", run / "new", "--method", "blank", "--workers", "0", "--report"),
        "report": ("eval", "report", dataset, "--run", run / "run"),
        "convert": ("export", "convert", dataset, "--layout", "webdataset", "--out", run / "out"),
        "convert and decode": ("export", "convert", dataset, "--layout", "devil", "--out", run / "out"),
        "verify": ("export", "verify", dataset),
    }


@pytest.fixture(scope="session")
def scored(shared: Path) -> Path:
    """A small dataset and a run over it with scores and a report."""

    def make(folder: Path) -> None:
        make_dataset(folder)
        done = run_here(*commands(folder / "small", folder)["run"])
        assert done.returncode == 0, done.stderr
        (folder / "new").rename(folder / "run")

    return once(shared, "proved", make)


def tables(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((run / "tables" / "scores").glob("*.parquet"))}


@pytest.fixture
def copied(scored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scored, tmp_path / "copied"))


@pytest.mark.parametrize("place", [*range(8), *(pytest.param(place, marks=pytest.mark.long) for place in range(8, 60))])
def test_a_bit_flipped_anywhere_in_a_dataset_changes_no_number(place: int, copied: Path, scored: Path) -> None:
    """Whatever command meets it says so with status 1, or gives the numbers that it gave before."""
    rng = np.random.default_rng([7, place])
    dataset = copied / "small"
    files = sorted(path for path in dataset.rglob("*") if path.is_file() and path.suffix in (".mp4", ".parquet", ".json"))
    path = files[int(rng.integers(len(files)))]
    flip_bit(path, place=int(rng.integers(path.stat().st_size)), bit=int(rng.integers(8)))
    done = run_here(*commands(dataset, copied)["run"])
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert "fault of this program" not in said, said
    if done.returncode == 0:
        assert tables(copied / "new") == tables(scored / "run"), path
    else:
        assert done.returncode == 1
        assert path.name in said or "dataset.json" in said, (path, said)
    assert run_here(*commands(dataset, copied)["verify"]).returncode == 1, path


@pytest.mark.parametrize("kind", ["truths", "holes", "rows and members", "files and rows"])
def test_swaps_are_named_and_refused(kind: str, copied: Path) -> None:
    dataset = copied / "small"
    one, other = {
        "truths": sorted((dataset / "truth").iterdir())[:2],
        "holes": sorted((dataset / "holes").iterdir())[:2],
        "rows and members": [dataset / "all.parquet", dataset / "manifest/members.parquet"],
        "files and rows": [dataset / "manifest/files.parquet", dataset / "all.parquet"],
    }[kind]
    kept = one.read_bytes()
    shutil.copyfile(other, one)
    other.write_bytes(kept)
    asked = commands(dataset, copied)
    for name in ("run", "convert", "convert and decode", "verify", *(["report"] if kind != "holes" else [])):
        done = run_here(*asked[name])
        said = done.stdout + done.stderr
        assert done.returncode == 1, (name, said)
        assert one.name in said or other.name in said, (name, said)
        assert "export verify" in said or name == "verify", (name, said)


def test_view_shows_no_other_bytes(copied: Path, tmp_path: Path) -> None:
    row = frozen.load(copied / "small").items[0]
    (tmp_path / "cache").mkdir()
    bench = Bench([copied], tmp_path / "cache")
    asked = {"dataset": ["0/small"], "item": [row["item_id"]]}
    assert [one["label"] for one in bench.shown(asked)["players"]] == ["truth", "input", "hole"]
    flip_bit(copied / "small" / row["truth_file_name"])
    found = Bench([copied], tmp_path).shown(asked)
    assert [one["label"] for one in found["players"]] == ["hole"]
    assert all("differs from the manifest" in found["missing"][name] for name in ("truth", "input"))


def test_a_stream_gives_no_other_bytes(copied: Path) -> None:
    row = frozen.load(copied / "small").items[1]
    assert len(list(stream(copied / "small").decode(False))) == 3
    flip_bit(copied / "small" / row["hole_file_name"])
    with pytest.raises(VerifyError, match=f"{row['hole_file_name']} of .* differs from the manifest"):
        list(stream(copied / "small").decode(False))


def test_a_build_that_goes_on_reads_no_other_blob(tmp_path: Path) -> None:
    """The blobs of clips are what every later step reads."""
    write_sources(tmp_path / "sources")
    build = ("curation", "clips", "--sources", tmp_path / "sources", "--out", tmp_path / "w", "--workers", "0")
    assert run_here(*build).returncode == 0
    workspace = Workspace(tmp_path / "w", create=False)
    clip = workspace.table("clips", Clip)[0]
    flip_bit(workspace.blobs.path(clip.blob))
    measure = ("curation", "measure", tmp_path / "w", "--attribute", "exposure", "--workers", "0")
    done = run_here(*measure)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{clip.blob}' is damaged" in done.stderr
    workspace.blobs.path(clip.blob).unlink()
    assert run_here(*build).returncode == 0  # the way out that was told
    assert run_here(*measure).returncode == 0
