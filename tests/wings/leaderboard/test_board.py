"""Numbers of a board against sums and enumerations written here, and measuring again."""

from __future__ import annotations

import csv
import io
import itertools
import json
import shutil
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from methods_run import PROTOCOL, run_methods
from tests.wings.leaderboard.made import COUNT, Files, spoilt, submit

from inpaintbench import frozen
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.pages.tables import comma_separated, latex
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Score
from inpaintbench.wings.leaderboard.board import Board, Entry
from inpaintbench.wings.leaderboard.checking import Verdict, _compared, check_agrees, read_submission, verify
from inpaintbench.wings.leaderboard.pack import Sample, gather
from inpaintbench.wings.leaderboard.pages import slice_pages
from inpaintbench.wings.leaderboard.tables import score_table
from inpaintbench.wings.leaderboard.write import COLUMNS, board_csv, board_json
from inpaintbench.workspace import Workspace

CHOSEN = PROTOCOLS.get(PROTOCOL)
PSNR, SSIM = Quantity("psnr", "hole"), Quantity("ssim", "hole")
ITEMS = [f"item{number:02d}" for number in range(COUNT)]


def board_of(world: Path, folder: Path, sample: Sample | None = None) -> Board:
    return gather(folder, root=world / "data", protocol=CHOSEN, sample=sample, trusted=True)


@pytest.fixture(scope="module")
def board(world: Path) -> Board:
    return board_of(world, world / "submissions")


Values = dict[tuple[str, Quantity], dict[str, float]]


@pytest.fixture(scope="module")
def values(world: Path) -> Values:
    """(Method, quantity) -> item -> value, as the run folder has them."""
    found: Values = {}
    for row in Workspace(world / "run", create=False).table("scores", Score):
        if row.value is not None:
            found.setdefault((row.method, Quantity(row.metric, row.region)), {})[row.item_id] = row.value
    return found


LABELS = ("telea", "ns", "smooth")


def p_of_best(values: Values, items: Sequence[str], one: Quantity) -> tuple[str, dict[str, float]]:
    """The method of the best mean, and p of it against each other: all signs enumerated, Holm's correction over these two."""
    columns = {label: np.array([values[label, one][item] for item in items]) for label in LABELS}
    best = max(LABELS, key=lambda label: float(columns[label].mean()))
    signs, p = np.array(list(itertools.product((1, -1), repeat=len(items)))), {}
    for other in set(LABELS) - {best}:
        gaps = columns[best] - columns[other]
        p[other] = float(np.mean(np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-9))
    low, high = sorted(p, key=lambda other: p[other])
    return best, {low: min(1.0, 2 * p[low]), high: max(min(1.0, 2 * p[low]), p[high])}


def test_means_places_and_mean_places_are_those_of_a_calculation_by_hand(board: Board, values: Values) -> None:
    for part in board.slices:
        means = {
            (label, one): statistics.fmean(values[label, one][item] for item in part.item_ids)
            for label in LABELS for one in (PSNR, SSIM)
        }  # fmt: skip
        alike = {}
        for one in (PSNR, SSIM):
            best, p = p_of_best(values, part.item_ids, one)
            alike[one] = {best} | {other for other, found in p.items() if found >= 0.05}
        rows = board.rows(part, "hole")
        for row in rows:
            places = []
            for one in (PSNR, SSIM):
                own, label = means[row.entry.label, one], row.entry.label
                ahead = {other for other in LABELS if other in alike[one] or means[other, one] > own} - {label}
                places.append(1 if label in alike[one] else 1 + len(ahead))
                assert row.cells[one].summary.mean == pytest.approx(own, rel=1e-12)
                assert (row.cells[one].place, row.cells[one].best) == (places[-1], label in alike[one])
            assert row.mean == sum(places) / 2
        means_in_order = [row.mean for row in rows if row.mean is not None]
        assert means_in_order == sorted(means_in_order)
        assert len(means_in_order) == 3
    assert [part.name for part in board.slices] == ["all items", "hole_size-low", "hole_size-high"]
    assert board.regions == ["hole", "band", "frame"]


