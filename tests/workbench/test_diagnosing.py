"""Effects and response curves in `view`: those of `eval diagnose`, of the items, methods and quantity that are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inpaintbench import manifest
from inpaintbench.errors import InputError
from inpaintbench.eval.diagnosis import diagnose
from inpaintbench.eval.protocols.devil import CORRECTED
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Score
from inpaintbench.workbench.server import Bench
from inpaintbench.workspace import Workspace

QUERY = {"runs": ["0/run"]}
METHODS = ["navier_stokes", "telea"]


@pytest.fixture
def bench(pairs: Path, tmp_path: Path) -> Bench:
    return Bench([pairs], tmp_path)


def asked(**changes: Any) -> dict[str, Any]:
    return {"key": "psnr/hole", "methods": METHODS, "items": list(range(16)), **changes}


def test_effects_are_those_of_the_diagnosis(bench: Bench, pairs: Path) -> None:
    stored = Workspace(pairs / "run", create=False).table("scores", Score)
    rows = [row for row in stored if (row.metric, row.region) == ("psnr", "hole")]
    whole = diagnose(Results(manifest.load(pairs / "data"), rows, protocol=CORRECTED))
    known = {one.one: one for one in whole.effects if one.kind == "factor" and not one.other}
    told = bench.diagnosis(QUERY, asked())
    (row,) = told["rows"]
    assert (row["fact"], row["levels"], row["kind"]) == ("axis.size", ["low", "high"], "paired")
    assert set(row["effects"]) == set(known) == set(METHODS)
    for name, one in row["effects"].items():
        assert one["value"] == pytest.approx(known[name].value)
        assert (one["low"], one["high"]) == pytest.approx((known[name].low, known[name].high))
        assert (one["told"], one["n"]) == (known[name].told, 8)
    joined = bench.joined(QUERY)
    places = [joined.ids.index(item) for item in row["pair"]]
    assert places in joined.pairs["axis.size"]
    assert [len(group) for group in joined.pairs["axis.size"]] == [2] * 8


def test_effects_follow_the_filter_the_methods_and_the_base(bench: Bench) -> None:
    some = [place for group in bench.joined(QUERY).pairs["axis.size"][:6] for place in group]
    (row,) = bench.diagnosis(QUERY, asked(items=some, methods=["telea"]))["rows"]
    assert {name: one["n"] for name, one in row["effects"].items()} == {"telea": 6}
    own = {name: one["value"] for name, one in bench.diagnosis(QUERY, asked())["rows"][0]["effects"].items()}
    (row,) = bench.diagnosis(QUERY, asked(base="telea"))["rows"]
    assert row["effects"]["navier_stokes"]["value"] == pytest.approx(own["navier_stokes"] - own["telea"])
    few = bench.diagnosis(QUERY, asked(items=some[:4]))
    assert few["rows"] == []
    assert any("2 sources" in words for words in few["without"])


@pytest.mark.parametrize("changes", [{"key": "nothing/hole"}, {"methods": ["nobody"]}, {"items": [99]}, {"items": []}])
def test_what_is_not_there_has_no_effects(bench: Bench, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="there are no such items"):
        bench.diagnosis(QUERY, asked(**changes))


def test_the_other_item_of_a_pair_is_called_by_its_level(bench: Bench) -> None:
    joined = bench.joined(QUERY)
    low, high = (joined.ids[place] for place in joined.pairs["axis.size"][0])
    _, _, parts = bench.film({**QUERY, "item": [low], "beside": [high]})
    names = [part.name for part in parts]
    assert names == ["truth", "input", *METHODS, "truth (high)", "navier_stokes (high)", "telea (high)"]
    assert bench.film({**QUERY, "item": [high], "beside": [low]})[2][-1].name == "telea (low)"
