"""Tables of clips whose columns nobody told: which is which, how that is said and corrected, and what is made of the rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import run_here
from trees_made import films, write

from inpaintbench import frozen
from inpaintbench.curation.sources.clip_tables import clips_of, matched, read_columns, with_words
from inpaintbench.errors import InputError

Rows = Sequence[Mapping[str, object]]


def _csv(path: Path, rows: Rows) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


WRITERS: Mapping[str, Callable[[Path, Rows], object]] = {
    ".csv": _csv,
    ".json": lambda path, rows: path.write_text(json.dumps(list(rows))),
    ".jsonl": lambda path, rows: path.write_text("".join(f"{json.dumps(row)}\n" for row in rows)),
    ".parquet": lambda path, rows: pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), path),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two clips in folders that say what they hold, as films and as numbered pictures."""
    for number in range(2):
        made = films(number)
        write(tmp_path / "shown" / f"{number}.mp4", made["inputs"])
        write(tmp_path / "seg" / str(number) / "0.png", made["masks"])
        write(tmp_path / "bg" / f"{number}.mp4", made["truths"])
    return tmp_path


def rows(*heads: str) -> list[dict[str, object]]:
    return [
        dict(zip(heads, (f"shown/{number}.mp4", f"seg/{number}", f"bg/{number}.mp4", "a swan"), strict=False))
        for number in range(2)
    ]


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(
    "heads", [("video", "mask_path", "gt", "fg_object"), ("a", "b", "c", "object"), ("input", "mask", "truth")]
)
def test_columns_are_known_by_their_names_or_by_what_stands_in_them(suffix: str, heads: tuple[str, ...], root: Path) -> None:
    path = root / f"clips{suffix}"
    WRITERS[suffix](path, rows(*heads))
    table = matched(path)
    assert {ours: table.columns[ours] for ours in ("input", "mask", "truth")} == dict(
        zip(("input", "mask", "truth"), heads, strict=False)
    )
    first, second = clips_of(path)
    assert (first.name, second.name) == ("shown/0", "shown/1")
    assert first.truth is not None
    assert [film.count() for film in (first.shots[0].input, first.shots[0].mask, first.truth)] == [6, 6, 6]
    assert first.said == ({"object_name": "a swan"} if len(heads) == 4 else {})
    assert ("--columns" in table.sentence) == (heads[0] != "input")


def test_what_is_guessed_is_told_in_a_sentence_that_corrects_it(root: Path) -> None:
    path = root / "clips.csv"
    _csv(path, rows("video", "b", "c"))
    sentence = matched(path).sentence
    assert sentence == (
        "clips.csv: input is its column 'video', mask is its column 'b', truth is its column 'c', by names and values; "
        "say it otherwise with --columns input=video,mask=b,truth=c"
    )
    assert matched(path, read_columns(sentence.rpartition(" ")[2])).sentence == ""
    turned = clips_of(path, {"input": "c", "truth": "video"})
    assert turned[0].shots[0].input.files[0].parent.name == "bg"


@pytest.mark.parametrize(
    ("heads", "told"),
    [
        (("video", "x"), "no column 'mask' that can be told, they have video, x, of which 'video' name films that are there"),
        (("one", "two", "three"), "no column 'input' and no 'mask' that can be told"),
    ],
)
def test_what_cannot_be_told_is_asked_with_a_mapping_to_fill_in(heads: tuple[str, ...], told: str, root: Path) -> None:
    path = root / "clips.csv"
    _csv(path, [dict(zip(heads, ("shown/0.mp4", *["shown/1.mp4" if len(heads) > 2 else "blue"] * 2), strict=False))])
    with pytest.raises(InputError, match=told) as caught:
        matched(path)
    assert str(caught.value).endswith("=THEIRS")
    assert read_columns(str(caught.value).rpartition(" ")[2])


@pytest.mark.parametrize(
    ("row", "columns", "told"),
    [
        ({"input": "shown/9.mp4", "mask": "seg/0"}, {}, "line 2: its input is .*, which is no file and no folder of pictures"),
        ({"input": "shown/0.mp4", "mask": ""}, {}, "line 2 has no mask"),
        ({"input": "shown/0.mp4", "mask": "seg/0"}, {"truth": "gt"}, "unknown column 'gt'"),
    ],
)
def test_rows_that_lead_nowhere_are_told(row: dict[str, object], columns: dict[str, str], told: str, root: Path) -> None:
    path = root / "clips.csv"
    _csv(path, [row])
    with pytest.raises(InputError, match=told):
        clips_of(path, columns)


def test_clips_of_one_name_and_empty_tables_are_refused(root: Path) -> None:
    path = root / "clips.csv"
    _csv(path, [{**row, "name": "same"} for row in rows("input", "mask")])
    with pytest.raises(InputError, match="line 3 names the clip 'same' again"):
        clips_of(path)
    path.write_text("input,mask\n")
    with pytest.raises(InputError, match="have no rows"):
        clips_of(path)


def test_words_of_a_table_beside_folders_are_those_of_their_clips(root: Path) -> None:
    _csv(root / "clips.csv", rows("input", "mask"))
    clips = clips_of(root / "clips.csv")
    told = [{"id": "shown/1.mp4", "fg_object": "a dog", "after_effect_type": ["shadow", "reflection"]}]
    (root / "data.json").write_text(json.dumps(told))
    first, second = with_words(clips, root / "data.json")
    assert first.said == {}
    assert second.said == {"object_name": "a dog", "after_effects": "shadow, reflection"}
    (root / "data.json").write_text(json.dumps([{"id": "else", "fg_object": "a dog"}]))
    with pytest.raises(InputError, match="says nothing of 'shown/0' or another clip; it names 'else'"):
        with_words(clips, root / "data.json")


def test_a_dataset_is_built_of_a_table(root: Path) -> None:
    _csv(root / "clips.csv", rows("video", "b", "c", "object"))
    done = run_here("build", "removal", "--clips", "clips.csv", "--workers", "0", "--out", "W", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "mask is its column 'b'" in done.stdout + done.stderr
    items = frozen.load(root / "W" / "exports" / "removal").items
    assert [row["attributes"]["object_name"] for row in items] == ["a swan"] * 2
    for words, told in (
        (("--masks", "seg"), "leave out --masks and --truth"),
        (("--columns", "sees=b"), "unknown column 'sees'"),
    ):
        refused = run_here("build", "removal", "--clips", "clips.csv", *words, "--out", "V", cwd=root)
        assert refused.returncode == 2
        assert told in refused.stderr


def test_films_under_masks_are_built_of_a_table_too(root: Path) -> None:
    _csv(root / "clips.csv", rows("video", "b", "c", "caption"))
    done = run_here("build", "benchmark", "--clips", "clips.csv", "--size", "64x48", "--workers", "0", "--out", "W", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "truth" not in (done.stdout + done.stderr).partition("by names and values")[0]
    items = frozen.load(root / "W" / "exports" / "benchmark").items
    assert [row["attributes"]["caption"] for row in items] == ["a swan"] * 2
