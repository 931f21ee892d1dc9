"""Which sequences a folder of masks holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.masks.saved_folder import list_sequences, sequence_files


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (("bear/00000.png", "bear/00001.png", "cow/00000.png", "notes.txt", ".git/x.png"), {"bear": 2, "cow": 1}),
        (("00000.png", "00001.png", "00002.png"), {"masks": 3}),
        (("00000.png", "00005.png", "00010.png"), {"masks": 3}),
        (("frame_000_mask.png", "frame_001_mask.png", "frame_000_gt.png"), {"masks": 2}),
        (("1.png", "2.png", "10.png"), {"1": 1, "10": 1, "2": 1}),
        (("cat.png", "dog.png"), {"cat": 1, "dog": 1}),
        (("cat.jpg", "cat_mask000.png", "cat_mask001.png", "cat_masked.png"), {"cat_mask000": 1, "cat_mask001": 1}),
        (("val_00001629.png", "val_00008015.png"), {"val_00001629": 1, "val_00008015": 1}),
        (("00000.png",), {"00000": 1}),
        (tuple(f"{number}.png" for number in range(12)), {"masks": 12}),
        (("a/._00000.png", "00.png", "01.png"), {"masks": 2}),
    ],
)
def test_layouts_are_recognised(tmp_path: Path, names: tuple[str, ...], wanted: dict[str, int]) -> None:
    folder = fill(tmp_path / "masks", *names)
    assert {name: len(files) for name, files in sequence_files(folder).items()} == wanted
    assert list_sequences(folder) == sorted(wanted, key=list(sequence_files(folder)).index)


def test_a_stated_layout_wins(tmp_path: Path) -> None:
    folder = fill(tmp_path / "masks", "00000.png", "00001.png", "more/00000.png")
    assert list_sequences(folder) == ["more"]
    assert list_sequences(folder, layout="sequence") == ["masks"]
    assert list_sequences(folder, layout="images") == ["00000", "00001"]


def test_frames_are_in_natural_order(tmp_path: Path) -> None:
    folder = fill(tmp_path / "masks", "frame_10.png", "frame_9.png", "frame_8.png")
    assert [path.name for path in sequence_files(folder, layout="sequence")["masks"]] == [
        "frame_8.png",
        "frame_9.png",
        "frame_10.png",
    ]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("00000.png", "00001.png", "00003.png"), r"00003\.png follows 00001\.png.*`layout=images` takes each for a mask"),
        (("0.png", "1.png", "01.png"), r"01\.png and 1\.png have the same number"),
        (("bear/0.png", "bear/2.png", "bear/3.png"), r"masks 'bear': .* 2\.png follows 0\.png"),
        (("bear/cat.png", "bear/dog.png"), r"masks 'bear': .* cat\.png has no number"),
    ],
)
def test_sequences_without_a_clear_order_are_refused(tmp_path: Path, names: tuple[str, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        sequence_files(fill(tmp_path / "masks", *names))


def test_folders_without_masks_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder of masks at"):
        list_sequences(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no images"):
        list_sequences(tmp_path)
    with pytest.raises(InputError, match="holds no subfolders with images"):
        list_sequences(fill(tmp_path / "flat", "a.png"), layout="sequences")
    with pytest.raises(InputError, match=r"two masks are called 'a': a\.\w+ and a\.\w+"):
        list_sequences(fill(tmp_path / "twins", "a.png", "a.jpg"), layout="images")
    with pytest.raises(UnknownNameError, match="did you mean 'sequences'"):
        list_sequences(tmp_path, layout="sequencs")  # type: ignore[arg-type]
