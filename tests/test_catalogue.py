from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from inpaintbench import catalogue
from inpaintbench.catalogue import Catalogue, unknown_name
from inpaintbench.errors import InpaintBenchError, UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Measurement, SetMetric
from inpaintbench.view import ItemView

KINDS = {
    "inpaintbench.curation.sources": (
        "SOURCES",
        {
            "base",
            "removal_layouts",
            "clip_tables",
            "user_tables",
            "removal_objects",
            "figure",
            "edit_prompts",
            "mask_values",
        },
    ),
    "inpaintbench.curation.splitters": ("SPLITTERS", {"base"}),
    "inpaintbench.curation.normalizers": ("NORMALIZERS", {"base"}),
    "inpaintbench.curation.attributes": (
        "ATTRIBUTES",
        {"base", "motion_field", "patch_links", "alignment"},
    ),
    "inpaintbench.masks.generators": ("GENERATORS", {"base"}),
    "inpaintbench.masks.axes": ("AXES", {"base"}),
    "inpaintbench.export.layouts": ("LAYOUTS", {"base", "convert"}),
    "inpaintbench.annotate.questions": ("QUESTIONS", {"base"}),
    "inpaintbench.annotate.screening": ("inpaintbench.annotate.study:RULES", {"base"}),
    "inpaintbench.eval.methods": ("METHODS", {"base", "trained"}),
    "inpaintbench.eval.metrics": ("METRICS", {"base"}),
}


@pytest.mark.parametrize("package", KINDS)
def test_every_leaf_file_is_listed_and_every_listed_leaf_is_a_documented_class(package: str) -> None:
    check_listed(package, *KINDS[package])


def check_listed(package: str, name: str, shared: Collection[str]) -> None:
    """Every leaf file of a package is in its catalogue ``name``, but the files that leaves share."""
    module = importlib.import_module(package)
    leaves: Catalogue = catalogue.attribute_at(name if ":" in name else f"{package}:{name}")
    files = {info.name for info in pkgutil.iter_modules(module.__path__)}.difference(shared)
    modules = {address.partition(":")[0] for address in leaves.addresses().values()}
    listed = {module.rpartition(".")[2] for module in modules if module.startswith(f"{package}.")}
    assert listed == files
    for key in leaves:
        leaf = leaves.get(key)
        assert leaf.name == key
        assert isinstance(leaf.version, str)
        assert leaf.__doc__


def test_an_unknown_name_gets_a_suggestion() -> None:
    leaves = Catalogue("number", {"psnr": "a:B", "ssim": "a:C"})
    with pytest.raises(UnknownNameError, match=r"unknown number 'pnsr', did you mean 'psnr'\?"):
        leaves.get("pnsr")
    with pytest.raises(UnknownNameError, match="choose from psnr, ssim"):
        leaves.get("something else entirely")


def test_other_packages_add_leaves_but_cannot_replace_one(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("mine", "collections:OrderedDict", "inpaintbench.metric")]
    monkeypatch.setattr(catalogue, "entry_points", lambda group: points if group == "inpaintbench.metric" else [])
    assert Catalogue("metric", {}).get("mine").__name__ == "OrderedDict"
    with pytest.raises(InpaintBenchError, match="'mine' of collections:OrderedDict is already taken"):
        Catalogue("metric", {"mine": "a:B"}).get("mine")


class Plain:
    """A metric that inherits from nothing, as those of other packages may."""

    name, version, unit, higher_is_better, decimals, needs = "plain", "3", "dB", True, 1, ("truth",)

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int) -> None:
        self.regions = regions

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        return {region: Measurement(1.0) for region in self.regions}


class OfSets(Plain):
    """The same with sets."""

    fewest_frames = 5
    measure_together = compare = lambda self, *_: []


def test_a_leaf_that_inherits_from_nothing_gets_what_it_leaves_out_and_keeps_what_it_says() -> None:
    leaf, of_sets = METRICS.admit(Plain), METRICS.admit(OfSets)
    assert (leaf.name, leaf.version, leaf.__doc__, leaf.__module__) == ("plain", "3", Plain.__doc__, __name__)
    assert (leaf.ranked, leaf.fewest_frames, leaf.command, leaf.deviations, leaf.weights_of({})) == (True, 1, "", (), ())
    metric = leaf(regions=("hole",), band_radius_pixels=8)
    assert isinstance(metric, Plain)
    assert metric.reduce([1.0, 3.0]) == 2.0
    assert metric.measure_together([ItemView.of_arrays(truth=np.zeros((1, 2, 2, 3)))]) == [{"hole": Measurement(1.0)}]
    assert [issubclass(one, SetMetric) for one in (leaf, of_sets)] == [leaf.of_sets, of_sets.of_sets] == [False, True]
    assert (of_sets.fewest_frames, of_sets(regions=(), band_radius_pixels=8).reduce([1.0])) == (5, None)
    assert METRICS.admit(Plain) is leaf
    assert METRICS.get("psnr") is METRICS.admit(METRICS.get("psnr"))


def test_a_leaf_without_what_its_kind_is_for_cannot_be_built() -> None:
    with pytest.raises(TypeError, match=r"abstract method '?measure"):
        METRICS.admit(type("Nothing", (), {}))(regions=(), band_radius_pixels=8)


def test_a_catalogue_tells_what_it_holds() -> None:
    leaves = Catalogue("metric", {"psnr": "a:B"})
    assert "psnr" in leaves
    assert "pnsr" not in leaves


def test_the_name_of_a_family_suggests_its_corrected_member() -> None:
    known = ["devil/as-published", "devil/corrected", "lama", "no-reference/koniq", "no-reference/spaq"]
    assert unknown_name("protocol", "devil", known) == "unknown protocol 'devil', did you mean 'devil/corrected'?"
    assert unknown_name("protocol", "no-reference", known).endswith("did you mean 'no-reference/koniq'?")
