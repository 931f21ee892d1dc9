"""What this installation can do, and what to do about the rest."""

from __future__ import annotations

import importlib.util
import json
import locale
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import inpaintbench
from inpaintbench.catalogue import attribute_at, joined
from inpaintbench.errors import how_to_install
from inpaintbench.models.weights import cache_folder, known, state

# Module -> what it is called. Nothing works without them.
CORE = {
    "av": "PyAV", "numpy": "NumPy", "cv2": "OpenCV", "scipy": "SciPy", "skimage": "scikit-image", "PIL": "Pillow",
    "pyarrow": "PyArrow", "pandas": "pandas", "datasets": "datasets", "huggingface_hub": "huggingface_hub",
}  # fmt: skip
# Module -> its name, the extra that brings it, and what for; here and broken is common, so they are imported.
IMPORTED = {
    "torch": ("PyTorch", "eval", "networks of metrics and attributes"),
    "torchvision": ("torchvision", "eval", "networks of metrics"),
    "torchcodec": ("torchcodec", "export", "decoding through datasets"),
    "numba": ("numba", "masks", "growing fingerprints and filling from exemplars fast"),
}
LOOKED_FOR = {
    "lpips": ("lpips", "eval", "the metric lpips"),
    "open_clip": ("open_clip", "eval", "metrics that CLIP computes"),
    "gradio": ("gradio", "annotate", "the browser app of `annotate`"),
    "sqlalchemy": ("SQLAlchemy", "annotate", "the journal of `annotate`"),
    "pg8000": ("pg8000", "postgres", "a journal in PostgreSQL"),
    "pysubs2": ("pysubs2", "curation", "subtitle files"),
    "decord": ("decord", "decord", "one more decoder for `export verify`"),
    **{module: attribute_at(address) for module, address in joined("optional package").items()},
    "ray": ("Ray", "ray", "the option --ray"),
}
# Module -> the distribution that brings it, where that is called otherwise.
PACKAGES = {"cv2": "opencv-python-headless", "skimage": "scikit-image", "PIL": "pillow", "yt_dlp": "yt-dlp",
             "scenedetect": "scenedetect-headless", "open_clip": "open_clip_torch"}  # fmt: skip


State = Literal["ok", "absent", "warning", "broken"]
# Free disk space below which there is a warning: a benchmark of a few hundred clips takes about as much.
LEAST_GIB = 5.0
# In the order that ``video.encoding`` takes them.
_ENCODERS = ("libx264", "libvpx-vp9")
_CHILD = Path(__file__).with_name("installation_child.py")
_CHILD_SECONDS = 180.0
_GIB = 2**30


@dataclass(frozen=True)
class Finding:
    """One line of `doctor`."""

    group: str
    part: str
    state: State
    told: str
    todo: str | None = None
    core: bool = False
    """True when nothing works while this is broken."""


def findings() -> list[Finding]:
    """Everything, in the order that it is shown in; a probe that fails is a finding itself."""
    imports = told_by_child([*CORE, *(name for name in IMPORTED if _is_here(name))])
    probes: Sequence[tuple[str, Callable[[], Iterator[Finding]]]] = (
        ("system", _system),
        ("core", lambda: _core(imports)),
        ("video", lambda: _video(imports.get("av", {}))),
        ("optional", lambda: _optional(imports)),
        ("GPU", lambda: _gpu(imports.get("torch", {}))),
        ("disk", _disk),
        ("fonts", _fonts),
        ("keys", _keys),
        ("weights", _weights),
    )
    return [finding for group, probe in probes for finding in _surviving(group, probe)]


