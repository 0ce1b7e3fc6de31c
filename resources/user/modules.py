"""Code of the user's own that corpus.yaml names: modules in its folder, or anywhere Python finds them."""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from resources.errors import ConfigError
from resources.hashing import content_digest


def own_module(name: str, key: str, folder: Path) -> ModuleType:
    """Imports a module; `folder` is that of corpus.yaml. `ConfigError` names the configuration key if that fails."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise ConfigError(f"{key}: module {name!r} cannot be imported: {type(error).__name__}: {error}") from error


def module_digest(name: str) -> str:
    """Returns the digest of the file of an imported module; `built in` if it has none."""
    file = getattr(sys.modules[name], "__file__", None)
    return content_digest(Path(file).read_bytes()) if file else "built in"


def named(known: Mapping[str, str], value: str, key: str, folder: Path) -> Any:
    """Returns the function that a configuration value names.

    known: `module:function` by the names of the project's own. value: one of those names, or a `module:function` of
    the user's own. `ConfigError` names the key, and what is valid.
    """
    module, colon, function = known.get(value, value).partition(":")
    if not colon:
        valid = ", ".join(map(repr, known))
        raise ConfigError(f"{key}: received {value!r}; valid: {valid}, or module:function of your own")
    found = getattr(own_module(module, key, folder), function, None)
    if found is None:
        raise ConfigError(f"{key}: module {module!r} has no {function!r}")
    return found
