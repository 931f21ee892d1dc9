"""Files of facts of published benchmarks: they fit together, and say what is measured here that there is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from program import run_here
from trees_made import films, make, write

from inpaintbench.cli.build.running import Described
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.recipes import RECIPES
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
            if not re.search("x10", column.label):
                assert column.scale == 1
            assert (column.better == "higher") == METRICS.get(column.metric).higher_is_better
    kind = RECIPES.get(of.recipe)
    assert set(of.options.given()) <= {*kind.model_fields, "mask_values"}
    assert of.source.licence
    assert of.tree


@pytest.mark.parametrize("name", names())
def test_printed_values_are_numbers_or_left_out(name: str) -> None:
    for table in named(name).printed:
        for values in table.rows.values():
            assert all(re.fullmatch(r"-?\d+(\.\d+)?|-?\.\d+|-|–|∞|", value) for value in values), values


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
    assert of.title in text
    assert f"bench show {name}" in text
    assert all(names[0] in text for names in of.tree[0].sides().values())
    assert all(words in text for words in of.inferred)


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


def test_list_and_show_tell_what_each_needs() -> None:
    listed, shown = run_here("bench", "list"), run_here("bench", "show", "prove-m")
    assert listed.returncode == shown.returncode == 0
    assert all(name in listed.stdout for name in WANTED)
    assert "2605.14534" in shown.stdout
    assert "Inferred: " in shown.stdout
    assert "did you mean 'rose'" in run_here("bench", "show", "roze").stderr