def test_tests_against_the_best_enumerate_all_signs_and_correct_for_the_comparisons_with_it(board: Board, values: Values) -> None:
    best, p = p_of_best(values, ITEMS, PSNR)
    for row in board.rows(board.slices[0], "hole"):
        cell, label = row.cells[PSNR], row.entry.label
        assert cell.best == (label == best or p[label] >= 0.05)
        if label == best:
            assert cell.test is None
        else:
            assert cell.test is not None
            assert cell.test.p_holm == pytest.approx(p[label], rel=1e-12)
            assert cell.least_p == pytest.approx(2 * 2 / 2**COUNT)


def test_six_sources_and_three_methods_cannot_be_told_apart(board: Board) -> None:
    cells = [row.cells[PSNR] for row in board.rows(board.slices[1], "hole")]
    assert [cell.least_p for cell in cells if cell.test] == [2 * 2 / 2**6] * 2
    assert all(cell.best and cell.place == 1 for cell in cells)


def test_the_first_is_told_from_others_only_where_a_test_of_a_counted_metric_tells_it(board: Board, values: Values) -> None:
    everything, few = board.slices[0], board.slices[1]
    placed = board.rows(everything, "hole")
    alike = []
    for row in placed[1:]:
        by = board.leads(everything, "hole", placed[0], row)
        alike += [] if by else [row]
        for one in (PSNR, SSIM):
            gaps = np.array([values[placed[0].entry.label, one][item] - values[row.entry.label, one][item] for item in ITEMS])
            signs = np.array(list(itertools.product((1, -1), repeat=COUNT)))
            p = float(np.mean(np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-9))
            assert not (one in by and (p >= 0.05 or gaps.sum() * (1 if one.higher_is_better else -1) <= 0))
            assert one in by or not (3 * p < 0.05 and gaps.sum() > 0)
    assert board.like_first(everything, "hole") == alike
    assert placed[-1].entry.label == "smooth"
    assert placed[-1] not in alike
    # With six sources a paired test of three methods tells nothing; beside everything else what is very clear is told.
    behind = board.rows(few, "hole")[1:]
    assert board.leads(few, "hole", board.rows(few, "hole")[0], behind[-1])
    html = slice_pages(board, title="T", notes="")
    front = html["index.html"].decode()
    words = "cannot be told apart" if alike else "by more than chance in "
    assert words in front.split('<dl class="cards">')[1].split("</dl>")[0]
    assert "12 items of 12 sources" in front


def left_out(item_id: str) -> Callable[[Files], None]:
    """As a run that failed on one item, the method's worst, says it."""

    def change(files: Files) -> None:
        header = json.loads(files["submission.json"])
        blob = header["predictions"].pop(item_id)["blob"]
        del header["measured"][item_id]["prediction"]
        header["failures"][item_id] = "the program ended with status 3"
        files.pop(f"predictions/{blob}", None)
        rows: list[dict[str, Any]] = [json.loads(line) for line in files["scores.jsonl"].splitlines()]
        for row in rows:
            if row["item_id"] == item_id:
                row |= {"value": None, "reason": "the program ended with status 3"}
        files["scores.jsonl"] = "\n".join(map(json.dumps, rows)).encode()
        files["submission.json"] = json.dumps(header).encode()

    return change


def test_leaving_out_a_hard_item_costs_the_place_where_the_item_counts(world: Path, values: Values, tmp_path: Path) -> None:
    hardest = min(ITEMS, key=lambda item: values["ns", PSNR][item])
    for label in ("telea", "smooth"):
        (tmp_path / f"{label}.zip").write_bytes((world / "submissions" / f"{label}.zip").read_bytes())
    spoilt(world / "submissions" / "ns.zip", tmp_path / "ns.zip", left_out(hardest))
    board = board_of(world, tmp_path)
    [entry] = [one for one in board.entries if one.label == "ns"]
    assert entry.missing == {hardest: "the program ended with status 3"}
    for part in board.slices:
        rows = {row.entry.label: row for row in board.rows(part, "hole")}
        own = rows["ns"]
        inside = hardest in part.item_ids
        assert own.cells[PSNR].left_out == int(inside)
        assert (own.cells[PSNR].place is None, own.place is None, own.reason is None) == (inside, inside, not inside)
        assert own.cells[PSNR].summary.mean == pytest.approx(
            statistics.fmean(values["ns", PSNR][item] for item in part.item_ids if item != hardest)
        )
        if inside:
            assert own.reason == "no place by PSNR in the hole, SSIM in the hole"
            assert {label: row.place for label, row in rows.items()}.keys() == {"ns", "telea", "smooth"}
            assert 1 in {row.place for row in rows.values()}


