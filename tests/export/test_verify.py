from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from old_format import one_file, write_fields

from inpaintbench import frozen, video
from inpaintbench.errors import InputError, MissingExtraError, UnknownNameError, how_to_install
from inpaintbench.export import second_decoder
from inpaintbench.export.layout import configs
from inpaintbench.export.verify import _checks, _media_problem, _rgb_hashes, file_problems, verify
from inpaintbench.files import file_sha256
from inpaintbench.tables import write_parquet

TRIALS = 200


def test_a_fresh_export_is_what_its_manifest_says(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_decoder, "DECODERS", tuple(second_decoder._DECODERS))  # whose order `conftest` has changed
    result = verify(dataset)
    loaded = frozen.load(dataset)
    assert result.problems == []
    assert result.configs == len(loaded.slices) + 1 == 11
    assert result.cells == 2 * sum(len(part.item_ids) for part in configs(loaded))
    assert result.files == len(loaded.files)
    assert (result.second_decoder, result.largest_difference) == ("torchcodec", 0)


@pytest.mark.parametrize("decoder", second_decoder.DECODERS)
def test_every_decoder_gives_the_same_pixels(decoder: str, dataset: Path) -> None:
    if decoder not in second_decoder.available():
        pytest.skip(f"{decoder} is not installed")
    result = verify(dataset, decoder=decoder)
    assert (result.problems, result.second_decoder, result.largest_difference) == ([], decoder, 0)


