"""Masks made elsewhere: formats, polarity, sizes, lengths; and the files of real projects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from inpaintbench import video
from inpaintbench.errors import InputError, MediaError, Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.saved_masks import SavedMasks
from inpaintbench.masks.saved_folder import content_of, sequence_files
from inpaintbench.view import ItemView

HEIGHT, WIDTH = 20, 30
DAVIS_COLOURS = [0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 128, 0]


def disc(frame: int = 0) -> npt.NDArray[np.bool_]:
    """A hole that moves to the right by a pixel a frame."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.asarray((x - 9 - frame) ** 2 + (y - 10) ** 2 < 20)


def palette_image(indices: npt.NDArray[np.uint8], colours: list[int]) -> Image.Image:
    image = Image.fromarray(indices).copy()
    image.putpalette(colours)
    assert image.mode == "P"
    return image


def write_sequence(folder: Path, *, frames: int = 3, number: int = 255) -> Path:
    folder.mkdir(parents=True)
    for frame in range(frames):
        Image.fromarray(np.where(disc(frame), number, 0).astype(np.uint8)).save(folder / f"{frame:05d}.png")
    return folder


def generate(folder: Path, *, frames: int = 3, height: int = HEIGHT, width: int = WIDTH, **options: object) -> Drawn:
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=25.0, parts={})
    return SavedMasks(folder=str(folder), **options).generate(view, np.random.default_rng(0))  # type: ignore[arg-type]


def formats() -> dict[str, Image.Image]:
    """The same hole in every form that masks come in."""
    hole = disc()
    levels = np.where(hole, 255, 0).astype(np.uint8)
    opaque, flat = np.full_like(levels, 255), np.zeros_like(levels)
    return {
        "grey": Image.fromarray(levels),
        "one bit": Image.fromarray(levels).convert("1"),
        "rgb": Image.fromarray(np.stack([levels] * 3, axis=2)),
        "rgba": Image.fromarray(np.stack([levels] * 3 + [opaque], axis=2)),
        "opacity": Image.fromarray(np.stack([flat] * 3 + [levels], axis=2)),
        "16 bit": Image.fromarray(levels.astype(np.uint16)),
        "numbers": Image.fromarray(hole.astype(np.uint8)),
        "davis palette": palette_image(hole.astype(np.uint8), DAVIS_COLOURS),
        "grey palette": palette_image(hole.astype(np.uint8), [0, 0, 0, 255, 255, 255]),
        "grey palette, white first": palette_image((~hole).astype(np.uint8), [255, 255, 255, 0, 0, 0]),
    }


@pytest.mark.parametrize("form", formats())
def test_every_format_gives_the_same_hole(tmp_path: Path, form: str) -> None:
    formats()[form].save(tmp_path / "a.png")
    drawn = generate(tmp_path, frames=1)
    assert np.array_equal(drawn.hole[0], disc())
    assert drawn.facts["polarity"] == "white_is_hole"


def test_jpeg_masks_are_cut_in_the_middle(tmp_path: Path) -> None:
    hole = np.kron(disc(), np.ones((8, 8), bool))  # whole blocks, so that compression leaves no doubt
    Image.fromarray(np.where(hole, 255, 0).astype(np.uint8)).convert("RGB").save(tmp_path / "a.jpg", quality=80)
    drawn = generate(tmp_path, frames=1, height=8 * HEIGHT, width=8 * WIDTH)
    assert np.array_equal(drawn.hole[0], hole)


def test_a_palette_is_read_by_its_numbers(tmp_path: Path) -> None:
    indices = disc().astype(np.uint8)
    indices[0:4, 20:29] = 3
    palette_image(indices, DAVIS_COLOURS).save(tmp_path / "a.png")
    assert np.array_equal(video.read_index_image(tmp_path / "a.png"), indices)
    assert np.array_equal(generate(tmp_path, frames=1, objects=3).hole[0], indices == 3)
    everything = generate(tmp_path, frames=1)
    assert np.array_equal(everything.hole[0], indices > 0)
    assert everything.facts["objects"] == [1, 3]


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (Image.fromarray(np.random.default_rng(0).integers(0, 255, (20, 30, 3), np.uint8)), "is a picture in colours"),
        (Image.fromarray(np.full((20, 30), 65535, np.uint16)), "holds values up to 65535"),
    ],
)
def test_pictures_that_are_no_masks_are_errors(tmp_path: Path, image: Image.Image, message: str) -> None:
    image.save(tmp_path / "a.png")
    with pytest.raises(MediaError, match=f"a.png {message}"):
        generate(tmp_path, frames=1)


