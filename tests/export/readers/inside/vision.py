"""torchvision and torchaudio, which some libraries import and nothing here calls, beside a torch without CUDA."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

OPERATORS = ("nms", "qnms")
_kept: list[Any] = []
"""Definitions of operators are gone when their library is."""


def import_torchvision() -> None:
    """Imports it. Its usual wheel has kernels for CUDA alone: beside a torch for CPU their names are missing."""
    import torch

    try:
        import torchvision
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in OPERATORS:
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _kept.append(library)
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        import torchvision  # noqa: F401


def import_torchaudio() -> None:
    """Imports it, or an empty module of its name where its kernels cannot be loaded."""
    try:
        import torchaudio  # noqa: F401
    except OSError:
        empty = ModuleType("torchaudio")
        empty.__spec__ = ModuleSpec("torchaudio", None)
        sys.modules["torchaudio"] = empty
