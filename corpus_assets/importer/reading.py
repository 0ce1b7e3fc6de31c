"""Files of other tools: read with a limit, as plain values or as text."""

from pathlib import Path
from typing import Any

import msgspec

from corpus_assets.config.reading.strict_yaml import MAX_CONFIG_BYTES, load_yaml
from resources.config_files import read_outside
from resources.errors import ConfigError

CONFIGURATIONS = (".yaml", ".yml", ".json")


def is_configuration(file: Path) -> bool:
    """Returns whether the suffix of a file is that of a configuration; other files hold lines of a shell or Python."""
    return file.suffix.lower() in CONFIGURATIONS


def read_text(file: Path) -> str:
    """Returns the text of a file; `ConfigError` if it cannot be read, is too large, or is no UTF-8."""
    try:
        return read_outside(str(file), str(file), MAX_CONFIG_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from None


def read_values(file: Path) -> Any:
    """Returns the plain values of a file of JSON, if its suffix says so, or of YAML; `ConfigError` for other files."""
    content = read_text(file)
    if file.suffix.lower() != ".json":
        return load_yaml(content, str(file))
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from None


def read_mapping(file: Path, valid: str) -> dict[str, Any]:
    """Returns the values of a file that must hold a mapping. valid: what it can be."""
    values = read_values(file)
    if not isinstance(values, dict):
        raise ConfigError(f"{file}: is not a mapping; valid: {valid}")
    return {str(key): value for key, value in values.items()}
