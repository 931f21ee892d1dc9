"""A method is tried before it runs: every usual mistake is named, and nothing that works is called one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from tests.eval.scoring import planted_mistakes
from tests.eval.scoring.planted_mistakes import PLANTED, good
from worlds import pan_clip

from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.checking import (
    COLOUR,
    FLIP,
    KNOWN,
    MADE,
    POLARITY,
    RANGE,
    SECOND,
    SHIFT,
    SIZE,
    TIME,
    UNCHANGED,
    Checked,
    findings,
    looked_at,
    made_clip,
)  # fmt: skip
from inpaintbench.eval.adapters.fitting import to_levels, value_range_of
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.methods.brought import PythonCallable
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.check import made_view, tried
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

NOTES = {planted_mistakes.in_place, planted_mistakes.repainted}
WARNINGS = {planted_mistakes.noise}


def callable_named(function: Callable[..., Any], **constants: Any) -> PythonCallable:
    return PythonCallable(address=f"{function.__module__}:{function.__name__}", **constants)


def photograph(*, still: bool = False, grey: bool = False) -> tuple[ItemView, Hole]:
    """A photograph under a camera that moves or stands still, with a hole."""
    frames = pan_clip("coffee", pixels_per_frame=0 if still else 2, frames=9, width=150, height=90)
    frames = frames[..., 1:2].repeat(3, axis=-1) if grey else frames
    hole = np.zeros(frames.shape[:3], np.bool_)
    hole[:, 30:60, 50:90] = True
    return ItemView.of_arrays(item_id="real", input=np.where(hole[..., None], np.uint8(127), frames), hole=hole), hole


@pytest.mark.parametrize("mistake", PLANTED, ids=lambda mistake: mistake.__name__)
def test_each_mistake_is_named_alone(mistake: Callable[..., Any]) -> None:
    name, words = PLANTED[mistake]
    clips = [tried(callable_named(mistake), clip) for clip in (partial(made_view, "hole"), photograph)]
    [finding] = findings(clips)
    assert (finding.mistake, finding.weight) == (
        name, "noted" if mistake in NOTES else "warned" if mistake in WARNINGS else "refused"
    )  # fmt: skip
    assert words in finding.told
    assert finding.told.endswith("(on a made clip, 12 frames of 214x122 and item real, 9 frames of 150x90)")


@pytest.mark.parametrize("real", [partial(photograph, still=True), partial(photograph, grey=True)], ids=["still", "grey"])
def test_what_a_real_item_cannot_show_the_made_clip_shows(real: Callable[[], tuple[ItemView, Hole]]) -> None:
    for mistake, (name, _) in PLANTED.items():
        clips = [tried(callable_named(mistake), clip) for clip in (partial(made_view, "hole"), real)]
        found = {finding.mistake: finding.weight for finding in findings(clips)}
        assert list(found) == [name], mistake
        assert found[name] == ("noted" if mistake in NOTES else "warned" if mistake in WARNINGS else "refused"), mistake


@pytest.mark.parametrize("still", [False, True])
def test_a_method_that_works_has_no_findings(still: bool) -> None:
    clips = [tried(callable_named(good), clip) for clip in (partial(made_view, "hole"), partial(photograph, still=still))]
    assert findings(clips) == []
    assert [clip.known_db for clip in clips] == [np.inf, np.inf]


@pytest.mark.parametrize("kind", ["hole", "text", "edit"])
def test_a_floor_may_give_everything_back(kind: str) -> None:
    clips = [tried(METHODS.get("blank")(), partial(made_view, kind, frames)) for frames in (1, 12)]
    assert findings(clips, reference=True) == []


WRITES = """
import sys, pathlib, cv2, numpy as np
from PIL import Image
source, target = map(pathlib.Path, sys.argv[1:3])
for path in sorted(source.glob("frame_*.png")):
    frame, hole = cv2.imread(str(path)), cv2.imread(str(path).replace("frame_", "hole_"), cv2.IMREAD_GRAYSCALE)
    cv2.imwrite(str(target / path.name) + ".jpg", cv2.inpaint(frame, hole, 3, cv2.INPAINT_TELEA), [cv2.IMWRITE_JPEG_QUALITY, 75])
    pathlib.Path(str(target / path.name) + ".jpg").rename(target / path.name)
