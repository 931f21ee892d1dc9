"""The step around methods: what they see, what is kept, what is scored when they fail."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

from inpaintbench import frozen, video
from inpaintbench.errors import InputError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.methods.each_frame import Blank
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.effort import efforts_of
from inpaintbench.eval.scoring.predict import MethodSpec, option_of, predict, run
from inpaintbench.eval.scoring.run_folder import DAMAGED, OPTION, references_in, remember, remembered
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Dataset, Frames, Hole, Plain, Score
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

SIZE = {"frames": 8, "height": 70, "width": 90}


def write_dataset(folder: Path, truth: Frames, hole: Hole, *, item_id: str = "item") -> Dataset:
    """A frozen dataset of one item whose truth is stored without loss."""
    folder.mkdir()
    video.write_lossless(folder / "truth.mp4", truth, fps=25.0)
    video.write_hole(folder / "hole.mp4", hole, fps=25.0)
    yuv, rgb = video.decoded_hashes(folder / "truth.mp4")
    row = {
        "item_id": item_id, "truth_file_name": "truth.mp4", "hole_file_name": "hole.mp4", "fps": 25.0, **SIZE,
        "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb, "hole_sha256": "same",
        "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test",
    }  # fmt: skip
    return Dataset("test", {}, (row,), (), {}, {}, {})


def scene() -> tuple[Frames, Hole]:
    pan = np.stack([data.coffee()[100:170, 50 + 2 * t : 140 + 2 * t] for t in range(8)])
    hole = np.zeros(pan.shape[:3], bool)
    hole[:, 20:45, 30:60] = True
    return pan, hole


def program(folder: Path, text: str) -> str:
    path = folder / "method.py"
    path.write_text("import pathlib, shutil, sys\nsource, target = map(pathlib.Path, sys.argv[1:])\n" + text)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


QUANTITIES = sum(len(metric.regions) for metric in PROTOCOLS.get("devil/corrected").build_metrics())
COPY = "[shutil.copy(path, target / path.name) for path in source.glob('frame_*.png')]\n"


WITH_FILES = (
    "command", "http_endpoint", "python_callable", "saved_folder", "lama", "stable_diffusion", "frame_autoencoder",
    "patch_autoencoder",
    "residual_encoder", "context_encoder", "semantic_inpainting", "neural_patches",
)  # fmt: skip


def specs(tmp_path: Path) -> list[MethodSpec]:
    """All that fill holes with nothing but their defaults; edits change whole frames."""
    own = [MethodSpec(name, name) for name in METHODS if name not in WITH_FILES and not name.startswith("edit_")]
    return [*own, MethodSpec("copies", "command", {"command": program(tmp_path, COPY)})]


def test_no_truth_leaks_to_any_method(tmp_path: Path) -> None:
    """Noise in place of the truth under the hole changes no prediction."""
    truth, hole = scene()
    noise = np.random.default_rng(0).integers(0, 256, truth.shape, dtype=np.uint8)
    made = {}
    for name, frames in (("real", truth), ("noise", np.where(hole[..., None], noise, truth))):
        root = tmp_path / name
        dataset = write_dataset(root, frames, hole)
        stored, stored_hole = frozen.truth_and_hole(root, dataset.items[0])
        assert (stored == frames).all()
        assert (stored_hole == hole).all()
        with LocalExecutor(Workspace(tmp_path / f"run-{name}"), workers=0) as executor:
            for method in specs(tmp_path):
                outcome = predict(executor, dataset, root=root, method=method, keep_full_frames=True)
                assert not outcome.rejected, outcome.rejected
                made[name, method.label] = outcome.records[0]
    labels = {label for _, label in made}
    assert len(labels) >= 6
    for label in labels:
        assert made["real", label].blob == made["noise", label].blob, label
        assert made["real", label].largest_change_outside == 0, label


@pytest.mark.parametrize("divisor", [1, 8, 64, (432, 240)])
def test_padding_is_around_every_method_and_cropped_off(divisor: int | tuple[int, int]) -> None:
    truth, hole = scene()

    class Shape(Blank):
        seen: tuple[int, ...] = ()

        def inpaint(self, view: ItemView) -> Frames:
            Shape.seen = view.input.shape
            return view.input

    leaf = Shape()
    leaf.divisor = divisor  # type: ignore[assignment]
    view = ItemView.of_arrays(input=frozen.filled(truth, hole, fill=0), hole=hole)
    assert (run(leaf, view) == view.input).all()
    width, height = (divisor, divisor) if isinstance(divisor, int) else divisor
    assert Shape.seen[2] % width == 0
    assert Shape.seen[1] % height == 0


def test_a_method_that_returns_another_shape_is_told() -> None:
    truth, hole = scene()

    class Half(Blank):
        def inpaint(self, view: ItemView) -> Frames:
            return view.input[:4]

    with pytest.raises(InputError, match=r"the method gave uint8\(4, 70, 90, 3\), wanted uint8\(8, 70, 90, 3\)"):
        run(Half(), ItemView.of_arrays(input=truth, hole=hole))


def test_a_mended_program_runs_again_and_a_failed_item_is_scored_as_none(tmp_path: Path) -> None:
    truth, hole = scene()
    dataset, root, workspace = write_dataset(tmp_path / "d", truth, hole), tmp_path / "d", Workspace(tmp_path / "run")
    spec = MethodSpec("mine", "command", {"command": program(tmp_path, "sys.exit('a bug in my method')\n")})

    def scored() -> list[Score]:
        with LocalExecutor(workspace, workers=0) as executor:
            outcome = predict(executor, dataset, root=root, method=spec)
            failures = {row.subject_id: row.reason for row in outcome.rejected}
            return score(
                executor, dataset, root=root, methods=[Predicted("mine", outcome.records, failures)], protocol="devil/corrected"
            )["mine"].records

    before = scored()
    assert len(before) == QUANTITIES
    assert all(row.value is None and "a bug in my method" in str(row.reason) for row in before)
    program(tmp_path, COPY + "# mended\n")
    after = scored()
    assert all(row.value is not None for row in after if row.metric in ("psnr", "mse"))


def test_a_damaged_prediction_is_scored_as_none_with_its_reason(tmp_path: Path) -> None:
    truth, hole = scene()
    dataset, root, workspace = write_dataset(tmp_path / "d", truth, hole), tmp_path / "d", Workspace(tmp_path / "run")
    with LocalExecutor(workspace, workers=0) as executor:
        made = predict(executor, dataset, root=root, method=MethodSpec("blank", "blank")).records
        workspace.blobs.path(made[0].blob).write_bytes(b"damaged")
        rows = score(executor, dataset, root=root, methods=[Predicted("blank", made)], protocol="devil/corrected")[
            "blank"
        ].records
    assert len(rows) == QUANTITIES
    assert {row.value for row in rows} == {None}
    assert all("is damaged: its bytes have another SHA-256 than its name" in str(row.reason) for row in rows)
    assert {row.details[UNEXPECTED] for row in rows} == {DAMAGED}
    assert workspace.table("scores", Score) == rows


@pytest.mark.parametrize("label", ["", "a/b", ".hidden"])
def test_a_label_that_cannot_be_a_file_name_is_refused(label: str, tmp_path: Path) -> None:
    truth, hole = scene()
    dataset = write_dataset(tmp_path / "d", truth, hole)
    with (
        LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor,
        pytest.raises(InputError, match="cannot be a file name"),
    ):
        predict(executor, dataset, root=tmp_path / "d", method=MethodSpec(label, "blank"))


def test_only_hole_pixels_are_kept_unless_asked(tmp_path: Path) -> None:
    truth, hole = scene()
    dataset, root, workspace = write_dataset(tmp_path / "d", truth, hole), tmp_path / "d", Workspace(tmp_path / "run")
    rows: dict[bool, Plain] = {}
    with LocalExecutor(workspace, workers=0) as executor:
        for full in (False, True):
            spec = MethodSpec(f"telea-{full}", "telea")
            rows[full] = vars(predict(executor, dataset, root=root, method=spec, keep_full_frames=full).records[0])
    kept, whole = (video.read_frames(workspace.blobs.path(rows[full]["blob"])) for full in (False, True))
    assert (kept[~hole] == 0).all()
    assert (kept[hole] == whole[hole]).all()
    assert (whole[~hole] == truth[~hole]).all()


def test_how_far_known_pixels_came_back_is_kept_of_each_item(tmp_path: Path) -> None:
    """Against the PSNR of scikit-image over the known pixels alone; none where they are the input's."""
    truth, hole = scene()
    dataset, root, workspace = write_dataset(tmp_path / "d", truth, hole), tmp_path / "d", Workspace(tmp_path / "run")
    command = program(tmp_path, "import cv2\nfor path in source.glob('frame_*'):\n"
            "    cv2.imwrite(str(target / path.name), cv2.GaussianBlur(cv2.imread(str(path)), (0, 0), 2))\n")  # fmt: skip
    with LocalExecutor(workspace, workers=0) as executor:
        specs = [MethodSpec("blurs", "command", {"command": command}), MethodSpec("telea", "telea")]
        blurs, telea = (predict(executor, dataset, root=root, method=spec, keep_full_frames=True).records[0] for spec in specs)
    given = frozen.filled(truth, hole, fill=0)
    made = video.read_frames(workspace.blobs.path(blurs.blob))
    wanted = peak_signal_noise_ratio(given[~hole], made[~hole], data_range=255)
    assert blurs.known_db == pytest.approx(wanted, abs=5e-4)
    assert telea.known_db is None
    effort = efforts_of(workspace, dataset, ["blurs", "telea"])
    assert (effort["blurs"].known_low, effort["blurs"].known_high) == (round(wanted, 2), round(wanted, 2))
    assert effort["telea"].known_low is None


