from __future__ import annotations

import inspect
import math

import pytest
from pydantic import ValidationError

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.psnr import Mse
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol, mean_of_decibels
from inpaintbench.types import canonical_json


def protocol(**changes: object) -> Protocol:
    constants: dict[str, object] = {
        "name": "mine",
        "metrics": {"psnr": {**mean_of_decibels("count")}, "mse": {}},
        "regions": ("frame", "hole"),
        "band_radius_pixels": 8,
        "primary": ("psnr", "frame"),
    }
    return Protocol.model_validate(constants | changes)


def test_builds_the_metrics_it_names_in_its_order_with_its_constants() -> None:
    metrics = protocol().build_metrics()
    assert [metric.name for metric in metrics] == ["psnr", "mse"]
    assert all(metric.regions == ("frame", "hole") for metric in metrics)
    assert [metric.name for metric in protocol().build_metrics(["mse"])] == ["mse"]
    assert protocol().build_metrics([]) == []


def test_a_metric_it_does_not_hold_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="metric of protocol 'mine': 'pnsr', did you mean 'psnr'"):
        protocol().build_metrics(["pnsr"])


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": {"psnr": {**mean_of_decibels("count"), "data_range": 2.0}, "mse": {}}},
        {"metrics": {"psnr": {**mean_of_decibels("count"), "averaged": "errors"}, "mse": {}}},
        {"metrics": {"psnr": {**mean_of_decibels("count"), "ceiling_decibels": 58.92}, "mse": {}}},
        {"metrics": {"psnr": {**mean_of_decibels("largest_finite")}, "mse": {}}},
        {"metrics": {"psnr": {**mean_of_decibels("count")}}},
        {"regions": ("frame",)},
        {"band_radius_pixels": 9},
        {"composite": False},
        {"colours": "grey"},
        {"resize": "nearest"},
        {"missing": {"psnr": 0.0}},
        {"missing": {"mse": math.inf}},
    ],
)
def test_any_changed_constant_changes_the_fingerprint(changes: dict[str, object]) -> None:
    assert protocol(**changes).fingerprint != protocol().fingerprint


def test_a_changed_metric_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = protocol().fingerprint
    monkeypatch.setattr(Mse, "version", "2")
    assert protocol().fingerprint != before


def test_a_known_fingerprint_is_neither_that_of_a_copy_with_other_constants_nor_of_other_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = protocol()
    before = known.fingerprint
    assert known.model_copy(update={"composite": False}).fingerprint == protocol(composite=False).fingerprint != before
    assert known == protocol()
    monkeypatch.setattr(Mse, "version", "2")
    assert known.fingerprint == protocol().fingerprint != before


def test_the_fingerprint_is_12_hex_digits_and_no_matter_of_name_or_spelling_order() -> None:
    reordered = {"mse": {}, "psnr": {"infinite": "count", "data_range": 1.0}}
    # Without the two constants that came later, whose old values are no news.
    assert protocol(name="other", metrics=reordered).fingerprint == protocol().fingerprint
    assert len(protocol().fingerprint) == 12
    assert int(protocol().fingerprint, 16) >= 0


def test_a_constant_that_the_code_does_not_honour_is_refused() -> None:
    with pytest.raises(ValidationError, match="polarity"):
        protocol(polarity="true_is_known")
    with pytest.raises(ValidationError, match="resize"):
        protocol(resize="432x240")
    with pytest.raises(ValidationError, match="colour_space"):
        protocol(colour_space="lab")
    with pytest.raises(UnknownNameError, match="unknown region 'bands', did you mean 'band'"):
        protocol(regions=("bands",))


@pytest.mark.parametrize("changes", [{"size": (432, 240)}, {"hole_dilations": 4}])
def test_predictions_that_are_measured_whole_are_measured_as_they_are(changes: dict[str, object]) -> None:
    assert not protocol(composite=False).composite
    with pytest.raises(ValidationError, match="size and hole_dilations are of composites"):
        protocol(composite=False, **changes)


def test_its_primary_quantity_is_one_that_it_measures_and_no_score_depends_on_it() -> None:
    assert protocol(primary=("mse", "hole")).fingerprint == protocol().fingerprint
    with pytest.raises(UnknownNameError, match="metric of protocol 'mine': 'pnsr', did you mean 'psnr'"):
        protocol(primary=("pnsr", "frame"))
    with pytest.raises(UnknownNameError, match="region of protocol 'mine': 'band'"):
        protocol(primary=("psnr", "band"))
    with pytest.raises(ValidationError, match="primary"):
        Protocol.model_validate(protocol().model_dump(exclude={"primary"}))


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_the_primary_quantity_of_every_protocol_has_values_and_a_direction(name: str) -> None:
    """Of copies that a protocol made of another with fewer metrics or regions nothing else would notice."""
    declared = Protocol.model_validate(PROTOCOLS.get(name).model_dump())
    metric, region = declared.primary
    leaf = METRICS.get(metric)
    assert leaf.ranked
    assert region in leaf.answers
    assert not leaf.of_sets or all(METRICS.get(other).of_sets for other in declared.metrics), "items can be tested, sets hardly"


def test_it_cannot_be_changed_after_it_is_made() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        protocol().band_radius_pixels = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", list(METRICS))
def test_no_metric_has_a_constant_that_a_protocol_could_leave_unsaid(name: str) -> None:
    parameters = inspect.signature(METRICS.get(name)).parameters.values()
    assert all(one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD) and one.default is one.empty for one in parameters)


def test_a_forgotten_or_unknown_constant_fails_where_the_metric_is_built() -> None:
    with pytest.raises(TypeError, match="data_range"):
        protocol(metrics={"psnr": {"infinite": "count"}}).build_metrics()
    with pytest.raises(TypeError, match="peak"):
        protocol(metrics={"mse": {"peak": 1.0}}, primary=("mse", "frame")).build_metrics()


def test_a_score_for_missing_predictions_is_of_its_metrics_and_a_number() -> None:
    with pytest.raises(UnknownNameError, match="metric of protocol 'mine': 'pnsr', did you mean 'psnr'"):
        protocol(missing={"pnsr": 0.0})
    with pytest.raises(ValidationError, match="cannot score NaN in 'psnr'; leave 'psnr' out"):
        protocol(missing={"psnr": math.nan})


def test_infinite_values_stay_where_a_missing_prediction_scores_infinity() -> None:
    assert (protocol().infinite_rule("psnr"), protocol().infinite_rule("mse")) == ("count", "count")
    assert protocol(missing={"mse": math.inf}).infinite_rule("mse") == "keep"
    assert protocol(missing={"mse": 1.0}).infinite_rule("mse") == "count"
    largest = {"psnr": {"data_range": 1.0, "infinite": "largest_finite"}}
    assert protocol(metrics=largest).infinite_rule("psnr") == "largest_finite"


def test_infinity_is_text_in_json_and_a_number_in_python() -> None:
    made = protocol(missing={"mse": math.inf, "psnr": 0.0})
    assert '"missing":{"mse":"inf","psnr":0.0}' in canonical_json(made.model_dump(mode="json"))
    assert Protocol.model_validate(made.model_dump(mode="json")) == made
    assert made.missing["mse"] == math.inf