"""


@pytest.mark.parametrize("declared", [True, False])
def test_a_program_that_writes_with_loss_is_not_refused(declared: bool, tmp_path: Path) -> None:
    """Its known pixels are noted where its layout does not say that they lose something."""
    (tmp_path / "program.py").write_text(WRITES)
    lossy = 'lossy = "jpeg"\n' if declared else ""
    (tmp_path / "form.toml").write_text(
        f'frame = "frame_{{:04d}}.png"\nhole = "hole_{{:04d}}.png"\nprediction = "frame_{{:04d}}.png"\n{lossy}'
    )
    command = shlex.join([sys.executable, str(tmp_path / "program.py"), "{input}", "{output}"])
    leaf = Command(command=command, layout=str(tmp_path / "form.toml"))
    clips = [tried(leaf, clip) for clip in (partial(made_view, "hole"), photograph)]
    assert {finding.mistake: finding.weight for finding in findings(clips)} == ({} if declared else {KNOWN: "noted"})
    assert all(20 < clip.known_db < 45 for clip in clips if clip.known_db is not None)


def test_what_the_made_clip_alone_has_is_a_warning_where_the_item_tells_otherwise() -> None:
    made = Checked("m", MADE, "a made clip", mistakes={TIME: "is late", SIZE: "is large", UNCHANGED: "is not filled"})
    tells = Checked("m", "a", "item a", excluded={TIME: True, SIZE: True, UNCHANGED: True})
    assert [(one.mistake, one.weight) for one in findings([made, tells])] == [(SIZE, "warned"), (TIME, "warned")]
    assert findings([made, tells])[0].told == "is large (on a made clip, not on item a)"
    silent = Checked("m", "a", "item a")
    assert [(one.mistake, one.weight) for one in findings([made, silent])] == [
        (SIZE, "refused"), (TIME, "refused"), (UNCHANGED, "refused"),
    ]  # fmt: skip


def test_only_what_nobody_means_is_refused() -> None:
    """A floor fills nothing, a folder of results is seen on one item alone, and an edit may mirror."""
    unfilled = Checked("m", "a", "item a", mistakes={UNCHANGED: "is not filled"})
    assert [one.weight for one in findings([unfilled])] == ["warned"]
    assert findings([unfilled], reference=True) == []
    edit = Checked("m", "a", "item a", mistakes={FLIP: "is mirrored", RANGE: "is black"}, keeps=False)
    assert [one.weight for one in findings([edit])] == ["warned", "warned"]
    hidden = Checked("m", MADE, "a made clip", mistakes={UNCHANGED: "is not filled", COLOUR: "is blue"}, hole_given=False)
    assert [(one.mistake, one.weight) for one in findings([hidden])] == [(COLOUR, "refused")]


def test_two_mistakes_at_once_are_both_named() -> None:
    given, hole = made_clip()
    shown, _, _ = looked_at(given, np.roll(good(given, hole), 1, axis=0)[..., ::-1], hole)
    assert set(shown) == {TIME, COLOUR}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda levels: np.clip(2 * levels - 255, 0, 255), "of -1..1, taken for 0..1"),
        (lambda levels: (levels + 255) / 2, "of 0..1, taken for -1..1"),
        (lambda levels: 16 + levels * (219 / 255), "squeezed into 16..235"),
        (lambda levels: np.clip((levels - 16) * (255 / 219), 0, 255), "stretched out of 16..235"),
        (lambda levels: levels / 255, "gives no levels but 0, 1"),
    ],
)
def test_levels_of_another_range_are_told_from_each_other(wrong: Callable[[Any], Any], words: str) -> None:
    given, hole = made_clip()
    made = np.asarray(wrong(good(given, hole).astype(np.float64)), np.uint8)
    shown, _, _ = looked_at(given, made, hole)
    assert list(shown) == [RANGE]
    assert words in shown[RANGE]


def test_pictures_that_resemble_nothing_are_called_repainted_and_no_more() -> None:
    given, hole = made_clip()
    for made in (
        np.random.default_rng(0).integers(0, 256, given.shape, np.uint8),
        np.full_like(given, 127),
        np.where(hole[..., None], good(given, hole), np.uint8(0)),
    ):
        assert list(looked_at(given, made, hole)[0]) == [KNOWN]


@pytest.mark.parametrize("gamma", [1 / 2.2, 0.7, 1.5, 2.2])
def test_a_curve_of_levels_is_no_other_range(gamma: float) -> None:
    """A straight line comes near it, and a range is one exactly."""
    for given, hole in (made_clip(), made_clip(text=True)):
        made = np.asarray(255 * (good(given, hole) / 255) ** gamma, np.uint8)
        assert list(looked_at(given, made, hole)[0]) == [KNOWN]


def test_what_levels_of_one_clip_resemble_counts_less_where_those_of_another_fit() -> None:
    """Bright pixels are hardly moved by what makes dark ones grey."""
    view, hole = photograph()
    _, excluded, known_db = looked_at(view.input, good(view.input, hole), hole)
    assert RANGE in excluded
    assert known_db == np.inf
    dark = np.where(hole[..., None], 127, view.input // 40).astype(np.uint8)
    for given, made in ((dark, 255 - (255 - dark) // 2), (dark, np.zeros_like(dark)), (view.input, view.input // 2 + 128)):
        assert RANGE not in looked_at(given, np.asarray(made, np.uint8), hole)[1]
    made_alone = Checked("m", MADE, "a made clip", mistakes={RANGE: "gives levels of 0..1, taken for -1..1"})
    [finding] = findings([made_alone, Checked("m", "a", "item a", excluded=dict.fromkeys(excluded, True))])
    assert finding.weight == "warned"


def test_a_black_result_is_no_floats_and_no_reversed_hole() -> None:
    """Also where holes of inputs are black."""
    view, hole = photograph()
    black = np.where(hole[..., None], np.uint8(0), view.input)
    for given in (made_clip()[0], black):
        shown, _, _ = looked_at(given, np.zeros_like(given), hole if given is black else made_clip()[1])
        assert list(shown) == [KNOWN]
        assert "all is black" in shown[KNOWN]


def test_who_takes_the_hole_the_other_way_round_is_told_so_also_where_it_repaints_with_care() -> None:
    for given, hole in (made_clip(), (photograph()[0].input, photograph()[1])):
        repainted = planted_mistakes.repainted(given, hole)
        shown, _, _ = looked_at(given, np.where(hole[..., None], given, repainted), hole)
        assert list(shown) == [POLARITY]
        # What gives all of its input back at half its size fills nothing, and is no more than that.
        small = [cv2.resize(frame, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for frame in given]
        whole = np.stack([cv2.resize(frame, given.shape[2:0:-1], interpolation=cv2.INTER_LINEAR) for frame in small])
        assert POLARITY not in looked_at(given, whole, hole)[0]


@pytest.mark.parametrize("offset", [(3, 0), (-1, 2), (0, -40)])
def test_a_shift_is_told_with_its_way(offset: tuple[int, int]) -> None:
    given, hole = made_clip()
    down, right = offset
    shown, _, _ = looked_at(given, np.roll(good(given, hole), (down, right), axis=(1, 2)), hole)
    ways = [f"{abs(right)} px to the {'right' if right > 0 else 'left'}"] * bool(right) + [
        f"{abs(down)} px {'down' if down > 0 else 'up'}"
    ] * bool(down)
    assert list(shown) == [SHIFT]
    assert f"gives frames {' and '.join(ways)} off their place" in shown[SHIFT]


@pytest.mark.parametrize("value_range", ["0..1", "-1..1", "0..255"])
def test_floats_of_a_stated_range_are_the_levels_that_they_stand_for(value_range: str) -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(1, 8, 32, 1).repeat(3, axis=-1)
    low, high = {"0..1": (0, 1), "-1..1": (-1, 1), "0..255": (0, 255)}[value_range]
    floats = (levels / np.float32(255) * (high - low) + low).astype(np.float32)
    np.testing.assert_array_equal(to_levels(floats, value_range), levels)
    np.testing.assert_array_equal(to_levels(floats.astype(np.float64), value_range), levels)
    # A network may shoot a little beyond its range.
    beyond = to_levels(floats + np.float32(0.1 * (high - low)), value_range)
    assert (beyond >= levels).all()
    assert (beyond[levels > 230] == 255).all()


def test_floats_without_a_range_or_of_another_are_refused_with_the_way_out() -> None:
    floats = np.linspace(-1, 1, 48, dtype=np.float32).reshape(1, 4, 4, 3)
    with pytest.raises(
        InputError, match=r"gave float32\(1, 4, 4, 3\) of -1 to 1, wanted uint8.*: state value_range=-1\.\.1 if that"
    ):
        to_levels(floats, None)
    with pytest.raises(InputError, match=r"of -1 to 1 and states value_range=0\.\.1, wanted"):
        to_levels(floats, "0..1")
    with pytest.raises(InputError, match=r"of -1e\+03 to 1e\+03, wanted .*: multiply them to 0\.\.255"):
        to_levels(1000 * floats, None)
    assert [value_range_of(given) for given in ("0..1", (-1, 1), [0, 255], (0.0, 1.0))] == ["0..1", "-1..1", "0..255", "0..1"]
    for given in ("0-1", (0, 2), 1, None):
        with pytest.raises(InputError, match=r"is none of 0\.\.1, -1\.\.1, 0\.\.255"):
            value_range_of(given)


def test_a_callable_states_its_range_or_is_asked_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = partial(made_view, "hole")
    assert not tried(callable_named(planted_mistakes.floats_to_one, value_range="0..1"), clip).mistakes
    assert RANGE in tried(callable_named(planted_mistakes.floats_around_zero, value_range=[0, 1]), clip).mistakes
    monkeypatch.setattr(planted_mistakes.floats_around_zero, "value_range", (-1, 1), raising=False)
    assert not tried(callable_named(planted_mistakes.floats_around_zero), clip).mistakes


def test_a_card_that_adds_up_in_another_order_gives_the_same() -> None:
    calls: list[int] = []

    class Leaf(METHODS.get("telea")):  # type: ignore[misc]
        def inpaint(self, view: ItemView) -> Frames:
            calls.append(1)
            made = np.clip(super().inpaint(view).astype(np.int16) + self.off * (len(calls) % 2), 0, 255)
            return np.asarray(made, np.uint8)

    leaf = Leaf()
    for leaf.off, found in ((2, False), (3, True)):
        assert (SECOND in tried(leaf, partial(made_view, "hole")).mistakes) is found
