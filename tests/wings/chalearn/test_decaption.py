"""Clips with subtitles painted on them."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from built import built, check_published, check_same_bytes
from datasets import Video, load_dataset
from typer.testing import CliRunner

from inpaintbench import frozen, video
from inpaintbench.cli import app
from inpaintbench.cli.build.running import summarise
from inpaintbench.curation.funnel.stages import failures
from inpaintbench.curation.judging import unasked
from inpaintbench.curation.split import assign
from inpaintbench.errors import InputError, MissingPartError
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.masks.render import generate
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Corruption, Dataset, Plain, Prediction, Selection, TextEvent
from inpaintbench.wings.chalearn import captions
from inpaintbench.wings.chalearn.commands import DEMO_FILMS, DEMO_SEED
from inpaintbench.wings.chalearn.decaption import RATIO_PLOT, DecaptionRecipe
from inpaintbench.workspace import Workspace

FILMS = SourceSpec("embedded", DEMO_FILMS)
RECIPE = DecaptionRecipe(seed=DEMO_SEED)
"""That of `build decaption --demo`."""


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Path, Dataset]:
    return built(tmp_path_factory.mktemp("decaption") / "workspace", RECIPE, FILMS)


def test_films_split_as_the_paper_says_not_as_the_page_of_the_challenge() -> None:
    splits = DecaptionRecipe().splits
    assert splits == {"train": 0.6, "validation": 0.2, "test": 0.2}
    given = assign({f"clip {place}": f"film {place}" for place in range(5000)}, splits, seed=0)
    counts = Counter(given.values())
    assert all(abs(counts[name] / 5000 - share) < 0.03 for name, share in splits.items())


@pytest.mark.long
def test_every_slice_and_split_loads_and_verifies(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    check_published(folder)
    assert {part.name.partition("-")[0] for part in dataset.slices} == {"all", "difficulty", "background", "painted"}
    assert {row["split"] for row in dataset.items} == {"train", "validation", "test"}
    assert {(row["frames"], row["fps"], row["width"], row["height"]) for row in dataset.items} == {(125, 25.0, 128, 128)}
    row = load_dataset(str(folder), "all", split="train", cache_dir=str(tmp_path)).cast_column("input", Video(decode=False))[0]
    assert row["input"]["path"].endswith(".mp4")
    facts = json.loads(row["attributes"])
    assert facts["timed_text"][0]["text"]
    assert facts["mask.overlay_fraction"] > 0
    assert {"mask.family", "mask.background", "mask.difficulty"} <= set(facts)


def test_texts_of_a_pair_differ_in_the_opacity_of_their_box_alone(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"paired": True, "clip_frames": 25})
    _, folder, dataset = built(tmp_path / "workspace", recipe, SourceSpec("embedded", {**DEMO_FILMS, "count": 6}))
    (axis,) = dataset.facts["axes"]
    assert (axis["name"], axis["levels"]) == ("text_box", ["transparent", "opaque"])
    groups: dict[str, dict[str, Plain]] = {}
    for row in dataset.items:
        if (group := row["attributes"].get("pair.text_box")) is not None:
            groups.setdefault(group, {})[row["attributes"]["axis.text_box"]] = row
        else:
            assert row["attributes"]["mask.background"] == "none"
    assert len(groups) >= 2
    for rows in groups.values():
        one, other = rows["transparent"], rows["opaque"]
        assert (one["attributes"]["mask.box_alpha"], other["attributes"]["mask.box_alpha"]) == (0.5, 1)
        assert one["input_file_name"] != other["input_file_name"]
        for same in ("truth_file_name", "hole_sha256"):
            assert one[same] == other[same]
        for same in ("family", "size_fraction", "colour", "weight", "background", "outline_pixels", "difficulty"):
            assert one["attributes"][f"mask.{same}"] == other["attributes"][f"mask.{same}"]
        alphas = [video.read_levels(folder / row["alpha_file_name"]) for row in (one, other)]
        assert (alphas[0] <= alphas[1]).all()
        assert (alphas[0] < alphas[1]).any()


@pytest.mark.long
def test_the_input_is_the_overlay_on_the_truth_and_nothing_else(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, folder, dataset = benchmark
    for row in dataset.items:
        truth, seen = (video.read_frames(folder / row[f"{part}_file_name"]) for part in ("truth", "input"))
        alpha, hole = video.read_levels(folder / row["alpha_file_name"]), video.read_hole(folder / row["hole_file_name"])
        assert (hole == (alpha > 0)).all()
        assert (truth[~hole] == seen[~hole]).all()
        # The published row is enough to draw the overlay again, and with it the input to within half a level.
        constants = {name: value for name, value in row["generator_parameters"].items() if name != "seed"}
        text = tuple(TextEvent(**event) for event in row["attributes"]["timed_text"])
        drawn = generate(
            "subtitles", constants, seed=row["generator_parameters"]["seed"], frames=125, height=128, width=128, fps=25.0,
            draw=row["clip_id"], parts={"timed_text": text},
        )  # fmt: skip
        assert (drawn.alpha == alpha).all()
        share = alpha[..., None] / 255
        assert np.abs(seen - ((1 - share) * truth + share * drawn.colour)).max() <= 0.5 + 1e-9
        assert hole.mean() == pytest.approx(row["attributes"]["mask.overlay_fraction"])
        top, left, height, width = row["attributes"]["mask.overlay_box"]
        assert hole[:, top : top + height, left : left + width].sum() == hole.sum()
        assert hole.any(axis=0)[top].any()
        assert hole.any(axis=0)[:, left + width - 1].any()


@pytest.mark.long
def test_no_slice_of_the_demo_is_empty(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, _, dataset = benchmark
    assert dataset.left_out == {}
    assert {part.name for part in dataset.slices} == {
        "all", "difficulty-easy", "difficulty-medium", "difficulty-hard", "background-none", "background-transparent",
        "background-opaque", "painted-0-5", "painted-5-10", "painted-10-20", "painted-20-50",
    }  # fmt: skip


def kept_and_dropped(workspace: Workspace, *, attribute: str) -> tuple[dict[str, float], dict[str, float]]:
    judged = workspace.table("selection", Selection, step="coverage")
    assert {row.rule for row in judged} == {f"{attribute} among the highest 70%"}
    values = {row.clip_id: float(row.value) for row in judged if row.value is not None}
    kept = {row.clip_id for row in judged if row.keep}
    return {name: values[name] for name in kept}, {name: value for name, value in values.items() if name not in kept}


@pytest.mark.long
def test_the_clips_with_the_least_text_are_dropped_before_anything_is_painted(
    benchmark: tuple[Workspace, Path, Dataset],
) -> None:
    workspace, _, dataset = benchmark
    kept, dropped = kept_and_dropped(workspace, attribute=captions.LETTERS)
    assert (len(kept), len(dropped)) == (7, 2)  # one film shows the photograph of another
    assert min(kept.values()) >= max(dropped.values())
    assert {row["clip_id"]: row["attributes"][captions.LETTERS] for row in dataset.items} == kept
    assert {row.clip_id for row in workspace.table("corruptions", Corruption)} == set(kept)
    # The difficulty sets how much is painted, so it must not decide who stays.
    assert {row["attributes"]["mask.difficulty"] for row in dataset.items} == {"easy", "medium", "hard"}


@pytest.mark.long
def test_all_clips_of_a_film_are_in_one_split_and_the_ratios_are_plotted(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, folder, dataset = benchmark
    splits: dict[str, set[str]] = {}
    for row in dataset.items:
        splits.setdefault(row["source_id"], set()).add(row["split"])
    assert all(len(found) == 1 for found in splits.values())
    assert (folder / RATIO_PLOT).read_text().startswith("<svg")
    assert f"({RATIO_PLOT})" in (folder / "README.md").read_text()


@pytest.mark.long
def test_methods_are_not_told_where_the_text_is(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    view = frozen.input_view(folder, dataset.items[0])
    with pytest.raises(MissingPartError, match="no 'hole'"):
        _ = view.hole
    with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
        with pytest.raises(InputError, match="'telea' needs the hole, which 'Video decaptioning' does not give"):
            predict(executor, dataset, root=folder, method=MethodSpec("telea", "telea"))
        told = predict(executor, dataset, root=folder, method=MethodSpec("telea", "telea"), oracle_mask=True).records
        blank: list[Prediction] = predict(executor, dataset, root=folder, method=MethodSpec("blank", "blank")).records
        assert {row.method for row in told} == {"telea+oracle-mask"}
        assert all(row.full_frames and row.largest_change_outside == 0 for row in [*told, *blank])
        assert (
            video.read_frames(executor.workspace.blobs.path(blank[0].blob))
            == video.read_frames(folder / next(r for r in dataset.items if r["item_id"] == blank[0].item_id)["input_file_name"])
        ).all()


@pytest.mark.long
def test_the_same_bytes_for_any_number_of_workers(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    two, _, _ = built(tmp_path / "two", RECIPE, FILMS, workers=2)
    check_same_bytes(two.path, benchmark[0].path)


@pytest.mark.long
def test_as_published_the_least_painted_clips_are_dropped_and_all_is_compressed_twice(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"behaviour": "as-published", "form": "challenge"})
    workspace, folder, dataset = built(tmp_path / "workspace", recipe, SourceSpec("embedded", {**FILMS.constants, "count": 4}))
    check_published(folder)
    kept, dropped = kept_and_dropped(workspace, attribute="mask.overlay_fraction")
    assert (len(kept), len(dropped)) == (3, 1)
    assert min(kept.values()) >= max(dropped.values())
    assert {row["clip_id"]: row["attributes"]["mask.overlay_fraction"] for row in dataset.items} == kept
    assert len(workspace.table("corruptions", Corruption)) == 4
    for row in dataset.items:
        truth, seen = (folder / row[f"{part}_file_name"] for part in ("truth", "input"))
        assert all(20_000 < path.stat().st_size < 100_000 for path in (truth, seen))
        known = ~video.read_hole(folder / row["hole_file_name"])
        assert (video.read_frames(truth)[known] != video.read_frames(seen)[known]).any()


def test_text_beside_a_film_is_used_and_broken_events_are_rows(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    frames = np.random.default_rng(0).integers(0, 255, (1, 20, 26, 3), dtype=np.uint8).repeat(8, 1).repeat(8, 2).repeat(160, 0)
    video.write_browser(sources / "film one.mp4", frames, fps=30.0)
    good = "1\n00:00:00,500 --> 00:00:04,000\nhello there\n\n"
    broken = "2\n00:00:09,000 --> 00:00:02,000\nbackwards\n\n3\nnot a time --> at all\nlost\n"
    (sources / "film one.srt").write_text(good + broken)
    workspace, _, dataset = built(
        tmp_path / "workspace", RECIPE.model_copy(update={"covered_share": 1.0}), SourceSpec("folder", {"folder": str(sources)})
    )
    text = dataset.items[0]["attributes"]["timed_text"]
    assert [event["text"] for event in text] == ["hello there"]
    assert (text[0]["start_seconds"], text[0]["end_seconds"]) == (0.5, 4.0)
    refused = workspace.table("rejected", Rejection, step="timed_text.events")
    assert [row.name for row in refused] == ["film%20one.srt"] * 2
    assert all(row.reason.startswith("line ") for row in refused)


@pytest.mark.long
def test_texts_in_several_writing_systems_have_slices_of_their_own(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    for number, text in enumerate(("hello there", "добрый день", "and you")):
        noise = np.random.default_rng(number).integers(0, 255, (1, 20, 26, 3), dtype=np.uint8)
        video.write_browser(sources / f"film {number}.mp4", noise.repeat(8, 1).repeat(8, 2).repeat(160, 0), fps=30.0)
        (sources / f"film {number}.srt").write_text(f"1\n00:00:00,500 --> 00:00:04,000\n{text}\n\n", encoding="utf-8")
    recipe = RECIPE.model_copy(update={"covered_share": 1.0})
    _, _, dataset = built(tmp_path / "workspace", recipe, SourceSpec("folder", {"folder": str(sources)}))
    parts = {part.name: part for part in dataset.slices}
    texts = {row["item_id"]: row["attributes"]["timed_text"][0]["text"] for row in dataset.items}
    found = {name: sorted(texts[item] for item in part.item_ids) for name, part in parts.items() if name.startswith("script")}
    assert found == {"script-latin": ["and you", "hello there"], "script-cyrillic": ["добрый день"]}
    assert parts["script-latin"].rule == "writing system == 'latin'"


def told_by(*words: str | Path) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


CUE = "1\n00:00:00,500 --> 00:00:04,000\nhello there\n\n"


def test_texts_that_show_nothing_cannot_be_read_or_are_two_cost_their_film_and_say_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    names = ("wide", "empty", "damaged", "foreign", "double", "shut", "near", "cafe\u0301")
    for level, name in enumerate(names):
        frames = (
            np.random.default_rng(level).integers(0, 255, (1, 8, 8, 3), dtype=np.uint8).repeat(8, 1).repeat(8, 2).repeat(160, 0)
        )
        video.write_browser(sources / f"{name}.mp4", frames, fps=30.0)
    (sources / "wide.SRT").write_bytes(CUE.encode("utf-32"))
    (sources / "empty.srt").write_text("\n")
    (sources / "damaged.srt").write_bytes("nothing timed".encode("utf-16"))
    (sources / "foreign.srt").write_bytes(CUE.replace("hello", "здравствуйте, как ваши дела").encode("cp1251"))
    (sources / "double.srt").write_text(CUE), (sources / "double.vtt").write_text(CUE)
    with (sources / "shut.srt").open("wb") as file:
        file.truncate(200_000_000)
    (sources / "near.en.srt").write_text(CUE)
    (sources / "caf\u00e9.srt").write_text(CUE)
    recipe = RECIPE.model_copy(update={"covered_share": 1.0, "side": 64})
    workspace, _, dataset = built(tmp_path / "workspace", recipe, SourceSpec("folder", {"folder": str(sources)}))
    origins = {row["source_uri"]: row["attributes"]["timed_text.origin"] for row in dataset.items}
    assert origins == {"wide.mp4": "file", "near.mp4": "invented", "cafe%CC%81.mp4": "file"}
    refused = {row.name: row.reason for row in workspace.table("rejected", Rejection, step="timed_text")}
    assert refused == {
        "empty.mp4": "its text 'empty.srt' shows nothing: the file holds no events",
        "damaged.mp4": "its text 'damaged.srt' shows nothing: read as utf-16-le; line 1: text without times: 'nothing timed'",
        "foreign.mp4": refused["foreign.mp4"],
        "double.mp4": "has 2 files of text, double.srt and double.vtt: keep one",
        "shut.mp4": "shut.srt has 200000000 bytes; a subtitle file has at most 100000000",
    }
    assert "shows nothing: its encoding cannot be told" in refused["foreign.mp4"]
    told = {row.name: row.reason for row in workspace.table("rejected", Rejection, step="timed_text.notes")}
    assert told["near.mp4"].endswith("(near.en.srt)")
    assert told["wide.SRT"] == "read as utf-32-le"
    assert workspace.table("rejected", Rejection, step="timed_text.events") == []
    said = told_by("curation", "rejected", workspace.path)
    assert "timed_text.notes: wide.SRT: read as utf-32-le" in said
    assert "5 refused, and 2 notes" in said
    rows = {row["name"]: row["status"] for row in json.loads(told_by("curation", "rejected", workspace.path, "--json"))}
    assert (rows["wide.SRT"], rows["empty.mp4"]) == ("note", "refused")
    assert "gave no clip" not in told_by("curation", "why", workspace.path, "near.mp4")
    assert {group.step for group in failures(workspace)} == {"timed_text", "pair"}
    summarise(workspace, dataset)
    summary = capsys.readouterr().out
    assert "note: wide.SRT: read as utf-32-le" in summary
    assert "refused by timed_text.notes" not in summary
    (lacking,) = unasked(workspace)
    assert (lacking.missing, lacking.clips) == (5, 8)
    assert lacking.rule == f"{captions.LETTERS} among the highest 100%"
    assert dataset.facts["selection"]["unasked"] == [dataclasses.asdict(lacking)]
    strict = recipe.model_copy(update={"strict_rules": True})
    with pytest.raises(InputError, match=r"had no value on 5 of 8 clips: no text: .*; --strict-rules allows no clip without"):
        built(tmp_path / "workspace", strict, SourceSpec("folder", {"folder": str(sources)}))


@pytest.mark.real
@pytest.mark.long
def test_real_films(assets: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    for folder in ("scenery-cc0-hhoppe", "scenery-cc0-mdn"):
        shutil.copytree(assets / "videos" / "scenery" / folder, sources / folder)
    workspace, folder, dataset = built(tmp_path / "workspace", DecaptionRecipe(), SourceSpec("folder", {"folder": str(sources)}))
    check_published(folder)
    assert len(dataset.items) >= 3
    short = [row for row in workspace.table("rejected", Rejection, step="cut") if "frames decode" in row.reason]
    assert short


@pytest.mark.long
def test_the_build_says_which_rule_left_out_how_many_clips(
    benchmark: tuple[Workspace, Path, Dataset], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, _, dataset = benchmark
    judged = workspace.table("selection", Selection, step="coverage")
    dropped = [row for row in judged if not row.keep]
    assert len(judged) - len(dropped) == len(dataset.items)
    summarise(workspace, dataset)
    printed = capsys.readouterr().out
    assert f"left out by the rule {judged[0].rule!r}: {len(dropped)} of {len(judged)} clips, such as " in printed
    assert str(dropped[0].reason) in printed
