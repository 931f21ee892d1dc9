"""Inputs for everybody, the truth of some splits apart: nothing of it is in the public dataset, and scores are the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from built import built
from held_back_films import make_films
from old_format import one_file, write_fields
from pictures_recipe import PicturesRecipe
from publishing_data import contents, make_dataset

from inpaintbench import frozen, video
from inpaintbench.benchmarks import Drawn
from inpaintbench.errors import InputError, MissingPartError, UnknownNameError, VerifyError
from inpaintbench.export.holding_back import hold_back
from inpaintbench.export.layout import media_names
from inpaintbench.export.verify import verify
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset, Plain

WORLDS: dict[str, tuple[Any, SourceSpec]] = {
    "pictures": (PicturesRecipe(second_masks=2, pictures=2), SourceSpec("embedded_photographs", {})),
}
KINDS = ("devil", *WORLDS)
WHY = {"pictures": "a *rehearsal*", "devil": "a reason that nobody needs"}
"""Why inputs may show what others hide; where they do not, nobody needs the reason."""
VERIFIED = ("devil", "decaption")
"""All ``test``, and a hidden hole and open truths beside held-back ones; each config takes a while to load."""


@pytest.fixture(scope="module")
def worlds() -> dict[str, tuple[Any, SourceSpec]]:
    return WORLDS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def whole_of(worlds: dict[str, tuple[Any, SourceSpec]], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The frozen dataset of a small benchmark, whole; read-only. ``devil`` are three films with holes, all of them ``test``."""
    root = tmp_path_factory.mktemp("whole")

    def dataset(kind: str) -> Path:
        folder = root / kind / ("devil" if kind == "devil" else f"exports/{kind}")
        if not folder.exists():
            if kind == "devil":
                return make_films(root / kind)
            recipe, source = worlds[kind]
            built(root / kind, recipe, source, workers=0)
        return folder

    return dataset


@pytest.fixture(scope="module")
def divided_of(whole_of: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path]]:
    """The same in two: public and truth; read-only."""
    root = tmp_path_factory.mktemp("divided")

    def folders(kind: str) -> tuple[Path, Path]:
        public, truth = root / kind, root / f"{kind}-truth"
        if not public.exists():
            hold_back(whole_of(kind), splits=["test"], public=public, truth=truth, allow_exposed=WHY.get(kind))
        return public, truth

    return folders


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("inpaintbench.export.verify.available", list)  # a second decoder takes longer to start than all this


def parted(dataset: Dataset) -> tuple[list[Plain], list[Plain]]:
    """Rows that are held back, and the others."""
    held = [row for row in dataset.items if row["split"] == "test"]
    return held, [row for row in dataset.items if row["split"] != "test"]


def secrets_of(whole: Dataset) -> set[str]:
    """All that names a held-back truth or its origin, and that no open item and no shown hole has too."""
    held, opened = parted(whole)

    def named(row: Plain, *, with_hole: bool) -> Iterator[str]:
        yield from (row[name] for name in row if name.startswith("truth_") or name in ("clip_id", "source_id", "source_uri"))
        parts = ["truth_file_name", "alpha_file_name", *(["hole_file_name"] if with_hole else [])]
        files = [row[name] for name in parts if row.get(name)] + list(row.get("second_hole_file_names", ()))
        yield from (Path(name).stem for name in files)
        yield from (whole.files[name] for name in files)
        yield from (one["hole_sha256"] for one in row["attributes"].get("second_holes", ()))
        if with_hole and row["hole_sha256"]:
            yield row["hole_sha256"]
        if row["page_url"]:
            yield row["page_url"]

    known = {word for row in opened for word in named(row, with_hole=True)}
    return {word for row in held for word in named(row, with_hole=not row["hole_is_given"])} - known


def test_no_byte_of_the_public_dataset_names_what_is_held_back(
    kind: str, whole_of: Callable[[str], Path], divided_of: Callable[[str], tuple[Path, Path]]
) -> None:
    whole, (public, _) = frozen.load(whole_of(kind)), divided_of(kind)
    secrets = secrets_of(whole)
    assert len(secrets) > 4 * len(parted(whole)[0])
    for name, data in contents(public).items():
        text = data.decode("latin-1") + name
        if name.endswith(".parquet"):
            text += json.dumps(pq.read_table(public / name).to_pylist(), default=bytes.hex)
        assert [word for word in secrets if word in text] == [], name
    assert not {row["truth_rgb_sha256"] for row in frozen.load(public).items} & {
        row["truth_rgb_sha256"] for row in parted(whole)[0]
    }