def test_one_submission_alone_cannot_take_places_from_others_by_values_that_nobody_else_has(world: Path, tmp_path: Path) -> None:
    """Values by another metric that most do not have count for nothing."""
    workspace = run_methods(world / "data", tmp_path / "run", {"more": "gaussian"}, metrics=["psnr", "ssim", "mse"])
    folder = tmp_path / "folder"
    submit(workspace, world / "data", "more", folder / "more.zip")
    for label in ("telea", "ns", "smooth"):
        (folder / f"{label}.zip").write_bytes((world / "submissions" / f"{label}.zip").read_bytes())
    board = board_of(world, folder)
    everything = board.slices[0]
    assert Quantity("mse", "hole") in board.quantities("hole")
    assert board.counted(everything, "hole") == [PSNR, SSIM]
    assert all(row.mean is not None for row in board.rows(everything, "hole"))


def test_labels_that_several_chose_are_told_apart_and_a_copy_is_left_out(world: Path, tmp_path: Path) -> None:
    whole = (world / "submissions" / "telea.zip").read_bytes()
    for name in ("a.zip", "b.zip"):
        (tmp_path / name).write_bytes(whole)
    spoilt(tmp_path / "a.zip", tmp_path / "c.zip", left_out("item01"))
    board = board_of(world, tmp_path)
    assert [entry.label for entry in board.entries] == ["telea (a)", "telea (c)"]
    assert [tuple(one) for one in board.refused] == [("b.zip", "it is the same as a.zip")]


def test_downloads_hold_every_mean_and_place(board: Board) -> None:
    rows = list(csv.DictReader(io.StringIO(board_csv(board).decode())))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 3 * 3 * 3 * 2  # slices, regions, methods, metrics
    whole = json.loads(board_json(board, title="a title"))
    assert [row["method"] for row in whole["scores"]] == [row["method"] for row in rows]
    assert {one["method"]: one["card"]["title"] for one in whole["submissions"]}["ns"] == "The ns"
    first = board.rows(board.slices[0], "hole")[0]
    assert float(rows[0]["mean"]) == first.cells[PSNR].summary.mean


def test_numbers_that_are_measured_again_agree(world: Path, tmp_path: Path) -> None:
    dataset = frozen.load(world / "data")
    found = verify(
        read_submission(world / "submissions" / "telea.zip"), dataset, root=world / "data", protocol=CHOSEN, items=4, seed=7,
        folder=tmp_path / "run", workers=0,
    )  # fmt: skip
    assert (len(set(found.items)), found.values, found.differing, found.agrees) == (4, 4 * 2 * 3, (), True)
    board = board_of(world, world / "submissions", Sample(items=2, seed=1, workers=0))
    reasons = {entry.label: entry.verdict and entry.verdict.reason for entry in board.entries}
    assert reasons == {"telea": None, "ns": None, "smooth": "it brought no predictions"}


def test_a_damaged_truth_of_the_host_takes_nobodys_place(world: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(world / "data", tmp_path / "data"))
    dataset = frozen.load(root)
    truth = root / dataset.items[0]["truth_file_name"]
    truth.write_bytes(truth.read_bytes() + b"x")
    with pytest.raises(
        VerifyError, match=r"truth of item .* differs from the manifest; .*; nothing is wrong with the submission"
    ):
        verify(
            read_submission(world / "submissions" / "telea.zip"), dataset, root=root, protocol=CHOSEN, items=len(dataset.items),
            seed=7, folder=tmp_path / "run", workers=0,
        )  # fmt: skip


def test_nobody_is_ranked_by_a_metric_that_was_not_measured_again(world: Path, board: Board) -> None:
    """A forged number of a network or of a set would take the place from an honest one."""
    verdict = Verdict(("item00",), 1, (), ("ssim",), None)
    entries = [replace(entry, verdict=verdict, trusted=False) for entry in board.entries]
    checked = Board(frozen.load(world / "data"), CHOSEN, entries)
    everything = checked.results.everything
    assert (PSNR in checked.counted(everything, "hole"), SSIM in checked.counted(everything, "hole")) == (True, False)
    for row in checked.rows(everything, "hole"):
        assert (row.cells[SSIM].place, row.cells[SSIM].best) == (None, False)
        assert row.cells[SSIM].summary.mean is not None
        assert row.cells[PSNR].place is not None
    assert SSIM in board.counted(board.results.everything, "hole")  # there the host takes the submitters' word


