"""`build` commands of wings: what cannot be done is one sentence, and changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from program import run_here
from tests.cli.test_previews_and_builds import check_refused, state


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("build", "reinpaint", "--out", "{tmp}/w"), "give either --sources FOLDER or --demo"),
        (("build", "decaption", "--out", "{tmp}/w", "--demo", "--sources", "{tmp}"), "give either --sources FOLDER or --demo"),
        (("build", "humans", "--out", "{tmp}/w"), "give either --people FORMAT=ANNOTATIONS:IMAGES or --demo"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpii"), "is not [SET:]FORMAT=ANNOTATIONS:IMAGES"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpi=a:b"), "did you mean 'mpii'?"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpii=a:b", "--crop", "gro=1"), "cannot be built"),
        (("build", "humans", "--out", "{tmp}/w", "--originals", "{tmp}"), "belong together"),
        (("build", "humans", "--out", "{tmp}/w", "--originals", "{tmp}", "--blocks", "{tmp}/no.json"), "no.json cannot be read"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--bins", "0,x"), "bins '0,x' are not edges in per cent"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--bins", "40,20"), "ascending"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--ratio", "1.5"), "ratio '1.5' should be"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--preset", "thik-512"), "did you mean 'thick-512'?"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--reach", "grown"), "unknown reach 'grown', did you mean 'grow'?"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--motion", "tube"), "--motion tube is for videos"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--saved", "polarity=x"), "--saved-masks FOLDER"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--saved-masks", "{tmp}", "--saved", "foo=1"), "no images"),
        (
            ("build", "decaption", "--out", "{tmp}/w", "--demo", "--form", "lossy"),
            "unknown form 'lossy', did you mean 'lossless'?",
        ),
        (("build", "reinpaint", "--out", "{tmp}/w", "--sources", "{tmp}/none"), "does not exist or is not a folder"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--sources", "{tmp}"), "no clips"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--saved-masks", "{tmp}/none"), "no folder of masks"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--masks-by-turn"), "--saved-masks FOLDER"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    check_refused(arguments, sentence, tmp_path)


def test_a_build_that_cannot_be_done_changes_nothing_and_one_workspace_holds_one_benchmark(tmp_path: Path) -> None:
    out = str(tmp_path / "w")
    demo = (
        "build",
        "reinpaint",
        "--demo",
        "--out",
        out,
        "--size",
        "64",
        "--patch",
        "16",
        "--pictures",
        "2",
        "--second-masks",
        "1",
    )
    done = run_here(*demo)
    assert done.returncode == 0, done.stderr
    before = state(tmp_path / "w")
    for arguments, sentence in (
        (("build", "reinpaint", "--sources", str(tmp_path / "none"), "--size", "96", "--out", out), "does not exist"),
        (("build", "reinpaint", "--demo", "--saved-masks", str(tmp_path / "none"), "--out", out), "no folder of masks"),
        (("build", "humans", "--demo", "--out", out), "holds a 'reinpaint' benchmark; choose another"),
        (("build", "devil", "--sources", str(tmp_path), "--out", out), "holds no video files"),
    ):
        done = run_here(*arguments)
        assert (done.returncode, sentence in done.stderr) == (1, True), done.stderr
        assert state(tmp_path / "w") == before


@pytest.mark.long
def test_fingerprints_are_built_scored_by_their_own_protocol_and_reported(tmp_path: Path) -> None:
    out, run = tmp_path / "w", tmp_path / "run"
    done = run_here("build", "fingerprint", "--fingers", "3", "--law", "whorl=1,arch=2", "--orientations", "--out", str(out))
    assert done.returncode == 0, done.stderr
    folder = str(out / "exports" / "fingerprint")
    assert run_here("export", "verify", folder).returncode == 0
    assert (
        run_here(
            "eval", "run", "--for=predictions", folder, "--run", str(run), "--method", "blank", "--method", "median"
        ).returncode
        == 0
    )
    scored = run_here("eval", "run", "--for=scores", folder, "--run", str(run))
    assert "3 items scored under fingerprint/corrected, 0 without a value" in scored.stdout, scored.stderr
    reported = run_here("eval", "report", folder, "--run", str(run))
    assert reported.returncode == 0, reported.stderr
    shown = run_here("eval", "run", "--for=predictions", folder, "--run", str(run), "--method", "telea", "--oracle-mask")
    assert shown.returncode == 1
    assert "has no holes to show" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fingers", "0"], "0 fingers: there must be at least one"),
        (["--fingers", "2", "--impressions", "0"], "0 impressions of each finger: there must be at least one"),
        (
            ["--fingers", "2", "--law", "fair"],
            "there is no class law 'fair': choose natural, uniform, or a weight for each class",
        ),
        (["--fingers", "2", "--law", "arch=0"], "the class law gives no class a weight above 0"),
        (["--fingers", "2", "--law", "whorl=x"], "'x' is not a weight; give numbers, such as whorl=2,arch=1"),
        (["--fingers", "2", "--law", "whorl=1,whorl=2"], "gives whorl two weights"),
        (["--fingers", "2", "--law", "arch=-1,whorl=2"], "gives arch the weight -1.0"),
        (["--demo", "--law", "natural"], "the demo has all classes alike"),
        (["--fingers", "2", "--splits", "9,1"], "splits '9,1' are not three shares for train, validation, test"),
        (["--fingers", "2", "--elastic", "-1"], "elastic is -1.0, give 0 (no field) or more"),
        (["--fingers", "2", "--background", "white", "--background", "wood"], "--background white stands alone"),
        (["--fingers", "2", "--law", "arc=1"], "the class law names 'arc', which is no finger class"),
        (["--fingers", "2", "--size", "40x60"], "a fingerprint of 40x60 pixels is too small for the ridge filter"),
        (["--fingers", "2", "--ppi", "72"], "72"),
        (["--fingers", "2", "--background", "marble"], "unknown background"),
        (["--fingers", "2", "--strength", "9"], "strength is 9.0, give a number from 0 (no effect) to 4"),
        (["--fingers", "2", "--jpeg", "0"], "jpeg_quality is 0, give a whole number from 1 to 100"),
        (["--fingers", "2", "--photographs", "nowhere"], "'nowhere' is not a folder"),
        (["--fingers", "2", "--photographs", "."], "holds no pictures"),
        (["--fingers", "2", "--photographs", ".", "--background", "wood"], "give either --background or --photographs"),
        (["--demo", "--fingers", "2"], "give either --fingers N or --demo"),
        ([], "give either --fingers N or --demo"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_choices_for_fingerprints_are_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_here("build", "fingerprint", "--out", "w", *arguments)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "w").exists()


def test_a_broken_photograph_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "photographs").mkdir()
    (tmp_path / "photographs" / "torn.jpg").write_bytes(b"\xff\xd8\xff torn")
    arguments = ("--fingers", "2", "--photographs", str(tmp_path / "photographs"), "--out", str(tmp_path / "w"))
    done = run_here("build", "fingerprint", *arguments)
    assert done.returncode == 1
    assert "torn.jpg" in done.stderr
    assert not (tmp_path / "w").exists()


@pytest.mark.long
def test_other_options_replace_the_dataset_where_that_is_asked_for_and_say_so(tmp_path: Path) -> None:
    build = ("build", "fingerprint", "--size", "120x160", "--out", str(tmp_path / "w"))
    first = run_here(*build, "--fingers", "3", "--splits", "0,0,1")
    assert first.returncode == 0, first.stderr
    again = run_here(*build, "--fingers", "3", "--splits", "0,0,1")
    assert (again.returncode, "-> version" in first.stdout + again.stdout) == (0, False)
    other = ("--fingers", "2", "--strength", "0", "--background", "white")
    refused = run_here(*build, *other)
    assert refused.returncode == 1
    assert "what would take its place (2 items, version 2.0.0) differs: 2 items added; 3 items removed" in refused.stderr
    second = run_here(*build, *other, "--replace")
    assert second.returncode == 0, second.stderr
    assert " -> version 2.0.0: 2 items added; 3 items removed" in second.stdout
    assert re.search("strength-0-13 +│ +2 ", second.stdout)
