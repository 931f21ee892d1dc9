"""The contact region: the five-parameter shape, uneven but never straight, inside the ridges, with a crumbling edge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.wings.chalearn.fingerprints.impressions import draw_axes, draw_impression, edge_specks, outline, region
from inpaintbench.wings.chalearn.fingerprints.records import Finger, Impression


def finger(width: int = 275, height: int = 400, ppi: float = 500.0) -> Finger:
    return Finger("arch", width, height, ppi, (), (), (), (1.5, 1.0, 1.0), 0)


def impression(one: Finger, seed: int = 0, **changes: object) -> Impression:
    drawn = draw_impression(np.random.default_rng(seed), finger=one, number=0, seed=seed, style="challenge")
    return replace(drawn, **changes)  # type: ignore[arg-type]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_axes_span_the_canvas_up_to_half_the_padding() -> None:
    for seed in range(50):
        left, right, lower, upper = draw_axes(rng(seed), width=275, height=400, pixels_per_inch=500)
        assert left + right == pytest.approx(260)
        assert 0.45 * 245 <= left <= 0.6 * 245
        assert 0.30 * 370 <= lower <= 0.35 * 370
        assert 1.25 * lower <= upper <= 1.70 * lower


def test_the_region_follows_the_five_parameters() -> None:
    one = finger()
    across, left, lower, upper = 200.0, 90.0, 100.0, 140.0
    shape = impression(one, silhouette=(left, across - left, lower, upper), contact_shift=(4.0, -3.0))
    inside = region(outline(one, shape, rng()), height=400, width=275)
    sides = across / 260 * 385 - lower - upper
    # two half ellipses above, two below, and the rectangle between them
    assert inside.sum() == pytest.approx(np.pi * across / 4 * (lower + upper) + across * sides, rel=0.03)
    rows, columns = np.nonzero(inside)
    assert (columns.min() + columns.max()) / 2 == pytest.approx(137 + 4, abs=5)
    assert (rows.min() + rows.max()) / 2 == pytest.approx(199.5 - 3, abs=5)
    assert np.ptp(columns) == pytest.approx(across, abs=12)
    assert np.ptp(rows) == pytest.approx(lower + upper + sides, abs=12)


@given(
    seed=st.integers(0, 10_000), size=st.tuples(st.integers(31, 500), st.integers(31, 500)), ppi=st.sampled_from([250.0, 500.0])
)
@settings(max_examples=30, deadline=None)
def test_the_region_stays_among_the_ridges(seed: int, size: tuple[int, int], ppi: float) -> None:
    one = finger(*size, ppi)
    edge = outline(one, impression(one, seed), rng(seed))
    padding = 15 * ppi / 500
    assert np.isfinite(edge.points).all()
    least = np.minimum(padding, (np.array(size) - 1) / 2)
    assert np.all(edge.points >= least - 1e-6)
    assert np.all(edge.points <= np.array(size) - 1 - least + 1e-6)
    inside = region(edge, height=size[1], width=size[0])
    assert inside.any()
    assert not inside[: int(padding)].any()
    assert not inside[:, : int(padding)].any()


def test_no_part_of_the_outline_is_straight() -> None:
    """Over 70 pixels of outline the points leave their chord by more than half a pixel, wherever one looks."""
    one = finger()
    for seed in range(20):
        edge = outline(one, impression(one, seed), rng(seed))
        count = round(70 / edge.perimeter * len(edge.points))
        bends = []
        for start in range(0, len(edge.points), 10):
            part = np.take(edge.points, range(start, start + count), axis=0, mode="wrap")
            chord = (part[-1] - part[0]) / np.hypot(*(part[-1] - part[0]))
            away = (part - part[0]) @ np.array([-chord[1], chord[0]])
            bends.append(np.ptp(away))
        assert min(bends) > 0.5


def test_normals_are_units_that_point_outwards() -> None:
    one = finger()
    edge = outline(one, impression(one), rng())
    np.testing.assert_allclose(np.hypot(*edge.normals.T), 1, atol=1e-9)
    inside = np.pad(region(edge, height=400, width=275), 5)
    outer, inner = (np.rint(edge.points + sign * 3 * edge.normals).astype(int) + 5 for sign in (1, -1))
    assert inside[outer[:, 1], outer[:, 0]].mean() < 0.01
    assert inside[inner[:, 1], inner[:, 0]].mean() > 0.99


def test_specks_lie_along_the_edge_and_as_densely_on_any_size() -> None:
    one = finger()
    edge = outline(one, impression(one), rng())
    specks = edge_specks(edge, scale=1.0, rng=rng())
    assert specks.x.size == pytest.approx(4600 * edge.perimeter / 1050, rel=0.02)
    assert set(specks.sides) == {1, 2, 3, 4, 5, 6, 7}
    away = np.hypot(specks.x[:, None] - edge.points[::4, 0], specks.y[:, None] - edge.points[::4, 1]).min(axis=1)
    assert away.max() <= 18.5
    double = finger(550, 800, 1000.0)
    twice = outline(double, impression(double), rng())
    assert twice.perimeter == pytest.approx(2 * edge.perimeter, rel=0.02)
    assert edge_specks(twice, scale=2.0, rng=rng()).x.size == pytest.approx(specks.x.size, rel=0.02)


def test_the_stream_decides_the_outline() -> None:
    one = finger()
    first, again, other = (outline(one, impression(one), rng(seed)).points for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert 0.5 < np.abs(first - other).max() < 30