def test_the_region_of_the_primary_quantity_is_shown_first(board: Board) -> None:
    of_frames = CHOSEN.model_copy(update={"primary": ("psnr", "frame")})
    assert Board(board.results.dataset, of_frames, board.entries).regions == ["frame", "hole", "band"]


def test_who_depends_on_what_it_saw_before_holds_no_place_where_others_show_items(world: Path, board: Board) -> None:
    dataset = frozen.load(world / "data")

    def depends(entry: Entry) -> Entry:
        header = replace(entry.submission.header, effort={**entry.submission.header.effort, "between_items": "depends"})
        return replace(entry, submission=replace(entry.submission, header=header))

    entries = [depends(entry) if entry.label == "telea" else entry for entry in board.entries]
    for share, places in ((0.5, {None}), (0.05, {1, 2, 3})):
        shown = replace(dataset, items=tuple({**row, frozen.SHOWN: share} for row in dataset.items))
        made = Board(shown, CHOSEN, entries)
        rows = {row.entry.label: row for row in made.rows(made.slices[0], "hole")}
        assert rows["telea"].place in places
        page = slice_pages(made, title="x", notes="")["index.html"].decode()
        told = json.loads(board_json(made, title="x"))["submissions"]
        reason = "it depends on what it saw before" if share > 0.05 else None
        assert {one["method"]: one["no_place"] for one in told} == {"telea": reason, "ns": None, "smooth": None}
        assert ("telea has no mean place: it depends on what it saw before" in page) == (share > 0.05)
        assert "it holds no place and makes no finding" in page or share <= 0.05
    assert rows["ns"].place is not None


def test_a_place_says_of_how_many_items_it_was_measured_again(world: Path) -> None:
    board = gather(world / "submissions", root=world / "data", protocol=CHOSEN, sample=Sample(2, 0, 0))
    whole, part = board.slices[0], f"2 of {COUNT} items measured again"
    for region in board.regions:
        table = score_table(board, whole, region, up="")
        below = {row.key: str(row.cells[1].below) for row in table.rows}
        assert {name: part in words for name, words in below.items()} == {"telea": True, "ns": True, "smooth": False}
        assert part in comma_separated(table)
        assert part in latex(table)
    assert f"verified on 2 of {COUNT}" in slice_pages(board, title="x", notes="")["index.html"].decode()
    rows = list(csv.DictReader(io.StringIO(board_csv(board).decode())))
    again = {(row["method"], row["items_measured_again"], row["items_predicted"]) for row in rows}
    assert again == {("telea", "2", str(COUNT)), ("ns", "2", str(COUNT)), ("smooth", "0", str(COUNT))}
    scores = json.loads(board_json(board, title="x"))["scores"]
    assert {(row["method"], row["items_measured_again"]) for row in scores} == {("telea", 2), ("ns", 2), ("smooth", 0)}
    everything = gather(world / "submissions", root=world / "data", protocol=CHOSEN, sample=Sample(COUNT, 0, 0))
    assert "items measured again" not in latex(score_table(everything, whole, "hole", up=""))


def test_numbers_that_are_not_those_of_the_predictions_keep_a_submission_out(world: Path, tmp_path: Path) -> None:
    def better(files: Files) -> None:
        rows = [json.loads(line) for line in files["scores.jsonl"].splitlines()]
        for row in rows:
            if row["metric"] == "psnr" and row["region"] == "band":
                row["value"] += 0.01
        files["scores.jsonl"] = "\n".join(map(json.dumps, rows)).encode()

    (tmp_path / "good.zip").write_bytes((world / "submissions" / "ns.zip").read_bytes())
    spoilt(world / "submissions" / "telea.zip", tmp_path / "tuned.zip", better)
    board = board_of(world, tmp_path, Sample(items=2, seed=1, workers=0))
    [refused] = board.refused
    assert refused.name == "tuned.zip"
    assert refused.reason.startswith("2 of 12 numbers are not those of its predictions, such as psnr (band) of item 'item")
    (tmp_path / "good.zip").unlink()
    with pytest.raises(InputError, match="none of 1 submissions"):
        board_of(world, tmp_path, Sample(items=2, seed=1, workers=0))


