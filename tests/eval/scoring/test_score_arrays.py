from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.eval.methods.contract import corrupted, wandering_hole, world
from typer.testing import CliRunner

from inpaintbench import video
from inpaintbench.cli.evaluate import app
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.scoring.run_folder import Scores
from inpaintbench.eval.scoring.score_arrays import score_arrays, score_folders


def by_name(scores: object) -> dict[tuple[str, str, str], float | None]:
    return {(score.item, score.metric, score.region): score.value for score in scores}  # type: ignore[attr-defined]


def test_arrays_have_the_values_of_the_formula() -> None:
    truth, hole = world(), wandering_hole()
    made = corrupted(truth, hole, fill=90)
    values = by_name(score_arrays(truth, hole, made, metrics=["psnr", "mse"]))
    error = np.mean((truth[hole].astype(float) - 90) ** 2)
    assert values["item", "psnr", "hole"] == pytest.approx(10 * np.log10(255**2 / error))
    assert values["item", "mse", "hole"] == pytest.approx(error / 255**2)
    whole = np.mean((truth.astype(float) - made) ** 2)
    assert values["item", "mse", "frame"] == pytest.approx(whole / 255**2)


def test_scores_are_a_table_of_pandas_with_nothing_lost() -> None:
    truth, hole = world(), wandering_hole()
    scores = score_arrays(truth, hole, truth, metrics=["psnr", "mse"])
    table = scores.to_pandas()
    assert list(table.columns) == ["item", "metric", "region", "value", "reason"]
    assert [tuple(row)[:4] for row in table.itertuples(index=False)] == [tuple(score)[:4] for score in scores]
    assert table["value"].dtype == np.float64
    nothing = Scores([scores[0]._replace(value=None, reason="why")]).to_pandas()
    assert np.isnan(nothing.loc[0, "value"])
    assert nothing.loc[0, "reason"] == "why"
    assert Scores([]).to_pandas().empty


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Three clips: a video, a folder of pictures with a mask of one picture, and a single picture."""
    truth, hole = world(), wandering_hole()
    for name in ("truth", "masks", "made"):
        (tmp_path / name).mkdir()
    video.write_lossless(tmp_path / "truth" / "a.mkv", truth, fps=24)
    video.write_hole(tmp_path / "masks" / "a.mkv", hole, fps=24)
    video.write_lossless(tmp_path / "made" / "a.mp4", corrupted(truth, hole, fill=90), fps=24)
    for name in ("truth", "made"):
        (tmp_path / name / "b").mkdir()
        for number, frame in enumerate(truth):
            video.write_image(tmp_path / name / "b" / f"{number}.png", frame if name == "truth" else 255 - frame)
        video.write_image(tmp_path / name / "c.png", truth[0] if name == "truth" else 255 - truth[0])
    for name in ("b", "c"):
        video.write_image(tmp_path / "masks" / f"{name}.png", hole[0])
    return tmp_path


def test_folders_go_by_name(folders: Path) -> None:
    truth, hole = world(), wandering_hole()
    (folders / "made" / ".ipynb_checkpoints").mkdir()
    (folders / "made" / "._a.mp4").write_bytes(b"of another system")
    values = by_name(score_folders(folders / "truth", folders / "masks", folders / "made", metrics=["psnr"]))
    assert {item for item, _, _ in values} == {"a", "b", "c"}
    for name, (frames, missing, made) in {
        "a": (truth, hole, corrupted(truth, hole, fill=90)),
        "b": (truth, np.repeat(hole[:1], len(truth), axis=0), 255 - truth),
        "c": (truth[:1], hole[:1], 255 - truth[:1]),
    }.items():
        alone = by_name(score_arrays(frames, missing, made, metrics=["psnr"], name=name))
        assert {key: value for key, value in values.items() if key[0] == name} == alone


@pytest.mark.parametrize(("first", "refused"), [(1, False), (5, True)])
def test_masks_are_of_the_frames_of_their_numbers(folders: Path, first: int, *, refused: bool) -> None:
    (folders / "masks" / "b.png").unlink()
    (folders / "masks" / "b").mkdir()
    for number, hole in enumerate(wandering_hole()):
        video.write_image(folders / "masks" / "b" / f"{first + number}.png", hole)
    scores = score_folders(folders / "truth", folders / "masks", folders / "made", metrics=["mse"])
    if not refused:
        assert {score.item for score in scores} == {"a", "b", "c"}
        return
    with pytest.raises(InputError, match=r"^the mask of 'b' begins at 5\.png, its truth at 0\.png: number both alike$"):
        list(scores)


def test_the_command_prints_means_and_writes_items(folders: Path) -> None:
    words = ["score-folders", *(f"--{what}={folders / name}" for what, name in
             (("truth", "truth"), ("masks", "masks"), ("predictions", "made")))]  # fmt: skip
    done = CliRunner().invoke(app, [*words, "--metric", "psnr", "--out", str(folders / "o.csv")], catch_exceptions=False)
    assert done.exit_code == 0
    assert "psnr" in done.output
    rows = list(csv.DictReader((folders / "o.csv").read_text().splitlines()))
    assert {row["item"] for row in rows} == {"a", "b", "c"}


def test_what_does_not_fit_is_one_sentence(folders: Path) -> None:
    truth, hole = world(), wandering_hole()
    places = (folders / "truth", folders / "masks", folders / "made")
    with pytest.raises(InputError, match=r"the hole of 'item' is uint8, wanted bool"):
        score_arrays(truth, hole.view(np.uint8), truth)
    with pytest.raises(InputError, match=r"the prediction of 'item' is 6 frames, the truth 7 frames"):
        score_arrays(truth, hole, truth[:6])
    with pytest.raises(InputError, match=r"the hole of 'item' is empty: .*black is known and white is hole"):
        score_arrays(truth, hole & False, truth)
    with pytest.raises(InputError, match=r"'vfid' compares sets of items"):
        score_arrays(truth, hole, truth, metrics=["vfid"])
    with pytest.raises(UnknownNameError, match="psnr"):
        score_arrays(truth, hole, truth, metrics=["psnrr"])
    (folders / "made" / "d.png").write_bytes((folders / "made" / "c.png").read_bytes())
    with pytest.raises(InputError, match=r"1 of 4 predictions has no truth of the same name: 'd'"):
        list(score_folders(*places))
    (folders / "made" / "a.mkv").write_bytes(b"")
    with pytest.raises(InputError, match=r"holds 'a\.mkv' and 'a\.mp4', which have one name: keep one"):
        list(score_folders(*places))
    with pytest.raises(InputError, match=r"no folder '.*/nowhere'"):
        list(score_folders(folders / "nowhere", *places[1:]))
