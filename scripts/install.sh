#!/bin/sh
# Make or reuse .venv and install into it. Usage: scripts/install.sh venv|demo|full|lock
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
VENV=.venv

make_venv() {
    if ! "$PYTHON" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'; then
        echo "inpaintbench needs Python 3.11, 3.12 or 3.13; '$PYTHON' is $("$PYTHON" --version 2>&1). Try: make PYTHON=python3.11" >&2
        exit 1
    fi
    if [ ! -x "$VENV/bin/python" ]; then
        "$PYTHON" -m venv "$VENV" || {
            rm -rf "$VENV"
            echo "Python's venv module is not complete; on Debian and Ubuntu: sudo apt-get install python3-venv" >&2
            exit 1
        }
    fi
    if command -v uv >/dev/null 2>&1; then
        UV=uv
    else
        [ -x "$VENV/bin/uv" ] || "$VENV/bin/python" -m pip install --quiet uv
        UV="$VENV/bin/uv"
    fi
}

# FFmpeg's libraries (torchcodec), its program (second decoder), two browsers and a database (tests), fonts (pages and subtitles).
system_packages() {
    missing=""
    command -v ffmpeg >/dev/null 2>&1 || missing="$missing ffmpeg"
    command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
    command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1 || missing="$missing firefox-esr"
    command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
    fc-list 2>/dev/null | grep -qi dejavu || missing="$missing fonts-dejavu-core fontconfig"
    fc-list 2>/dev/null | grep -qi liberation || missing="$missing fonts-liberation"
    fc-list 2>/dev/null | grep -qi droidsansfallback || missing="$missing fonts-droid-fallback"
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "Please install with your system's package manager:$missing" >&2
        return 0
    fi
    as_root=""
    if [ "$(id -u)" != 0 ]; then
        as_root="sudo"
        if ! command -v sudo >/dev/null 2>&1; then
            echo "Please install as root: apt-get install$missing" >&2
            return 0
        fi
    fi
    $as_root apt-get update -qq
    # Not everywhere a package: Ubuntu has Firefox as a snap.
    apt-cache show firefox-esr >/dev/null 2>&1 || missing=$(echo "$missing" | sed 's/ firefox-esr//')
    # Chromium without a window, where the system has it as a package of its own: browser tests cost less than half with it.
    if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
        missing=$(echo "$missing" | sed 's/ chromium/&-headless-shell/')
    fi
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

install() {
    "$UV" pip install --quiet --python "$VENV/bin/python" --require-hashes -r "$1"
    "$UV" pip install --quiet --python "$VENV/bin/python" --no-deps -e .
}

# Where Python is told to write no bytecode, every command would otherwise compile what it imports: seconds for Gradio alone.
compile_bytecode() {
    "$VENV/bin/python" -m compileall -q -j 0 "$VENV/lib" src >/dev/null || true
}

# Once here, in a few seconds; else each of the demo's processes does it, where Python is told to write no bytecode.
compile_what_the_demo_imports() {
    "$VENV/bin/python" -m compileall -q -j 0 src >/dev/null || true
    for module in altair av cv2 datasets httpx2 jinja2 pebble PIL.ImageDraw pyarrow.parquet pydantic rich.progress scipy.fft scipy.ndimage \
        scipy.optimize scipy.sparse.csgraph scipy.stats skimage.data skimage.morphology typer.rich_utils vl_convert; do
        echo "import $module"
    done | PYTHONDONTWRITEBYTECODE="" "$VENV/bin/python" - || true
}

lock() {
    compile="$UV pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --upgrade"
    $compile --extra all --extra docs --extra dev pyproject.toml -o requirements.lock
    # The same versions as in the full lock, so that the demo, the images and the tests encode the same bytes.
    same="$compile -c requirements.lock"
    $same pyproject.toml -o requirements-demo.lock
    echo hatchling | $compile - -o requirements-build.lock
    $same --extra annotate --extra postgres pyproject.toml -o src/inpaintbench/annotate/space/requirements.lock
    image="$same --extra annotate --extra curation --extra eval --extra export --extra masks --extra postgres"
    $image pyproject.toml -o requirements-image.lock
    # PyTorch without CUDA is in requirements-torch-cpu.lock.
    cuda=$(sed -n 's/^\(torch[a-z]*\|triton\|nvidia-[a-z0-9-]*\|cuda-[a-z]*\)==.*/--no-emit-package \1/p' requirements-image.lock)
    # shellcheck disable=SC2086
    $image $cuda pyproject.toml -o requirements-image-cpu.lock
}

make_venv
case "${1:-}" in
venv) ;;
demo)
    if [ ! -e "$VENV/.full" ]; then
        install requirements-demo.lock
        compile_what_the_demo_imports
        # The demo does not need the installer, a twentieth of its size; the next verb that does brings it back.
        if [ -x "$VENV/bin/uv" ]; then "$VENV/bin/python" -m pip uninstall --quiet --yes uv; fi
    fi
    ;;
full)
    system_packages
    install requirements.lock
    compile_bytecode
    ;;
lock) lock ;;
*)
    echo "usage: scripts/install.sh venv|demo|full|lock" >&2
    exit 2
    ;;
esac
