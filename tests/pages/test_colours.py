from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.eval.methods import METHODS
from inpaintbench.pages.colours import COLOURS, DARK_PALETTE, KNOWN, MARKERS, PALETTE, REFERENCE, method_styles
from inpaintbench.pages.page import TOKENS, asset
from inpaintbench.pages.plots import LIGHT

# Ground and panels of light and of dark pages.
WHITES, DARKS = ("#ffffff", "#f6f7f9"), ("#0f1216", "#171b21")
NAMES = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=30, unique=True)
# Machado, Oliveira and Fernandes (2009), severity 1, of linear RGB: protan-, deuteran-, tritanopia; least distance in OKLab.
SIGHTS = (
    ([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]], 0.095),
    ([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]], 0.095),
    ([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]], 0.095),
)
# OKLab (Ottosson, 2020): linear RGB to cones, their cube roots to lightness and two hues.
TO_CONES = [[0.41222147, 0.53633254, 0.05144599], [0.21190350, 0.68069955, 0.10739696], [0.08830246, 0.28171884, 0.62997870]]
TO_OKLAB = [[0.21045426, 0.79361779, -0.00407205], [1.97799850, -2.42859221, 0.45059371], [0.02590404, 0.78277177, -0.80867577]]


@given(NAMES)
def test_no_two_methods_look_alike(names: list[str]) -> None:
    styles = method_styles(names)
    assert styles == method_styles(reversed(names))
    assert len({(look.colour, look.marker) for look in styles.values()}) == len(names)
    assert len({(look.colour, tuple(look.dash)) for look in styles.values()}) == len(names)


@given(NAMES)
def test_colour_and_marker_follow_from_the_name_alone(names: list[str]) -> None:
    together = method_styles(names)
    alone = {name: method_styles([name])[name] for name in names}
    pairs = Counter((look.colour, look.marker) for look in alone.values())
    for name, look in alone.items():
        if pairs[look.colour, look.marker] == 1 and max(pairs.values()) == 1:
            assert together[name] == look
        if sum(other.colour == look.colour for other in alone.values()) <= len(MARKERS) and len(names) <= len(MARKERS):
            assert together[name].colour == look.colour


def test_built_in_methods_have_looks_of_their_own() -> None:
    adapters = {"saved_folder", "python_callable", "command", "http_endpoint"}
    assert set(METHODS) - adapters <= set(KNOWN)
    assert len(set(KNOWN.values())) == len(KNOWN)
    known = method_styles([*KNOWN, "mine", "yours", "theirs"])
    assert all(known[name] == method_styles([name])[name] for name in KNOWN)


@pytest.mark.parametrize(
    "company",
    [
        ["telea", "navier_stokes", "biharmonic", "exemplar", "temporal_median", "affine_propagation", "lama", "stable_diffusion"],
        ["telea", "navier_stokes", "temporal_median", "decaption_median", "frame_autoencoder", "lama"],
        ["gaussian", "median", "oriented_gabor", "telea", "frame_autoencoder", "patch_autoencoder", "residual_encoder"],
        ["edit_recolour", "edit_style", "edit_shift", "edit_flicker"],
        ["JointOpt", "VINet", "DFCNet", "CPNet", "OPN", "STTN", "FGVC"],
    ],
)
def test_usual_companies_share_no_colour(company: list[str]) -> None:
    styles = method_styles(company)
    assert len({look.colour for look in styles.values()}) == len(company)
    assert len({look.marker for look in styles.values()}) >= min(len(company), len(MARKERS)) - 2


@pytest.mark.parametrize(("palette", "grounds"), [(PALETTE, WHITES), (DARK_PALETTE, DARKS)], ids=["light", "dark"])
def test_colours_are_apart_for_all_kinds_of_sight_and_from_the_ground(palette: tuple[str, ...], grounds: tuple[str, ...]) -> None:
    linear = light(*palette, REFERENCE)
    own, under = (shades @ [0.2126, 0.7152, 0.0722] + 0.05 for shades in (linear, light(*grounds)))
    contrast = own[:, None] / under
    assert np.maximum(contrast, 1 / contrast).min() >= 3
    for sight, least in (*SIGHTS, (np.eye(3), 0.15)):
        lab = oklab(linear @ np.array(sight).T)
        distance = np.linalg.norm(lab[:, None] - lab[None], axis=-1) + np.eye(len(lab))
        assert distance.min() >= least


def test_a_method_keeps_its_hue_in_the_dark() -> None:
    moved = np.linalg.norm((oklab(light(*PALETTE)) - oklab(light(*DARK_PALETTE)))[:, 1:], axis=-1)
    assert moved.max() < 0.1  # far less than any two colours are apart


def test_the_stylesheet_and_paper_have_the_same_colours() -> None:
    tokens = asset(TOKENS)
    for name, white, dark in zip(COLOURS, PALETTE, DARK_PALETTE, strict=True):
        assert f"{name[4:-1]}: light-dark({white}, {dark});" in tokens
        assert LIGHT[name[6:-1]] == white
    for name, pair in zip(("ground", "panel"), zip(WHITES, DARKS, strict=True), strict=True):
        assert f"--{name}: light-dark({', '.join(pair)});" in tokens


def light(*colours: str) -> np.ndarray:
    """Linear RGB of hexadecimal colours."""
    values = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in colours])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(linear: np.ndarray) -> np.ndarray:
    return np.cbrt(np.clip(linear, 0, 1) @ np.array(TO_CONES).T) @ np.array(TO_OKLAB).T


def test_references_are_grey_and_take_no_colour_from_others() -> None:
    alone, beside = method_styles(["telea"]), method_styles(["telea", "blank"], ["blank"])
    assert beside["blank"].colour == REFERENCE
    assert beside["telea"] == alone["telea"]
