"""Everything that is written about a dataset follows from its manifest, and freeze, push and fetch write the same."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from built import built
from pictures_recipe import PicturesRecipe
from publishing_data import contents, make_dataset

from inpaintbench import frozen
from inpaintbench.export.documents import is_document, sealed
from inpaintbench.export.publishing.fetch import limited
from inpaintbench.export.publishing.push import plan
from inpaintbench.manifest import is_table
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recipe = PicturesRecipe(pictures=3, second_masks=2, preset="thin-256")
    return built(tmp_path_factory.mktemp("pictures") / "w", recipe, SourceSpec("embedded_photographs", {}), workers=0)[1]


def sizes_of(folder: Path) -> dict[str, int]:
    return {name: len(data) for name, data in contents(folder).items() if not is_document(name) and name != frozen.MANIFEST}


def test_a_frozen_folder_holds_what_its_manifest_gives(small: Path, pictures: Path) -> None:
    for folder in (small, pictures):
        dataset, files = frozen.load(folder), contents(folder)
        again, written = sealed(dataset, sizes_of(folder))
        assert again == dataset
        assert written == {name: data for name, data in files.items() if name in written}
        assert {"README.md", "NOTICE", "croissant.json", "card/slices.svg", "dataset.json"} <= set(written)
        assert {name for name in files if is_document(name)} == set(written) - {frozen.MANIFEST}
        assert dataset.files == {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name in dataset.files}


def test_data_are_no_documents() -> None:
    names = ["truth/a.mp4", "low.parquet", "missing_ratio.svg", "card/a.png", "truth/README.md", "part_of.json", "dataset.json"]
    assert not any(map(is_document, names))


def test_documents_that_are_no_longer_made_leave_the_manifest(small: Path) -> None:
    dataset = frozen.load(small)
    older = replace(dataset, files=dict(dataset.files) | {"card/old.svg": "0" * 64})
    assert sealed(older, sizes_of(small)) == sealed(dataset, sizes_of(small))


def test_a_stated_licence_is_in_every_document(small: Path) -> None:
    before = [(small / name).read_text() for name in ("README.md", "NOTICE")]
    assert all("not stated" in text for text in before)
    made = plan(small, licence="CC-BY-SA-4.0").rewritten
    card, notice = made["README.md"].decode(), made["NOTICE"].decode()
    assert not any(b"not stated" in made[name] for name in ("README.md", "NOTICE", "croissant.json", "dataset.json"))
    assert "- CC-BY-SA-4.0: 2 sources" in card.partition("## Licences of the sources")[2]
    assert "== CC-BY-SA-4.0 (2 sources) ==\nhttps://creativecommons.org/licenses/by-sa/4.0/\n" in notice
    licences = json.loads(made["croissant.json"])["license"]
    assert licences == ["https://creativecommons.org/licenses/by-sa/4.0/", "https://creativecommons.org/licenses/by/4.0/"]


def held_back(dataset: Dataset, *, drop_column: bool) -> Dataset:
    """``dataset`` as if its truths were elsewhere."""
    rows = []
    for row in dataset.items:
        hidden = {**row, "source_uri": None, "page_url": None, "author": None, "truth_file_name": None}
        rows.append({name: value for name, value in hidden.items() if not (drop_column and name == "truth_file_name")})
    files = {name: sha256 for name, sha256 in dataset.files.items() if not name.startswith("truth/")}
    facts = {"held_back": {"splits": ["test"], "items": len(rows), "truth_dataset": None}, "titles": {"s0": "A secret film"}}
    return replace(dataset, items=tuple(rows), files=files, facts=facts)


@pytest.mark.parametrize("drop_column", [True, False])
def test_held_back_truths_are_told_and_not_named(drop_column: bool, small: Path) -> None:
    dataset, written = sealed(held_back(frozen.load(small), drop_column=drop_column), sizes_of(small))
    card = written["README.md"].decode()
    assert "### Held back truth" in card
    assert "Of 3 items in `test` the truth is not here" in card
    assert '.cast_column("hole"' in card
    assert '.cast_column("truth"' not in card
    assert "1 of these sources is not named here: their truth is held back" in written["NOTICE"].decode()
    everything = b"\n".join(written.values())
    assert b"secret" not in everything
    assert b"film%20" not in everything
    assert b"film 0" not in everything
    assert not any(name.startswith("truth/") for name in dataset.files)
    assert b'"truth/' not in written["croissant.json"]


def test_titles_of_sources_that_rows_name_are_kept(small: Path) -> None:
    dataset = replace(frozen.load(small), facts={"titles": {"s1": "Waves", "s9": "of another"}})
    made, written = sealed(dataset, sizes_of(small))
    assert made.facts["titles"] == {"s1": "Waves"}
    assert '- "Waves" (film 1.mp4)\n' in written["NOTICE"].decode()


def test_a_part_is_sealed_like_a_whole(small: Path) -> None:
    whole = frozen.load(small)
    made, written = limited(whole, ["low"], sizes=sizes_of(small), whole_sha256="0" * 64, origin={"repository": "a/b"})
    own = ("part_of.json", "all.parquet")
    again, once_more = sealed(made, {**sizes_of(small), **{name: len(written[name]) for name in own}})
    assert (again, once_more) == (made, {name: data for name, data in written.items() if name not in own})
    card = written["README.md"].decode()
    assert "> Part of a dataset: `low`, 2 of 3 items." in card
    assert "film 2.mp4" not in written["NOTICE"].decode()
    named = {one["@id"] for one in json.loads(written["croissant.json"])["distribution"] if one["@type"] == "cr:FileObject"}
    assert named == {name for name in made.files if name != "croissant.json" and not is_table(name)}
