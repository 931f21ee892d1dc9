"""The leaf against a Flickr of our own: what is listed, what is fetched, and what is said when it cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flickr_server import KEY, SECRET, FlickrServer, Trouble, Video, fail

from inpaintbench import video
from inpaintbench.download import Limits
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected, UnknownNameError
from inpaintbench.wings.fetch.base import Candidate, Fetched
from inpaintbench.wings.fetch.flickr import Flickr

LIMITS = Limits(allow_private=True, tries=3, contact="a contact")
SEARCH, SIZES = "flickr.photos.search", "flickr.photos.getSizes"
HISTORY = "flickr.photos.licenses.getLicenseHistory"
Serve = Callable[..., FlickrServer]


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts a server and points the environment at it."""
    running: list[FlickrServer] = []

    def start(*videos: Video, **options: Any) -> FlickrServer:
        server = FlickrServer(videos, **options).__enter__()
        running.append(server)
        server.set_environment(monkeypatch, cache=tmp_path / "cache")
        return server

    yield start
    for server in running:
        server.__exit__()


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("films") / "film.mp4"
    frames = np.random.default_rng(0).integers(0, 255, (8, 48, 64, 3), dtype=np.uint8)
    video.write_lossless(path, frames, fps=25.0)
    return path


def names(leaf: Flickr) -> list[str]:
    return [candidate.name for candidate in leaf.candidates()]


def only(leaf: Flickr) -> Candidate:
    (found,) = leaf.candidates()
    return found


def fetch(leaf: Flickr, folder: Path) -> Fetched:
    return leaf.fetch(only(leaf), part=folder / "x.part", limits=LIMITS)


# Listing


def test_a_candidate_says_what_the_search_said(serve: Serve) -> None:
    serve(Video("77", owner="22222222@N05", owner_name="ann", title="A scenic walk", licence=5, uploaded=1_498_867_200))
    leaf = Flickr(query="scenic")
    found = only(leaf)
    assert (found.name, found.title, found.author, found.licence) == ("77", "A scenic walk", "ann", "CC-BY-SA-2.0")
    assert found.licence_url == "https://creativecommons.org/licenses/by-sa/2.0/"
    assert found.page_url == found.url == "https://www.flickr.com/photos/22222222@N05/77/"
    assert found.details["uploaded"] == "2017-07-01T00:00:00Z"
    assert (found.details["listed_width"], found.details["listed_height"]) == (1920, 1080)
    assert json.loads(json.dumps(asdict(found))) == asdict(found)
    assert only(leaf).content == found.content


def test_content_changes_with_the_video_alone(serve: Serve) -> None:
    server = serve(Video("77"))
    before = only(Flickr(query="scenic"))
    server.videos["77"].title, server.videos["77"].licence = "scenic, renamed", 9
    assert only(Flickr(query="scenic")).content == before.content
    server.videos["77"].states_size = False
    assert only(Flickr(query="scenic")).content == before.content
    assert only(Flickr(query="scenic", orientation="landscape")).content == before.content
    server.videos["77"].uploaded += 1
    assert only(Flickr(query="scenic")).content != before.content


def test_order_is_by_upload_and_id(serve: Serve) -> None:
    serve(Video("30", uploaded=50 + (1 << 30)), Video("9", uploaded=7 + (1 << 30)), Video("10", uploaded=7 + (1 << 30)))
    assert names(Flickr(query="scenic")) == ["9", "10", "30"]


def test_users_are_searched_one_by_one_and_merged(serve: Serve) -> None:
    server = serve(
        Video("1", owner="11111111@N01", owner_name="ann", uploaded=1_500_000_003),
        Video("2", owner="22222222@N02", owner_name="bob smith", uploaded=1_500_000_001),
        Video("3", owner="33333333@N03", owner_name="eve", uploaded=1_500_000_002),
        Video("4", owner="11111111@N01", owner_name="ann", uploaded=1_500_000_000),
    )
    assert names(Flickr(query="scenic", users=["11111111@N01", "bob smith", "ann"])) == ["4", "2", "1"]
    assert server.calls["flickr.people.findByUsername"] == 2
    assert [asked["user_id"] for asked in server.searches] == ["11111111@N01", "22222222@N02"]


def test_an_unknown_user_is_told(serve: Serve) -> None:
    serve(Video("1"))
    with pytest.raises(InputError, match="no user 'nobody'"):
        names(Flickr(users=["nobody"]))


