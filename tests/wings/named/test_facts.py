"""Files of facts of published benchmarks: they fit together, and say what is measured here that there is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from program import run_here
from trees_made import films, make, write

from inpaintbench.cli import console
from inpaintbench.cli.build.running import Described
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.recipes import RECIPES
from inpaintbench.wings.named import commands
from inpaintbench.wings.named.commands import _recipe, _source
from inpaintbench.wings.named.definition import named, names, read

WANTED = [
    "beyondmasks", "davis-432", "effectworld", "five", "ivebench", "ober", "openve", "prove-h", "prove-m", "pvir", "rord", "rose",
    "vor", "vor-wild", "vpbench", "youtube-vos-432",
]  # fmt: skip
TINY = """
title = "Tiny"
about = "For tests."
recipe = "benchmark"
inferred = ["all of it"]
source = { paper = "P", authors = "A", venue = "V", data = "none", licence = "not stated" }
[[tree]]
inputs = ["in"]
masks = ["masks", "mask"]
[[column]]
label = "PSNR"
better = "higher"
metric = "psnr"
region = "frame"
protocol = "propainter"
as_there = "as here"
same = true
"""
PRINTED = '\n[[printed]]\nsource = "T"\ncolumns = ["{}"]\nrows = {{ a = ["{}"] }}'


def test_all_that_papers_report_are_known() -> None:
    assert set(names()) >= set(WANTED)


@pytest.mark.parametrize("name", names())
def test_columns_are_measured_by_what_there_is(name: str) -> None:
    of = named(name)
    for column in of.column:
        if column.metric:
            protocol = PROTOCOLS.get(column.protocol)
            assert column.metric in protocol.metrics
            assert column.region in protocol.regions
            if not re.search("x10", column.label) and "per cent" not in column.as_there:
                assert column.scale == 1
            assert (column.better == "higher") == METRICS.get(column.metric).higher_is_better
    kind = RECIPES.get(of.recipe)
    assert set(of.options.given()) <= {*kind.model_fields, "mask_values"}
    assert of.source.licence
    assert of.tree


@pytest.mark.parametrize("name", names())
def test_no_column_compares_whose_network_is_a_file_that_nothing_proves(name: str) -> None:
    for column in named(name).column:
        if column.same:
            leaf, constants = METRICS.get(column.metric), PROTOCOLS.get(column.protocol).metrics[column.metric]
            assert not leaf.brings or leaf.weights_of(constants), column.label


@pytest.mark.parametrize("name", names())
def test_printed_values_are_numbers_or_left_out(name: str) -> None:
    for table in named(name).printed:
        for values in table.rows.values():
            assert all(re.fullmatch(r"-?\d+(\.\d+)?|-?\.\d+|-|–|∞|", value) for value in values), values


@pytest.mark.parametrize("name", names())
def test_printed_rows_say_in_which_table_of_what_they_stand(name: str) -> None:
    for table in named(name).printed:
        assert re.search(r"\bTable \d|\btable PROVE-[MH]\b|\bREADME\b|\.csv\b|\bnote on the paper\b", table.source), table.source
        assert re.search(r"arXiv \d{4}\.\d{5}|github|paper", table.source), table.source


# Paths as they stand in cards, scripts and listings of files, typed from there and not from the files of facts.
AS_SEEN: Mapping[str, tuple[str, ...]] = {
    "beyondmasks": ("objects_added/1.mp4", "masks/1.mp4", "object_not_present/1.mp4"),
    "davis-432": ("JPEGImages_432_240/bear/00000.png", "test_masks/bear/00000.png"),
    "rose": (
        "Benchmark/mirror/Unedited/example-1.mp4", "Benchmark/mirror/Masked/example-1.mp4",
        "Benchmark/mirror/Edited/example-1.mp4",
    ),
    "vor": (
        "FG_BG/REAL_ENV900_00020_002_01.mp4", "MASK/REAL_ENV900_00020_002_01.mp4", "BG/REAL_ENV900_00020_002_01.mp4",
    ),
    "vor-wild": ("FG_BG/WILD_ENV006_00042.mp4", "MASK/WILD_ENV006_00042.mp4"),
}  # fmt: skip


@pytest.mark.parametrize("name", AS_SEEN)
def test_a_tree_as_others_saw_it_is_found(name: str, tmp_path: Path) -> None:
    for path, side in zip(AS_SEEN[name], ("inputs", "masks", "truths"), strict=False):
        write(tmp_path / path, films(0)[side])
    located = named(name).locate(tmp_path)
    of = named(name)
    assert _source(_recipe(of, located, {}, Described()), located, tmp_path, {}, allow_unmatched=False)[1]["folder"]


@pytest.mark.parametrize(("name", "place"), [(name, place) for name in names() for place in range(len(named(name).tree))])
def test_every_tree_is_found_with_no_further_file(name: str, place: int, tmp_path: Path) -> None:
    of = named(name)
    make(tmp_path / "data", of.tree[place])
    located = of.locate(tmp_path / "data", number=place + 1)
    assert located.tree == of.tree[place]
    given = {**of.options.given(), **located.tree.options.given()}
    recipe = _recipe(of, located, given, Described())
    leaf, constants = _source(recipe, located, tmp_path / "data", given, allow_unmatched=False)
    assert leaf == ("edit_clips" if of.recipe == "editing" else "removal_folders")
    assert constants["folder"]


@pytest.mark.parametrize("name", names())
def test_another_tree_is_refused_with_what_was_looked_for(name: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    of = named(name)
    with pytest.raises(InputError) as error:
        of.locate(tmp_path)
    text = str(error.value)
    assert text.startswith(f"{str(tmp_path)!r} is not {of.title} as it comes: ")
    assert any(set(re.findall(r"[\w.-]+", text)) & {*names, *re.findall(r"[\w.-]+", " ".join(tree.example))}
               for tree in of.tree for names in tree.sides().values())  # fmt: skip
    assert "it has 'elsewhere'" in text
    assert f"`inpaintbench bench show {name}` tells how the data lie" in text
    assert ("inferred" in text) == bool(of.inferred)
    assert not any(words in text for words in of.inferred)
    assert len(text) - text.count(str(tmp_path)) * len(str(tmp_path)) < 480


def test_of_several_trees_the_nearest_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "JPEGImages_432_240").mkdir()
    with pytest.raises(InputError, match=r"no 'test_masks' for the masks; it has 'JPEGImages_432_240'; .* tells how") as error:
        named("davis-432").locate(tmp_path)
    assert "test.json" not in str(error.value)


def test_a_folder_above_or_below_is_named_where_the_data_lie_there(tmp_path: Path) -> None:
    of = named("prove-m")
    make(tmp_path / "all" / "PROVE-M", of.tree[0])
    for given in (tmp_path / "all", tmp_path / "all" / "PROVE-M" / "inputs"):
        with pytest.raises(InputError, match=f"; {str(tmp_path / 'all' / 'PROVE-M')!r} is: give that; "):
            of.locate(given)
    assert of.locate(tmp_path / "all" / "PROVE-M")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("same = true", "same = false"), "not why"),
        (('metric = "psnr"', 'metric = ""'), "metric, region and protocol"),
        (('inputs = ["in"]', 'layout = "unheard"'), "unheard"),
        (('inputs = ["in"]', 'inputs = ["in"]\nlayout = "rose"'), "either a layout or folders"),
        (("same = true", "same = true" + PRINTED.format("PSNR", '1", "2')), "each of its columns"),
        (("same = true", "same = true" + PRINTED.format("SSIM", "1")), "SSIM"),
    ],
)  # fmt: skip
def test_facts_that_do_not_fit_together_are_refused(change: tuple[str, str], told: str) -> None:
    read(TINY, name="tiny")
    with pytest.raises((ValueError, UnknownNameError), match=told):
        read(TINY.replace(*change), name="tiny")


def test_a_list_of_all_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "width", 80)
    told = run_here("bench", "list").stdout
    assert max(map(len, told.splitlines())) <= 80
    for name in WANTED:
        of, row = named(name), next(line for line in told.splitlines() if f" {name} " in line)
        assert f"{sum(column.same for column in of.column)} of {len(of.column)}" in row


@pytest.mark.parametrize("name", names())
def test_whoever_asks_for_one_reads_it_at_80_columns_and_each_reason_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "width", 80)
    of, told = named(name), run_here("bench", "show", name).stdout
    commands = [line for line in told.splitlines() if line.startswith("  inpaintbench ")]
    prose = [line for line in told.splitlines() if line not in commands and " " in line.strip()]
    assert max(map(len, prose)) <= 80
    before, run = told.partition("Before you run\n")[2].partition("\n\n")[0], f"inpaintbench bench {name} --data "
    assert commands[-1].strip().startswith(run)
    assert run in before
    whole = " ".join(told.split())
    for column in of.column:
        assert f" {column.label} " in whole
    reasons = [" ".join(found.split()) for found in re.findall(r"^† \d+ (.*(?:\n  .*)*)", told, re.MULTILINE)]
    assert sorted(reasons) == sorted({column.why for column in of.column if column.why})
    for words in (of.source.data, of.source.licence, *of.inferred, *(table.source for table in of.printed)):
        assert words in whole
    wanted = {
        weight for column in of.column if column.metric
        for weight in METRICS.get(column.metric).weights_of(PROTOCOLS.get(column.protocol).metrics[column.metric])
    }  # fmt: skip
    assert set(re.findall(r"models fetch (.*)", before) and re.findall(r"models fetch (.*)", before)[0].split()) == wanted
    assert ("INPAINTBENCH_CFD" in before) == ("cfd" in {column.metric for column in of.column})


def test_what_several_columns_need_is_told_once() -> None:
    told = run_here("bench", "show", "beyondmasks").stdout
    assert "For core_object, core_effects also BeyondMasks' `eval.py`" in told
    assert told.count("INPAINTBENCH_CORE") == 1


def test_a_network_that_is_here_is_not_to_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "lacks", lambda names: {name: "missing" for name in names if name != "alexnet"})
    assert "models fetch dinov2-giant sam-vit-h\n" in run_here("bench", "show", "prove-m").stdout
    monkeypatch.setattr(commands, "lacks", lambda names: {})
    assert "models fetch" not in run_here("bench", "show", "prove-m").stdout


def test_a_name_that_there_is_not_is_told_with_the_nearest() -> None:
    assert "did you mean 'rose'" in run_here("bench", "show", "roze").stderr
