"""The card: its head as the Hub wants it, its numbers those of the rows, its words nobody else's."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from huggingface_hub import DatasetCard
from markdown_it import MarkdownIt
from publishing_data import make_dataset

from inpaintbench import frozen
from inpaintbench.export.card.words import number
from inpaintbench.export.documents import sealed
from inpaintbench.types import Dataset, Slice

EVIL = "a|b <script>alert('x')</script> [c](javascript:d) `e` **f** ![g](h) &amp; _i_"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder: Path = make_dataset(tmp_path_factory.mktemp("small"), name="devil")
    dataset = frozen.load(folder)
    values = {"i0": (0.1, "low"), "i1": (0.3, "low"), "i2": (0.5, "high")}
    rows = tuple(
        {**row, "attributes": {"hole.hole_fraction": values[row["item_id"]][0], "size_level": values[row["item_id"]][1]}}
        for row in dataset.items
    )
    return replace(dataset, items=rows, about="What it is for.")


def card_of(dataset: Dataset, **facts: object) -> str:
    made = replace(dataset, facts=dict(dataset.facts) | facts)
    return sealed(made, dict.fromkeys(dataset.files, 1000000))[1]["README.md"].decode()


def section(card: str, title: str) -> str:
    assert f"\n## {title}\n" in card
    return card.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_hub_reads_the_head(small: Dataset) -> None:
    read = DatasetCard(card_of(small))
    head = read.data.to_dict()
    assert str(read) == card_of(small)
    assert head["license"] == ["cc-by-4.0", "other"]
    assert (head["license_name"], head["license_link"]) == ("see-notice", "NOTICE")
    assert head["annotations_creators"] == ["machine-generated"]
    assert head["source_datasets"] == ["original"]
    assert head["task_categories"] == ["video-to-video"]
    assert head["size_categories"] == ["n<1K"]
    assert [one["config_name"] for one in head["configs"]] == ["low", "high", "alone", "all"]
    assert head["configs"][0]["data_files"] == [{"split": "test", "path": ["low.parquet", "holes/*.mp4", "truth/*.mp4"]}]


def test_one_licence_is_no_list_and_needs_no_name(small: Dataset) -> None:
    rows = tuple({**row, "licence": "CC-BY-2.0"} for row in small.items)
    people = {"question": "keep_reject", "clips": 3, "votes": 9, "undecided": 0, "agreement": 1.0}
    head = DatasetCard(card_of(replace(small, items=rows), raters=[people])).data.to_dict()
    assert head["license"] == "cc-by-2.0"
    assert "license_name" not in head
    assert head["annotations_creators"] == ["machine-generated", "other"]


def test_the_first_things_come_first(small: Dataset) -> None:
    body = card_of(small).split("---\n", 2)[2]
    titles = re.findall(r"^## (.+)$", body, re.MULTILINE)
    assert titles == [
        "Load", "Score a method", "Slices", "Intended use and limits", "Statistics", "Columns", "Licences of the sources",
        "Citation", "How it was made",
    ]  # fmt: skip
    top = body.partition("\n## ")[0]
    assert top.startswith("\n# devil\n\nWhat it is for.\n\n3 items in 3 slices: 3 clips of 3 sources, each with a hole to fill.")
    assert "It is not the authors' release" in top
    assert "| version | 1.0.0, as a whole devil@1.0.0+" in top
    assert not re.search(r"^[| ]+$", body, re.MULTILINE), "no row is empty"
    assert "13.0 MB in 13 files" in top  # three clips, holes, slices and strips of pictures, and all items
    assert "clips of 3 frames, 48x32 pixels, 25 frames a second" in top


def test_slices_have_the_numbers_of_their_rows(small: Dataset) -> None:
    card = card_of(small)
    assert "| `low` | `x == 'low'` | 2 | 2 | 20.0 % |" in section(card, "Slices")
    assert "- `none`: no items" in section(card, "Slices")
    told = section(card, "Statistics")
    assert "| slice | Share of the pixels in the hole, % |" in told
    assert "| all items | 30 (10 to 50) |" in told
    assert "| `low` | 20 (10 to 30) |" in told
    assert "| `high` | 40 (30 to 50) |" in told
    alt = "Histogram: Share of the pixels in the hole, of 3 items from 10 to 50 %, median 30, by low, high."
    assert f"![{alt}](card/attribute-hole-hole-fraction.svg)" in told


def test_limits_are_those_of_the_rows(small: Dataset) -> None:
    told = section(card_of(small), "Intended use and limits")
    assert "There are only 3 sources: numbers of these items bear no interval and no rank" in told
    assert "Fewer than 10 items: `low`, `high`, `alone`." in told
    assert "1 slice had no items and is left out." in told
    assert "Slices share items" in told
    assert "encoded with losses" not in told
    assert "not of the world" not in told
    lossy = tuple({**row, "encode_crf": 10, "encode_psnr_db": 45.5 + at} for at, row in enumerate(small.items))
    doubted = tuple({**row, "attributes": {"label_doubts": "pose"}} for row in lossy)
    recipe = {"recipe": "devil", "leaves": {"source": {"embedded": "1"}}}
    other = replace(small, items=doubted, recipe=recipe, left_out={}, slices=(Slice("all", "all", ("i0", "i1", "i2")),))
    told = section(card_of(other), "Intended use and limits")
    assert "45.5 dB or better" in told
    assert "Of 3 items the hole as it was drawn" in told
    assert "The footage is not of the world: it is made by a virtual camera" in told
    assert "Slices share items" not in told
    assert "left out" not in told


def test_agreement_rules_and_protocols_are_told_with_their_intervals(small: Dataset) -> None:
    raters = [
        {"question": "scene_motion", "part": "water", "raters": 4, "clips": 12, "votes": 36, "undecided": 2, "agreement": 0.875,
         "alpha": 0.61, "alpha_low": 0.42, "alpha_high": 0.78, "alpha_reason": None},
        {"question": "keep_reject", "clips": 3, "votes": 3, "undecided": 0, "agreement": None},
    ]  # fmt: skip
    share = {"count": 8, "total": 10, "value": 0.8, "low": 0.44, "high": 0.97, "reason": None}
    nothing = {"count": 0, "total": 0, "value": None, "low": None, "high": None, "reason": "nobody rejects"}
    few = share | {"low": None, "high": None, "reason": "2 sources"}
    rules = [
        {"rule": "calm (cut_score <= 0.3)", "n": 40, "precision": share, "recall": nothing},
        {"rule": "crisp", "n": 40, "precision": few, "recall": nothing},
    ]
    selection = {"clips": 50, "kept": 30, "rules": [{"rule": "calm", "judged": 49, "dropped": 20, "alone": 5}]}
    protocols = [{"name": "devil/corrected", "fingerprint": "2e47e0e5358e", "usual": True}]
    card = card_of(small, raters=raters, rules=rules, selection=selection, protocols=protocols)
    agreement = section(card, "Agreement of raters")
    assert "| scene\\_motion, water | 4 | 12 | 36 | 2 | 88 % | 0.61 (0.42 to 0.78) |" in agreement
    assert "| keep\\_reject | - | 3 | 3 | 0 | - | not measured |" in agreement
    told = section(card, "Rules against people")
    assert "| `calm (cut_score <= 0.3)` | 40 | 80 % (44 % to 97 %; 8 of 10) | none: nobody rejects |" in told
    assert "| `crisp` | 40 | 80 % (8 of 10) | none: nobody rejects |" in told
    assert "50 clips were judged by rules, 30 kept" in section(card, "Selection")
    assert "| `calm` | 49 | 20 | 5 |" in section(card, "Selection")
    assert "| `devil/corrected` | `2e47e0e5358e` | unless another is asked for |" in section(card, "Score a method")
    unaudited = section(card_of(small, selection=selection), "Intended use and limits")
    assert "were not compared with the judgement of people" in unaudited
    assert "were not compared" not in section(card, "Intended use and limits")


def test_removed_items_are_told(small: Dataset) -> None:
    assert "## Removed items" not in card_of(small)
    gone = tuple({"item_id": f"x{n}", "reason": "taken down by its author"} for n in range(201))
    told = section(card_of(replace(small, removed=gone, version="1.1.0")), "Removed items")
    assert "| `x0` | taken down by its author |" in told
    assert "201 items of earlier versions are gone." in told
    assert "`x200`" not in told
    assert "And 1 more, in `dataset.json`." in told


def test_splits_and_held_back_parts_are_told(small: Dataset) -> None:
    rows = tuple({**row, "split": split} for row, split in zip(small.items, ("train", "train", "test"), strict=True))
    leakage = {"checked": 3, "pairs": 1, "method": "m", "without_hash": 0, "allowed": "one *camera*"}
    told = section(card_of(replace(small, items=rows), leakage=leakage), "Load")
    assert "Splits: `train` 2 items, `test` 1 item. No source is in two of them. 3 clips were compared" in told
    assert "1 pair, which may stay because: one \\*camera\\*." in told
    clean = section(card_of(replace(small, items=rows), leakage=leakage | {"pairs": 0}), "Load")
    assert "for near-duplicates: there are none." in clean
    words = "Mirror images and crops were not looked for among 200,000 clips: of more than 100,000 that takes hours."
    assert f"- {words}\n" in card_of(small, alike={"not_looked_for": words})
    both = card_of(small, alike={"not_looked_for": words, "clips": 2, "groups": 1})
    assert f"- {words}\n- 2 clips that items were chosen from show what" in both
    assert words not in card_of(small, alike={"clips": 2, "groups": 1})
    truth = card_of(small, truth_of={"dataset": "small", "splits": ["test"], "manifest_sha256": "0" * 64})
    assert "> The truth that the dataset small holds back, of its items in `test`." in truth
    shown = {"items": 2, "hole_pixels": 0.125}
    held = card_of(small, held_back={"splits": ["test"], "items": 3, "truth_dataset": "x", "shown_by_other_inputs": shown})
    assert "12.5 % of all hole pixels, in 2 items." in section(held, "Licences of the sources")


class Page(HTMLParser):
    """Tags, and where links and pictures lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.targets: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.targets += [value or "" for name, value in attrs if name in ("href", "src")]


