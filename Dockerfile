# The program in a container, from a clone:
#   docker build -t inpaintbench .                            everything, networks on the processor
#   docker build --target cuda -t inpaintbench:cuda .         the same for NVIDIA's cards
#   docker build --target core -t inpaintbench:core .         without networks and without the raters' app
# docs/installing.md says how to run it, docs/licences.md what passing it on asks.

FROM python:3.13-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src/ src/
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim AS core
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
# hadolint ignore=DL3013
RUN set -- /wheels/*.whl \
 && pip install --no-cache-dir "$1[annotate,curation,eval,export,masks,postgres]"
USER 1000

FROM core AS cpu
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
USER 0
# hadolint ignore=DL3013
RUN set -- /wheels/*.whl \
 && pip install --no-cache-dir --index-url "$TORCH_INDEX" torch torchvision torchcodec \
 && pip install --no-cache-dir "$1[annotate,curation,eval,export,masks,postgres]"
USER 1000
