"""Effects and response curves in `view`: those of `eval diagnose`, of the items, methods and quantity that are looked at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inpaintbench import manifest
from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.looked_at import looked_at
from inpaintbench.eval.diagnosis import diagnose
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Score
from inpaintbench.workbench.diagnosing import plots, results_of
from inpaintbench.workbench.finding import opened
from inpaintbench.workbench.server import Bench
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")
QUERY = {"runs": ["0/run"]}
METHODS = ["navier_stokes", "telea"]


@pytest.fixture
def bench(pairs: Path, tmp_path: Path) -> Bench:
    return Bench([pairs], tmp_path)


def asked(**changes: Any) -> dict[str, Any]:
    return {"key": "psnr/hole", "methods": METHODS, "items": list(range(16)), **changes}


def whole_of(bench: Bench) -> Results:
    joined = bench.joined(QUERY)
    return results_of(joined, opened(bench.folders.place(joined.root)), Quantity("psnr", "hole"), METHODS, range(16))


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
    drawn = bench.effects_page(QUERY, asked())
    assert drawn.count('class="effect"') == 1
    assert drawn.count('class="forest"') == 2
    assert drawn.count('class="strip response"') == len({one["fact"] for one in told["curves"]})


def test_curves_of_an_attribute_share_their_scale() -> None:
    (plot,) = plots(
        [
            {"fact": "size", "label": "Size", "method": name, "at": [0, 2], "mean": mean, "low": [-9, -9], "high": [9, 9]}
            for name, mean in (("telea", [1.0, 3.0]), ("blank", [2.0, 2.0]))
        ],
        decimals=1,
    )
    assert (plot["ends"], plot["told"]) == ([0, 2], "telea: 1.0 at 0, 3.0 at 2; blank: 2.0 at 0, 2.0 at 2")
    # A room of 0.3 of the range above and below: 1 lies at 0.6 / 3.2 of the height.
    assert [line for _, _, line in plot["lines"]] == ["0.0,81.2 100.0,18.8", "0.0,50.0 100.0,50.0"]
    assert plot["lines"][0][1] == "0.0,0.0 100.0,0.0 100.0,100.0 0.0,100.0"


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


def test_what_is_said_of_a_method_is_the_same_whichever_others_are_hidden(bench: Bench) -> None:
    whole = bench.diagnosis(QUERY, asked())
    for name in METHODS:
        alone = bench.diagnosis(QUERY, asked(methods=[name]))
        assert [row["effects"] for row in alone["rows"]] == [{name: row["effects"][name]} for row in whole["rows"]]
        assert alone["sentences"] == [words for words in whole["sentences"] if words.startswith(name)]
        assert {one["method"] for one in alone["curves"]} <= {name}
    told = bench.effects_page(QUERY, asked(methods=["telea"]))
    assert (
        f"all {len(looked_at(whole_of(bench)))} comparisons on 16 items: of every step, slice and pair of all 2 methods" in told
    )
    hidden = bench.diagnosis(QUERY, asked(methods=["telea"], base="navier_stokes"))
    assert set(hidden["rows"][0]["effects"]) == {"telea"}


def test_bars_of_effects_end_where_their_intervals_end(bench: Bench) -> None:
    (row,) = bench.diagnosis(QUERY, asked())["rows"]
    most = max(abs(one[end]) for one in row["effects"].values() for end in ("low", "high"))
    page = bench.effects_page(QUERY, asked())
    bars = re.findall(r'class="reach" style="left: ([\d.]+)%; right: ([\d.]+)%"', page)
    wanted = [[50 + 48 * one["low"] / most, 50 - 48 * one["high"] / most] for one in row["effects"].values()]
    assert np.array(bars, float) == pytest.approx(np.array(wanted), abs=0.01)


@pytest.mark.parametrize("key", ["d|telea", "v|telea", "s|ssim/hole|telea", "any", "mean", "spread"])
def test_nothing_is_claimed_of_items_that_were_chosen_by_their_scores(bench: Bench, key: str) -> None:
    chosen, free = (asked(base="navier_stokes", filters=ones) for ones in (["a|frames", key], ["a|frames"]))
    (row,), (whole,) = (bench.diagnosis(QUERY, one)["rows"] for one in (chosen, free))
    for name, one in row["effects"].items():
        assert (one["value"], one["low"], one["high"], one["told"]) == (whole["effects"][name]["value"], None, None, False)
    for made in (bench.effects_page, bench.leads_page):
        told, sure = (re.sub(r"<title>|<[^>]*>", "", made(QUERY, one)) for one in (chosen, free))
        assert "chosen by the scores themselves, so nothing is claimed" in told
        assert "chosen by the scores" not in sure
        assert re.search(r"\(\S+ to \S+\)", sure)
        assert not re.search(r"\(\S+ to \S+\)", told)
        assert "beyond chance" not in told
        assert "<polygon" not in made(QUERY, chosen)
    lead, same = (next(one for one in bench.leads(QUERY, each)["rows"] if one["lead"])["lead"] for each in (chosen, free))
    assert (lead["mean"], lead["interval_low"]) == (same["mean"], None)
    assert same["interval_low"] is not None


def test_a_fact_is_told_by_one_comparison_with_one_interval(bench: Bench) -> None:
    for base, told in (("", METHODS), ("telea", ["navier_stokes"]), ("navier_stokes", ["telea"])):
        found = bench.diagnosis(QUERY, asked(base=base))
        (row,) = found["rows"]
        assert list(row["effects"]) == told
        sure = {name: one for name, one in row["effects"].items() if one["told"]}
        assert len(found["sentences"]) == len(sure)
        for words in found["sentences"]:
            name = words.removeprefix(f"Against {base}, ").split()[0]
            ends = sorted(abs(sure[name][end]) for end in ("low", "high"))
            assert f"{ends[0]:.2f} to {ends[1]:.2f}" in words
            assert ("gains" in words) == (sure[name]["value"] > 0)
            assert words.startswith("Against") == bool(base)
    assert f"less {base}" in bench.effects_page(QUERY, asked(base=base))


@pytest.mark.parametrize("changes", [{"key": "nothing/hole"}, {"methods": ["nobody"]}, {"items": [99]}, {"items": []}])
def test_what_is_not_there_has_no_effects(bench: Bench, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="there are no such items"):
        bench.diagnosis(QUERY, asked(**changes))


def test_the_other_item_of_a_pair_is_called_by_its_level(bench: Bench) -> None:
    joined = bench.joined(QUERY)
    low, high = (joined.ids[place] for place in joined.pairs["axis.size"][0])
    _, _, parts = bench.film({**QUERY, "item": [low], "beside": [high]})
    names = [part.name for part in parts]
    assert names == [name for part in ("truth", "input", *METHODS) for name in (part, f"{part} (high)")]
    assert bench.film({**QUERY, "item": [high], "beside": [low]})[2][-1].name == "telea (low)"