def page_of(card: str) -> Page:
    return Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(card.split("---\n", 2)[2]))


def test_links_and_pictures_are_there(small: Dataset) -> None:
    dataset, written = sealed(small, {})
    page = page_of(written["README.md"].decode())
    assert {"card/slices.svg", "NOTICE", "dataset.json", "croissant.json"} <= set(page.targets)
    assert set(page.targets) <= {*dataset.files, "dataset.json"}


EVERYWHERE: list[Callable[[Dataset], Dataset]] = [
    lambda dataset: replace(dataset, name=EVIL),
    lambda dataset: replace(dataset, items=tuple({**row, "licence": EVIL, "author": EVIL} for row in dataset.items)),
    lambda dataset: replace(dataset, left_out={"none": EVIL}),
    lambda dataset: replace(dataset, removed=({"item_id": EVIL, "reason": EVIL},)),
    lambda dataset: replace(dataset, slices=(*dataset.slices[:2], replace(dataset.slices[2], rule=EVIL))),
    lambda dataset: replace(dataset, recipe={"recipe": "x", "note": "```\n<script>"}),
    lambda dataset: replace(dataset, facts={"raters": [{"question": EVIL, "clips": 1, "votes": 1, "undecided": 0}]}),
]


@pytest.mark.parametrize("spoil", EVERYWHERE)
def test_words_of_others_stay_words(spoil: Callable[[Dataset], Dataset], small: Dataset) -> None:
    plain, card = page_of(card_of(small)), card_of(spoil(small))
    page = page_of(card)
    assert page.tags - plain.tags <= {"table", "thead", "tbody", "tr", "td", "th", "blockquote"}
    assert set(page.targets) <= set(plain.targets)
    for table in re.findall(r"(?:^\|.*\n)+", card, re.MULTILINE):
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(bars) == 1, table


