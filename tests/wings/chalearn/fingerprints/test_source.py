"""Synthetic fingerprints as a source of pictures."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.curation.sources.base import PARTS
from inpaintbench.errors import InputError
from inpaintbench.types import canonical_json
from inpaintbench.wings.chalearn.fingerprints.fingers import NATURAL_LAW
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Print
from inpaintbench.wings.chalearn.fingerprints.source import FingerprintSource


def test_classes_follow_the_law_after_any_number_of_fingers() -> None:
    for law, shares in (("natural", NATURAL_LAW), ("uniform", dict.fromkeys(CLASSES, 1.0)), ({"whorl": 3, "arch": 1}, None)):
        wanted = (
            {"whorl": 0.75, "arch": 0.25} if shares is None else {name: shares[name] / sum(shares.values()) for name in shares}
        )
        source = FingerprintSource(fingers=300, law=law)  # type: ignore[arg-type]
        classes = [source.print_of(number, 0).finger.finger_class for number in range(300)]
        for count in (6, 60, 299, 300):
            found = Counter(classes[:count])
            assert all(abs(found[name] - share * count) < 1.5 for name, share in wanted.items())


def test_fingers_and_impressions_do_not_depend_on_how_many_there_are() -> None:
    few = {piece.name: piece for piece in FingerprintSource(fingers=3, impressions=2).footage()}
    many = {piece.name: piece for piece in FingerprintSource(fingers=9, impressions=4).footage()}
    assert len(few) == 6
    assert len(many) == 36
    assert all(many[name] == piece for name, piece in few.items())
    fingers = {canonical_json(piece.payload["print"]["finger"]) for piece in few.values()}
    assert len(fingers) == 3
    assert len({piece.content for piece in many.values()}) == 36


def test_another_seed_gives_other_fingers() -> None:
    one, other = (FingerprintSource(seed=seed).print_of(0, 0) for seed in (0, 1))
    assert one.finger != other.finger
    assert one.impression != other.impression


def test_footage_becomes_a_truth_and_the_picture_before_its_elastic_field(tmp_path: Path) -> None:
    for strength, equal in ((1.0, False), (0.0, True)):
        source = FingerprintSource(fingers=1, elastic=strength)
        (piece,) = source.footage()
        scratch = tmp_path / f"{strength}"
        scratch.mkdir()
        truth = video.read_image(source.obtain(piece.payload, str(scratch)))
        undistorted = video.read_image(scratch / PARTS / "undistorted.png")
        assert truth.shape == undistorted.shape == (400, 275, 3)
        assert np.array_equal(truth, undistorted) == equal
        assert Print.of_plain(piece.data["print"]) == source.print_of(0, 0)
        assert piece.known["split_group"] == "finger 000000"


def test_size_and_resolution_are_options(tmp_path: Path) -> None:
    source = FingerprintSource(fingers=1, width=301, height=433, pixels_per_inch=600.0)
    (piece,) = source.footage()
    assert video.read_image(source.obtain(piece.payload, str(tmp_path))).shape == (433, 301, 3)
    assert asdict(source.print_of(0, 0))["finger"]["pixels_per_inch"] == 600.0


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"fingers": 0}, "0 fingers: there must be at least one"),
        ({"impressions": -1}, "-1 impressions of each finger: there must be at least one"),
        ({"law": "fair"}, "there is no class law 'fair'"),
        ({"law": {"arch": -1}}, "gives arch the weight -1"),
        ({"width": 30}, "too small for the ridge filter"),
        ({"style": "smudged"}, "smudged"),
        ({"elastic": -0.5}, r"elastic is -0.5, give 0 \(no field\) or more"),
    ],
)
def test_what_cannot_be_drawn_is_told_at_once(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        FingerprintSource(**wrong)  # type: ignore[arg-type]
