"""What a benchmark will tell, before it is built, and what it can tell once it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from program import run_here

from inpaintbench import video
from inpaintbench.cli.build.planning import say_what_pairs_tell, warn_of_few_films
from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.simultaneous import Design, effects_of, least_effect, needed
from inpaintbench.executors.base import Rejection
from inpaintbench.recipes import devil, telling
from inpaintbench.recipes import telling as pilots
from inpaintbench.recipes.paired import Drawn
from inpaintbench.recipes.telling import CLIPS_OF_FILM, PRESET_AXES, blob, pilot
from inpaintbench.types import Dataset, Hole, Slice
from inpaintbench.workspace import Workspace

AXES = telling.Axes(("size", "camera_path"), effects=3, items_of_clip=5)


def film(path: Path, seed: int, frames: int = 34) -> Path:
    rng = np.random.default_rng(seed)
    still = rng.integers(0, 256, (17, 30, 3), np.uint8).repeat(8, axis=0).repeat(8, axis=1)
    video.write_clip(path, np.stack([np.roll(still, seed * at, axis=1) for at in range(frames)]), fps=25.0)
    return path


def bar(levels: Sequence[int], *, rng: np.random.Generator, frames: int) -> Hole:
    """Drawn faster than a blob: wider for a high size."""
    hole, left = np.zeros((frames, 136, 240), np.bool_), int(rng.integers(0, 100))
    hole[:, 20:60, left : left + 30 + 60 * levels[0]] = True
    return hole


def test_a_pilot_takes_films_that_can_be_read_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilots, "blob", bar)
    films = [film(tmp_path / f"{seed}.mp4", seed) for seed in range(3)]
    (tmp_path / "broken.mp4").write_bytes(b"no film")
    short = film(tmp_path / "short.mp4", 5, frames=20)
    before = sorted(tmp_path.iterdir())
    found = pilot([*films, tmp_path / "broken.mp4", short], seed=1)
    assert (found.films, found.items) == (3, 3 * CLIPS_OF_FILM * 4)
    assert list(found.deviations) == list(PRESET_AXES)
    assert found.deviations["size"] > 0 == found.deviations["pose"]  # of bars, which have no poses
    assert sorted(tmp_path.iterdir()) == before
    said = r"needs 3 films of at least 32 frames that can be read, and of 2 tried 0 can; give --plan-deviation"
    with pytest.raises(InputError, match=said):
        pilot([tmp_path / "broken.mp4", short], seed=1)


@pytest.mark.long
def test_a_pilot_with_blobs_finds_that_large_holes_scatter(tmp_path: Path) -> None:
    found = pilot([film(tmp_path / f"{seed}.mp4", seed) for seed in range(3)], seed=1)
    assert all(0.1 < deviation < 20 for deviation in found.deviations.values())


def test_blobs_of_one_stream_differ_in_their_preset_alone() -> None:
    small, large = (blob((level, 0, 0), rng=np.random.default_rng(3), frames=20) for level in (0, 1))
    assert large.mean() > 2 * small.mean()
    assert np.array_equal(small, blob((0, 0, 0), rng=np.random.default_rng(3), frames=20))
    assert PRESET_AXES[0] == "size"


def test_a_deviation_is_of_an_axis_and_shared_as_on_real_films_and_nothing_is_lost() -> None:
    given = telling.deviations_of(AXES, given=2.5)
    assert given["size"] == given["camera_path"] == telling.shared(2.5, telling.OTHER_AXES)
    assert np.hypot.reduce(given["size"]) == pytest.approx(2.5)
    found = telling.deviations_of(AXES, pilot={"size": 7.0})
    assert np.hypot.reduce(found["size"]) == pytest.approx(7.0)
    assert found["size"].films / found["size"].masks == pytest.approx(1.2 / 3.3)
    assert found["camera_path"] == telling.MEASURED["camera_path"]


def test_a_plan_says_how_many_films_find_what_and_what_there_is_finds_with_further_masks() -> None:
    deviations = telling.deviations_of(AXES, pilot={"size": 2.0})
    size, path = telling.plan_rows(telling.Footage(16, 40, 1), deviations, AXES)
    assert (size[:2], path[:2]) == (["size", "2.0 dB"], ["camera_path", "4.3 dB"])
    assert len(size) == len(path) == len(telling.plan_heads(telling.Footage(16, 40, 1)))
    effects = effects_of(AXES.effects, telling.COMPARED)
    films = [needed(1, deviations["size"], Design(clips, 1, effects)).films for clips in (2, 4, 8)]
    assert size[2] == ", ".join(map(str, films))
    least = [least_effect(16, deviations["size"], Design(2.5, masks, effects)) for masks in (1, 2, 4)]
    assert size[4:] == [f"{one:.1f} dB" for one in least]
    masked, _ = telling.plan_rows(telling.Footage(16, 40, 4), deviations, AXES)
    assert masked[4:] == size[4:]
    assert masked[2] == ", ".join(str(needed(1, deviations["size"], Design(clips, 4, effects)).films) for clips in (2, 4, 8))
    hopeless, _ = telling.plan_rows(telling.Footage(5, 9, 1), telling.deviations_of(AXES, given=900), AXES)
    assert hopeless[2:] == ["-, -, -", "-, -, -", "-", "-", "-"]


def test_a_plan_says_what_there_is_and_what_more_masks_cost() -> None:
    assert telling.plan_words(telling.Footage(16, 40, 3.75), AXES, refused={}) == [
        "There are 16 films with 40 clips; rules and copies may leave fewer.",
        "camera_path takes clips of a still camera alone.",
        "One mask a clip makes at most 200 items, 3.8 at most 750 (--masks-per-clip): films tell more than clips, and clips more "
        "than masks.",
    ]
    taken = telling.plan_words(telling.Footage(3, 3, 1, (1,), (11, 44)), AXES, refused={})
    assert taken == [
        "There are 11 films with 44 clips; rules and copies may leave fewer.",
        "An axis takes 3 clips of 3 films: by turns, an even share and one more of each at most, up to --per-slice.",
        "Of so few nothing can be told (3 sources: an interval, rank or lead needs at least 6; there are 11 films: give more "
        "with --per-slice).",
        "camera_path takes clips of a still camera alone.",
        "One mask a clip makes at most 15 items: films tell more than clips, and clips more than masks.",
    ]
    assert len(telling.plan_heads(telling.Footage(3, 3, 1, (1,)))) == 5
    few = telling.plan_words(telling.Footage(5, 9, 4), AXES, refused={"a.mp4": "the file is empty (0 bytes)", "b.mp4": "no"})
    assert few[1:3] == [
        "2 more films without a clip, such as a.mp4: the file is empty (0 bytes).",
        "Of so few nothing can be told (5 sources: an interval, rank or lead needs at least 6).",
    ]


def test_build_devil_plans_without_a_workspace_and_says_what_it_cannot_plan(tmp_path: Path) -> None:
    films, out = tmp_path / "films", tmp_path / "workspace"
    films.mkdir()
    film(films / "0.mp4", 0, frames=400)
    for seed in range(1, 7):
        film(films / f"{seed}.mp4", seed, frames=50)
    film(films / "short.mp4", 7, frames=44)
    (films / "torn.mp4").touch()
    asked = ["build", "devil", "--sources", films, "--out", out]
    planned = run_here(*asked, "--plan", "--plan-deviation", "2.5")
    assert planned.returncode == 0
    said = planned.stdout + planned.stderr
    assert "There are 7 films with 10 clips; " in said
    # Of the long one two: a film has no more than an even share and one more.
    assert "An axis takes 8 clips of 7 films" in said
    assert "2 more films without a clip, such as short.mp4: 44 frames decode, a clip needs at least 45." in said
    assert "Pairs are taken to scatter by 2.5 dB; " in said
    rows = [line for line in said.splitlines() if " size " in line or " camera_path " in line]
    assert len(rows) == 2
    assert all("2.5 dB" in row for row in rows)
    refusals: dict[tuple[str, ...], str] = {
        ("--plan", "--design", "slices"): "--plan is for paired designs of a folder of films",
        ("--plan-deviation", "2.5"): "--plan-deviation is for --plan",
        **{
            ("--plan", f"--plan-deviation={given}"): f"--plan-deviation is {given}; give a number of dB above 0"
            for given in ("inf", "nan", "0", "-1")
        },
    }
    for words, said in refusals.items():
        refused = run_here(*asked, *words)
        assert refused.returncode in (1, 2)
        assert said in refused.stderr
    for path in films.glob("?.mp4"):
        path.unlink()
    refused = run_here(*asked, "--plan")
    assert refused.stderr.strip() == "inpaintbench: no clips from 2 films: short.mp4: 44 frames decode, a clip needs at least 45"
    assert not out.exists()


def dataset(films: int, masks: int = 1) -> Dataset:
    """Two clips of each film with a pair of sizes for each mask, and slices of camera motion of half of the films each."""
    rows = [
        {
            "item_id": f"{film}-{clip}-{mask}-{level}", "clip_id": f"{film}-{clip}", "source_id": f"film {film}",
            "attributes": {"axis.size": level, "pair.size": f"{film}-{clip}-{mask}"}, "generator_parameters": {},
        }
        for film in range(films) for clip in range(2) for mask in range(masks) for level in ("low", "high")
    ]  # fmt: skip
    ids = [str(row["item_id"]) for row in rows]
    slices = [Slice("all", "", tuple(ids)), *(Slice(f"size-{level}", "", tuple(own for own in ids if own.endswith(level)))
              for level in ("low", "high"))]  # fmt: skip
    half = len(ids) // 2
    slices += [Slice("camera_motion-low", "", tuple(ids[:half])), Slice("camera_motion-high", "", tuple(ids[half:]))]
    facts = {"axes": [{"name": "size", "levels": ["low", "high"], "property": "size of the hole", "truth": "the clip"}]}
    return Dataset("made", {}, rows, tuple(slices), {}, {}, {}, facts=facts)


def test_a_finished_benchmark_says_of_each_axis_and_slice_what_it_can_tell() -> None:
    size, motion = telling.can_tell(dataset(12))
    assert size[:3] == ("size", 12, 24)
    assert motion[:3] == ("camera_motion", 6, 24)
    assert size.least is not None
    assert motion.least is not None
    assert 2 < size.least < motion.least
    masked, _ = telling.can_tell(dataset(12, masks=4))
    assert masked[:3] == ("size", 12, 96)
    assert masked.least is not None
    assert size.least / 2 < masked.least < size.least  # clips and films differ too
    few = telling.can_tell(dataset(10))
    assert [row.least is None for row in few] == [False, True]


def test_an_axis_that_nobody_measured_is_said_to_be_guessed() -> None:
    said = telling.guessed_words(["size", "mask_error"])
    assert said == "mask_error: how far pairs scatter was not measured, and is taken to be as over other axes."
    assert telling.guessed_words(["size"]) is None


def test_a_build_of_pairs_warns_of_few_films_and_says_why_it_has_no_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path)
    say_what_pairs_tell("size", dataset(3), workspace)
    told = capsys.readouterr()
    assert "least effect" in told.out
    assert "warning: the clips that are kept are of 3 films" in " ".join(told.err.split())
    say_what_pairs_tell("size", dataset(12), workspace)
    told = capsys.readouterr()
    assert ("on PSNR in the hole" in " ".join(told.out.split()), told.err) == (True, "")
    workspace.write_table("rejected", "step", [Rejection("clip", "step", "a.mp4", "is too small")], Rejection)
    say_what_pairs_tell("object_size", dataset(12), workspace)
    said = " ".join(capsys.readouterr().err.split())
    assert said == "warning: the benchmark has no pairs: no clip gave every level of object_size, such as: is too small"


def test_a_build_says_before_it_renders_which_slices_and_axes_will_tell_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clips = [f"clip {place}" for place in range(8)]
    drawn = Drawn(
        labelled={"camera_motion-low": clips[:3], "camera_motion-high": []}, axes={"size": clips, "camera_path": clips[:5]},
        films={clip: f"film {place // 2 if place > 5 else place}" for place, clip in enumerate(clips)},
    )  # fmt: skip
    monkeypatch.setattr(devil, "draw", lambda recipe, workspace: drawn)
    warn_of_few_films(devil.DevilRecipe(design="paired"), Workspace(tmp_path))
    said = " ".join(capsys.readouterr().err.split())
    assert "warning: camera_motion-low will tell nothing: 3 of 6 films have clips for it" in said
    assert "warning: camera_path will tell nothing: 5 of 6 films have clips for it" in said
    assert said.count("warning") == 2
    warn_of_few_films(devil.DevilRecipe(behaviour="as-published"), Workspace(tmp_path))
    assert capsys.readouterr().err == ""


def test_a_plan_for_a_folder_without_films_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run_here(
        "build", "devil", "--sources", tmp_path / "empty", "--out", tmp_path / "out", "--plan", "--plan-deviation", "2"
    )
    assert done.returncode == 1
    assert done.stderr.strip() == "inpaintbench: no films: the source folder holds no video files"
    assert not (tmp_path / "out").exists()


def test_a_wrong_axis_is_told_with_the_nearest(tmp_path: Path) -> None:
    done = run_here("masks", "preview", "camera_pth", "--out", tmp_path / "sheet.png")
    assert "did you mean 'camera_path'?" in done.stderr


def test_who_stops_a_plan_is_not_told_that_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    film(tmp_path / "films.mp4", 1, frames=60)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pilots, "pilot", stopped)
    ended = run_here("build", "devil", "--sources", tmp_path, "--out", tmp_path / "w", "--plan")
    assert (ended.returncode, "keeps nothing" in ended.stderr, "goes on" in ended.stderr) == (130, True, False), ended.stderr
    assert not (tmp_path / "w").exists()
