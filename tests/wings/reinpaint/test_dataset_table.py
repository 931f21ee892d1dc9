"""What a builder says of a dataset of pictures, and of whose they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from program import run_here
from skimage import data
from tests.recipes.test_dataset_table import described

from inpaintbench import frozen, video

__all__ = ["described"]


def pictures(folder: Path) -> Path:
    """Four unlike photographs; whose they are is said of the folder, but of the second, by a file of its own."""
    (folder / "more").mkdir(parents=True)
    for name, picture in {"a": data.coffee(), "b": data.chelsea(), "more/c": data.rocket(), "more/d": data.astronaut()}.items():
        video.write_image(folder / f"{name}.png", np.ascontiguousarray(picture[:200, :200]))
    return folder


SMALL = ("--size", "64", "--preset", "thin-256", "--patch", "8", "--second-masks", "1", "--bins", "0,40", "--workers", "0")


def test_what_is_said_of_a_dataset_stands_in_every_document_and_changes_no_item(tmp_path: Path, described: Path) -> None:
    source = pictures(tmp_path / "pictures")
    (source / "footage.toml").write_text('author = "Grace Hopper"\n')
    (source / "b.png.toml").write_text('licence = "CC0-1.0"\npage = "https://example.org/b"\n')
    (source / "more" / "footage.toml").write_text('licence = "LicenseRef-mine"\n')
    silent, told = tmp_path / "silent", tmp_path / "told"
    build = ("build", "reinpaint", "--sources", source, *SMALL)
    plain = run_here(*build, "--splits", "6,0,4", "--out", silent)
    done = run_here(*build, "--dataset", described, "--about", "contact=other@example.org", "--out", told)
    assert (plain.returncode, done.returncode) == (0, 0), plain.stderr + done.stderr
    folder = told / "exports" / "reinpaint"
    dataset, before = frozen.load(folder), frozen.load(silent / "exports" / "reinpaint")
    assert dataset.name == "Waves | <of> our coast"
    assert json.loads((folder / "croissant.json").read_text())["rai:dataBiases"] == "One coast, one season."
    unsaid = [{**row, "licence": None} for row in dataset.items]
    assert unsaid == [{**row, "licence": None} for row in before.items]
    assert {row["split"] for row in dataset.items} == {"train", "test"}
    whose = {row["source_uri"]: (row["licence"], row["author"], row["page_url"]) for row in dataset.items}
    assert whose == {
        "a.png": ("CC-BY-4.0", "Grace Hopper", None),
        "b.png": ("CC0-1.0", "Grace Hopper", "https://example.org/b"),
        "more/c.png": ("LicenseRef-mine", "Grace Hopper", None),
        "more/d.png": ("LicenseRef-mine", "Grace Hopper", None),
    }
    assert {row["source_uri"]: row["licence"] for row in before.items}["a.png"] is None
    assert dataset.facts["licences_stated"] == {"CC-BY-4.0": 1}
    card = (folder / "README.md").read_text()
    for line in (
        "pretty_name: Waves | <of> our coast", "# Waves \\| \\<of\\> our coast",
        "| **authors** | Ada Lovelace and Alan\\_Turing |",
        "| **homepage** | <https://example.org/waves_1> |", "| **contact** | other@example.org |", "- cc-by-4.0",
        "```bibtex\n@misc{waves,\n  title = {Waves},\n}\n```",
    ):  # fmt: skip
        assert line in card, line
    notice = (folder / "NOTICE").read_text()
    assert notice.startswith(
        "Waves | <of> our coast, version 1.0.0\nby Ada Lovelace, Alan_Turing\nhttps://example.org/waves_1\nother@example.org\n"
    )
    assert "== CC-BY-4.0 (1 source) ==" in notice
    croissant = json.loads((folder / "croissant.json").read_text())
    assert croissant["url"] == "https://example.org/waves_1"
    assert [person["name"] for person in croissant["creator"]] == ["Ada Lovelace", "Alan_Turing"]
    assert croissant["citeAs"].startswith("@misc{waves,")

    content = frozen.content_of(dataset)
    again = run_here("export", "freeze", told, "--about", "title=Other waves")
    assert again.returncode == 0, again.stderr
    dataset = frozen.load(folder)
    assert (dataset.name, frozen.content_of(dataset)) == ("Other waves", content)
    assert dataset.facts["dataset"]["contact"] == "other@example.org"
    assert "splits are dealt when items are made" in run_here("export", "freeze", told, "--about", "splits=1,1,1").stderr


def test_options_say_whose_footage_is_where_no_file_does(tmp_path: Path) -> None:
    source = pictures(tmp_path / "pictures")
    (source / "b.png.toml").write_text('author = "Grace Hopper"\n')
    build = ("build", "reinpaint", "--sources", source, *SMALL, "--out", tmp_path / "out", "--footage-licence", "CC-BY-SA-4.0")
    for author in ("Ada", "Bea"):  # another one the second time: what was found before is found again
        done = run_here(*build, "--footage-author", author, "--replace")
        assert done.returncode == 0, done.stderr
        rows = frozen.load(tmp_path / "out" / "exports" / "reinpaint").items
        assert {(row["source_uri"], row["author"]) for row in rows} == {
            ("a.png", author), ("b.png", "Grace Hopper"), ("more/c.png", author), ("more/d.png", author),
        }  # fmt: skip
        assert {row["licence"] for row in rows} == {"CC-BY-SA-4.0"}