@pytest.mark.parametrize(
    ("uploaded", "found"),
    [
        ("", "abcd"), ("2017:2018", "bc"), ("2018", "c"), ("2018:", "cd"), (":2017", "ab"), ("2017-12-31:2018-01-01", "bc"),
        ("2017-01-01:2017-12-30", ""), ("2017-12-31", "b"),
    ],
)  # fmt: skip
def test_dates_of_upload(serve: Serve, uploaded: str, found: str) -> None:
    moments = {"a": 1_483_228_799, "b": 1_514_764_799, "c": 1_514_764_800, "d": 1_546_300_800}  # last and first seconds of years
    serve(*(Video(str(place), title=f"scenic {name}", uploaded=moments[name]) for place, name in enumerate(moments, 1)))
    assert "".join(str(c.title)[-1] for c in Flickr(query="scenic", uploaded=uploaded).candidates()) == found


@pytest.mark.parametrize("uploaded", ["2019:2017", "soon", "2017-13-01", "2017/2019", "17:19"])
def test_dates_that_make_no_sense(uploaded: str) -> None:
    with pytest.raises(InputError, match=f"^uploaded '{uploaded}' "):
        Flickr(query="scenic", uploaded=uploaded)


def test_licences_that_allow_passing_on_are_the_default(serve: Serve) -> None:
    server = serve(*(Video(str(100 + number), licence=number) for number in range(17)))
    assert names(Flickr(query="scenic")) == ["104", "105", "108", "109", "110", "111", "112"]
    assert server.searches[0]["license"] == "4,5,8,9,10,11,12"
    assert names(Flickr(query="scenic", licences=["CC-BY-NC", "CC-BY-ND-4.0"])) == ["102", "113", "114"]
    with pytest.raises(UnknownNameError, match="unknown licence 'GPL'"):
        names(Flickr(query="scenic", licences=["GPL"]))


def test_a_licence_that_flickr_does_not_list_stops_the_listing(serve: Serve) -> None:
    serve(Video("4711", licence=23))
    with pytest.raises(InputError, match="licence id '23' for photo 4711"):
        names(Flickr(query="scenic"))


def test_tags_and_query(serve: Serve) -> None:
    server = serve(Video("1", tags="sea sky"), Video("2", tags="sea"), Video("3", tags="sea sky", title="dull"))
    assert names(Flickr(query="scenic", tags=["sea", "sky"])) == ["1"]
    assert (server.searches[0]["tag_mode"], server.searches[0]["media"]) == ("all", "videos")
    assert names(Flickr(tags=["sky"])) == ["1", "3"]


def test_orientation_and_size_cost_no_call_where_the_search_says(serve: Serve) -> None:
    shapes = {"1": (1920, 1080), "2": (1080, 1920), "3": (720, 720), "4": (640, 360)}
    server = serve(*(Video(name, width=width, height=height) for name, (width, height) in shapes.items()))
    assert names(Flickr(query="scenic", orientation="landscape")) == ["1", "4"]
    assert names(Flickr(query="scenic", orientation="portrait")) == ["2"]
    assert names(Flickr(query="scenic", orientation="square")) == ["3"]
    assert names(Flickr(query="scenic", minimum_width=720, minimum_height=1080)) == ["1", "2"]
    assert server.calls[SIZES] == 0


def test_the_size_is_asked_for_where_the_search_does_not_say(serve: Serve) -> None:
    server = serve(
        Video("1", files={"HD MP4": b""}, states_size=False, width=720, height=1280),
        Video("2", files={"HD MP4": b""}, states_size=False),
        Video("3", files={}, states_size=False),
    )
    assert names(Flickr(query="scenic")) == ["1", "2", "3"]
    assert server.calls[SIZES] == 0
    assert names(Flickr(query="scenic", orientation="landscape")) == ["2", "3"]  # unknown ones are left to later rules
    assert server.calls[SIZES] == 3


def many(count: int, *, seconds: int) -> list[Video]:
    """``count`` videos within ``seconds``, crowded towards the end."""
    moments = (np.sqrt(np.linspace(0, 1, count)) * seconds).astype(int)
    return [Video(str(10_000 + place), uploaded=1_500_000_000 + int(moment)) for place, moment in enumerate(moments)]


@pytest.mark.parametrize("honest_total", [True, False])
def test_more_results_than_flickr_lists(serve: Serve, honest_total: bool) -> None:
    videos = many(9001, seconds=200_000)
    server = serve(*videos, honest_total=honest_total)
    found = list(Flickr(query="scenic", uploaded="2016:2018", per_hour=1_000_000).candidates())
    right = sorted(videos, key=lambda video: (video.uploaded, int(video.photo_id)))
    assert [candidate.name for candidate in found] == [video.photo_id for video in right]
    assert not any("listing" in candidate.details for candidate in found)
    assert server.calls[SEARCH] < 60