def test_no_picture_of_the_public_dataset_is_a_held_back_truth_and_holes_hold_the_fill_alone(
    kind: str, whole_of: Callable[[str], Path], divided_of: Callable[[str], tuple[Path, Path]]
) -> None:
    root, (public, _) = whole_of(kind), divided_of(kind)
    held, _ = parted(frozen.load(root))
    frames_of = {row["truth_file_name"]: video.read_frames(root / row["truth_file_name"]) for row in held}
    shown = {row["item_id"]: row for row in frozen.load(public).items}
    pictures = [video.read_frames(path) for path in sorted(public.rglob("*")) if path.suffix in (".mp4", ".png")]
    for frames in frames_of.values():
        same = [other for other in pictures if other.shape == frames.shape and (other == frames).all()]
        assert not same
    for row in held:
        before = frozen.corrupted(root, row, lambda row=row: frozen.hole_of(root, row))
        view = frozen.input_view(public, shown[row["item_id"]])
        assert (view.input == before).all()
        assert view.has("hole") == (row["hole_is_given"] and frozen.has_hole(row))
        if view.has("hole"):
            assert (view.hole == frozen.hole_of(root, row)).all()
            assert (view.input[view.hole] == row["fill"]).all()
            assert hashlib.sha256(view.input.tobytes()).hexdigest() == shown[row["item_id"]]["input_sha256"]


