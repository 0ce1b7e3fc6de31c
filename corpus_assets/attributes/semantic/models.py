"""Models: static embeddings in a folder or in a wheel, or a function of the user's own."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.wheels import wheel_version
from corpus_assets.config.selection.kinds.semantic import IN_WHEEL, is_function
from resources.errors import ConfigError, require_of_the_file
from resources.outside_files import OutsideFile, outside_digest
from resources.user.modules import module_digest

EXTRA: Final = "semantic"
BATCH: Final = 64
"""Documents that are embedded together: those of a shard in their order, so that batches are the same in any build."""

_OF_WHEEL: Final = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")

Sums = NDArray[np.int64]
"""Directions of texts in whole numbers, shape (n, dimensions); zeros for a text without known tokens."""

Embed = Callable[[Sequence[str]], Sums]


class ModelFiles(NamedTuple):
    """The files of a model: its tensors, and its tokenizer."""

    tensors: str
    tokenizer: str


def files_of(model: str, key: str) -> ModelFiles:
    """Returns the files of a folder, or of the wheel; `ConfigError` names the configuration key if they are absent."""
    if model == IN_WHEEL:
        wheel_version(IN_WHEEL, EXTRA, key)
        spec = find_spec(IN_WHEEL)
        folder = next(iter((spec and spec.submodule_search_locations) or ["."]))
        return ModelFiles(*(f"{folder}/{name}" for name in _OF_WHEEL))
    try:
        names = OutsideFile(model).names()
    except OSError as error:
        require_of_the_file(f"{key}: {model!r}", error)
        raise ConfigError(f"{key}: {model!r} cannot be read: {error.strerror}; valid: {_VALID}") from None
    tensors = [name for name in names if name.endswith(".safetensors")]
    tokenizers = [name for name in names if name == "tokenizer.json"] or [
        name for name in names if name.endswith(".json") and "tokenizer" in name
    ]
    if len(tensors) != 1 or len(tokenizers) != 1:
        there = ", ".join(names[:10]) or "nothing"
        raise ConfigError(f"{key}: {model!r} holds {there}; valid: one *.safetensors and one tokenizer.json")
    return ModelFiles(f"{model}/{tensors[0]}", f"{model}/{tokenizers[0]}")


_VALID: Final = f"a folder with *.safetensors and tokenizer.json, {IN_WHEEL}, or module:function of your own"


def model_version(model: str, key: str) -> str:
    """Returns what vectors depend on: the digest of the files of a model, or of the module of a function."""
    if is_function(model):
        module, _, _ = model.partition(":")
        own_function(model, key)
        return f"{model} {module_digest(module)}"
    return outside_digest(key, list(files_of(model, key)))


def own_function(model: str, key: str) -> Callable[[list[str]], Any]:
    """Returns the function that `module:function` names; `ConfigError` if there is none."""
    module, _, name = model.partition(":")
    try:
        found: Any = getattr(import_module(module), name, None)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{key}: module {module!r} cannot be imported: {words}") from error
    if not callable(found):
        raise ConfigError(f"{key}: module {module!r} has no function {name!r}")
    return found  # type: ignore[no-any-return]
