# The program in a container, from a clone:
#   docker build -t inpaintbench .                            everything, networks on the processor
#   docker build --target cuda -t inpaintbench:cuda .         the same for NVIDIA's cards
#   docker build --target core -t inpaintbench:core .         without networks and without the raters' app
# docs/installing.md says how to run it, docs/licences.md what passing it on asks.
#
# Everything but Debian's packages is named by its hash: the base image of two stages (the list of all architectures, which
# `docker buildx imagetools inspect python:3.12-slim` prints) and, by lock files that `make lock` renews, every package of every stage.

FROM python:3.12-slim@sha256:f77ac9e44ae96ef2c90b8053ea08c31f8be030f824196b0ae4db6d462c84e51f AS wheel
WORKDIR /source
COPY requirements-build.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE CITATION.cff ./
COPY src/ src/
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.12-slim@sha256:f77ac9e44ae96ef2c90b8053ea08c31f8be030f824196b0ae4db6d462c84e51f AS core
# The wheel of PyAV holds x264 and x265, and Debian's FFmpeg is under the GPL: who passes this image on keeps their notices and offers
# their source.
LABEL org.opencontainers.image.title="inpaintbench" \
      org.opencontainers.image.licenses="GPL-3.0-or-later AND Apache-2.0 AND LGPL-3.0-or-later AND BSD-3-Clause AND MIT"
ENV PYTHONUNBUFFERED=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    HF_HOME=/cache/huggingface INPAINTBENCH_CACHE=/cache/inpaintbench
# ffmpeg is the second decoder of `export verify`, its libraries are torchcodec's. Versions are those of the distribution.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ffmpeg fontconfig fonts-dejavu-core fonts-liberation \
 && rm -rf /var/lib/apt/lists/*
COPY requirements-demo.lock LICENSE docs/licences.md /usr/share/doc/inpaintbench/
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir --require-hashes -r /usr/share/doc/inpaintbench/requirements-demo.lock \
 && pip install --no-cache-dir --no-deps /wheels/*.whl \
 && useradd --create-home --uid 1000 user \
 && mkdir /cache /work \
 && chown 1000:1000 /cache /work
# Weights, which have licences of their own, and what is downloaded lie in /cache; datasets and runs in /work.
VOLUME ["/cache", "/work"]
WORKDIR /work
USER 1000
ENTRYPOINT ["inpaintbench"]
CMD ["--help"]

# PyTorch's wheels on the package index bring CUDA along; the host has the driver and NVIDIA's container toolkit.
FROM core AS cuda
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 0
COPY requirements-image.lock /usr/share/doc/inpaintbench/
RUN pip install --no-cache-dir --no-deps --require-hashes -r /usr/share/doc/inpaintbench/requirements-image.lock
USER 1000

# PyTorch keeps wheels without CUDA in an index of its own. `make lock` cannot renew those three: versions and hashes come from there by hand.
FROM core AS cpu
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
USER 0
COPY requirements-image-cpu.lock requirements-torch-cpu.lock /usr/share/doc/inpaintbench/
RUN pip install --no-cache-dir --no-deps --require-hashes -r /usr/share/doc/inpaintbench/requirements-image-cpu.lock \
 && pip install --no-cache-dir --no-deps --require-hashes --index-url "$TORCH_INDEX" \
    -r /usr/share/doc/inpaintbench/requirements-torch-cpu.lock
USER 1000
