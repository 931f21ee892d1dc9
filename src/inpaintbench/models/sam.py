"""The image encoder of SAM, ViT-H: what a picture shows at 64x64 places, for whoever then asks for masks.

Kirillov et al., "Segment Anything", ICCV 2023; the parameters are those of the authors' ``sam_vit_h_4b8939.pth`` (Apache-2.0), of
which those of the decoder are not read. Pictures are prepared as the authors do: the longer side becomes 1024 pixels by Pillow's
bilinear filter, and zeros fill the normalised picture up to a square on the right and below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from inpaintbench.models.sam_layers import SamEncoder

_ADDRESS = "inpaintbench.models.sam_layers:SamEncoder"
# Entry of `weights.toml`.
SAM = "sam-vit-h"
# Tokens along a side of the map, channels of one, pixels of the longer side that pictures come to, and of a token.
TOKENS, CHANNELS, SIDE_PIXELS, TOKEN_PIXELS = 64, 256, 1024, 16
# Of the levels 0..255.
_MEAN, _DEVIATION = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
_PREFIX = "image_encoder."


def sam_encoder(compute: Compute) -> SamEncoder:
    """Load the network, 2.5 GB: ``float32[N, 3, 1024, 1024]`` as ``prepared`` gives it -> ``float32[N, 256, 64, 64]``.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    module: SamEncoder = torch_networks.network(_ADDRESS, compute, weights_name=SAM, translate=_of_the_encoder)
    return module


def _of_the_encoder(state: torch_networks.State) -> torch_networks.State:
    return {name.removeprefix(_PREFIX): value for name, value in state.items() if name.startswith(_PREFIX)}


def scaled_size(height: int, width: int) -> tuple[int, int]:
    """Height and width of a picture whose longer side becomes 1024 pixels, rounded."""
    scale = SIDE_PIXELS / max(height, width)
    return int(height * scale + 0.5), int(width * scale + 0.5)


def prepared(picture: npt.NDArray[np.uint8], device: Any) -> Any:
    """``uint8[H, W, 3]`` RGB -> ``float32[1, 3, 1024, 1024]`` on the device."""
    height, width = scaled_size(*picture.shape[:2])
    scaled = np.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.BILINEAR))
    levels = torch_networks.on_device(scaled, device).permute(2, 0, 1)[None].float()
    shift, scale = (levels.new_tensor(values).reshape(1, 3, 1, 1) for values in (_MEAN, _DEVIATION))
    beyond = (0, SIDE_PIXELS - width, 0, SIDE_PIXELS - height)
    return torch_networks.torch().nn.functional.pad((levels - shift) / scale, beyond)


def maps(picture: npt.NDArray[np.uint8], compute: Compute) -> npt.NDArray[np.float32]:
    """What the network says of a picture ``uint8[H, W, 3]``: ``float32[256, 64, 64]``; raises as ``sam_encoder``."""
    module = sam_encoder(compute)
    with torch_networks.running(compute) as device:
        found: npt.NDArray[np.float32] = module(prepared(picture, device))[0].float().cpu().numpy()
    return found
