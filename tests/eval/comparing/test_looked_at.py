"""What a report looks at, with the numbers that stand in its tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.eval.diagnosis.made import AXES, noise, paired_items, results_of, with_attributes
from tests.eval.report.hand_made import dataset, score, scores

from inpaintbench.eval.comparing.looked_at import Effect, effects_of, looked_at
from inpaintbench.eval.comparing.simultaneous import FIRST_SHARE
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results

AS_PUBLISHED = PROTOCOLS.get("devil/as-published")
CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR, SSIM = Quantity("psnr", "hole"), Quantity("ssim", "hole")
LOW, HIGH = [f"{letter}{at}" for letter in "abcdefg" for at in (1, 2)], [f"{letter}1" for letter in "ghijklm"]
SLICES = {"x-low": LOW, "x-high": [*HIGH, "a3"], "few": LOW[:4]}
ITEMS = [*LOW, *(item for item in HIGH if item not in LOW), "a3"]


def values(seed: int, **shift: float) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    own = {item: rng.normal() for item in ITEMS}
    return {name: {item: 30 + more + own[item] + 0.1 * rng.normal() for item in ITEMS} for name, more in shift.items()}


def of(effects: list[Effect], kind: str) -> dict[tuple[str, str], Effect]:
    return {(one.one, one.other): one for one in effects if one.kind == kind}


def test_sizes_are_those_of_the_tables_and_counts_those_behind_them() -> None:
    results = Results(dataset(SLICES), scores(values(0, m=0.0, n=1.0)), protocol=CORRECTED)
    found = looked_at(results)
    low, high = (results.summary(part, "m", PSNR) for part in results.slices[:2])
    change = of(found, "change")["m", "x"]
    assert change.value == pytest.approx((high.mean or 0) - (low.mean or 0))
    assert (change.n, change.n_sources) == ((14, 8), (7, 8))
    lead = of(found, "lead")["m", "n"]
    [test] = results.pair_tests(PSNR)
    assert lead.turned().value == pytest.approx(test.difference)
    assert (lead.told, lead.better, lead.turned().better) == (True, False, True)
    rest = np.mean([results.value(name, item, PSNR) or 0 for name in "mn" for item in ITEMS if item not in SLICES["x-high"]])
    own = results.difficulty(results.slices[1], PSNR).mean or 0
    assert of(found, "slice")["x-high", ""].value == pytest.approx(own - rest)
    assert ("few", "") not in of(found, "slice")  # two sources
    assert looked_at(results) is found


def test_who_lacks_items_is_in_no_change_and_in_no_mean_over_methods() -> None:
    given = values(1, whole=0.0, also=0.5, part=9.0)
    del given["part"][ITEMS[0]]
    found = effects_of(Results(dataset(SLICES), scores(given), protocol=CORRECTED))
    assert {one for one, _ in of(found, "change")} == {"whole", "also"}
    assert len(of(found, "lead")) == 3  # over the items of both


def test_the_primary_quantity_is_corrected_for_itself_and_the_others_for_all() -> None:
    given = values(2, m=0.0, n=0.05)
    both = [*scores(given), *(replace(one, metric="ssim") for one in scores(values(3, m=0.0, n=2.0)))]
    alone = effects_of(Results(dataset(SLICES), scores(given), protocol=CORRECTED))
    found = effects_of(Results(dataset(SLICES), both, protocol=CORRECTED))
    primary = [one for one in found if one.quantity == PSNR]
    for one, only in zip(primary, alone, strict=True):
        assert one.value == only.value
        assert one.p == pytest.approx(min(1, only.p / FIRST_SHARE))
    assert of([one for one in found if one.quantity == SSIM], "lead")["m", "n"].told
    # Where the primary quantity was not measured nothing stands before the others.
    unled = [replace(one, metric="ssim") for one in scores(values(3, m=0.0, n=2.0))]
    assert of(effects_of(Results(dataset(SLICES), unled, protocol=CORRECTED)), "lead")["m", "n"].told


def test_rounding_is_no_difference() -> None:
    """Means of equal values over other numbers of items end in other digits: 1.4e-14 dB of 100 was told with the smallest p."""
    always = {"m": dict.fromkeys(ITEMS, 100.1), "n": dict.fromkeys(ITEMS, 100.1 + 1e-13)}
    for effect in looked_at(Results(dataset(SLICES), scores(always), protocol=CORRECTED)):
        assert (effect.value, effect.told) == (0.0, False)


def test_infinite_values_and_weights_count_as_in_the_means() -> None:
    given = values(4, m=0.0, n=1.0)
    given["m"][LOW[0]] = float("inf")
    published = Results(dataset(SLICES), scores(given), protocol=CORRECTED)
    assert published.protocol.infinite_rule("psnr") == "keep"
    assert ("m", "x") not in of(effects_of(published), "change")  # its mean is infinite
    rows = [
        replace(score(name, item, value), protocol=AS_PUBLISHED.name, fingerprint=AS_PUBLISHED.fingerprint)
        for name, row in given.items() for item, value in row.items()
    ]  # fmt: skip
    largest = Results(dataset(SLICES), rows, protocol=AS_PUBLISHED)
    low, high = (largest.summary(part, "m", PSNR).mean or 0 for part in largest.slices[:2])
    assert of(effects_of(largest), "change")["m", "x"].value == pytest.approx(high - low)


def test_leads_of_two_methods_within_slices_alone() -> None:
    results = Results(dataset(SLICES), scores(values(5, m=0.0, n=1.0, o=2.0)), protocol=CORRECTED)
    parts = [results.everything, *results.slices]
    found = effects_of(results, within=parts, pairs=[("m", "o")], quantities=[PSNR])
    assert [(one.kind, one.one, one.other, one.within) for one in found] == [
        ("lead", "m", "o", part.name) for part in parts if part.name != "few"
    ]


def test_what_pairs_tell_is_not_looked_at_a_second_time_between_the_slices_of_their_axis() -> None:
    attributes = paired_items(films=8)
    of_level = {level: [item for item, own in attributes.items() if own.get("axis.size") == level] for level in ("low", "high")}
    films = [[item for item in attributes if item[:3] in own] for own in (("f00", "f01", "f02"), ("f05", "f06", "f07"))]
    slices = {f"size-{level}": items for level, items in of_level.items()} | {"hour-low": [*films[0], *of_level["low"]]}
    slices |= {"hour-high": [*films[1], *of_level["high"]]}
    made = with_attributes(attributes, axes=AXES, slices=slices)
    given = noise(np.random.default_rng(6), attributes, ["m", "n", "part"])
    results = results_of(made, given)
    found = looked_at(results)
    assert set(of(found, "change")) == {(name, "hour") for name in given}
    paired = {(one.one, one.other): one for one in found if one.factor.name == "size"}
    assert {names for names in paired if not names[1]} == {(name, "") for name in given}
    low, high = (results.summary(part, "m", PSNR).mean or 0 for part in results.slices[:2])
    assert paired["m", ""].value == pytest.approx(high - low)
    # Of a method without a claim by pairs, as it lacks an item of another axis, the slices still tell.
    few = [one for one in results.scores if (one.method, one.item_id) != ("part", "f00-0-four")]
    found = looked_at(Results(made, few, protocol=CORRECTED))
    assert ("part", "size") in of(found, "change")
    assert ("m", "size") not in of(found, "change")


@pytest.mark.parametrize("levels", [("exact", "eroded", "dilated"), ("low", "mid", "high")])
def test_levels_of_a_mask_that_is_not_exact_are_not_compared_in_the_mask(levels: tuple[str, str, str]) -> None:
    names = dict(zip(("one", "two", "four"), levels, strict=True))
    items = {
        item: {name.replace("speed", "mask_error"): names.get(str(value), value) for name, value in own.items()}
        for item, own in paired_items().items()
    }
    slices = {
        f"mask_error-{level}": [item for item, own in items.items() if own.get("axis.mask_error") == level] for level in levels
    }
    made = with_attributes(
        items, axes=[AXES[0], {**AXES[1], "name": "mask_error", "levels": list(levels), "exact": False}], slices=slices
    )
    of_hole = results_of(made, noise(np.random.default_rng(0), items, ["a", "b"]))
    rows = [replace(row, region=region) for row in of_hole.scores for region in ("hole", "object")]
    found = looked_at(Results(made, rows, protocol=CORRECTED))
    about = [one for one in found if "mask_error" in (one.factor.name if one.kind == "factor" else f"{one.one} {one.other}")]
    assert {(one.quantity.region, one.kind) for one in about} == {("object", "factor"), ("object", "slice")}
    assert {one.quantity.region for one in found if one.factor.name == "size"} == {"hole", "object"}
