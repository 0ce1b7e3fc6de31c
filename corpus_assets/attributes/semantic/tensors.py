"""Tensors of a safetensors file: a header in JSON, then plain numbers (huggingface.co/docs/safetensors)."""

from typing import Annotated, Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from resources.errors import ConfigError
from resources.outside_files import OutsideFile

MOST_BYTES: Final = 4 << 30
_TYPES: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
_HEAD: Final = 8


class _Tensor(msgspec.Struct):
    """A tensor in the header."""

    dtype: str
    shape: Annotated[list[int], msgspec.Meta(max_length=8)]
    data_offsets: tuple[int, int]


def tensors_in(file: OutsideFile, key: str) -> dict[str, NDArray[Any]]:
    """Returns all tensors of a file by name; `ConfigError` names the configuration key if it is no such file."""
    content = file.read(MOST_BYTES)
    try:
        size = int.from_bytes(content[:_HEAD], "little")
        header = msgspec.json.decode(content[_HEAD : _HEAD + size], type=dict[str, msgspec.Raw])
        body = memoryview(content)[_HEAD + size :]
        return {name: _tensor(bytes(raw), body) for name, raw in header.items() if name != "__metadata__"}
    except (msgspec.DecodeError, ValueError, OverflowError) as error:
        raise ConfigError(f"{key}: {file.path} is no safetensors file that can be used: {error}") from None


def _tensor(raw: bytes, body: memoryview) -> NDArray[Any]:
    one = msgspec.json.decode(raw, type=_Tensor)
    if one.dtype not in _TYPES:
        raise ValueError(f"numbers of type {one.dtype}; valid: {', '.join(_TYPES)}")
    start, end = one.data_offsets
    if not 0 <= start <= end <= len(body):
        raise ValueError(f"a tensor from byte {start} to {end} of {len(body)}")
    return np.frombuffer(body[start:end], dtype=_TYPES[one.dtype]).reshape(one.shape)