@pytest.mark.long
def test_the_parent_and_the_compiler_of_torch_are_left_out_of_the_second_decoding(dataset: Path) -> None:
    verifying = "import sys; from inpaintbench.export.verify import verify; r = verify(sys.argv[1])"
    command = [sys.executable, "-c", verifying + "; print(r.problems, r.second_decoder, 'torch' in sys.modules)", str(dataset)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["[]", "torchcodec", "False"]
    decoding = "import sys; from inpaintbench.export.second_decoder import _torchcodec; frames = _torchcodec(sys.argv[1])"
    command = [sys.executable, "-c", decoding + "; print('torch' in sys.modules, 'sympy' in sys.modules)", str(_truth(dataset))]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["True", "False"]


def test_the_second_decoder_starts_beside_the_first(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened = list[str]()

    class Noted(second_decoder.SecondDecoder):
        def __init__(self, rgb_sha256: Mapping[str, str], *, decoder: str) -> None:
            happened.append("second decoder")
            super().__init__(rgb_sha256, decoder=decoder)

    monkeypatch.setattr("inpaintbench.export.verify.SecondDecoder", Noted)
    verify(dataset, progress=lambda stage, done, total: happened.append(stage) if done == total else None)
    assert happened == ["files", "second decoder", "configs", "media"]


def test_without_a_second_decoder_it_says_what_was_not_looked_at(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inpaintbench.export.verify.available", list)
    result = verify(dataset)
    assert (result.problems, result.second_decoder) == ([], None)
    assert result.not_looked_at == [f"what a second decoder gives: none is installed; {how_to_install('export')}"]


def test_what_a_decoder_cannot_decode_is_told_and_no_problem(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unable(second_decoder.SecondDecoder):
        def results(self, *, time_limit_seconds: float) -> dict[str, dict[str, Any]]:
            [first, *others] = super().results(time_limit_seconds=time_limit_seconds).items()
            return {first[0]: {"path": first[0], "unable": "it knows no such files"}, **dict(others)}

    monkeypatch.setattr("inpaintbench.export.verify.SecondDecoder", Unable)
    result = verify(dataset)
    assert (result.problems, result.largest_difference) == ([], 0)
    assert result.not_looked_at == ["what a second decoder gives of 1 files: it knows no such files"]


def test_the_second_decoder_is_given_truths_and_inputs() -> None:
    rows = [
        {"input_file_name": "input/a.mp4", "input_sha256": "1", "truth_file_name": "truth/a.mp4", "truth_rgb_sha256": "2"},
        {"input_file_name": "input/b.mp4", "input_sha256": "3", "truth_file_name": None},
        {"truth_file_name": "truth/c.mp4", "truth_rgb_sha256": "4"},
    ]
    assert _rgb_hashes(rows) == {"input/a.mp4": "1", "input/b.mp4": "3", "truth/a.mp4": "2", "truth/c.mp4": "4"}


@pytest.mark.parametrize("part", ["object_mask", "effect_mask"])
def test_masks_of_objects_and_of_their_effects_are_decoded(part: str, dataset: Path) -> None:
    row = frozen.load(dataset).items[0]
    name = f"{part}{Path(row['hole_file_name']).suffix}"
    shutil.copy(dataset / row["hole_file_name"], dataset / name)
    for sha256, problem in ((row["hole_sha256"], None), ("0" * 64, f"{name}: decoded {part.replace('_', ' ')} differs from the")):
        checks = _checks({**row, f"{part}_file_name": name, f"{part}_sha256": sha256})
        told = _media_problem(dataset, name, checks[name])
        assert told is None if problem is None else told.startswith(problem)


def test_an_unknown_or_missing_decoder_is_one_sentence(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="unknown decoder 'torchcodecs', did you mean 'torchcodec'"):
        verify(dataset, decoder="torchcodecs")
    monkeypatch.setattr(second_decoder, "available", list)
    with pytest.raises(
        MissingExtraError, match=r'needs the extra "export": `make setup` in the clone of .*"PATH_TO_CLONE\[export\]"'
    ):
        verify(dataset, decoder="torchcodec")


def _truth(dataset: Path) -> Path:
    return sorted((dataset / "truth").iterdir())[0]


def _flip_a_byte(dataset: Path) -> None:
    data = bytearray(_truth(dataset).read_bytes())
    data[len(data) // 2] ^= 1
    _truth(dataset).write_bytes(bytes(data))


def _swap_media_and_cover_it_up(dataset: Path) -> None:
    """Another picture under the right name, with the manifest's file hash made to fit: only decoding can tell."""
    path = _truth(dataset)
    frames = video.read_frames(path)
    video.write_clip(path, 255 - frames, fps=25.0)
    _set_hash(dataset, path)


def _change_a_hole_and_cover_it_up(dataset: Path) -> None:
    path = sorted((dataset / "holes").iterdir())[0]
    hole = video.read_hole(path)
    hole[0, 0, 0] = ~hole[0, 0, 0]
    video.write_hole(path, hole, fps=25.0)
    _set_hash(dataset, path)


def _change_metadata_and_cover_it_up(dataset: Path) -> None:
    path = dataset / "size-low.parquet"
    rows = pq.read_table(path).to_pylist()
    rows[0]["licence"] = "CC0-1.0"
    from inpaintbench.export.layout import row_schema

    write_parquet(path, pa.Table.from_pylist(rows, row_schema(rows)))
    _set_hash(dataset, path)


def _set_hash(dataset: Path, path: Path) -> None:
    manifest = one_file(dataset)
    manifest["files"][path.relative_to(dataset).as_posix()] = file_sha256(path)
    write_fields(dataset, manifest)


def _lengthen_the_manifest(dataset: Path) -> None:
    path = dataset / "dataset.json"
    path.write_text(path.read_text() + " ")


def _change_the_manifest(dataset: Path) -> None:
    path = dataset / "dataset.json"
    path.write_text(path.read_text().replace('"items": ', '"items": 1', 1))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "byte": (_flip_a_byte, "changed (SHA-256 differs"),
    "missing": (lambda dataset: _truth(dataset).unlink(), "missing"),
    "extra": (lambda dataset: (dataset / "extra.txt").write_text(""), "extra.txt: not in the manifest"),
    "picture": (_swap_media_and_cover_it_up, "decoded planes differ"),
    "hole": (_change_a_hole_and_cover_it_up, "decoded hole differs"),
    "metadata": (_change_metadata_and_cover_it_up, "size-low: licence of"),
    "manifest": (lambda dataset: (dataset / "dataset.json").write_text("{}"), "is damaged"),
    "a blank in the manifest": (_lengthen_the_manifest, "its text is not what its own SHA-256 says"),
    "a fact in the manifest": (_change_the_manifest, "its text is not what its own SHA-256 says"),
    "another name": (
        lambda dataset: _truth(dataset).rename(_truth(dataset).with_name("x.mp4")),
        "truth/x.mp4: not in the manifest",
    ),
    "an empty folder": (lambda dataset: (dataset / "more" / "deep").mkdir(parents=True), "more/deep: a folder without files"),
    "an empty folder among the media": (lambda dataset: (dataset / "truth" / "x").mkdir(), "truth/x: a folder without files"),
    "a link to a folder": (
        lambda dataset: (dataset / "linked").symlink_to("truth"),
        "linked: a link to a folder, not in the manifest",
    ),
    "a link to nothing": (lambda dataset: (dataset / "x").symlink_to("nowhere"), "x: a link to nothing, not in the manifest"),
    "a pipe": (lambda dataset: os.mkfifo(dataset / "x"), "x: neither file nor folder, not in the manifest"),
    "slice": (lambda dataset: (dataset / "size-low.parquet").unlink(), "size-low.parquet: missing"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_any_difference_is_found(kind: str, dataset: Path) -> None:
    spoil, words = DAMAGE[kind]
    spoil(dataset)
    problems = verify(dataset).problems
    assert any(words in problem for problem in problems), problems


def test_media_behind_a_link_to_a_folder_count_as_missing(dataset: Path, tmp_path: Path) -> None:
    names = [f"truth/{path.name}" for path in sorted((dataset / "truth").iterdir())]
    shutil.move(dataset / "truth", tmp_path / "elsewhere")
    (dataset / "truth").symlink_to(tmp_path / "elsewhere")
    assert file_problems(dataset) == [*(f"{name}: missing" for name in names), "truth: a link to a folder, not in the manifest"]


def test_links_to_files_and_folders_of_others_are_let_be(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshots").mkdir()
    dataset = dataset.rename(tmp_path / "snapshots" / "0123")  # as the Hub's library keeps them
    for place, path in enumerate(sorted(path for path in dataset.rglob("*") if path.is_file())):
        blob = shutil.move(path, tmp_path / "blobs" / str(place))
        path.symlink_to(blob)
    (dataset / ".cache" / "huggingface").mkdir(parents=True)
    (dataset / ".git" / "refs").mkdir(parents=True)
    assert file_problems(dataset) == []


def test_one_other_byte_of_any_file_is_found(dataset: Path) -> None:
    rng = np.random.default_rng(0)
    files = [path for path in sorted(dataset.rglob("*")) if path.is_file()]
    sizes = np.array([path.stat().st_size for path in files])
    assert file_problems(dataset) == []
    for place in [*range(len(files)), *rng.integers(0, len(files), max(0, TRIALS - len(files)))]:
        data = files[place].read_bytes()
        at, flip = int(rng.integers(0, sizes[place])), int(rng.integers(1, 256))
        files[place].write_bytes(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
        assert file_problems(dataset), f"byte {at} of {files[place].name}"
        files[place].write_bytes(data)
    assert file_problems(dataset) == []


def test_something_else_is_not_a_dataset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a frozen dataset \(no dataset.json\)"):
        verify(tmp_path)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_hung_decoder_is_ended_and_told(dataset: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{shutil.os.environ['PATH']}")
    path = str(_truth(dataset))
    with second_decoder.SecondDecoder({path: ""}, decoder="ffmpeg") as child:
        found = child.results(time_limit_seconds=8)
    assert found[path]["error"] == "ffmpeg gave no result (stopped after 8 s)"
    state = Path(f"/proc/{int((tmp_path / 'pid').read_text())}/stat")
    # Gone, or a corpse that nobody has collected yet; on a busy machine the signal takes a moment to be acted upon.
    deadline = time.monotonic() + 20
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline, "the decoder outlived its time limit"
        time.sleep(0.05)


def test_methods_get_no_truth_from_a_frozen_item(dataset: Path) -> None:
    row = frozen.load(dataset).items[0]
    view = frozen.input_view(dataset, row)
    assert not view.has("truth")
    assert (view.input[view.hole] == row["fill"]).all()
    truth, hole = frozen.truth_and_hole(dataset, row)
    assert (view.input[~hole] == truth[~hole]).all()
    assert np.count_nonzero(hole)