def test_numbers_have_three_digits_and_no_exponent() -> None:
    told = {1234567.0: "1,234,567", 0.000012: "0.0000", 12.3456: "12.3", 0.0: "0", -0.173: "-0.173", 0.00088: "0.00088"}
    assert {value: number(value) for value in told} == told


def test_what_is_measured_on_clips_counts_clips_and_what_is_missing_is_told(small: Dataset) -> None:
    """Items i0 and i1 are of one clip, whose motion is known; nobody measured that of i2."""
    facts = {"i0": 0.1, "i1": 0.1, "i2": None}
    rows = tuple(
        {**row, "clip_id": "b" if row["item_id"] == "i2" else "a", "attributes": {"camera_motion": facts[row["item_id"]]}}
        for row in small.items
    )
    other = {**small.items[0], "item_id": "i3", "clip_id": "c", "attributes": {"camera_motion": 0.3}}
    told = section(card_of(replace(small, items=(*rows, other))), "Statistics")
    assert "| slice | Camera motion, share of the view, % (of clips) |" in told
    assert "| all items | 20 (10 to 30, 1 unknown) |" in told
    assert "| `low` | 10 |" in told  # one clip: no range
    assert "| `high` | 10 (1 unknown) |" in told
    assert "of 2 clips from 10 to 30 %" in told
    assert "counts each of them once" in told
    assert "“Unknown”: so many have no value" in told
    assert "“Held back”" not in told
    hidden = tuple({**row, "truth_rgb_sha256": None, "truth_file_name": None} if row["item_id"] == "i2" else row for row in rows)
    told = section(card_of(replace(small, items=(*hidden, other))), "Statistics")
    assert "| all items | 20 (10 to 30, 1 held back) |" in told
    assert "“Held back”: of so many the truth is not here" in told


def test_what_methods_see_is_never_the_truth(small: Dataset) -> None:
    told = section(card_of(small), "Load")
    level = small.items[0]["fill"]
    assert f"Methods see the clip with its hole filled at level {level}, never what lies under it." in told
