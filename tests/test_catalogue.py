from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import EntryPoint

import pytest

from inpaintbench import catalogue
from inpaintbench.catalogue import Catalogue
from inpaintbench.errors import InpaintBenchError, UnknownNameError

KINDS = {
    "inpaintbench.curation.sources": (
        "SOURCES",
        {"base", "virtual_camera", "moving_water", "photographs", "figure", "figure_paint", "figure_pose", "text_files"},
    ),
    "inpaintbench.curation.fetching": (
        "FETCHERS",
        {
            "attribution",
            "base",
            "flickr_client",
            "flickr_licences",
            "flickr_renditions",
            "flickr_search",
            "licences",
            "listings",
            "lists",
            "rate",
            "recheck",
            "step",
            "yt_dlp_requests",
        },
    ),
    "inpaintbench.curation.poses": ("POSE_READERS", {"base", "crops", "json_file", "matlab", "matlab_child"}),
    "inpaintbench.curation.splitters": ("SPLITTERS", {"base"}),
    "inpaintbench.curation.normalizers": ("NORMALIZERS", {"base", "geometry"}),
    "inpaintbench.curation.attributes": (
        "ATTRIBUTES",
        {"alignment_support", "base", "motion_camera", "motion_field", "sampling"},
    ),
    "inpaintbench.masks.generators": (
        "GENERATORS",
        {"base", "blob_motion", "blob_presets", "blob_raster", "arguments", "brush_presets", "brush_shapes", "motion"},
    ),
    "inpaintbench.export.layouts": ("LAYOUTS", {"base", "convert", "pictures", "readme"}),
    "inpaintbench.annotate.questions": ("QUESTIONS", {"base"}),
    "inpaintbench.eval.methods": ("METHODS", {"base", "text_spans"}),
    "inpaintbench.eval.metrics": ("METRICS", {"base"}),
}


@pytest.mark.parametrize("package", KINDS)
def test_every_leaf_file_is_listed_and_every_listed_leaf_is_a_documented_class(package: str) -> None:
    name, shared = KINDS[package]
    module = importlib.import_module(package)
    leaves: Catalogue = getattr(module, name)
    files = {info.name for info in pkgutil.iter_modules(module.__path__)} - shared
    modules = {address.partition(":")[0] for address in leaves.addresses().values()}
    listed = {module.rpartition(".")[2] for module in modules if module.startswith(f"{package}.")}
    assert listed == files
    for key in leaves:
        leaf = leaves.get(key)
        assert leaf.name == key
        assert isinstance(leaf.version, str)
        assert leaf.__doc__


def test_an_unknown_name_gets_a_suggestion() -> None:
    leaves = Catalogue("metric", {"psnr": "a:B", "ssim": "a:C"})
    with pytest.raises(UnknownNameError, match=r"unknown metric 'pnsr', did you mean 'psnr'\?"):
        leaves.get("pnsr")
    with pytest.raises(UnknownNameError, match="choose from psnr, ssim"):
        leaves.get("something else entirely")


def test_other_packages_add_leaves_but_cannot_replace_one(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("mine", "collections:OrderedDict", "inpaintbench.metric")]
    monkeypatch.setattr(catalogue, "entry_points", lambda group: points if group == "inpaintbench.metric" else [])
    assert Catalogue("metric", {}).get("mine").__name__ == "OrderedDict"
    with pytest.raises(InpaintBenchError, match="'mine' of collections:OrderedDict is already taken"):
        Catalogue("metric", {"mine": "a:B"}).get("mine")


def test_a_catalogue_tells_what_it_holds() -> None:
    leaves = Catalogue("metric", {"psnr": "a:B"})
    assert "psnr" in leaves
    assert "pnsr" not in leaves
