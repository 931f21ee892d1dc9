#!/bin/sh
# STUDY_DATASET  a private dataset on the Hub that holds the prepared study (with the secret HF_TOKEN), or
# STUDY          a folder of the container, such as a volume, that holds it
# INPAINTBENCH_DATABASE   secret: postgresql://... ; without it the journal is a file of this container, which a restart loses, and
# BACKUP         a file on storage that lasts, to which it is copied every minute, and from which it is brought back
# ORIGIN         https://NAME as browsers see it; on a Space it is known
# EMBED          origin of the page that shows this one in a frame, such as https://huggingface.co
# TRUSTED_PROXY  address or network of the proxy in front
set -eu
STUDY="${STUDY:-$HOME/study}"
if [ -n "${STUDY_DATASET:-}" ]; then
  hf download "$STUDY_DATASET" --repo-type dataset --local-dir "$STUDY" --quiet
fi
ORIGIN="${ORIGIN:-${SPACE_HOST:+https://$SPACE_HOST}}"
exec inpaintbench annotate serve "$STUDY" --host 0.0.0.0 --port "${PORT:-7860}" \
  ${ORIGIN:+--origin "$ORIGIN"} ${EMBED:+--embed "$EMBED"} ${TRUSTED_PROXY:+--trusted-proxy "$TRUSTED_PROXY"} ${BACKUP:+--backup "$BACKUP"}