def test_a_run_knows_its_references_by_leaf_and_by_request(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "data", *scene())
    workspace = Workspace(tmp_path / "run")
    methods = [MethodSpec("floor", "blank"), MethodSpec("telea", "telea"), MethodSpec("copies", "telea", reference=True)]
    with LocalExecutor(workspace, workers=0) as executor:
        for method in methods:
            predict(executor, dataset, root=tmp_path / "data", method=method)
        assert references_in(workspace) == {"floor", "copies"}
        predict(executor, dataset, root=tmp_path / "data", method=replace(methods[2], reference=False))
    assert references_in(workspace) == {"floor"}


@pytest.mark.parametrize(
    ("spec", "option"),
    [
        (MethodSpec("telea", "telea"), "--method telea"),
        (MethodSpec("wide", "telea", {"radius_pixels": 9}), "--method wide=telea,radius_pixels=9"),
        (MethodSpec("mine.fill", "python_callable", {"address": "mine:fill"}), "--method mine:fill"),
        (
            MethodSpec("it's", "python_callable", {"address": "mine:fill", "arguments": {"level": 9, "weights": "/me/w.pt"}}),
            """--method 'it'"'"'s=mine:fill,level=9,weights=WEIGHTS'""",
        ),
        (MethodSpec("ours", "saved_folder", {"folder": "/home/me/ours"}), "--saved ours=FOLDER"),
        (MethodSpec("tool", "command", {"command": "/opt/tool {input} {output}", "divisor": 8}), "--method tool=PROGRAM"),
        (
            MethodSpec("mine", "command", {"layout": "vace", "folder": "/a/b", "weights": "/a/vace", "overlap": 9}),
            "--method mine=vace,weights=WEIGHTS,overlap=9 --program FOLDER",
        ),
        (
            MethodSpec("lama", "command", {"layout": "lama", "folder": "/a", "weights": "/b"}),
            "--method lama,weights=WEIGHTS --program FOLDER",
        ),
    ],
)
def test_a_run_knows_by_which_option_a_method_was_asked_for_and_no_place_of_a_machine(
    spec: MethodSpec, option: str, tmp_path: Path
) -> None:
    assert option_of(spec) == option
    workspace = Workspace(tmp_path / "run")
    assert remembered(workspace, OPTION) == {}
    remember(workspace, spec.label, OPTION, option_of(spec))
    assert remembered(workspace, OPTION) == {spec.label: option}
