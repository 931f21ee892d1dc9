"""The packages that `doctor` looks for: what they are called, what for, and which extra brings them."""

from __future__ import annotations

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
    "scenedetect": ("scenedetect", "curation", "the splitter shots"),
    "pysubs2": ("pysubs2", "curation", "subtitle files"),
    "decord": ("decord", "decord", "one more decoder for `export verify`"),
    "yt_dlp": ("yt-dlp", "sites", "`curation fetch site`"),
    "flickrapi": ("flickrapi", "flickr", "`curation fetch flickr`"),
    "ray": ("Ray", "ray", "the option --ray"),
}
# Module -> the distribution that brings it, where that is called otherwise.
PACKAGES = {"cv2": "opencv-python-headless", "skimage": "scikit-image", "PIL": "pillow", "yt_dlp": "yt-dlp",
             "scenedetect": "scenedetect-headless", "open_clip": "open_clip_torch"}  # fmt: skip