def test_both_parts_are_frozen_datasets_and_come_out_the_same_again(
    kind: str, whole_of: Callable[[str], Path], divided_of: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    whole = frozen.load(whole_of(kind))
    held, opened = parted(whole)
    public, truth = divided_of(kind)
    if kind in VERIFIED:
        told = verify(public)
        assert told.problems == verify(truth).problems == []
        assert told.not_looked_at[0] == f"the truths of {len(held)} items, which are held back"
    again = hold_back(
        whole_of(kind), splits=["test"], public=tmp_path / "one", truth=tmp_path / "other", allow_exposed=WHY.get(kind)
    )
    assert (contents(tmp_path / "one"), contents(tmp_path / "other")) == (contents(public), contents(truth))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == ["one", "other"]
    shown, kept = frozen.load(public), frozen.load(truth)
    assert again == (shown, kept)
    told = shown.facts["held_back"]
    assert (told["splits"], told["items"], told["truth_dataset"]) == (["test"], len(held), kept.name)
    assert kept.facts["truth_of"]["manifest_sha256"] == hashlib.sha256((public / "dataset.json").read_bytes()).hexdigest()
    assert shown.slices == whole.slices
    assert [row["item_id"] for row in shown.items] == [row["item_id"] for row in whole.items]
    assert [row["item_id"] for row in kept.items] == [row["item_id"] for row in held]
    given = {row["item_id"]: (row["input_file_name"], row["input_sha256"]) for row in shown.items}
    for row, one in zip(held, kept.items, strict=True):
        assert {name: one[name] for name in row if not name.startswith("input_")} == {
            name: value for name, value in row.items() if not name.startswith("input_")
        }
        assert (one["input_file_name"], one["input_sha256"]) == given[row["item_id"]]
    by_id = {row["item_id"]: row for row in shown.items}
    for row in opened:
        changed = {name for name, value in row.items() if by_id[row["item_id"]][name] != value}
        assert changed <= {"generator_parameters"}
        assert by_id[row["item_id"]]["generator_parameters"] == row["generator_parameters"] | {"seed": None}


def test_held_back_rows_say_size_licence_and_author_and_nothing_of_the_truth(
    kind: str, divided_of: Callable[[str], tuple[Path, Path]], whole_of: Callable[[str], Path]
) -> None:
    public, _ = divided_of(kind)
    shown = frozen.load(public)
    before = {row["item_id"]: row for row in frozen.load(whole_of(kind)).items}
    held, opened = parted(shown)
    for row in held:
        told = {name for name, value in row.items() if value not in (None, [], {})}
        of_hole = {"hole_file_name", "hole_sha256", "generator_parameters", "shown_by_other_inputs"}
        hole = of_hole if row["hole_sha256"] else set()
        assert told <= hole | {
            "item_id", "split", "clip_id", "source_id", "licence", "author", "frames", "width", "height", "fps", "generator",
            "fill", "hole_is_given", "attributes", "input_file_name", "input_sha256",
        }  # fmt: skip
        assert all(name.startswith("hole.") for name in row["attributes"])
        assert row["clip_id"].startswith("held-back-clip-")
        kept = ("licence", "author", "split", "frames", "width", "height", "fps")
        assert [row[name] for name in kept] == [before[row["item_id"]][name] for name in kept]
    assert all(("truth_file_name" in row) == bool(opened) for row in shown.items)
    assert shown.recipe.get("seed") is None


def test_what_inputs_of_one_clip_show_together_is_counted(
    divided_of: Callable[[str], tuple[Path, Path]], whole_of: Callable[[str], Path]
) -> None:
    root = whole_of("pictures")
    shown = items = total = 0
    rows = frozen.load(root).items
    for row in rows:
        hole = frozen.hole_of(root, row)
        others = [frozen.hole_of(root, one) for one in rows if one["clip_id"] == row["clip_id"] and one != row]
        seen = sum(int(any(not other[place] for other in others)) for place in zip(*np.nonzero(hole), strict=True))
        shown, items, total = shown + seen, items + bool(seen), total + int(hole.sum())
    public = divided_of("pictures")[0]
    told = frozen.load(public).facts["held_back"]
    assert told["shown_by_other_inputs"] == {"items": items, "hole_pixels": round(shown / total, 4)}
    assert told["allowed"] == "a *rehearsal*"
    assert items == len(rows)
    card = (public / "README.md").read_text()
    assert f"Inputs of one clip show {100 * round(shown / total, 4):.1f} % of what lies under the held-back holes" in card
    assert "It is allowed because: a \\*rehearsal\\*." in card
    assert not {"shown_by_other_inputs", "allowed"} & set(frozen.load(divided_of("devil")[0]).facts["held_back"])


def test_inputs_that_show_the_truth_are_refused_without_a_reason(whole_of: Callable[[str], Path], tmp_path: Path) -> None:
    places = {"public": tmp_path / "public", "truth": tmp_path / "truth"}
    with pytest.raises(
        InputError, match=r"of what lies under the holes, and copying recovers them; up to 5 % may show"
    ) as caught:
        hold_back(whole_of("pictures"), splits=["test"], **places)
    assert all(words in str(caught.value) for words in ("one hole a clip", "other splits", '--allow-exposed "..."'))
    with pytest.raises(InputError, match="give one in words"):
        hold_back(whole_of("pictures"), splits=["test"], **places, allow_exposed=" ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("shift", "refused"), [(1, False), (2, True)])
def test_a_rim_that_shows_is_no_reason_to_refuse(shift: int, refused: bool, tmp_path: Path) -> None:
    """Two boxes of 25 columns over one clip, ``shift`` columns apart: each input shows ``shift`` of the other's 25."""
    whole = make_films(tmp_path / "made", splits=("test", "test"), shift=shift)
    places = {"public": tmp_path / "public", "truth": tmp_path / "truth"}
    if refused:
        with pytest.raises(InputError, match=r"2 of 2 held-back items .* together show 8\.0 %"):
            hold_back(whole, splits=["test"], **places)
        assert not places["public"].exists()
    else:
        told = hold_back(whole, splits=["test"], **places)[0].facts["held_back"]
        assert told["shown_by_other_inputs"] == {"items": 2, "hole_pixels": 0.04}
        assert "allowed" not in told


def test_a_held_back_part_is_asked_for_in_one_sentence(divided_of: Callable[[str], tuple[Path, Path]]) -> None:
    public, _ = divided_of("devil")
    row = frozen.load(public).items[0]
    with pytest.raises(MissingPartError, match=f"item {row['item_id']} of this dataset comes without its truth"):
        frozen.truth_and_hole(public, row)


def _manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    fields = one_file(folder)
    change(fields)
    write_fields(folder, fields)
    return folder


def _one_source_in_two_splits(fields: dict[str, Any]) -> None:
    fields["items"][0] |= {"split": "train", "source_id": fields["items"][1]["source_id"]}


def _one_truth_in_two_splits(fields: dict[str, Any]) -> None:
    fields["items"][0] |= {"split": "train", "truth_rgb_sha256": fields["items"][1]["truth_rgb_sha256"]}


def _drawn_from_a_small_seed(fields: dict[str, Any]) -> None:
    fields["recipe"] |= {"seed": 10**17 - 1, "leaves": {"source": {"fingerprints": "1"}}}


def _an_edit(fields: dict[str, Any]) -> None:
    fields["items"][0]["target_prompt"] = "a red car"


def _already_divided(fields: dict[str, Any]) -> None:
    fields["facts"]["held_back"] = {}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_one_source_in_two_splits, "item i1 of the split 'test' shares its source with items of 'train'"),
        (_one_truth_in_two_splits, "item i1 of the split 'test' shares its true picture with items of 'train'"),
        (_drawn_from_a_small_seed, "drawn from the seed 99999999999999999 alone, which anybody finds by trying"),
        (_an_edit, "'small' asks for edits, whose input is their truth: there is nothing to hold back"),
        (_already_divided, r"'small' is itself made from another dataset \(held_back\)"),
    ],
)
def test_what_would_show_the_truth_is_refused(
    change: Callable[[dict[str, Any]], None], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = {"fingerprints": Drawn("each is drawn from a number", of_seed=True)}
    monkeypatch.setattr("inpaintbench.export.holding_back.drawn_footage", lambda: drawn)
    whole = _manifest(make_dataset(tmp_path / "made"), change)
    with pytest.raises(InputError, match=why):
        hold_back(whole, splits=["test"], public=tmp_path / "public", truth=tmp_path / "truth")
    assert not list(tmp_path.glob("*public*")) + list(tmp_path.glob("*truth*"))


def test_names_places_and_damage_are_told_before_anything_is_written(tmp_path: Path) -> None:
    whole = make_dataset(tmp_path / "made")
    places = {"public": tmp_path / "public", "truth": tmp_path / "truth"}
    with pytest.raises(UnknownNameError, match="unknown split 'tset', did you mean 'test'"):
        hold_back(whole, splits=["tset"], **places)
    with pytest.raises(InputError, match="name the splits to hold back; 'small' has test"):
        hold_back(whole, splits=[], **places)
    with pytest.raises(InputError, match="lie in each other"):
        hold_back(whole, splits=["test"], public=tmp_path / "public", truth=tmp_path / "public" / "truth")
    truth = sorted((whole / "truth").iterdir())[1]
    truth.write_bytes(truth.read_bytes()[:-1] + b"?")
    with pytest.raises(VerifyError, match=f"truth/{truth.name} .* is missing or differs from the manifest"):
        hold_back(whole, splits=["test"], **places)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]


