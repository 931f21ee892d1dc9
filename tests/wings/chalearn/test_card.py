from __future__ import annotations

from dataclasses import replace

from huggingface_hub import DatasetCard
from tests.export.test_card import card_of, small

from inpaintbench.types import Dataset

__all__ = ["small"]


def test_people_that_others_marked_extend_their_data_set(small: Dataset) -> None:
    extended = replace(small, recipe={"recipe": "humans", "leaves": {"source": {"people": "1"}}})
    assert DatasetCard(card_of(extended)).data.source_datasets == ["extended"]
