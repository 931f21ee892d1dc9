"""What the browser of items, the plot of values over time and the matrix of differences are made from."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import statistics
from pathlib import Path

import numpy as np
import pytest
from tests.eval.report import report_of_items
from tests.eval.report.hand_made import SLICES, VALUES, FlatMedia, dataset, scores
from tests.eval.report.report_of_items import ITEMS, METHODS, psnr

from inpaintbench import manifest
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import gallery, write_report
from inpaintbench.eval.report.findings import leads_of
from inpaintbench.eval.report.gallery import (
    Choice,
    add_asked,
    add_standouts,
    attributes_of,
    held_quantities,
    item_data,
    items_part,
    source_name,
    spread,
)
from inpaintbench.eval.report.media import frame_values, recipe_of
from inpaintbench.eval.report.notes import commands_of, facts_of
from inpaintbench.eval.report.page import parts_of, render
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Dataset
from inpaintbench.view import ItemView

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR, SSIM = Quantity("psnr", "hole"), Quantity("ssim", "hole")


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (6, 24, 30, 3), dtype=np.uint8)


def test_the_score_is_the_mean_of_the_values_of_frames_or_of_their_errors() -> None:
    truth, hole = noise(1), np.zeros((6, 24, 30), np.bool_)
    hole[:5, 8:16, 9:20] = True  # the last frame has no hole
    composite = np.where(hole[..., None], noise(2), truth)
    composite[2] = truth[2]
    results = Results(dataset(SLICES), [*scores(VALUES), *scores(VALUES, metric="ssim")], protocol=CORRECTED)
    found = frame_values(recipe_of(CORRECTED, results.quantities, region="hole"), truth, composite, hole)
    errors = [np.mean((truth[at][hole[at]].astype(float) - composite[at][hole[at]]) ** 2) / 255**2 for at in range(5)]
    expected = [58.92 if not error else 10 * math.log10(1 / error) for error in errors]
    assert found[PSNR] == [pytest.approx(value, rel=1e-5) for value in expected] + [None]
    assert found[SSIM][2] == 1
    whole = ItemView.of_arrays(truth=truth, composite=composite, hole=hole)
    psnr, ssim = CORRECTED.build_metrics(["psnr", "ssim"])
    values = [value for value in found[SSIM] if value is not None]
    assert ssim.measure(whole)["hole"].value == pytest.approx(statistics.fmean(values))
    assert psnr.measure(whole)["hole"].value == pytest.approx(10 * math.log10(1 / statistics.fmean(errors)))


def test_frames_that_a_protocol_measures_otherwise_are_not_measured_again() -> None:
    resized = CORRECTED.model_copy(update={"size": (32, 32)})
    recipe = recipe_of(resized, [PSNR], region="hole")
    assert (recipe.quantities, recipe.reason) == ((), recipe.reason)
    assert recipe.reason is not None
    assert "another size" in recipe.reason
    # Where all items have that size, it measures their own frames.
    assert recipe_of(resized, [PSNR], region="hole", sizes={(32, 32)}).quantities == (PSNR,)
    assert recipe_of(resized, [PSNR], region="hole", sizes={(32, 32), (64, 32)}).reason is not None
    assert "neither PSNR nor SSIM" in str(recipe_of(CORRECTED, [Quantity("mse", "hole")], region="hole").reason)


def test_standouts_are_the_hardest_and_the_most_disagreed_by_turns() -> None:
    values = {"one": {"a1": 10.0, "b1": 30.0, "c1": 12.0, "d1": 40.0}, "two": {"a1": 12.0, "b1": 31.0, "c1": 22.0, "d1": 41.0}}
    results = Results(dataset({"s": list(values["one"])}), scores(values), protocol=CORRECTED)
    # Means 11, 30.5, 17, 40.5; spreads 1.41, 0.71, 7.07, 0.71: hardest a1, c1; most disagreed c1, a1.
    assert spread([10.0, 12.0]) == pytest.approx(math.sqrt(2))
    found = add_standouts(results, [], PSNR, count=2)
    assert {one.item_id: list(one.labels) for one in found} == {"a1": ["Hardest 1"], "c1": ["Most disagreed 1"]}
    known = add_standouts(results, [Choice("a1")], PSNR, count=1)
    assert {one.item_id: list(one.labels) for one in known} == {"a1": ["Hardest 1"], "c1": ["Most disagreed 1"]}
    assert add_standouts(results, [], PSNR, count=0) == []
    assert len(add_standouts(results, [], PSNR, count=99)) == 4
    by_error = Results(dataset({"s": ["a1", "b1"]}), scores({"m": {"a1": 1.0, "b1": 2.0}}, metric="mse"), protocol=CORRECTED)
    assert [one.item_id for one in add_standouts(by_error, [], Quantity("mse", "hole"), count=1)] == ["b1"]
    assert [list(one.labels) for one in add_asked([], ("a1", "a1"))] == [["Asked for"]]


def test_an_unknown_item_cannot_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no item 'nobody' to show"):
        write_report(
            tmp_path / "out", title="T", dataset=dataset(SLICES), scores=scores(VALUES), protocol=CORRECTED,
            media=FlatMedia(), asked_items=["nobody"],
        )  # fmt: skip


def test_attributes_are_those_that_differ_and_can_be_chosen() -> None:
    found = {one.name: one for one in attributes_of(report_of_items.data().items)}
    assert list(found) == ["hole.hole_fraction", "weather"]
    assert (found["hole.hole_fraction"].numeric, found["weather"].numeric) == (True, False)
    assert found["hole.hole_fraction"].label == "Hole fraction"
    assert found["hole.hole_fraction"].values[7] is None
    many = [{"attributes": {"name": f"word {index}", "flag": index % 2 == 0}} for index in range(gallery.MOST_CHOICES + 1)]
    assert [(one.name, one.values[:2]) for one in attributes_of(many)] == [("flag", ("yes", "no"))]


def test_the_data_of_items_can_be_read_back() -> None:
    results = report_of_items.results()
    data = json.loads(json.dumps(item_data(results, {"a2": "exhibit-0"}, default=PSNR), allow_nan=False))
    assert data["ids"] == ITEMS
    assert data["shown"] == {"1": "exhibit-0"}
    for method in METHODS:
        for item, value in zip(ITEMS, data["values"][f"psnr/hole|{method}"], strict=True):
            given = psnr(method, item)
            assert value == (None if given is None else "inf" if math.isinf(given) else pytest.approx(given, rel=1e-5))
    weather = next(one for one in data["facts"] if one["key"] == "weather")
    assert [None if code is None else weather["words"][code] for code in weather["values"]][:3] == [
        "rain, heavy", '=so-called "sun"', None,
    ]  # fmt: skip
    night = next(places for name, _, places in data["slices"] if name == "night")
    assert [ITEMS[place] for place in night] == report_of_items.SLICES["night"]
    named = data["facts"][0]
    assert [place for place, at in enumerate(named["values"]) if at is not None and "night" in named["words"][at]] == night
    assert (data["bold"], [one["reference"] for one in data["methods"]]) == (True, [False] * 3)
    few = Results(dataset(SLICES), scores(VALUES), protocol=CORRECTED, references=["bad"])
    told = item_data(few, {}, default=PSNR)
    assert (told["bold"], [(one["name"], one["reference"]) for one in told["methods"]]) == (
        False,
        [("good", False), ("odd", False), ("bad", True)],
    )


def test_sources_are_called_by_the_last_part_of_their_address() -> None:
    known = {
        "file:///a%20folder/day%20one%2C%20%C3%A9t%C3%A9.mp4": "day one, été.mp4",
        "https://example.org/videos/walk.mp4?key=secret": "walk.mp4",
        "embedded:004_chelsea_tilt_up": "004_chelsea_tilt_up",
        "images:///folder/of%20frames/": "of frames",
        "two%0Alines%E2%80%AEgp4.mp4": "two%0Alines%E2%80%AEgp4.mp4",
        "not%FFutf-8.mp4": "not\ufffdutf-8.mp4",
        "": None,
        None: None,
    }
    assert {uri: source_name(uri) for uri in known} == known
    data = item_data(report_of_items.results(), {}, default=PSNR)
    assert (data["source_names"][0], data["source_names"][7]) == ("a & <i>woods, été.mp4", None)
    page = render(parts_of(report_of_items.results(), [], title="T"), []).split('id="page-data"')[0]
    assert "a &amp; &lt;i&gt;woods, été.mp4" in page
    assert "<i>woods" not in page
    assert page.count("woods, été.mp4</") == len(ITEMS) - 1


def test_what_is_too_much_for_a_page_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    results = report_of_items.results()
    assert held_quantities(results, PSNR) == list(results.quantities)
    monkeypatch.setattr(gallery, "MOST_VALUES", 2 * len(ITEMS) * len(METHODS))
    assert held_quantities(results, PSNR) == [PSNR, SSIM]
    assert item_data(results, {}, default=PSNR)["left_out"] == ["PSNR of the frame"]
    part = items_part(results, {}, default=PSNR)
    assert part is not None
    [sentence] = part["left_out"]
    assert sentence.startswith("1 further quantity of items")


def test_differences_are_those_of_the_tests_with_intervals_over_sources() -> None:
    results = report_of_items.results()
    for test in results.pair_tests(PSNR):
        found, turned = (leads_of(results, PSNR)[pair] for pair in ((test.one, test.other), (test.other, test.one)))
        assert found.value == pytest.approx(test.difference)
        assert found.low < found.value < found.high
        assert (turned.value, turned.low, turned.p) == (-found.value, -found.high, found.p)
    nothing = Results(dataset({"s": ["a1"]}), scores({"m": {"a1": None}, "n": {"a1": 1.0}}), protocol=CORRECTED)
    assert leads_of(nothing, PSNR) == {}


def test_the_manifest_has_the_hash_that_it_states_and_commands_name_the_methods() -> None:
    made: Dataset = report_of_items.data()
    stated = manifest.own_hash(made)
    assert facts_of(report_of_items.results())["SHA-256 of its manifest"] == stated
    known = Results(dataset(SLICES), scores({"telea": {"a1": 1.0}, "mine & yours": {"a1": 2.0}}), protocol=CORRECTED)
    run, rest = "inpaintbench eval run DATASET --run RUN", "--protocol devil/corrected --report"
    predict, score, report = commands_of(known)
    assert predict == "inpaintbench eval run --for predictions DATASET --run RUN --method telea --saved 'mine & yours'=FOLDER"
    assert score.endswith("--protocol devil/corrected")
    assert report.startswith("inpaintbench eval report")
    known.options = {"mine & yours": "--method mine:fill --oracle-mask"}
    assert commands_of(known) == [f"{run} --method mine:fill --oracle-mask {rest}", f"{run} --method telea {rest}"]


def test_the_page_runs_its_own_scripts_alone() -> None:
    page = render(parts_of(report_of_items.results(), [], title="T"), [])
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="(.*?)"', page)[0])
    assert "unsafe" not in policy.split("style-src")[0]
    assert "default-src 'none'" in policy
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    assert len(scripts) > 8
    for text in scripts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