def measured_again(world: Path, folder: Path, change: Callable[[Score], Score | None]) -> Verdict:
    """What measuring four items again says of a submission with changed claims."""
    submission = read_submission(world / "submissions" / "telea.zip")
    claims = [claim for row in submission.scores if (claim := change(row))]
    return verify(
        replace(submission, scores=tuple(claims)), frozen.load(world / "data"), root=world / "data", protocol=CHOSEN, items=4,
        seed=7, folder=folder, workers=0,
    )  # fmt: skip


def test_a_number_that_was_not_claimed_or_was_said_not_to_be_had_is_no_agreement(world: Path, tmp_path: Path) -> None:
    missing = measured_again(world, tmp_path / "a", lambda row: None if (row.metric, row.region) == ("psnr", "hole") else row)
    assert {(one.metric, one.region, one.claimed) for one in missing.differing} == {("psnr", "hole", None)}
    assert (len(missing.differing), missing.values, missing.agrees) == (4, 4 * 2 * 3, False)
    with pytest.raises(InputError, match=r"4 of 24 numbers .* such as psnr \(hole\) of item 'item\d+': nothing submitted"):
        check_agrees(missing)
    denied = measured_again(
        world, tmp_path / "b", lambda row: replace(row, value=None, reason="lost") if row.metric == "ssim" else row
    )
    assert {(one.metric, one.claimed) for one in denied.differing} == {("ssim", None)}
    assert len(denied.differing) == 4 * 3


def test_rounding_is_no_difference_and_anything_larger_is(world: Path, tmp_path: Path) -> None:
    rounded = measured_again(world, tmp_path / "a", lambda row: replace(row, value=row.value and row.value * (1 + 9e-7)))
    assert rounded.agrees
    tuned = measured_again(world, tmp_path / "b", lambda row: replace(row, value=row.value and row.value * (1 + 2e-6)))
    assert len(tuned.differing) == tuned.values == 24


def test_only_items_whose_predictions_came_along_are_measured_again(world: Path, tmp_path: Path) -> None:
    submission = read_submission(world / "submissions" / "telea.zip")
    kept = dict(itertools.islice(submission.header.predictions.items(), 3))
    some = replace(submission, header=replace(submission.header, predictions=kept))
    found = verify(
        some, frozen.load(world / "data"), root=world / "data", protocol=CHOSEN, items=COUNT, seed=7, folder=tmp_path / "run",
        workers=0,
    )  # fmt: skip
    assert set(found.items) == set(kept)
    assert (found.agrees, found.unchecked) == (True, ())


def test_what_a_network_says_is_compared_and_what_it_could_not_say_is_named(world: Path) -> None:
    submission = read_submission(world / "submissions" / "telea.zip")
    claim = replace(submission.scores[0], item_id="item00", metric="lpips", region="hole", value=0.5, reason=None)
    claims = replace(submission, scores=(claim, replace(claim, item_id="item01")))

    def compared(*found: float | None) -> Verdict:
        rows = [replace(row, value=value) for row, value in zip(claims.scores, found, strict=True)]
        return _compared(claims, rows, ["item00", "item01"], CHOSEN, ("fid",))

    same, other, lacking = compared(0.5, 0.5004), compared(0.5, 0.6), compared(0.5, None)
    assert (same.values, same.differing, same.unchecked) == (2, (), ("fid",))
    assert [one.item_id for one in other.differing] == ["item01"]
    assert (lacking.values, lacking.differing, lacking.unchecked) == (0, (), ("lpips", "fid"))


def test_a_failure_of_this_machine_is_no_other_number(world: Path) -> None:
    submission = read_submission(world / "submissions" / "telea.zip")
    claims = [row for row in submission.scores if row.item_id == "item00" and row.region == "hole"]
    failed = [
        replace(row, value=None, reason="out of memory", details={UNEXPECTED: True}) if row.metric == "psnr" else row
        for row in claims
    ]
    assert {row.metric for row in claims} == {"psnr", "ssim"}
    found = _compared(submission, failed, ["item00"], CHOSEN, ())
    assert (found.values, found.differing, found.unchecked) == (1, (), ("psnr",))
