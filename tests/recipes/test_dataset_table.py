"""The table ``[dataset]``: what a builder says of a dataset reaches its documents, in every recipe, and changes no item."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from footage import write_sources
from program import run_here

from inpaintbench import frozen
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.recipes import NAMES, dataset_table
from inpaintbench.recipes.dataset_table import SILENT, make_table, read_file, with_entries
from inpaintbench.workspace import Workspace

TABLE = """
[dataset]
title = "Waves | <of> our coast"
authors = ["Ada Lovelace", "Alan_Turing"]
licence = "CC-BY-4.0"
contact = "waves@example.org"
homepage = "https://example.org/waves_1"
citation = '''
@misc{waves,
  title = {Waves},
}'''
splits = { train = 6, test = 4 }

[rai]
biases = '''One coast, one
season.'''
"""


@pytest.fixture
def described(tmp_path: Path) -> Path:
    (tmp_path / "about.toml").write_text(TABLE)
    return tmp_path / "about.toml"


def films(folder: Path) -> Path:
    """Four unlike films; whose they are is said of the folder, but of the second, by a file of its own."""
    write_sources(folder, count=4)
    (folder / "more").mkdir()
    for film, name in zip(sorted(folder.glob("*.mp4")), ("a", "b", "more/c", "more/d"), strict=True):
        film.rename(folder / f"{name}.mp4")
    return folder


SMALL = ("--size", "64x48", "--design", "slices", "--per-slice", "4", "--workers", "0")


def test_what_is_said_of_a_dataset_stands_in_every_document_and_changes_no_item(tmp_path: Path, described: Path) -> None:
    source = films(tmp_path / "films")
    (source / "footage.toml").write_text('author = "Grace Hopper"\n')
    (source / "b.mp4.toml").write_text('licence = "CC0-1.0"\npage = "https://example.org/b"\n')
    (source / "more" / "footage.toml").write_text('licence = "LicenseRef-mine"\n')
    silent, told = tmp_path / "silent", tmp_path / "told"
    build = ("build", "devil", "--sources", source, *SMALL)
    plain = run_here(*build, "--splits", "6,0,4", "--out", silent)
    done = run_here(*build, "--dataset", described, "--about", "contact=other@example.org", "--out", told)
    assert (plain.returncode, done.returncode) == (0, 0), plain.stderr + done.stderr
    folder = told / "exports" / "devil"
    dataset, before = frozen.load(folder), frozen.load(silent / "exports" / "devil")
    assert dataset.name == "Waves | <of> our coast"
    assert json.loads((folder / "croissant.json").read_text())["rai:dataBiases"] == "One coast, one season."
    unsaid = [{**row, "licence": None} for row in dataset.items]
    assert unsaid == [{**row, "licence": None} for row in before.items]
    assert {row["split"] for row in dataset.items} == {"train", "test"}
    whose = {row["source_uri"]: (row["licence"], row["author"], row["page_url"]) for row in dataset.items}
    assert whose == {
        "a.mp4": ("CC-BY-4.0", "Grace Hopper", None),
        "b.mp4": ("CC0-1.0", "Grace Hopper", "https://example.org/b"),
        "more/c.mp4": ("LicenseRef-mine", "Grace Hopper", None),
        "more/d.mp4": ("LicenseRef-mine", "Grace Hopper", None),
    }
    assert {row["source_uri"]: row["licence"] for row in before.items}["a.mp4"] is None
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
    source = films(tmp_path / "films")
    (source / "b.mp4.toml").write_text('author = "Grace Hopper"\n')
    build = ("build", "devil", "--sources", source, *SMALL, "--out", tmp_path / "out", "--footage-licence", "CC-BY-SA-4.0")
    for author in ("Ada", "Bea"):  # another one the second time: what was found before is found again
        done = run_here(*build, "--footage-author", author, "--replace")
        assert done.returncode == 0, done.stderr
        rows = frozen.load(tmp_path / "out" / "exports" / "devil").items
        assert {(row["source_uri"], row["author"]) for row in rows} == {
            ("a.mp4", author), ("b.mp4", "Grace Hopper"), ("more/c.mp4", author), ("more/d.mp4", author),
        }  # fmt: skip
        assert {row["licence"] for row in rows} == {"CC-BY-SA-4.0"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[dataset]\ntitel = 'x'", "about.toml, [dataset]: unknown entry 'titel', did you mean 'title'?"),
        ("[dataset]\ntitle = 1", "about.toml, [dataset]: title: Input should be a valid string and not 1"),
        ('[dataset]\ntitle = "a\\nb"', "about.toml, [dataset]: title: 'a\\nb' is not one line of words"),
        ("[dataset]\nauthors = [1]", "about.toml, [dataset]: authors: [1] are no names"),
        ("[dataset]\nlicence = 'mine'", "about.toml, [dataset]: licence: 'mine' is not a known SPDX id such as CC-BY-4.0"),
        ("[dataset]\nlicence = 'CC-BY-ND-4.0'", "about.toml, [dataset]: licence: the licence 'CC-BY-ND-4.0' forbids derivatives"),
        ("[dataset]\nhomepage = 'https://a.b/>x'", "about.toml, [dataset]: homepage: 'https://a.b/>x' is not an address"),
        ("[dataset]\ncitation = ' '", "about.toml, [dataset]: citation: it is empty"),
        ("[dataset]\nsplits = { dev = 1 }", "about.toml, [dataset]: splits: unknown split 'dev', choose from"),
        ("[dataset]\nsplits = { train = 'x' }", "about.toml, [dataset]: splits: {'train': 'x'} are not shares"),
        ("[dataset]\nsplits = { train = 0 }", "about.toml, [dataset]: splits: splits '0,0,0' are not three shares"),
        ("[data]", "about.toml: unknown table 'data', did you mean 'dataset'?"),
        ("dataset = 3", "about.toml: dataset is a table; begin it with the line [dataset]"),
        ("[dataset", "about.toml' is not TOML"),
        ("[rai]\nbiasses = 'x'", "about.toml: rai: unknown entry of [rai] 'biasses', did you mean 'biases'?"),
        ("[rai]\nbiases = ''", "about.toml: rai: biases is not a text; leave it out"),
        ("rai = 3", "about.toml: rai: rai is a table; begin it with the line [rai]"),
    ],
)
def test_a_table_that_makes_no_sense_is_one_sentence_before_there_is_a_folder(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "about.toml").write_text(text)
    done = run_here("build", "removal", "--demo", "--dataset", "about.toml", "--out", "out", cwd=tmp_path)
    assert said in done.stderr
    assert (done.returncode, done.stderr.count("\n"), (tmp_path / "out").exists()) == (1, 1, False)


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_reads_it(name: str, tmp_path: Path) -> None:
    done = run_here("build", name, "--demo", "--about", "titel=Waves", "--out", tmp_path / "out")
    assert "--about: unknown entry 'titel', did you mean 'title'?" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_publishes_it(name: str, tmp_path: Path, described: Path) -> None:
    done = run_here("build", name, "--demo", "--dataset", described, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    dataset = frozen.load(tmp_path / "out" / "exports" / name)
    assert dataset.name == "Waves | <of> our coast"
    assert set(dataset.facts["dataset"]) == {"authors", "contact", "citation", "homepage"}
    split_of: dict[str, set[str]] = {}
    for row in dataset.items:
        split_of.setdefault(row["source_id"], set()).add(row["split"])
    assert set.union(*split_of.values()) == {"train", "test"}
    assert all(len(splits) == 1 for splits in split_of.values())


def test_options_stand_over_the_file_and_authors_are_a_list(described: Path) -> None:
    table = make_table(read_file(described)["dataset"], where="file")
    assert table.splits == {"train": 0.6, "test": 0.4}
    changed = with_entries(table, ["authors=Ada", "authors=Bea = Cee", "title = Other "])
    assert (changed.authors, changed.title, changed.contact) == (("Ada", "Bea = Cee"), "Other", "waves@example.org")
    with pytest.raises(InputError, match=re.escape("--about gives title 2 times: 'a' and 'b'")):
        with_entries(SILENT, ["title=a", "title=b"])
    with pytest.raises(InputError, match="--about 'x' is not NAME=VALUE"):
        with_entries(SILENT, ["x"])


def test_a_workspace_keeps_the_last_table_and_tells_a_damaged_one(workspace: Workspace, described: Path) -> None:
    assert dataset_table.kept(workspace) == SILENT
    table = make_table(read_file(described)["dataset"], where="file")
    dataset_table.keep(workspace, table)
    assert dataset_table.kept(workspace) == table
    (path,) = workspace.path.glob("dataset_table.json")
    path.write_text("{")
    with pytest.raises(WorkspaceError, match=r"is damaged: .*; delete it"):
        dataset_table.kept(workspace)
    dataset_table.keep(workspace, SILENT)
    assert not path.exists()


def test_a_citation_cannot_end_its_block_of_code() -> None:
    from inpaintbench.export.card import _fenced

    assert _fenced("a ```` b") == "`````text\na ```` b\n`````"