@pytest.mark.parametrize("content", [b"", b"no image", b"\x89PNG\r\n\x1a\n\0\0"])
def test_files_that_are_no_images_are_errors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(MediaError, match=r"a\.png cannot be opened as an image"):
        generate(tmp_path, frames=1)


def test_facts_say_how_masks_were_read(tmp_path: Path) -> None:
    write_sequence(tmp_path / "masks" / "bear")
    assert generate(tmp_path / "masks").facts == {
        "sequence": "bear",
        "mask_frames": 3,
        "polarity": "white_is_hole",
        "polarity_guessed": "yes",
        "objects": [],
        "resized": "no",
    }


@pytest.mark.parametrize(("lengthen", "shown"), [("hold", (0, 1, 2, 2, 2, 2, 2)), ("to_and_fro", (0, 1, 2, 1, 0, 1, 2))])
def test_short_masks_are_lengthened_when_asked(tmp_path: Path, lengthen: str, shown: tuple[int, ...]) -> None:
    folder = write_sequence(tmp_path / "bear")
    assert np.array_equal(generate(folder, frames=7, lengthen=lengthen).hole, np.stack([disc(frame) for frame in shown]))
    with pytest.raises(Rejected, match="masks 'bear' have 3 frames, the clip 7"):
        generate(folder, frames=7)


def test_changed_files_are_noticed(tmp_path: Path) -> None:
    folder = write_sequence(tmp_path / "bear")
    content = content_of(sequence_files(folder)["bear"])
    assert generate(folder, content=content).hole.any()
    Image.fromarray(np.where(disc(5), 255, 0).astype(np.uint8)).save(folder / "00001.png")
    with pytest.raises(Rejected, match=f"masks 'bear' have changed: .* not {content}"):
        generate(folder, content=content)


def test_long_masks_give_their_first_frames(tmp_path: Path) -> None:
    folder = write_sequence(tmp_path / "bear", frames=5)
    assert np.array_equal(generate(folder, frames=2).hole, np.stack([disc(0), disc(1)]))


def test_other_sizes_are_rejected_or_resized(tmp_path: Path) -> None:
    folder = write_sequence(tmp_path / "bear")
    with pytest.raises(Rejected, match="masks 'bear' are 30x20, the clip 60x40"):
        generate(folder, width=60, height=40)
    drawn = generate(folder, width=60, height=40, resize=True)
    assert np.array_equal(drawn.hole[0], np.kron(disc(), np.ones((2, 2), bool)))
    assert drawn.facts["resized"] == "yes"


def test_masks_of_a_picture_are_scaled_and_cropped_as_it_is(tmp_path: Path) -> None:
    wide = np.zeros((20, 61), np.uint8)
    wide[5:9, 20:40] = 255
    Image.fromarray(wide).save(tmp_path / "a.png")
    drawn = generate(tmp_path, frames=1, width=40, height=40, resize="cover", polarity="white_is_hole")
    # Twice as large it is 122x40, of which columns 41..80 stay.
    assert np.array_equal(drawn.hole[0], np.kron(wide, np.ones((2, 2)))[:, 41:81] > 0)
    with pytest.raises(InputError, match="resize is 'squash', it must be true, false or cover"):
        generate(tmp_path, frames=1, resize="squash")


@pytest.mark.parametrize(("lengthen", "shown"), [("hold", (1, 2, 2, 2)), ("to_and_fro", (1, 2, 1, 0)), ("reject", (1, 2))])
def test_masks_begin_where_the_clip_does(tmp_path: Path, lengthen: str, shown: tuple[int, ...]) -> None:
    folder = write_sequence(tmp_path / "bear")
    drawn = generate(folder, frames=len(shown), first_frame=1, lengthen=lengthen)
    assert np.array_equal(drawn.hole, np.stack([disc(frame) for frame in shown]))
    with pytest.raises(Rejected, match=r"masks 'bear' have 3 frames, the clip is of the frames 2\.\.3"):
        generate(folder, frames=2, first_frame=2)
    with pytest.raises(InputError, match="first_frame is -1"):
        generate(folder, first_frame=-1)


