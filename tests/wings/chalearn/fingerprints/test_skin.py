"""The movement of skin: known motions, and the way back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.fingerprints.skin import Skin, moved, origins


def skin(
    rotation: float = 0.0, translation: tuple[float, float] = (0.0, 0.0), plasticity: float = 2.0, ppi: float = 500.0
) -> Skin:
    return Skin(275, 400, ppi, rotation, translation, plasticity)


def plain_move(one: Skin, x: float, y: float) -> tuple[float, float]:
    """One point by the published formula, in complex numbers with y up."""
    centre = complex((one.width - 1) / 2, -(one.height - 1) / 2)
    scale = one.pixels_per_inch / 500
    point = complex(x, -y)
    rigid = (point - centre) * complex(math.cos(math.radians(one.rotation_degrees)), math.sin(math.radians(one.rotation_degrees)))
    shift = rigid + centre + complex(one.translation[0], -one.translation[1]) - point
    across, down = (point - centre).real / (40 * scale), (point - centre).imag / (33 * scale)
    distance = math.sqrt(across**2 + down**2) - 1
    if distance <= 0:
        brake = 0.0
    elif distance >= one.plasticity:
        brake = 1.0
    else:
        brake = (1 - math.cos(math.pi * distance / one.plasticity)) / 2
    end = point + shift * brake
    return end.real, -end.imag


@pytest.mark.parametrize("ppi", [250.0, 500.0, 1000.0])
def test_points_move_by_the_published_formula(ppi: float) -> None:
    one = skin(8.0, (5.0, -3.0), 2.0, ppi)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-20, 300, 200), rng.uniform(-20, 420, 200)
    found = np.array(moved(one, x, y)).T
    np.testing.assert_allclose(found, [plain_move(one, *point) for point in zip(x, y, strict=True)], atol=1e-9)


def test_positive_rotation_is_counter_clockwise_as_seen() -> None:
    x, y = moved(skin(10.0, plasticity=0.0), np.array([237.0]), np.array([199.5]))
    assert y[0] == pytest.approx(199.5 - 100 * math.sin(math.radians(10)))
    assert x[0] == pytest.approx(137 + 100 * math.cos(math.radians(10)))


def test_the_centre_stays_and_the_border_moves_rigidly() -> None:
    x, y = origins(skin(10.0, (5.0, 5.0)))
    rows, columns = np.mgrid[:400, :275]
    still = ((columns - 137) / 40) ** 2 + ((rows - 199.5) / 33) ** 2 < 0.9
    assert np.abs((x - columns)[still]).max() < 0.05
    assert np.abs((y - rows)[still]).max() < 0.05
    rigid_x, rigid_y = origins(skin(10.0, (5.0, 5.0), 0.0))
    assert abs(x[2, 2] - rigid_x[2, 2]) < 0.01
    assert abs(y[-3, -3] - rigid_y[-3, -3]) < 0.01


def test_no_movement_shows_every_pixel_itself() -> None:
    x, y = origins(skin())
    rows, columns = np.mgrid[:400, :275]
    assert np.array_equal(x, columns)
    assert np.array_equal(y, rows)


@given(
    rotation=st.floats(-10, 10),
    translation=st.tuples(st.floats(-5, 5), st.floats(-5, 5)),
    plasticity=st.one_of(st.just(0.0), st.floats(1.5, 4)),
    size=st.tuples(st.integers(31, 300), st.integers(31, 300)),
)
@settings(max_examples=25, deadline=None)
def test_the_way_back_leads_home(
    rotation: float, translation: tuple[float, float], plasticity: float, size: tuple[int, int]
) -> None:
    one = Skin(size[0], size[1], 500.0, rotation, translation, plasticity)
    x, y = origins(one)
    there_x, there_y = moved(one, x.astype(np.float64), y.astype(np.float64))
    rows, columns = np.mgrid[: size[1], : size[0]]
    assert np.abs(there_x - columns).max() < 0.06
    assert np.abs(there_y - rows).max() < 0.06


def test_folded_skin_is_refused() -> None:
    with pytest.raises(InputError, match=r"fold the skin at plasticity 0\.1: give a smaller movement"):
        origins(skin(10.0, (40.0, 0.0), 0.1))
