"""Damage never gains a place, by any quantity of any protocol that can rank."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
from damaged_places import DAMAGES, Field, films, ranking_metrics
from never_better import CLAIMS, EXEMPT
from of_wings import names_of_the_core

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.tables import Results

# With four methods eight sources are the fewest that a test tells apart after its correction.
ENOUGH = 8


def asks(name: str) -> bool:
    """Whether a protocol has a quantity that is asked for: published tables are not, by diagnostic metrics."""
    protocol = PROTOCOLS.get(name)
    return any(not (protocol.follows and METRICS.get(metric).diagnostic) for metric in ranking_metrics(protocol))


FILMED = [name for name in names_of_the_core(PROTOCOLS) if asks(name)]


@pytest.fixture(scope="module")
def field(assets: Path) -> Field:
    return Field(films(assets / "videos", ENOUGH))


def check_asked(names: Collection[str], *, said: Collection[str], unproved: Collection[str]) -> None:
    """Every metric that ranks under some protocols is asked, or proved to be best at the truth, or says why neither."""
    protocols = [PROTOCOLS.get(name) for name in names]
    ranking = {
        name for protocol in protocols for name in protocol.metrics
        if METRICS.get(name).ranked and not METRICS.get(name).diagnostic
    }  # fmt: skip
    asked = {name for protocol in protocols for name in ranking_metrics(protocol)}
    assert ranking - asked <= set(said) | set(unproved)
    assert set(unproved) <= ranking
    # What knows neither truth, nor input, nor prompt has no bound that damage could not pass.
    free = {name for name in ranking if not {"truth", "input", "prompts"} & set(METRICS.get(name).needs)}
    assert {name for name in free if not METRICS.get(name).command} == set()


def test_every_metric_that_ranks_is_asked_or_says_why_not() -> None:
    check_asked(names_of_the_core(PROTOCOLS), said={*CLAIMS, *EXEMPT}, unproved=())


def test_freezing_a_hole_gains_no_place_and_would_without_the_gate(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    corrected = PROTOCOLS.get("devil/corrected")
    count, found = field.gains(corrected, kinds=["freeze"])
    assert count > 100
    assert found == []
    monkeypatch.setattr(Results, "gated", lambda results, quantity: False)
    _, ungated = field.gains(corrected, kinds=["freeze"])
    assert {gain.quantity.metric for gain in ungated} == {"pcons"}  # `bench/damaged_places.py` counts what other damage would


@pytest.mark.long
@pytest.mark.parametrize("name", FILMED)
def test_no_damage_gains_a_place(field: Field, name: str) -> None:
    count, found = field.gains(PROTOCOLS.get(name), kinds=tuple(DAMAGES))
    assert count >= 2 * 2 * len(DAMAGES)
    assert found == []