def test_what_open_items_and_facts_say_of_held_back_ones_stays_out(tmp_path: Path) -> None:
    whole = make_dataset(tmp_path / "made")

    def change(fields: dict[str, Any]) -> None:
        fields["items"][0] |= {"split": "train", "attributes": {"duplicate_of": "c" * 16, "sharpness": 2.0}}
        fields["items"][1]["clip_id"] = "c" * 16
        fields["items"][1]["source_id"] = "5" * 16
        titles = {fields["items"][0]["source_id"]: "An open film", "5" * 16: "A film that nobody is to find"}
        fields["facts"] = {"seen": {"clips": ["c" * 16]}, "titles": titles, "watched": {"n": 3}}

    _manifest(whole, change)
    shown, kept = hold_back(whole, splits=["test"], public=tmp_path / "public", truth=tmp_path / "truth")
    assert next(row for row in shown.items if row["split"] == "train")["attributes"] == {"sharpness": 2.0}
    assert set(shown.facts) == {"titles", "watched", "held_back"}
    assert list(shown.facts["titles"].values()) == ["An open film"]
    assert set(kept.facts) == {"seen", "titles", "watched", "truth_of"}
    assert all(b"nobody is to find" not in data for data in contents(tmp_path / "public").values())


def test_text_that_names_a_truth_stops_the_export(tmp_path: Path) -> None:
    whole = make_dataset(tmp_path / "made")
    digest = frozen.load(whole).items[2]["truth_rgb_sha256"]
    _manifest(whole, lambda fields: fields.update(about=f"The third film has the hash {digest}."))
    with pytest.raises(InputError, match=rf"would tell everybody '{digest}', which belongs to what is held back"):
        hold_back(whole, splits=["test"], public=tmp_path / "public", truth=tmp_path / "truth")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]


def test_media_are_named_by_what_everybody_sees(kind: str, divided_of: Callable[[str], tuple[Path, Path]]) -> None:
    public, _ = divided_of(kind)
    shown = frozen.load(public)
    for row in parted(shown)[0]:
        for name in media_names(row):
            assert re.fullmatch(r"(inputs|holes)/[0-9a-f]{16}\.(mp4|png)", name)
            if name.startswith("inputs/"):
                assert Path(name).stem == shown.files[name][:16]
