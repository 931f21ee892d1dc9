"""LAION's head: the real file on real vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.models.clip import AESTHETIC_WEIGHTS, aesthetic_head
from inpaintbench.models.weights import path_of

torch = pytest.importorskip("torch")

CPU = Compute(device="cpu")


@pytest.mark.real
@pytest.mark.usefixtures("own_weights")
def test_the_published_vectors_are_rated_in_their_order(assets: Path) -> None:
    """LAION published the mean vector of the pictures in each tenth of the ratings."""
    folder = assets / "weights" / "aesthetic-linear"
    assert path_of(AESTHETIC_WEIGHTS) == folder / "sa_0_4_vit_l_14_linear.pth"
    vectors = np.stack([np.load(folder / "vit_l_14_embeddings" / f"rating{index}.npy").ravel() for index in range(10)])
    head = aesthetic_head(CPU)
    with torch.inference_mode():
        found = head(torch.from_numpy(vectors.astype(np.float32)))[:, 0].numpy()
    state = torch.load(path_of(AESTHETIC_WEIGHTS), weights_only=True)
    assert found == pytest.approx(
        vectors.astype(np.float64) @ state["weight"][0].double().numpy() + state["bias"].item(), rel=1e-5
    )
    assert (np.diff(found) > 1).all()


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch aesthetic-linear-vit-l-14`"):
        aesthetic_head(CPU)
