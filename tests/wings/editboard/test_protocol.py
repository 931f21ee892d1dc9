from __future__ import annotations

import pytest

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol

NAMES = ("editboard/as-published", "editboard/paper", "editboard/corrected")
FIDELITY = ("ff_alpha", "ff_beta", "semantic_score")


@pytest.mark.parametrize("name", NAMES)
def test_a_listed_protocol_bears_its_name_and_builds_all_metrics_for_whole_frames_as_they_were_given(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    assert protocol.name == name
    assert not protocol.composite
    metrics = protocol.build_metrics()
    assert [metric.name for metric in metrics][:3] == list(FIDELITY)
    assert all(metric.regions == ("frame",) for metric in metrics)
    assert all("hole" not in metric.needs and "composite" not in metric.needs for metric in metrics)


def test_what_they_need_is_known_and_what_they_measure_differs() -> None:
    published, paper, corrected = (PROTOCOLS.get(name) for name in NAMES)
    assert len({protocol.fingerprint for protocol in (published, paper, corrected)}) == 3
    assert published.weights_of(FIDELITY) == corrected.weights_of(FIDELITY) == []
    assert paper.weights_of(FIDELITY) == ["raft-large"]


def test_they_differ_in_what_the_paper_says_and_in_what_is_corrected_and_nowhere_else() -> None:
    published, paper, corrected = (PROTOCOLS.get(name) for name in NAMES)
    both = ("ff_alpha", "ff_beta")
    assert differences(published, paper) == {
        **{(metric, "flow"): ("farneback", "raft_large") for metric in both},
        **{(metric, "mask"): ("luma_at_most", "channels_below") for metric in both},
        ("success_rate", "tie"): (1.0, 0.0),
        **{(metric, "least_cosine"): (0.0, -1.0) for metric in ("subject_consistency", "background_consistency")},
    }
    assert differences(published, corrected) == {
        ("ff_alpha", "empty"): ("no_value", "leave_out"),
        ("ff_beta", "least_motion_pixels"): (0.0, 0.5),
        ("semantic_score", "empty"): ("no_value", "leave_out"),
        ("success_rate", "portrait"): ("bottom", "centre"),
        ("success_rate", "tie"): (1.0, 0.5),
        ("clip_similarity", "portrait"): ("bottom", "centre"),
        ("background_consistency", "preprocess"): ("tensor", "pillow"),
        ("aesthetic_quality", "preprocess"): ("tensor", "pillow"),
    }
    through_gif = PROTOCOLS.get("editboard/as-published-gif")
    assert differences(through_gif, published) == {
        (metric, "gif"): (True, False)
        for metric in ("subject_consistency", "background_consistency", "aesthetic_quality", "imaging_quality")
    }
    same = {"name", "metrics"}
    assert published.model_dump(exclude=same) == paper.model_dump(exclude=same) == corrected.model_dump(exclude=same)


def differences(one: Protocol, other: Protocol) -> dict[tuple[str, str], tuple[object, object]]:
    """Of all constants of all metrics; None where a protocol leaves one to the metric."""
    assert set(one.metrics) == set(other.metrics)
    found = {}
    for metric, constants in one.metrics.items():
        for constant in {**constants, **other.metrics[metric]}:
            pair = (constants.get(constant), other.metrics[metric].get(constant))
            if pair[0] != pair[1]:
                found[metric, constant] = pair
    return found


def test_what_is_published_stays_comparable_with_what_was_scored_before() -> None:
    assert PROTOCOLS.get("editboard/as-published").fingerprint == "f1c3b97639f9"
    assert PROTOCOLS.get("editboard/as-published-gif").fingerprint == "ff5c14c4ed3f"


@pytest.mark.parametrize("name", NAMES)
def test_both_metrics_of_motion_ask_the_same_of_the_source(name: str) -> None:
    metrics = {metric.name: metric for metric in PROTOCOLS.get(name).build_metrics(["ff_alpha", "ff_beta"])}
    assert metrics["ff_alpha"].rule == metrics["ff_beta"].rule
