"""What can be looked at together: common items under a common protocol, or a sentence that says why not."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from tests.workbench.conftest import RUNS

from inpaintbench import manifest
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.unfinished import Plan
from inpaintbench.frozen import GROUP
from inpaintbench.pages.words import signed
from inpaintbench.steps import predict_step
from inpaintbench.types import Attribute, Clip, Item, Prediction, Score, Slice
from inpaintbench.workbench.finding import Folders
from inpaintbench.workbench.joining import Joined, chance_of, of_board, of_dataset, of_runs, of_workspace, progress
from inpaintbench.workbench.server import Bench
from inpaintbench.workspace import Workspace


def joined(folder: Path, *names: str, protocol: str = "") -> Joined:
    folders = Folders([folder])
    return of_runs(folders, folders.things(), [f"0/{name}" for name in names], protocol)


def head(packed: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(packed[4 : 4 + int.from_bytes(packed[:4], "little")])
    return found


def test_every_pair_of_six_runs_stands_side_by_side(world: Path) -> None:
    pairs = list(combinations(RUNS, 2))
    assert len(pairs) == 15
    for one, other in pairs:
        found = joined(world, f"runs/{one}", f"runs/{other}")
        assert {method.run for method in found.methods} == {f"0/runs/{one}", f"0/runs/{other}"}
        assert [method.name for method in found.methods if method.label == "telea"] == [f"telea · {one}", f"telea · {other}"]
        assert len(found.ids) == 3
        assert "3 items of 3 sources" in found.sentences[0]


def test_items_are_read_once_for_whatever_is_put_beside_them(world: Path) -> None:
    first, second = joined(world, "runs/a"), joined(world, "runs/b")
    assert first.facts is second.facts is of_dataset(Folders([world]), "0/waves").facts
    assert (first.methods, first.values.keys()) != (second.methods, second.values.keys())


def test_values_are_those_of_the_run(world: Path) -> None:
    found, rows = joined(world, "runs/a"), Workspace(world / "runs" / "a", create=False).table("scores", Score)
    known = {(f"{row.metric}/{row.region}", row.method, row.item_id): row.value for row in rows if row.value is not None}
    assert len(known) > 50
    for (key, method, item), value in known.items():
        assert found.values[key, method][found.ids.index(item)] == value
    assert found.default == "psnr/hole"
    assert [one.name for one in found.methods if one.reference] == ["blank"]


def test_columns_are_packed_as_the_browser_reads_them(world: Path) -> None:
    found = joined(world, "runs/a")
    packed = found.packed
    told, start = head(packed), 4 + int.from_bytes(packed[:4], "little")
    assert start % 4 == 0
    column = np.frombuffer(packed, np.float32, count=3, offset=start + told["values"]["psnr/hole|telea"])
    assert column.tolist() == found.values["psnr/hole", "telea"].astype(np.float32).tolist()
    assert told["ids"] == found.ids


def test_a_method_keeps_its_look_whatever_runs_are_shown(world: Path) -> None:
    alone, several = joined(world, "runs/b").styles, joined(world, "runs/b", "runs/c", "runs/d").styles
    of_run = {name: [several[f"{name} · {run}"] for run in "bcd"] for name in alone}
    for name, (first, *others) in of_run.items():
        assert first == alone[name]
        assert {one.marker for one in others} == {first.marker}
        assert all(first.colour in one.colour for one in others)
        assert len({tuple(one.dash) for one in (first, *others)}) == len({one.colour for one in (first, *others)}) == 3
    assert len({(one.colour, one.marker) for one in several.values()}) == len(several)


def test_clips_cut_from_one_picture_are_of_one_source(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "footage")
    clips = [Clip(f"c{at}", f"s{at}", 0, 3, 25.0, 64, 48, 3, "", "", "", 0, 99.0) for at in range(3)]
    workspace.write_table("clips", "cut", clips, Clip)
    groups = [Attribute(f"s{at}", GROUP, name, None, "test", "1") for at, name in enumerate(("cup", "cup", "cat"))]
    workspace.write_table("attributes", "known", groups, Attribute)
    assert of_workspace(Folders([tmp_path]), "0/footage").sentences == ["Workspace footage: 3 clips of 2 sources, 0 dropped."]


def test_runs_of_unlike_datasets_are_not_compared(world: Path) -> None:
    with pytest.raises(InputError, match=r"waves.* and other.* have no item in common; 3 have the same id and other pixels"):
        joined(world, "runs/a", "of_other")


def test_runs_of_two_versions_are_compared_on_what_both_have(world: Path) -> None:
    found = joined(world, "runs/a", "of_later")
    assert found.ids == ["i0", "i1"]
    assert (
        "compared on the 2 items of 2 sources that all have with the same pixels; 1 item changed in between" in found.sentences[0]
    )
    assert found.values["psnr/hole", "telea · a"].tolist() == found.values["psnr/hole", "telea · of_later"].tolist()


def test_scores_of_other_protocols_are_not_compared(own: Path) -> None:
    _rewritten(own / "runs" / "b", protocol="lama")
    with pytest.raises(InputError, match=r"have no protocol in common \(a under devil/corrected; b under lama\)"):
        joined(own, "runs/a", "runs/b")


def _rewritten(run: Path, **fields: str) -> None:
    workspace = Workspace(run, create=False)
    for step in workspace.steps("scores"):
        rows = [replace(row, **fields) for row in workspace.table("scores", Score, step=step)]  # type: ignore[arg-type]
        workspace.write_table("scores", step, rows, Score)


def test_other_constants_of_one_protocol_are_not_compared(own: Path) -> None:
    _rewritten(own / "runs" / "b", fingerprint="0" * 12)
    with pytest.raises(InputError, match="had other constants, versions or precisions in these runs"):
        joined(own, "runs/a", "runs/b")


def test_scores_of_two_precisions_in_one_run_are_not_told_to_be_measured_alike(own: Path) -> None:
    """As it is left where a run goes on on a processor that has no bfloat16, and is stopped after one method."""
    [sentence] = [one for one in joined(own, "runs/a").sentences if one.startswith("All are measured by devil/corrected")]
    constants = sentence.partition("(constants ")[2].rstrip(").")
    workspace = Workspace(own / "runs" / "a", create=False)
    step = next(one for one in workspace.steps("scores") if one.endswith("telea"))
    rows = [replace(row, fingerprint=f"{row.fingerprint}+bf16") for row in workspace.table("scores", Score, step=step)]
    workspace.write_table("scores", step, rows, Score)
    [sentence] = [one for one in joined(own, "runs/a").sentences if "measured" in one]
    assert sentence.startswith("Not all are measured alike by devil/corrected")
    assert {constants, f"{constants}+bf16"} <= set(re.findall(r"[\w+]+", sentence))


def test_a_run_under_two_protocols_stands_beside_others_under_the_one_that_all_have(own: Path) -> None:
    workspace = Workspace(own / "runs" / "b", create=False)
    step = next(one for one in workspace.steps("scores") if one.endswith("telea"))
    rows = [replace(row, protocol="lama", value=7.0) for row in workspace.table("scores", Score, step=step)]
    workspace.write_table("scores", "score.lama.telea", rows, Score)
    alone = joined(own, "runs/b")
    assert (alone.protocol, set(alone.protocols)) == ("devil/corrected", {"devil/corrected", "lama"})
    other = joined(own, "runs/b", protocol="lama")
    assert sorted(one.label for one in other.methods) == ["navier_stokes", "telea"]
    assert set(other.values["psnr/hole", "telea"]) == {7.0}
    assert np.isnan(other.values["psnr/hole", "navier_stokes"]).all()
    both = joined(own, "runs/a", "runs/b")
    assert (both.protocol, both.protocols) == ("devil/corrected", ["devil/corrected"])
    assert 7.0 not in both.values["psnr/hole", "telea · b"]
    with pytest.raises(InputError, match="not all of a, b were scored under lama"):
        joined(own, "runs/a", "runs/b", protocol="lama")


def test_what_failed_is_told_before_anything_is_scored(own: Path) -> None:
    shutil.rmtree(own / "runs" / "b" / "tables" / "scores")
    workspace = Workspace(own / "runs" / "b", create=False)
    step = predict_step("telea")
    rows = [row for row in workspace.table("predictions", Prediction, step=step) if row.item_id != "i1"]
    workspace.write_table("predictions", step, rows, Prediction)
    workspace.write_table("rejected", step, [Rejection("i1", step, "i1", "it was too hard")], Rejection)
    found = joined(own, "runs/b")
    assert found.failures == [([one.label for one in found.methods].index("telea"), found.ids.index("i1"), "it was too hard")]


def test_a_run_without_anything_shows_the_items_and_says_so_beside_others(own: Path) -> None:
    Workspace(own / "runs" / "empty")
    shutil.copy(own / "runs" / "a" / "dataset.sha256", own / "runs" / "empty")
    alone = joined(own, "runs/empty")
    assert (alone.kind, alone.methods, len(alone.ids)) == ("run", [], 3)
    beside = joined(own, "runs/a", "runs/empty")
    assert [one.run for one in beside.methods] == ["0/runs/a"] * 2
    assert any(one.startswith("Nothing was scored yet in empty") for one in beside.sentences)


def test_what_is_predicted_alone_stands_beside_what_is_scored(own: Path) -> None:
    shutil.rmtree(own / "runs" / "b" / "tables" / "scores")
    found = joined(own, "runs/a", "runs/b")
    assert {one.name for one in found.methods} == {"telea · a", "blank", "telea · b", "navier_stokes"}
    assert np.isnan(found.values["psnr/hole", "telea · b"]).all()
    assert not np.isnan(found.values["psnr/hole", "telea · a"]).any()
    words = f"`inpaintbench eval run --for scores {own / 'waves'} --run {own / 'runs' / 'b'}`"
    assert f"Nothing was scored yet in b: {words}." in found.sentences


def test_a_method_that_is_predicted_and_not_scored_stands_beside_those_that_are(own: Path, tmp_path: Path) -> None:
    """Its films play and what failed is told, whatever else of its run has scores, also while it predicts."""
    workspace = Workspace(own / "runs" / "b", create=False)
    step = predict_step("telea")
    [scored] = [one for one in workspace.steps("scores") if one.endswith("telea")]
    (workspace.path / "tables" / "scores" / f"{scored}.parquet").unlink()
    rows = workspace.table("predictions", Prediction, step=step)
    workspace.write_table("predictions", step, [row for row in rows if row.item_id != "i1"], Prediction)
    workspace.write_table("rejected", step, [Rejection("i1", step, "i1", "it was too hard")], Rejection)
    none = predict_step("none")  # all of it failed, so that there is no table of predictions
    workspace.write_table("rejected", none, [Rejection("i0", none, "i0", "no memory")], Rejection)
    (tmp_path / "cache").mkdir()
    bench, query = Bench([own], tmp_path / "cache"), {"runs": ["0/runs/b"]}
    found = bench.joined(query)
    names = [one.name for one in found.methods]
    assert sorted(names) == ["navier_stokes", "none", "telea"]
    assert not np.isnan(found.values["psnr/hole", "navier_stokes"]).any()
    assert np.isnan(found.values["psnr/hole", "telea"]).all()
    failures = {(names[method], found.ids[item], why) for method, item, why in found.failures}
    assert failures == {("telea", "i1", "it was too hard"), ("none", "i0", "no memory")}
    words = f"`inpaintbench eval run --for scores {own / 'waves'} --run {own / 'runs' / 'b'}`"
    assert f"Not scored yet in b are none and telea: {words}." in found.sentences
    told = bench.leads(query, {"key": "psnr/hole", "items": [0, 1, 2]})
    assert len(told["films"]) == 3
    effects = bench.diagnosis(query, {"key": "psnr/hole", "items": [0, 1, 2], "methods": names, "base": "telea"})
    assert effects["rows"] == []
    shown = bench.shown(query | {"item": ["i0"]})
    assert [one["label"] for one in shown["players"]][2:] == [name for name in names if name != "none"]


def test_a_method_that_predicts_is_listed_among_those_that_are_scored(own: Path, tmp_path: Path) -> None:
    run = own / "runs" / "b"
    workspace = Workspace(run, create=False)
    step = predict_step("telea")
    keys = workspace.ledger(step, Prediction).columns(Prediction).columns["key"].to_pylist()
    [scored] = [one for one in workspace.steps("scores") if one.endswith("telea")]
    (run / "tables" / "predictions" / f"{step}.parquet").rename(tmp_path / "predicted")
    (run / "tables" / "scores" / f"{scored}.parquet").rename(tmp_path / "scored")
    (tmp_path / "cache").mkdir()
    bench, query = Bench([own], tmp_path / "cache"), {"runs": ["0/runs/b"]}
    assert [one.label for one in bench.joined(query).methods] == ["navier_stokes"]
    items = ["i0", "i1", "i2"]
    plan = Plan(step, "predictions", Prediction, pa.table({"key": keys, "subject_id": items, "name": items}), [])
    plan.begin(workspace)
    assert [one.label for one in bench.joined(query).methods] == ["navier_stokes", "telea"]
    ledger = workspace.ledger(step, Prediction)
    ledger.append({"key": keys[1], "status": "failed", "reason": "it was too hard", "finished_at": 2e9})
    ledger.close()
    found = bench.joined(query)
    assert found.failures == [(1, 1, "it was too hard")]
    plan.end(workspace)
    (tmp_path / "predicted").rename(run / "tables" / "predictions" / f"{step}.parquet")
    assert [one.label for one in bench.joined(query).methods] == ["navier_stokes", "telea"]  # what was listed is seconds old
    (tmp_path / "scored").rename(run / "tables" / "scores" / f"{scored}.parquet")
    found = bench.joined(query)
    assert not np.isnan(found.values["psnr/hole", "telea"]).any()


def test_means_stand_beside_each_other_over_common_items(own: Path, tmp_path: Path) -> None:
    found = joined(own, "runs/a", "runs/b")
    found.values["psnr/hole", "telea · b"] = np.array([np.nan, 30.0, np.nan])
    found.values["psnr/hole", "navier_stokes"] = np.full(3, np.nan)
    names = [one.name for one in found.methods]
    assert found.common("psnr/hole", names, [0, 1, 2]) == [1]
    assert found.common("psnr/hole", ["telea · a", "blank"], [2, 0]) == [2, 0]
    assert found.common("psnr/hole", ["navier_stokes"], [2, 0]) == [2, 0]
    (tmp_path / "cache").mkdir()
    bench = Bench([own], tmp_path / "cache")
    with mock.patch.object(bench, "joined", return_value=found):
        asked = {"key": "psnr/hole", "items": [0, 1, 2], "base": "blank"}
        rows = bench.leads({}, asked)["rows"]
        assert {row["name"]: row["mean"]["n"] for row in rows} == dict.fromkeys(names, 1) | {"navier_stokes": 0}
        assert rows[0]["note"] == "All means are over the 1 item of 3 that every shown method has a value of."
        rows = bench.leads({}, asked | {"methods": ["blank", "telea · a"]})["rows"]
        assert {row["mean"]["n"] for row in rows if row["name"] in ("blank", "telea · a")} == {3}
        assert rows[0]["note"] == ""


def test_what_changed_beyond_chance_in_further_metrics_is_told_beside_the_one_that_is_looked_at(
    own: Path, tmp_path: Path
) -> None:
    found = joined(own, "runs/a")
    keys = [one.key for one in found.quantities if one.ranked and one.region == "hole"]
    noise = np.random.default_rng(0).normal(size=12)
    each = [str(place) for place in range(12)]
    found = replace(found, ids=each, sources=each, names=each)
    for one in found.quantities:
        for name, less in (("telea", 0.0), ("blank", noise if one.key == keys[0] else 1 + 0.1 * noise)):
            found.values[one.key, name] = np.zeros(12) + less
    bases = {"telea": "blank", "blank": ""}
    told = found.elsewhere(keys[0], bases, list(range(12)))["telea"]
    assert [one.key for one, _ in told][: len(keys) - 1] == keys[1:]
    assert all(lead.mean == pytest.approx(-1, abs=0.1) and lead.interval_high < 0 for _, lead in told)
    assert keys[0] not in {one.key for one, _ in found.elsewhere(keys[1], bases, list(range(12)))["telea"]}  # is chance
    (tmp_path / "cache").mkdir()
    bench = Bench([own], tmp_path / "cache")
    with mock.patch.object(bench, "joined", return_value=found):
        page = bench.leads_page({}, {"key": keys[0], "items": list(range(12)), "base": "blank"})
    one = told[0][0]
    assert f"{one.label} {signed(told[0][1].mean, one.decimals)} {'worse' if one.higher else 'better'}</span>" in " ".join(
        page.split()
    )


def test_what_is_told_of_further_metrics_is_corrected_for_all_that_is_looked_at(own: Path) -> None:
    """A difference whose own interval just leaves out 0 is no news among many; alone it is."""
    found = joined(own, "runs/a")
    measures = {one.metric: one for one in found.quantities if one.ranked}
    each, noise = [str(place) for place in range(12)], np.random.default_rng(3).normal(size=12)
    found = replace(found, ids=each, sources=each, names=each, quantities=list(measures.values()))
    [first, second, *others] = found.quantities
    assert len(others) > 2
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    for one in found.quantities:
        found.values[one.key, "telea"] = np.zeros(12)
        found.values[one.key, "blank"] = noise + (0.8 if one is second else 0)
    lead = found.lead(second.key, "blank", "telea", range(12))
    assert lead.interval_low > 0
    assert 0.01 < chance_of(lead) < 0.05
    bases = {"blank": "telea", "telea": ""}
    assert found.elsewhere(first.key, bases, range(12)) == {"blank": [], "telea": []}
    found.quantities = [first, second]
    assert found.elsewhere(first.key, bases, range(12)) == {"blank": [(second, lead)], "telea": []}


def test_a_name_that_a_run_had_before_goes_on_to_mean_it(own: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    bench = Bench([own], tmp_path / "cache")
    bench.notes.annotate("run 0/runs/a", {"name": "Monday"})
    before = bench.listed_page()["running"]
    [telea, *_] = [one for one in bench.joined({"runs": ["0/runs/a", "0/runs/b"]}).methods if one.run == "0/runs/a"]
    assert telea.name == "telea · Monday"
    assert {"telea", "telea · a", "telea · 0/runs/a"} <= {*telea.also}
    bench.notes.annotate("run 0/runs/a", {"name": "Tuesday"})
    assert bench.listed_page()["running"] != before  # by which open pages look again


def test_a_workspace_is_read_again_when_it_grows(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "ours" / "footage")
    clips = [Clip(f"c{at}", f"s{at}", 0, 3, 25.0, 64, 48, 3, "", "", "", 0, 99.0) for at in range(3)]
    workspace.write_table("clips", "cut", clips[:1], Clip)
    (tmp_path / "cache").mkdir()
    bench, query = Bench([tmp_path / "ours"], tmp_path / "cache"), {"workspace": ["0/footage"]}
    assert len(bench.joined(query).ids) == 1
    workspace.write_table("clips", "cut", clips, Clip)
    assert len(bench.joined(query).ids) == 3
    assert bench.joined(query).slices == []
    workspace.write_table("items", "made", [Item("i0", "c0", "h0")], Item)
    workspace.write_table("slices", "made", [Slice("low", "size", ("i0",))], Slice)
    assert bench.joined(query).slices == [("low", "size", [0])]


def test_films_stand_from_the_worst_by_the_methods_that_are_shown(own: Path) -> None:
    found = joined(own, "runs/a")
    measure = next(one for one in found.quantities if one.key == "psnr/hole")
    found.values["psnr/hole", "telea"] = np.array([30.0, 20.0, np.nan])
    found.values["psnr/hole", "blank"] = np.array([10.0, 16.0, 1.0])
    found.names, found.sources = ["a", "b", "c"], ["1", "2", "3"]
    assert found.films(measure, ["telea"], [0, 1, 2]) == [("b", 20.0, 1), ("a", 30.0, 1)]
    assert found.films(measure, ["telea", "blank"], [0, 1]) == [("b", 18.0, 1), ("a", 20.0, 1)]
    assert found.films(measure._replace(higher=False), ["telea"], [0, 1]) == [("a", 30.0, 1), ("b", 20.0, 1)]
    found.sources = ["1", "1", "3"]
    assert found.films(measure, ["telea"], [0, 1, 2]) == [("a", 25.0, 2)]


def test_films_count_a_method_once_however_many_runs_have_it(own: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    bench, query = Bench([own], tmp_path / "cache"), {"runs": ["0/runs/a", "0/runs/b"]}
    asked = {"key": "psnr/hole", "items": [0, 1, 2]}
    told = bench.leads(query, asked)
    assert sorted(told["once"]) == ["navier_stokes", "telea · a"]
    once = bench.leads(query, asked | {"methods": ["telea · a", "navier_stokes"]})
    assert once["once"] == []
    assert told["films"] == once["films"]
    assert "telea · a" in (words := bench.leads_page(query, asked).partition("by the mean of ")[2])
    assert "so that each method counts once" in words


def test_a_damaged_table_is_one_sentence_and_hides_nothing_else(own: Path, tmp_path: Path) -> None:
    for path in (own / "runs" / "b" / "tables" / "scores").glob("*.parquet"):
        path.write_bytes(b"no table")
    for path in (own / "runs" / "c" / "tables" / "predictions").glob("*.parquet"):
        path.write_bytes(b"")
    bench = Bench([own], tmp_path / "cache")
    told = {one["key"]: one["what"] for one in bench.listed()["things"] if one["kind"] == "run"}
    assert set(told) == {*(f"0/runs/{name}" for name in RUNS), "0/of_later", "0/of_other"}
    assert [key for key, what in told.items() if what.startswith("cannot be read")] == ["0/runs/b", "0/runs/c"]
    assert len(bench.joined({"runs": ["0/runs/a"]}).values) > 0
    for name in ("b", "c"):
        with pytest.raises((InpaintBenchError, pa.ArrowException)):
            bench.joined({"runs": [f"0/runs/{name}"]})


def test_a_run_whose_dataset_is_elsewhere_says_so(own: Path) -> None:
    shutil.rmtree(own / "waves")
    with pytest.raises(InputError, match="the dataset of run a is not below these folders"):
        joined(own, "runs/a")


def test_differences_are_paired_and_have_no_interval_from_few_sources(world: Path) -> None:
    found = joined(world, "runs/b")
    lead = found.lead("psnr/hole", "navier_stokes", "telea", [0, 1, 2])
    apart = found.values["psnr/hole", "navier_stokes"] - found.values["psnr/hole", "telea"]
    assert lead.mean == pytest.approx(apart.mean())
    assert lead.interval_low is None
    assert lead.reason is not None
    assert "3 sources" in lead.reason
    assert any("needs at least 6" in one for one in found.sentences)


def test_columns_of_a_leaderboard_are_called_as_metrics_are(tmp_path: Path) -> None:
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "leaderboard.json").write_text("{}")
    facts = [{"method": name, "slice": "all", "n": at, "psnr": 30.0 + at, "psnr.place": at} for at, name in enumerate("ab")]
    rows = [{"id": fact["method"], "attributes": fact} for fact in facts]
    with mock.patch("inpaintbench.workbench.joining.attribute_at", return_value=lambda path: ("Board", "Of two.", rows)):
        found = of_board(Folders([tmp_path]), "0/board")
    assert [one.label for one in found.facts] == ["Method", "Items", "PSNR", "PSNR, place"]


def test_a_run_in_progress_shows_what_is_there(own: Path) -> None:
    """As `eval run` leaves it while it scores: a plan, a ledger, no table."""
    run = own / "runs" / "a"
    whole = joined(own, "runs/a")
    workspace = Workspace(run, create=False)
    assert progress(workspace) == []
    step = next(one for one in workspace.steps("scores") if one.endswith("telea"))
    keys = workspace.ledger(step, Score).columns(Score).columns["key"].to_pylist()
    tasks = pa.table({"key": keys, "subject_id": keys, "name": keys})
    Plan(step, "scores", Score, tasks, []).begin(workspace)
    (run / "tables" / "scores" / f"{step}.parquet").unlink()
    assert [(one["done"], one["tasks"]) for one in progress(workspace)] == [(3, 3)]
    found = joined(own, "runs/a")
    assert found.values["psnr/hole", "telea"].tolist() == whole.values["psnr/hole", "telea"].tolist()


def test_what_a_method_in_progress_has_predicted_plays(own: Path, tmp_path: Path) -> None:
    run = own / "runs" / "b"
    workspace = Workspace(run, create=False)
    step = predict_step("telea")
    keys = workspace.ledger(step, Prediction).columns(Prediction).columns["key"].to_pylist()
    Plan(step, "predictions", Prediction, pa.table({"key": keys, "subject_id": keys, "name": keys}), []).begin(workspace)
    (run / "tables" / "predictions" / f"{step}.parquet").unlink()
    shutil.rmtree(run / "tables" / "scores")
    (tmp_path / "cache").mkdir()
    bench = Bench([own], tmp_path / "cache")
    query = {"runs": ["0/runs/b"], "item": ["i1"]}
    assert [one.label for one in bench.joined(query).methods] == ["navier_stokes", "telea"]
    shown = bench.shown(query)
    assert [one["label"] for one in shown["players"]] == ["truth", "input", "navier_stokes", "telea"]
    assert shown["missing"] == {}


def test_a_dataset_is_looked_at_before_any_run(world: Path) -> None:
    found = of_dataset(Folders([world]), "0/waves")
    assert (found.kind, found.methods, len(found.ids)) == ("dataset", [], 3)
    assert [name for name, *_ in found.slices] == ["low", "high", "alone"]
    assert found.names == ["film 0.mp4", "film 1.mp4", "film 2.mp4"]
    assert manifest.load(world / "waves").name in found.title
