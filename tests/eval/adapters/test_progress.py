"""What is read of programs while they run: bars, counts, files, and what items of like size took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tqdm import tqdm

from inpaintbench.eval.adapters.layouts import presets
from inpaintbench.eval.adapters.progress import RUNNING, Call, Progress, progress_in, progress_of, running, told, usual


@pytest.mark.parametrize(("said", "far"), [
    ("37%|███▋      | 37/100 [00:12<00:20,  3.00it/s]", Progress(37, 100, 20)),
    ("sampling: 37%|###7      | 37/100 [1:02:03<2:00:00,  3.00s/it, loss=0.1]", Progress(37, 100, 7200)),
    ("\r 0%|          | 0/50 [00:00<?, ?it/s]", Progress(0, 50, None)),
    ("\r 0%|          | 0/50 [00:00<?, ?it/s]\r 2%|2         | 1/50 [00:05<04:05,  5.00s/it]", Progress(1, 50, 245)),
    ("12%|█▏        | 1.20k/10.0k [00:12<01:28, 100B/s]", Progress(1200, 10000, 88)),
    # A bar at its end tells nothing of what follows, which may count by itself.
    ("100%|██████████| 50/50 [04:10<00:00,  5.00s/it]\nwriting\n", None),
    ("Loading shards: 100%|##########| 2/2 [00:01<00:00]\nframe 3\nframe 4\n", Progress(4, 80)),
    ("12/80\n", Progress(12, 80)),  # as many as there are frames
    ("step 3 of 30\nstep 4 of 30", Progress(4, 30)),
    ("[3/30]\n[4/30]\n", Progress(4, 30)),
    ("Done 3 out of 30.\nDone 4 out of 30.", Progress(4, 30)),
    ("10 % done\r12.5 % done", Progress(12.5, 100)),
    ("Processing frame 12 ...\nProcessing frame 13 ...\n", Progress(13, 80)),
    ("Frame: 0012\nFrame: 0013\n", Progress(13, 80)),
    ("1st frame\n2nd frame\n", Progress(2, 80)),
    ("saved /a/b/00012.png\nsaved /a/b/00013.png\n", Progress(13, 80)),
    ("frame 79\nframe 80\n", None),
    # What stays, falls, or counts something else.
    ("3 of 10 done, 30%", None),
    ("11/29/2026 12:00\n11/29/2026 12:01\n", None),
    ("version 1.2/3.4, layer 4/5", None),
    ("reading data/12/80/a\nreading data/13/80/b\n", None),
    ("Number of frames: 80\nframe size 432x240\n", None),
    ("frame 13\nframe 12\n", None),
    ("frame 812\nframe 813\n", None),
    ("", None),
])  # fmt: skip
def test_what_a_program_counts_is_read(said: str, far: Progress | None) -> None:
    assert progress_in(said, frames=80) == far


_DIFFUSERS = "\r  8%|▊         | 4/50 [00:11<02:10,  2.84s/it]"
# What the program of each preset prints while it works on 80 frames, as its code has it; None where that tells nothing.
SAID: dict[str, tuple[str, Progress | None]] = {
    "propainter": ("\nProcessing: frames [80 frames]...\n\r  6%|▋         | 1/16 [00:03<00:52,  3.47s/it]", Progress(1, 16, 52)),
    "propainter-grown": ("\nProcessing: frames [80 frames]...\n\r 12%|█▎        | 2/16 [00:07<00:49]", Progress(2, 16, 49)),
    "e2fgvi-hq": ("Start test...\n\r 12%|█▎        | 2/16 [00:08<00:56,  4.05s/it]", Progress(2, 16, 56)),
    "e2fgvi": ("Start test...\n\r 12%|█▎        | 2/16 [00:08<00:56,  4.05s/it]", Progress(2, 16, 56)),
    "fuseformer": ("loading videos and masks from: frames\n0 6 8\n5 11 7\n10 11 6\n", Progress(10, 80)),
    "sttn": ("loading from: sttn.pth\nloading videos and masks from: frames/%05d.png\n", None),
    "fgvc": ("Calculating backward flow 11 <---> 12 \rCalculating backward flow 12 <---> 13 \r", Progress(12, 80)),
    "diffueraser": ("Priori generating: [80 frames]...\n\r  6%|▋         | 1/16 [00:03<00:52,  3.47s/it]", Progress(1, 16, 52)),
    "vace": ("[2026-11-29 12:00:00,000] INFO: Generating video...\n" + _DIFFUSERS, Progress(4, 50, 130)),
    "lama": ("\r  5%|▌         | 4/80 [00:11<03:36,  2.84s/it]", Progress(4, 80, 216)),
    "mat": ("Loading networks from: mat.pkl\nPrcessing: 0000.png\nPrcessing: 0001.png\n", Progress(1, 80)),
    "aot-gan": ("saving to /tmp/output/0000\nsaving to /tmp/output/0001\n", None),  # its files are counted
    "minimax-remover": ("\r  8%|▊         | 1/12 [00:02<00:31,  2.84s/it]", Progress(1, 12, 31)),
    "rose": (_DIFFUSERS, Progress(4, 50, 130)),
    "svor": ("[INFO] Loading LoRA: a.safetensors, weight: 1.0\n" + _DIFFUSERS, Progress(4, 50, 130)),
    "effecterase": ("VAE encoding: 100%|██████████| 9/9 [00:04<00:00,  2.10it/s]\n" + _DIFFUSERS, Progress(4, 50, 130)),
    "undereraser": (_DIFFUSERS, Progress(4, 50, 130)),
    "gen-omnimatte": (_DIFFUSERS, Progress(4, 50, 130)),
    "videopainter": (_DIFFUSERS, Progress(4, 50, 130)),
    "void": (_DIFFUSERS, Progress(4, 50, 130)),
    "dfvi": ("This Video has 80 Images\nIter 0 Forward Propagation\n12 frames need to be inpainted.\n", None),
    "vinet": ("12th frame of tennis is being processed\n13th frame of tennis is being processed\n", Progress(13, 80)),
    "cpnet": ("CPNet : with DAVIS final\n\r0it [00:00, ?it/s]clip torch.Size([1, 3, 80, 240, 424])\n", None),  # its files are
    "opn": ("", None),
    "deepfillv2": (
        "Shape of image: (240, 432, 3)\nProcessed: /tmp/output/0000.png\n"
        "Shape of image: (240, 432, 3)\nProcessed: /tmp/output/0001.png\n",
        Progress(1, 80),
    ),
    "edgeconnect": ("start testing...\n\n1 0000.png\n2 0001.png\n", Progress(1, 80)),
    "comodgan": ("", None),  # its files are
    "tokenflow": ("Number of frames:  80\n\r  8%|▊         | 40/500 [00:11<02:10,  3.53it/s]", Progress(40, 500, 130)),
    "fatezero": ("***** wait to fix the logger path *****\n" + _DIFFUSERS, Progress(4, 50, 130)),
}  # fmt: skip
# Those that say nothing of how far they are while they work, and write all at the end: the time of items before tells.
SILENT = {"sttn", "dfvi", "opn"}
# Those whose frames appear in their folder one by one.
WRITES = {"lama", "mat", "aot-gan", "vinet", "cpnet", "deepfillv2", "edgeconnect", "comodgan"}


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_read_as_its_program_prints(name: str, tmp_path: Path) -> None:
    said, far = SAID[name]
    layout = presets()[name]
    assert progress_in(said, frames=80, says=layout.progress) == far
    assert (far is None) <= (name in SILENT | WRITES)
    if name in WRITES:
        assert layout.prediction
        for number in range(3):
            path = tmp_path / "output" / layout.prediction.format(layout.first + number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        call = a_call(folder=str(tmp_path / "output"), written=layout.prediction)
        assert progress_of(tmp_path / "none.txt", call) == Progress(3, 80)


def a_call(**others: object) -> Call:
    return Call(begun=1.0, since=1.0, limit_seconds=60.0, frames=80, pixels=8_000)._replace(**others)  # type: ignore[arg-type]


def test_a_bar_is_read_as_tqdm_draws_it(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with log.open("w") as file, tqdm(total=8, file=file, mininterval=0, desc="frames") as drawn:
        drawn.update(3)
        file.flush()
        found = progress_of(log, a_call())
    assert found is not None
    assert (found.done, found.total) == (3, 8)


def test_of_a_log_the_end_alone_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    drawn = "".join(f"\r{done}%|###| {done}/100 [00:12<00:20, 3.00it/s]" for done in range(1, 60))
    log.write_text("$ cd /; python first.py\n" + drawn * 50)
    assert progress_of(log, a_call()) == Progress(59, 100, 20)
    # The next program has drawn none yet.
    log.write_text(log.read_text() + "\nended with exit status 0, after 12.0 s\n$ cd /; python second.py\nloading\n")
    assert progress_of(log, a_call()) is None
    log.write_text(f"$ cd /; python first.py\n{drawn}\nended with exit status 0, after 12.0 s\n")
    assert progress_of(log, a_call()) is None


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "times.jsonl"


def took(log: Path, pixels: int, seconds: float, program: str = "") -> None:
    with told(log, a_call(pixels=pixels, since=time.time() - seconds, program=program)):
        assert running(log.with_suffix(RUNNING)) is not None


def test_items_of_like_size_tell_what_the_next_take(tmp_path: Path, cache: Path) -> None:
    log = tmp_path / "logs" / "a.txt"
    assert usual("", 1000) is None
    for pixels, seconds in ((1000, 10.0), (1500, 30.0), (9000, 50.0)):
        took(log, pixels, seconds)
    took(log, 1000, 500.0, "another")
    with cache.open("a") as file:
        file.write('["", 1000, 4')  # whoever wrote it was killed
    assert list(log.parent.iterdir()) == []
    for pixels, seconds in ((1000, 20), (700, 7)):  # the last one of like size, by its size
        assert (found := usual("", pixels)) is not None
        assert (found.seconds, found.share) == (pytest.approx(seconds, abs=0.5), None)
    with pytest.raises(KeyError), told(log, a_call(pixels=70_000)):  # what failed tells of no other
        raise KeyError
    assert (found := usual("", 70_000)) is not None
    assert found.share is not None
    assert not log.with_suffix(RUNNING).exists()


@pytest.mark.parametrize(("before", "pixels", "seconds", "share"), [
    ([(1000, 10.0)], 40_000, 400.0, 1 / 40),  # in proportion
    ([(1000, 10.0), (1000, 12.0)], 40_000, 440.0, 1 / 40),
    ([(1000, 10.0), (5000, 14.0)], 40_000, 49.0, 1 / 8),  # a start of 9 s, and 1 s for a thousand
    ([(1000, 10.0), (5000, 9.0)], 40_000, 9.5, 1 / 8),  # the start is all
    ([(1000, 1.0), (5000, 20.0)], 40_000, 140.0, 1 / 8),  # no start can be seen
])  # fmt: skip
def test_clips_of_other_sizes_tell_it_roughly(
    before: list[tuple[int, float]], pixels: int, seconds: float, share: float, tmp_path: Path, cache: Path
) -> None:
    for known in before:
        took(tmp_path / "a.txt", *known)
    assert cache.exists()
    assert (found := usual("", pixels)) is not None
    assert found.seconds == pytest.approx(seconds, rel=0.05)
    assert found.share == pytest.approx(share)


def test_what_is_kept_of_times_stays_small_and_a_folder_that_cannot_be_written_stops_nothing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.parent.mkdir()
    cache.write_text('["other", 1000, 1.0]\n' * 20_000)
    took(tmp_path / "a.txt", 1000, 10.0)
    assert cache.stat().st_size < 1 << 17
    assert (found := usual("", 1000)) is not None
    assert found.seconds == pytest.approx(10, abs=0.5)
    monkeypatch.setenv("INPAINTBENCH_CACHE", "/proc/nowhere")
    took(tmp_path / "a.txt", 1000, 10.0)
    assert usual("", 1000) is None


def test_nobody_works_where_the_worker_was_killed(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, sys\n"
        "from inpaintbench.eval.adapters.progress import Call, told\n"
        "with told(pathlib.Path(sys.argv[1]), Call(1.0, 1.0, 60.0, 80, 8000)):\n"
        "    print('there', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    words = [sys.executable, "-c", script, str(tmp_path / "a.txt")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"there\n"
        assert running(tmp_path / f"a{RUNNING}") == Call(1.0, 1.0, 60.0, 80, 8000, says=[])
        worker.kill()
        worker.wait()
    assert (tmp_path / f"a{RUNNING}").exists()
    assert running(tmp_path / f"a{RUNNING}") is None
