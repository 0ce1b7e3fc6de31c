"""Configurations of languages in files, as FineWeb-2 has them, for the preset `fineweb2`."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from corpus_assets.config.reading.strict_yaml import load_yaml
from corpus_assets.config.section import expanded
from corpus_assets.config.selection.fineweb2.section import NAME, LanguageLimits, languages_of
from resources.errors import ConfigError, require_of_the_file


def with_configs(values: Any, folder: Path) -> tuple[Any, list[Path]]:
    """Returns plain values with the files of `filter.fineweb2.configs` as `limits`, and these files.

    folder: of corpus.yaml. `ConfigError` names a file that cannot be read.
    """
    section = (values.get("filter") or {}).get(NAME) if isinstance(values, dict) else None
    if not isinstance(section, dict) or not isinstance(section.get("configs"), str):
        return values, []
    given = section.get("limits") or {}
    place = folder / expanded(section["configs"])
    paths = {label: place / f"{label}.yml" for label in languages_of(section) if label not in given}
    limits = {label: _read(path) for label, path in paths.items()}
    return {**values, "filter": {**values["filter"], NAME: {**section, "limits": {**limits, **given}}}}, [
        *paths.values()
    ]


def _read(path: Path) -> Any:
    where = "filter.fineweb2.configs"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError):
            require_of_the_file(f"{where}: {path}", error)
        raise ConfigError(
            f"{where}: cannot read {path}: {error}; valid: a folder with LABEL.yml of FineWeb-2"
        ) from None
    found = load_yaml(text, str(path))
    try:
        LanguageLimits.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{path}: {place + ': ' if place else ''}{first['msg']}; valid: as FineWeb-2 has it"
        ) from None
    return found
