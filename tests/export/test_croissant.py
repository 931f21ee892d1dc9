"""croissant.json as the reference implementation reads it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlcroissant
import numpy as np
import pyarrow.parquet as pq
import pytest
from built import built
from pictures_recipe import PicturesRecipe, is_known
from publishing_data import make_dataset

from inpaintbench import frozen, video
from inpaintbench.export import documents as croissant
from inpaintbench.export.layout import configs
from inpaintbench.manifest import is_table
from inpaintbench.recipes.stages import SourceSpec


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("clips"), name="devil")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recipe = PicturesRecipe(pictures=2, second_masks=2, preset="thin-256", area_edges=(0.0, 0.3))
    with pytest.MonkeyPatch.context() as patched:
        is_known(patched)
        return built(tmp_path_factory.mktemp("pictures") / "w", recipe, SourceSpec("embedded_photographs", {}), workers=0)[1]


def read(folder: Path) -> Any:
    dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert list(issues.errors) == []
    assert all("datePublished" in text for text in issues.warnings), issues.warnings  # nobody knows it before publishing
    return dataset


def plain(value: Any) -> Any:
    if isinstance(value, list | np.ndarray):
        return [plain(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value


def test_it_is_valid_and_gives_the_rows_of_every_slice(clips: Path, pictures: Path) -> None:
    for folder in (clips, pictures):
        dataset = read(folder)
        for part in configs(frozen.load(folder)):
            rows = [{name.rpartition("/")[2]: plain(value) for name, value in row.items()} for row in dataset.records(part.name)]
            expected = pq.read_table(folder / f"{part.name}.parquet").to_pylist()
            assert [row["item_id"] for row in rows] == list(part.item_ids)
            assert rows == expected


def test_media_sets_give_the_pictures(pictures: Path) -> None:
    found = {plain(row["media/truth/path"]): row["media/truth/content"] for row in read(pictures).records("media/truth")}
    assert sorted(found) == sorted({row["truth_file_name"] for row in frozen.load(pictures).items})
    for name, picture in found.items():
        assert (np.asarray(picture) == video.read_frames(pictures / name)[0]).all()


def test_every_file_has_its_hash_and_size(clips: Path) -> None:
    told = json.loads((clips / "croissant.json").read_text())
    files = {one["@id"]: one for one in told["distribution"] if one["@type"] == "cr:FileObject"}
    there = {path.relative_to(clips).as_posix() for path in clips.rglob("*") if path.is_file()}
    assert set(files) == {name for name in there - {"croissant.json", "dataset.json"} if not is_table(name)}
    for name, one in files.items():
        data = (clips / name).read_bytes()
        assert (one["sha256"], one["contentSize"]) == (hashlib.sha256(data).hexdigest(), f"{len(data)} B")
        assert one["contentUrl"] == name
    kinds = {field["dataType"] for one in told["recordSet"] for field in one["field"] if field["name"] == "content"}
    assert kinds == {"sc:VideoObject"}
    assert told["license"] == ["https://creativecommons.org/licenses/by/4.0/"]
    first = (clips / "README.md").read_text().partition("\n# devil\n\n")[2].partition("\n\n")[0]
    assert first.startswith("3 items in 3 slices: 3 clips of 3 sources, each with a hole to fill.")
    assert told["description"].startswith(" ".join(first.split()))
    assert "creator" not in told
    assert "datePublished" not in told


def test_of_very_many_media_the_folders_alone_are_told(clips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = frozen.load(clips)
    monkeypatch.setattr(croissant, "MOST_FILES", 5)
    told = json.loads(croissant.croissant(dataset, {}))
    ids = {one["@id"] for one in told["distribution"]}
    assert {"truth-files", "holes-files", "low.parquet", "README.md"} <= ids
    assert not any(name.startswith(("truth/", "holes/")) for name in ids)
    assert "The SHA-256 of each media file stands in manifest/." in told["description"]


def test_the_paper_is_cited_where_there_is_one(clips: Path) -> None:
    dataset = frozen.load(clips)
    assert json.loads(croissant.croissant(dataset, {}))["citeAs"].startswith("@inproceedings{devil,")
    assert "citeAs" not in json.loads(croissant.croissant(replace(dataset, recipe={"recipe": "of another package"}), {}))


def test_how_the_data_came_about_and_what_it_is_for_is_told_and_read_back(clips: Path, tmp_path: Path) -> None:
    dataset = frozen.load(clips)
    stated = {"biases": "One coast.", "limitations": "No night.", "maintenance": "New versions."}
    facts = {**dataset.facts, "rai": stated, "raters": [{"question": "Is there water?", "clips": 4, "votes": 12}]}
    (tmp_path / "croissant.json").write_bytes(croissant.croissant(replace(dataset, facts=facts), {}))
    metadata = mlcroissant.Dataset(jsonld=str(tmp_path / "croissant.json")).metadata
    assert list(metadata.ctx.issues.errors) == []
    assert "RAI/1.0" in str(json.loads((tmp_path / "croissant.json").read_text())["conformsTo"])
    assert metadata.data_biases == ["One coast."]
    assert metadata.data_limitations[-1] == "No night."
    assert len(metadata.data_limitations) > 1  # those of the recipe too
    assert metadata.annotations_per_item == "3.0 votes a clip, on average"
    assert "Is there water?" in metadata.data_annotation_protocol[0]
    assert "3 sources from" in metadata.data_collection
    # What nobody said is not there, and nothing is made up.
    plainly = json.loads(croissant.croissant(dataset, {}))
    assert not {"rai:dataBiases", "rai:dataSocialImpact", "rai:personalSensitiveInformation"} & set(plainly)
    assert plainly["rai:dataAnnotationProtocol"].startswith("No person annotated items")