def _surviving(group: str, probe: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from probe()
    except Exception as error:  # packages fail in ways of their own; the other checks are told
        yield Finding(group, "this check", "warning", f"failed: {type(error).__name__}: {error}", "report this as a fault")


def told_by_child(modules: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Module -> whether it works, its version or error, and more, as a process of its own finds out.

    A module that ends the process, or takes too long, is told broken; those after it are tried in another one.
    """
    answers: dict[str, dict[str, Any]] = {}
    left = list(modules)
    while left:
        command = [sys.executable, "-P", str(_CHILD), *left]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_CHILD_SECONDS)
            output: bytes | str = done.stdout
            how = f"importing it ended the process with status {done.returncode}"
        except subprocess.TimeoutExpired as error:
            output, how = error.stdout or "", f"importing it took longer than {_CHILD_SECONDS:.0f} s"
        begun = None
        for line in (output.decode(errors="replace") if isinstance(output, bytes) else output).splitlines():
            if line.startswith('{"module": ') and line.endswith("}"):
                row = json.loads(line)
                begun = row["module"]
                answers[begun] = {"works": False, "error": how} if row.get("begun") else row
        if begun is None:
            return answers | {name: {"works": False, "error": how} for name in left}
        left = [name for name in left if name not in answers]
    return answers


def _is_here(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def package_version(package: str) -> str | None:
    """Version of an installed distribution; None where there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _system() -> Iterator[Finding]:
    yield Finding("system", "inpaintbench", "ok", f"{inpaintbench.__version__}, {Path(inpaintbench.__file__).parent}")
    yield Finding("system", "Python", "ok", f"{platform.python_version()}, {sys.executable}")
    yield Finding("system", "platform", "ok", platform.platform())
    yield Finding(
        "system", "processor", "ok", f"{len(os.sched_getaffinity(0)) if sys.platform == 'linux' else os.cpu_count()} cores"
    )
    names = dict.fromkeys([sys.getfilesystemencoding(), locale.getpreferredencoding(False)])
    strange = [name for name in names if name.casefold().replace("-", "") != "utf8"]
    way = "set LANG=C.UTF-8 or PYTHONUTF8=1, or names with letters beyond ASCII fail" if strange else None
    yield Finding("system", "encoding", "warning" if strange else "ok", ", ".join(names), way)


def _core(imports: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    for module, name in CORE.items():
        package = PACKAGES.get(module, module)
        answer = imports.get(module, {"works": False, "error": "nothing is known of it"})
        if answer["works"]:
            yield Finding("core", name, "ok", answer["version"] or package_version(package) or "", core=True)
        else:
            yield Finding("core", name, "broken", answer["error"], f"pip install --force-reinstall {package}", core=True)
    if package_version("opencv-python") and package_version("opencv-python-headless"):
        way = "pip uninstall opencv-python opencv-python-headless, then pip install opencv-python-headless alone"
        both = "opencv-python and opencv-python-headless are both installed and overwrite each other"
        yield Finding("core", "OpenCV twice", "warning", both, way)


def _video(answer: Mapping[str, Any]) -> Iterator[Finding]:
    if answer.get("works"):
        libraries = ", ".join(
            f"{name} {number}" for name, number in answer["libraries"].items() if name in ("libavcodec", "libavformat")
        )
        yield Finding("video", "FFmpeg in PyAV", "ok", f"{answer['ffmpeg'] or ''} ({libraries})".strip())
        yield _encoder(answer["encoders"])
        yield Finding("video", "licence of PyAV", "ok", _licence(answer))
    program = shutil.which("ffmpeg")
    if program is None:
        way = "for a second decoder of `export verify` install ffmpeg, such as apt install ffmpeg"
        yield Finding("video", "ffmpeg program", "absent", "not found", way)
        return
    first = _first_line(program, "-version")
    broken = None if first else f"{program} -version fails: install ffmpeg again"
    yield Finding("video", "ffmpeg program", "ok" if first else "warning", f"{first or 'does not start'}, {program}", broken)


def _encoder(held: Sequence[str]) -> Finding:
    """What writes videos; ``video.encoding`` chooses it."""
    asked = os.environ.get("INPAINTBENCH_ENCODER")
    first = asked or next(iter(held), "none")
    if first not in held:
        why = f"INPAINTBENCH_ENCODER asks for {asked!r}, and " if asked else ""
        way = f"pip install --force-reinstall --only-binary av av: its wheels hold {' and '.join(_ENCODERS)}"
        return Finding(
            "video", "encoder", "broken", f"{why}PyAV holds {' and '.join(held) or 'none that can be used'}", way, core=True
        )
    if first == _ENCODERS[0]:
        return Finding("video", "encoder", "ok", first, None)
    why = "as INPAINTBENCH_ENCODER says" if asked else f"since PyAV lacks {_ENCODERS[0]}"
    return Finding("video", "encoder", "ok", f"{first}, {why}; the form challenge, which is H.264 by definition, is refused")


def _licence(answer: Mapping[str, Any]) -> str:
    """What has to be kept by who passes PyAV on; docs/licences.md says more."""
    says = f"its FFmpeg says {answer['licence']!r}" if answer.get("licence") else "its FFmpeg says nothing of licences"
    if not answer.get("gpl"):
        return f"{says} and holds no encoder under the GPL"
    verb = "is" if len(answer["gpl"]) == 1 else "are"
    return (
        f"{says}, but {' and '.join(answer['gpl'])} in it {verb} GPL: an image or installer that holds it is passed on as GPLv3"
    )


def _first_line(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return next(iter(done.stdout.splitlines()), "").partition(" Copyright")[0] or None


def _optional(imports: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    for module, (name, extra, purpose) in {**IMPORTED, **LOOKED_FOR}.items():
        install = f"for {purpose}: {how_to_install(extra)}"
        if not _is_here(module):
            yield Finding("optional", name, "absent", "not installed", install)
        elif module in imports and not imports[module]["works"]:
            way = f"{purpose} does not work until it does: install it again in a version that fits"
            if module == "torchcodec":
                way += " PyTorch, and FFmpeg's shared libraries (apt install ffmpeg)"
            yield Finding("optional", name, "broken", imports[module]["error"], way)
        else:
            version = imports.get(module, {}).get("version") or package_version(PACKAGES.get(module, module)) or "here"
            yield Finding("optional", name, "ok", version)


def _gpu(torch: Mapping[str, Any]) -> Iterator[Finding]:
    driver = (
        _first_line("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader") if shutil.which("nvidia-smi") else None
    )
    for number, device in enumerate(torch.get("devices", ())):
        yield Finding(
            "GPU", f"cuda:{number}", "ok", f"{device['name']}, {device['bytes'] / _GIB:.0f} GiB, driver {driver or 'unknown'}"
        )
    if torch.get("mps"):
        yield Finding("GPU", "mps", "ok", "Apple's GPU")
    if torch.get("devices") or torch.get("mps"):
        return
    if driver is None:
        yield Finding("GPU", "none", "absent", "everything runs on the processor")
    elif not torch.get("works"):
        way = f"to use it: {how_to_install('eval')}"
        yield Finding("GPU", "unused", "warning", f"driver {driver} is here, PyTorch is not", way)
    else:
        built = torch.get("cuda_build")
        way = "update the driver" if built else "install a CUDA build of PyTorch, see https://pytorch.org/get-started"
        what = (
            f"driver {driver} is here, PyTorch is built for {f'CUDA {built}' if built else 'the processor alone'} and sees no GPU"
        )
        yield Finding("GPU", "unused", "warning", what, way)


def _disk() -> Iterator[Finding]:
    hub = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface") / "hub"
    try:
        temporary: Path | None = Path(tempfile.gettempdir())
    except OSError:
        temporary = None
        way = "set TMPDIR to a folder that can be written"
        yield Finding("disk", "temporary folder", "broken", "no folder can be written", way, core=True)
    places = {"this folder": Path.cwd(), "temporary folder": temporary, "weights": cache_folder(), "cache of the Hub": Path(hub)}
    for name, place in places.items():
        if place is None:
            continue
        there = next(path for path in (place.absolute(), *place.absolute().parents) if path.exists())
        free = shutil.disk_usage(there).free / _GIB
        sentence = f"{free:.1f} GiB free in {place}" + ("" if place.exists() else ", which is not there yet")
        if not os.access(there, os.W_OK):
            yield Finding("disk", name, "warning", f"{sentence}, not writable", f"make {there} writable, or work elsewhere")
        elif free < LEAST_GIB:
            way = f"free some space: below {LEAST_GIB:g} GiB large builds may not end"
            yield Finding("disk", name, "warning", sentence, way)
        else:
            yield Finding("disk", name, "ok", sentence)


def _fonts() -> Iterator[Finding]:
    from PIL import features

    from inpaintbench.masks.overlays.fonts import BUNDLED, find_font, installed_families

    if not Path(find_font(BUNDLED).path).is_file():
        yield Finding("fonts", "bundled font", "broken", "missing", "pip install --force-reinstall PATH_TO_CLONE", core=True)
    if shutil.which("fc-list") is None:
        way = "for subtitles in other fonts install fontconfig, such as apt install fontconfig fonts-noto-core"
        yield Finding("fonts", "fontconfig", "absent", "not found; subtitles take the bundled DejaVu Sans", way)
    else:
        families = installed_families()
        alone = families == (BUNDLED,)
        more = "for more of them install fonts, such as apt install fonts-dejavu fonts-liberation" if alone else None
        shown = "none of the common ones; subtitles take the bundled DejaVu Sans" if alone else ", ".join(families)
        yield Finding("fonts", "of subtitles", "absent" if alone else "ok", shown, more)
    if not features.check("raqm"):
        way = "for Arabic, Hebrew and Indic subtitles: pip install --force-reinstall --only-binary pillow pillow"
        yield Finding("fonts", "complex scripts", "absent", "Pillow lacks Raqm", way)


def _keys() -> Iterator[Finding]:
    for of, address in joined("key").items():
        variables, purpose = attribute_at(address)
        lacking = [name for name in variables if not os.environ.get(name)]
        way = f"for {purpose}: set {' and '.join(lacking)} in the environment"
        yield Finding("keys", of, "absent" if lacking else "ok", "not set" if lacking else "set", way if lacking else None)
    for name in ("INPAINTBENCH_OFFLINE", "HF_HUB_OFFLINE"):
        if os.environ.get(name, "0") not in ("", "0"):
            yield Finding("keys", name, "warning", "set: nothing is downloaded", f"unset {name} to download")


def _weights() -> Iterator[Finding]:
    for weight in known().values():
        status = state(weight)
        get = f"models fetch {weight.name}" if weight.origin else "models import FILE"
        todo = None if status == "ready" else f"for {', '.join(weight.used_by)}: inpaintbench {get}"
        states: dict[str, State] = {"ready": "ok", "missing": "absent"}
        yield Finding("weights", weight.name, states.get(status, "broken"), status, todo)