def test_dilation_grows_by_squares_or_by_crosses(tmp_path: Path) -> None:
    hole = np.zeros((HEIGHT, WIDTH), np.uint8)
    hole[10, 15] = 255
    Image.fromarray(hole).save(tmp_path / "a.png")
    y, x = np.abs(np.mgrid[:HEIGHT, :WIDTH] - np.array([10, 15])[:, None, None])
    assert np.array_equal(generate(tmp_path, frames=1, dilation_pixels=4).hole[0], np.maximum(x, y) <= 4)
    crossed = generate(tmp_path, frames=1, dilation_pixels=4, neighbourhood="cross", threshold=0)
    assert np.array_equal(crossed.hole[0], x + y <= 4)


@pytest.mark.parametrize(
    ("level", "polarity", "word"),
    [(0, "white_is_hole", "empty"), (255, "white_is_hole", "full"), (255, "black_is_hole", "empty")],
)
def test_empty_and_full_masks_are_rejected(tmp_path: Path, level: int, polarity: str, word: str) -> None:
    Image.fromarray(np.full((HEIGHT, WIDTH), level, np.uint8)).save(tmp_path / "a.png")
    with pytest.raises(Rejected, match=f"masks 'a' are {word}"):
        generate(tmp_path, frames=1, polarity=polarity)


def write_single(folder: Path, **masks: npt.NDArray[np.bool_]) -> Path:
    """Masks of their own, white where True."""
    folder.mkdir(exist_ok=True)
    for name, white in masks.items():
        Image.fromarray(np.where(white, 255, 0).astype(np.uint8)).save(folder / f"{name}.png")
    return folder


def test_masks_that_do_not_tell_follow_their_folder(tmp_path: Path) -> None:
    half, white = disc(), np.ones((HEIGHT, WIDTH), bool)
    half[:, 15:] = True
    folder = write_single(tmp_path / "known_is_white", a=~disc(), b=~disc(3), half=half, white=white)
    drawn = generate(folder, frames=1, sequence="half")
    assert np.array_equal(drawn.hole[0], ~half)
    assert (drawn.facts["polarity"], drawn.facts["polarity_guessed"]) == ("black_is_hole", "yes")
    with pytest.raises(Rejected, match="masks 'white' are empty"):
        generate(folder, frames=1, sequence="white")
    other = write_single(tmp_path / "hole_is_white", a=disc(), b=disc(3), half=half, white=white)
    assert np.array_equal(generate(other, frames=1, sequence="half").hole[0], half)
    with pytest.raises(Rejected, match="masks 'white' are full"):
        generate(other, frames=1, sequence="white")


def test_one_colour_alone_says_what_was_found(tmp_path: Path) -> None:
    folder = write_single(tmp_path, white=np.ones((HEIGHT, WIDTH), bool))
    with pytest.raises(Rejected, match=r"'white'.*all pixels are white.*state `polarity` \(white_is_hole or black_is_hole\)"):
        generate(folder, frames=1)


def test_a_folder_is_never_read_both_ways(tmp_path: Path) -> None:
    folder = write_single(tmp_path, a=disc(), b=~disc())
    for sequence in "ab":
        with pytest.raises(
            Rejected, match="masks 'a' look as if white were the hole, but 'b' as if black were: state `polarity`"
        ):
            generate(folder, frames=1, sequence=sequence)
        assert generate(folder, frames=1, sequence=sequence, polarity="white_is_hole").facts["polarity_guessed"] == "no"


def test_what_the_folder_said_before_is_not_asked_again(tmp_path: Path) -> None:
    folder = write_single(tmp_path, a=disc(), b=~disc())
    drawn = generate(folder, frames=1, sequence="a", folder_says="white_is_hole")
    assert (drawn.facts["polarity"], drawn.facts["polarity_guessed"]) == ("white_is_hole", "yes")
    with pytest.raises(Rejected, match="masks 'b' look like black_is_hole, but those of the folder like white_is_hole: state"):
        generate(folder, frames=1, sequence="b", folder_says="white_is_hole")


