from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.simultaneous import Design, Deviations, effects_of, least_effect, needed, power_of, simultaneous

DEVIATIONS = Deviations(films=1.0, clips=1.2, masks=1.6)


def found(effect: float, films: int, clips: int, masks: int, effects: int, *, studies: int = 400) -> float:
    """Share of simulated studies that tell the first of so many effects, the others being nothing."""
    rng, told = np.random.default_rng([films, clips, masks, effects]), 0
    for _ in range(studies):
        of_film = DEVIATIONS.films * rng.standard_normal((films, effects))
        of_clips = DEVIATIONS.clips * rng.standard_normal((films, clips, effects)).mean(axis=1)
        of_masks = DEVIATIONS.masks * rng.standard_normal((films, clips * masks, effects)).mean(axis=1)
        values = of_film + of_clips + of_masks + effect * (np.arange(effects) == 0)
        without = (values.sum(axis=0) - values) / (films - 1)
        shares = np.full_like(values, 1 / films)
        claims = simultaneous(values.mean(axis=0), without, alike=["dB"] * effects, shares=shares)
        told += bool(claims.p[0] < 0.05 and values[:, 0].mean() > 0)
    return told / studies


@pytest.mark.parametrize(
    ("films", "clips", "masks", "effects", "slack"),
    [(8, 2, 1, 18, 0.12), (12, 2, 1, 1, 0.08), (12, 2, 4, 9, 0.1), (40, 1, 2, 21, 0.08)],
)
def test_studies_find_what_is_promised_and_hardly_more(films: int, clips: int, masks: int, effects: int, slack: float) -> None:
    design = Design(clips, masks, effects, declared=1.0)
    least = least_effect(films, DEVIATIONS, design)
    assert least is not None
    # Standard error of 400 studies at 80 %: 0.02.
    assert 0.8 - 0.08 <= found(least, films, clips, masks, effects) <= 0.8 + slack


def test_the_films_that_are_needed_are_the_fewest_that_do() -> None:
    design = Design(2, 1, effects_of(axes=3, methods=2))
    films = needed(1.5, DEVIATIONS, design).films
    assert films is not None
    assert power_of(1.5, films, DEVIATIONS, design) >= 0.8 > power_of(1.5, films - 1, DEVIATIONS, design)
    least = least_effect(films, DEVIATIONS, design)
    assert least is not None
    assert least <= 1.5


def test_more_clips_help_as_far_as_films_are_alike_and_more_masks_as_far_as_clips_are() -> None:
    few, many, endless = (least_effect(12, DEVIATIONS, Design(clips, 1, 9)) for clips in (1, 4, 10**6))
    assert few > many > endless > 0  # type: ignore[operator]
    masked, of_clips = (least_effect(12, DEVIATIONS, Design(1, masks, 9)) for masks in (4, 10**6))
    assert few > masked > of_clips > endless  # type: ignore[operator]
    for design in (Design(4, 1, 9), Design(1, 4, 9)):
        alike, alone = (least_effect(12, Deviations(0.0, 0.0, 2.0), of) for of in (design, Design(1, 1, 9)))
        assert alike == pytest.approx(alone / 2, rel=1e-3)  # type: ignore[operator]


def test_fewer_films_than_a_claim_takes_find_nothing() -> None:
    assert least_effect(5, DEVIATIONS, Design(2, 1, 9)) is None
    assert power_of(100, 5, DEVIATIONS, Design(2, 1, 9)) == 0
    assert needed(100, DEVIATIONS, Design(2, 1, 9)).films == 6


def test_without_any_spread_everything_is_found_and_with_too_much_nothing() -> None:
    assert least_effect(6, Deviations(0, 0, 0), Design(1, 1, 9)) == 0
    assert needed(0.001, Deviations(100, 0, 0), Design(1, 1, 9)).films is None
    with pytest.raises(InputError, match=r"an effect of 0 or a power of 0.8 is out of range"):
        needed(0, DEVIATIONS, Design(1, 1, 9))


def test_effects_are_those_of_axes_on_methods_and_on_their_leads() -> None:
    assert effects_of(axes=3, methods=2) == 3 * (2 + 1) + 1
    assert effects_of(axes=0, methods=3) == 3