def test_a_full_second_is_taken_as_far_as_it_goes_and_noted(serve: Serve) -> None:
    server = serve(*(Video(str(10_000 + place), uploaded=1_500_000_000 + max(0, place - 4100)) for place in range(4110)))
    found = list(Flickr(query="scenic", uploaded="2017", per_hour=1_000_000).candidates())
    noted = [candidate for candidate in found if "listing" in candidate.details]
    assert len(found) == 4000 + 9
    assert {candidate.details["uploaded"] for candidate in noted} == {"2017-07-14T02:40:00Z"}
    assert len(noted) == 4000
    assert len({candidate.name for candidate in found}) == len(found)
    assert server.calls[SEARCH] < 100


def test_most_asks_for_no_more_than_it_needs(serve: Serve) -> None:
    videos = many(9001, seconds=200_000)
    server = serve(*videos)
    found = names(Flickr(query="scenic", uploaded="2016:2018", most=10, per_hour=1_000_000))
    assert found == [video.photo_id for video in sorted(videos, key=lambda video: (video.uploaded, int(video.photo_id)))[:10]]
    assert server.calls[SEARCH] < 25


@pytest.mark.parametrize(
    ("constants", "said"),
    [({}, "users, tags or ids"), ({"query": " "}, "give a query"), ({"query": "a", "orientation": "wide"}, "'wide'"),
     ({"query": "a", "most": 0}, "most 0")],
)  # fmt: skip
def test_constants_that_make_no_sense(constants: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Flickr(**constants)


def test_a_refused_key_stops_the_listing(serve: Serve) -> None:
    serve(Video("1")).trouble("flickr.photos.licenses.getInfo", Trouble(body=fail(100, "Invalid API Key")))
    with pytest.raises(InputError, match="check FLICKR_API_KEY"):
        names(Flickr(query="scenic"))


# Fetching


def test_the_best_rendition_comes_with_its_history(serve: Serve, film: Path, tmp_path: Path) -> None:
    history = [(1_500_000_000, 0, None), (1_600_000_000, 0, 4), (1_700_000_000, 4, 11)]
    files: dict[str, Path | bytes] = {"Mobile MP4": b"m", "Site MP4": b"s", "1080p": film, "HD MP4": b"h", "Odd": b"o"}
    sizes = {"Mobile MP4": (480, 270), "Site MP4": ("640", "360"), "1080p": ("", None), "HD MP4": (1280, 720), "Odd": (0, 0)}
    server = serve(Video("7", files=files, sizes=sizes, history=history, licence=4))
    got = fetch(Flickr(query="scenic"), tmp_path)
    assert got.path.read_bytes() == film.read_bytes()
    assert video.probe(got.path).frames == 8
    assert got.path.name.startswith("x.part")
    assert got.rendition == "1080p"
    assert got.licence is not None
    assert (got.licence.name, got.licence.url) == ("CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/")
    assert list(got.licence.changes) == [
        {"at": "2017-07-14T02:40:00Z", "old": "all-rights-reserved", "new": None},
        {"at": "2020-09-13T12:26:40Z", "old": "all-rights-reserved", "new": "CC-BY-2.0"},
        {"at": "2023-11-14T22:13:20Z", "old": "CC-BY-2.0", "new": "CC-BY-4.0"},
    ]
    assert server.calls[SIZES] == server.calls[HISTORY] == 1
    assert any("(a contact)" in agent for agent in server.agents)


@pytest.mark.parametrize("original", [b"<html>the player</html>", None], ids=["a page", "not found"])
def test_an_original_for_its_owner_alone_is_passed_over(serve: Serve, film: Path, tmp_path: Path, original: bytes | None) -> None:
    server = serve(Video("7", files={"Site MP4": b"s", "Video Original": original or b"", "HD MP4": film}))
    server.videos["7"].sizes = {"Site MP4": (640, 360)}
    if original is None:
        server.trouble(server.file_path("7", "Video Original"), Trouble(status=404))
    got = fetch(Flickr(query="scenic"), tmp_path)
    assert got.path.read_bytes() == film.read_bytes()
    assert got.rendition == "HD MP4 1920x1080"


def test_an_original_that_is_offered_is_taken(serve: Serve, film: Path, tmp_path: Path) -> None:
    serve(Video("7", files={"HD MP4": b"h", "Video Original": film}, sizes={"Video Original": (64, 48)}))
    assert fetch(Flickr(query="scenic"), tmp_path).rendition == "Video Original 64x48"


def test_a_body_cut_short_is_resumed(serve: Serve, film: Path, tmp_path: Path) -> None:
    server = serve(Video("7", files={"HD MP4": film}))
    body = film.read_bytes()
    etag = {"ETag": server.etag(body), "Accept-Ranges": "bytes", "Content-Type": "video/mp4"}
    server.trouble(server.file_path("7", "HD MP4"), Trouble(body=body, headers=etag, cut=len(body) // 2))
    got = fetch(Flickr(query="scenic"), tmp_path)
    assert got.path.read_bytes() == body
    assert server.ranges == [f"bytes={len(body) // 2}-"]


def test_no_file_at_all(serve: Serve, tmp_path: Path) -> None:
    serve(Video("7"))
    with pytest.raises(Rejected, match="offers no file of video 7"):
        fetch(Flickr(query="scenic"), tmp_path)


def test_files_that_are_gone(serve: Serve, film: Path, tmp_path: Path) -> None:
    server = serve(Video("7", files={"HD MP4": film, "Site MP4": film}))
    for label in ("HD MP4", "Site MP4"):
        server.trouble(server.file_path("7", label), Trouble(status=404))
    with pytest.raises(Gone, match="none of the 2 files"):
        fetch(Flickr(query="scenic"), tmp_path)


def test_limits_are_kept(serve: Serve, film: Path, tmp_path: Path) -> None:
    serve(Video("7", files={"HD MP4": film}))
    leaf = Flickr(query="scenic")
    with pytest.raises(Rejected):
        leaf.fetch(only(leaf), part=tmp_path / "x.part", limits=Limits(allow_private=True, most_bytes=100))
    with pytest.raises(Rejected):
        leaf.fetch(only(leaf), part=tmp_path / "y.part", limits=Limits())  # this server is on a loopback address


@pytest.mark.parametrize(("state", "outcome"), [("gone", Gone), ("hidden", Rejected)])
def test_what_was_taken_away_since_the_listing(serve: Serve, tmp_path: Path, state: str, outcome: type[Exception]) -> None:
    server = serve(Video("7", files={"HD MP4": b"x"}))
    leaf = Flickr(query="scenic")
    found = only(leaf)
    setattr(server.videos["7"], state, True)
    with pytest.raises(outcome, match="photo 7 is no"):
        leaf.fetch(found, part=tmp_path / "x.part", limits=LIMITS)
    with pytest.raises(outcome, match="photo 7 is no"):
        leaf.licence_of(found)


def test_a_key_refused_in_the_middle_is_for_a_later_run(serve: Serve, tmp_path: Path) -> None:
    server = serve(Video("7", files={"HD MP4": b"x"}))
    server.trouble(SIZES, Trouble(body=fail(100, "Invalid API Key")))
    with pytest.raises(NetworkError, match="check FLICKR_API_KEY"):
        fetch(Flickr(query="scenic"), tmp_path)


def test_a_licence_taken_back_since_the_listing(serve: Serve, film: Path, tmp_path: Path) -> None:
    server = serve(Video("7", files={"HD MP4": film}))
    leaf = Flickr(query="scenic")
    found = only(leaf)
    server.videos["7"].history = [(1_500_000_000, 4, None), (1_600_000_000, 4, 0)]
    with pytest.raises(Rejected, match="now under all-rights-reserved"):
        leaf.fetch(found, part=tmp_path / "x.part", limits=LIMITS)
    assert server.calls[server.file_path("7", "HD MP4")] == 0


def test_licences_by_title_hold_when_fetching(serve: Serve, film: Path, tmp_path: Path) -> None:
    serve(Video("7", files={"HD MP4": film}, licence=9))
    got = fetch(Flickr(query="scenic", licences=["Public Domain Dedication (CC0)"]), tmp_path)
    assert got.licence is not None
    assert got.licence.name == "CC0-1.0"


def test_the_licence_is_asked_for_again(serve: Serve) -> None:
    server = serve(Video("7"))
    leaf = Flickr(query="scenic")
    found = only(leaf)
    server.videos["7"].licence = 3
    server.videos["7"].history = [(1_500_000_000, 4, None), (1_600_000_000, 4, 3)]
    now = leaf.licence_of(found)
    assert (now.name, [change["new"] for change in now.changes]) == ("CC-BY-NC-ND-2.0", [None, "CC-BY-NC-ND-2.0"])
    server.videos["7"].licence = 55
    with pytest.raises(InputError, match="licence id '55' for photo 7"):
        leaf.licence_of(found)


def test_nothing_that_is_kept_holds_the_key(serve: Serve, film: Path, tmp_path: Path) -> None:
    serve(Video("7", files={"HD MP4": film}, title=f"scenic {KEY}", tags=SECRET))
    leaf = Flickr(query="scenic")
    found = only(leaf)
    got = leaf.fetch(found, part=tmp_path / "x.part", limits=LIMITS)
    assert found.title == "scenic ***"
    texts = [repr(found), repr(got), repr(leaf), str(vars(leaf)), json.dumps(asdict(got), default=str)]
    texts += [path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    texts += [str(path) for path in tmp_path.rglob("*")]
    assert len(texts) > 6
    assert not any(KEY in text or SECRET in text for text in texts)