def test_a_sequence_may_be_named_by_a_number(tmp_path: Path) -> None:
    write_single(tmp_path, **{"1": disc(), "2": disc(4)})
    assert np.array_equal(generate(tmp_path, frames=1, layout="images", sequence=2).hole[0], disc(4))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sequence": "baer"}, UnknownNameError, "did you mean 'bear'"),
        ({}, InputError, "holds 2 sequences of masks: name one of them"),
        ({"polarity": "white"}, UnknownNameError, "unknown mask polarity 'white'"),
        ({"lengthen": "loop"}, UnknownNameError, "unknown way to lengthen masks 'loop'"),
        ({"folder_says": "detect"}, UnknownNameError, "unknown polarity of a folder 'detect'"),
        ({"neighbourhood": "disc"}, UnknownNameError, "unknown neighbourhood 'disc'"),
        ({"dilation_pixels": -2}, InputError, "dilation_pixels is -2"),
        ({"threshold": 255}, InputError, "threshold is 255"),
        ({"objects": "first"}, InputError, "objects is 'first'"),
    ],
)
def test_bad_constants_are_errors(tmp_path: Path, options: dict[str, object], error: type[Exception], message: str) -> None:
    for name in ("bear", "cow"):
        write_sequence(tmp_path / name, frames=1)
    with pytest.raises(error, match=message):
        SavedMasks(folder=str(tmp_path), **options)  # type: ignore[arg-type]


def real(folder: Path, sequence: str | None = None, **options: object) -> Drawn:
    """One or two frames of a sequence at its own size."""
    layout = options.get("layout", "auto")
    sequences = sequence_files(folder, layout=layout)  # type: ignore[arg-type]
    files = sequences[sequence or next(iter(sequences))]
    height, width = video.read_index_image(files[0]).shape
    return generate(folder, frames=min(2, len(files)), height=height, width=width, sequence=sequence, **options)


@pytest.mark.real
def test_davis_palettes(assets: Path) -> None:
    folder = assets / "masks/masks-davis2017-osvos/results/semi-supervised/osvos"
    assert len(sequence_files(folder)) == 30
    drawn = real(folder, "bike-packing")
    indices = np.asarray(Image.open(folder / "bike-packing" / "00000.png"))
    assert np.array_equal(drawn.hole[0], indices > 0)
    assert np.array_equal(real(folder, "bike-packing", objects=2).hole[0], indices == 2)
    assert (drawn.facts["polarity_guessed"], drawn.facts["objects"]) == ("no", [1, 2])


@pytest.mark.real
def test_youtube_vos_palettes_and_free_form_masks(assets: Path) -> None:
    examples = assets / "masks/masks-ffvi-youtubevos/dataset/examples"
    assert real(examples / "2/object_masks").facts["objects"] == [1, 2, 3, 4, 5]
    random = examples / "1/random_masks"
    with pytest.raises(Rejected, match="state `polarity`"):
        real(random)
    assert real(random, polarity="black_is_hole").hole.mean() == pytest.approx(0.35, abs=0.1)


@pytest.mark.real
def test_davis_masks_of_another_project(assets: Path) -> None:
    folder = assets / "masks/masks-sttn/examples"
    assert real(folder, "schoolgirls").facts["objects"] == [1, 2, 3, 4, 5, 6, 7]
    assert real(folder, "dogs_jump").facts["mask_frames"] == 66


@pytest.mark.real
def test_both_polarities_in_one_project(assets: Path) -> None:
    folder = assets / "photos/images-migan-places512/examples"
    # 1.png to 20.png are masks of as many pictures, which nothing but their sizes tells from frames.
    for name in sequence_files(folder / "places2_512_object/masks", layout="images"):
        drawn = real(folder / "places2_512_object/masks", name, layout="images")
        assert (drawn.facts["polarity"], drawn.facts["polarity_guessed"]) == ("white_is_hole", "yes")
        assert drawn.hole.mean() < 0.35
    for name in sequence_files(folder / "places2_512_freeform/masks"):
        assert real(folder / "places2_512_freeform/masks", name, folder_says="black_is_hole").facts["polarity_guessed"] == "yes"
        with pytest.raises(Rejected, match="state `polarity`"):
            real(folder / "places2_512_freeform/masks", name)
        assert real(folder / "places2_512_freeform/masks", name, polarity="black_is_hole").hole.mean() > 0.5


@pytest.mark.real
def test_devil_masks_are_black_where_missing(assets: Path) -> None:
    folder = assets / "results/scenery-devil-sample/devkit/sample-inpainting-inputs"
    drawn = real(folder)
    assert drawn.facts["mask_frames"] == 21
    assert (drawn.facts["polarity"], drawn.facts["polarity_guessed"]) == ("black_is_hole", "yes")
    assert drawn.hole[0].sum() == 2949
