"""What recipes say of their benchmarks: every recipe says it, and what is named is there."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint

import pytest
from publishing_data import make_dataset

from inpaintbench import catalogue, frozen
from inpaintbench.benchmarks import BENCHMARKS, Benchmark, benchmark_of
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.export.documents import sealed
from inpaintbench.recipes import NAMES, RECIPES
from inpaintbench.types import Dataset

MINE = Benchmark(use="Telling grass from trees.", limits=("Grass is green.",), protocol="lama", baseline="median")


def test_every_recipe_says_what_it_is_for_and_names_what_there_is() -> None:
    assert set(BENCHMARKS) <= set(RECIPES)
    assert set(NAMES) <= set(BENCHMARKS), "those that come with the program say what they are for"
    for name, benchmark in ((name, BENCHMARKS.get(name)) for name in BENCHMARKS):
        assert benchmark.use != Benchmark().use
        assert benchmark.limits
        assert benchmark.protocol in ("", *PROTOCOLS)
        assert benchmark.baseline in METHODS
        assert (benchmark.paper is None) == (name in ("removal", "benchmark"))  # of nobody's paper
        if benchmark.paper is None:
            continue
        assert benchmark.paper.bibtex.count("{") == benchmark.paper.bibtex.count("}")
        assert re.fullmatch(r"@\w+\{\w+,\n(  \w+ += \{.+\},\n)+\}", benchmark.paper.bibtex)


@pytest.mark.parametrize(
    ("recipe", "protocol"),
    [
        ({"recipe": "removal"}, "removal/unpaired"),
        ({"recipe": "benchmark"}, "e2fgvi"),
        ({"recipe": "devil", "imperfect": ["box"]}, "devil/imperfect"),
        ({"recipe": "unheard of"}, "whole/corrected"),
    ],
)
@pytest.mark.usefixtures("whole_frames_are_known")
def test_the_usual_protocol_is_that_of_the_recipe(recipe: dict[str, object], protocol: str) -> None:
    assert usual(Dataset("", recipe, (), (), {}, {}, {})) == protocol


def test_a_recipe_of_another_package_brings_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    points = [EntryPoint("meadows", f"{__name__}:MINE", "inpaintbench.benchmark")]
    monkeypatch.setattr(BENCHMARKS, "_addresses", None)
    monkeypatch.setattr(catalogue, "entry_points", lambda group: points if group == "inpaintbench.benchmark" else [])
    dataset = frozen.load(make_dataset(tmp_path_factory.mktemp("mine"), name="meadows"))
    dataset = Dataset(**{**vars(dataset), "recipe": {**dataset.recipe, "recipe": "meadows"}})
    assert benchmark_of(dataset) is MINE
    assert usual(dataset) == "lama"
    card = sealed(dataset, dict.fromkeys(dataset.files, 1))[1]["README.md"].decode()
    assert "Telling grass from trees." in card
    assert "- Grass is green." in card
    assert "--method median" in card
