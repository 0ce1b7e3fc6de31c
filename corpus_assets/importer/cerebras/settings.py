"""Parameters of Cerebras' preprocessing from a YAML file, from a command line, or from both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus_assets.importer.draft import Draft
from corpus_assets.importer.given import Given
from corpus_assets.importer.reading import is_configuration, read_mapping
from corpus_assets.importer.shell.calls import Call, calls
from corpus_assets.importer.shell.options import Options
from resources.errors import ConfigError

OLD, NEW = "create_hdf5_dataset", "preprocess_data"
_SWITCHES = ("resume_from_checkpoint", "write_in_batch", "shuffle", "eos_after_prompt", "display_pbar")
PROGRAMS = {OLD: Options(("mode",), switches=_SWITCHES), NEW: Options(switches=_SWITCHES)}
SECTIONS = ("setup", "processing", "dataset")
_INSIDE = ("data", "tokenizer_params", "read_hook_kwargs", "truncate_to_msl")
"""Mappings whose keys are parameters of their own."""


@dataclass
class Settings(Given):
    """Parameters of one run by their full key, which can also be asked for by their last part."""

    title: str = "dataset"
    """The name of the file, for that of the dataset."""
    mode: str | None = None
    """The mode that the command line names."""
    keys: dict[str, str] = field(default_factory=dict)
    """Full keys by the last part."""

    def __post_init__(self) -> None:
        """Finds the full keys; of two with one last part, the first counts."""
        for key in self.values:
            self.keys.setdefault(key.rpartition(".")[2], key)

    def has(self, name: str) -> bool:
        """Returns whether a parameter is given and not null."""
        return self.values.get(self.keys.get(name, "")) is not None

    def value(self, name: str) -> Any:
        """Returns a parameter as it was given."""
        return self.values.get(self.keys.get(name, ""))


def settings(draft: Draft, files: Sequence[Path]) -> Iterator[Settings]:
    """Yields the parameters of every run: of each YAML file, and of each call in a shell file."""
    several = len(files) > 1
    for file in files:
        label = f"{file.name}: " if several else ""
        if is_configuration(file):
            yield Settings(draft, _flat(_read(file)), label, title=file.stem)
        else:
            for call in calls(draft, [file], PROGRAMS, "Model Zoo's preprocessing"):
                yield from _of_call(draft, call, file, label)


def _of_call(draft: Draft, call: Call, file: Path, label: str) -> Iterator[Settings]:
    """Yields the parameters of a call: those of its YAML file, and on top of them those of the line."""
    line = dict(call.given.values)
    mode, title = line.pop("mode", None), file.stem
    named = next((key for key in ("params", "config") if key in line), None)
    values: dict[str, Any] = {}
    if named is not None:
        path = line.pop(named)
        found = next((one for one in (Path(str(path)), file.parent / str(path)) if one.is_file()), None)
        if found is None:
            draft.leave(f"{call.given.where}{named}", f"there is no file {path}; import it by itself, with --mode")
            return
        values, title = _flat(_read(found)), found.stem
        draft.take(f"{call.given.where}{named}", "the keys below")
    known = {key.rpartition(".")[2]: key for key in values}
    values |= {known.get(key, key): value for key, value in line.items()}
    yield Settings(draft, values, f"{label}{call.given.where.removeprefix(label)}", title=title, mode=mode)


def _read(file: Path) -> dict[str, Any]:
    return read_mapping(file, f"a configuration with {', '.join(SECTIONS)}")


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns parameters by their full key."""
    found: dict[str, Any] = {}
    for section, inside in values.items():
        if section not in SECTIONS:
            found[section] = inside
            continue
        if not isinstance(inside, Mapping | None):
            raise ConfigError(f"{section}: received {inside!r}; valid: a mapping")
        for key, value in (inside or {}).items():
            if key in _INSIDE and isinstance(value, Mapping):
                found |= {f"{section}.{key}.{name}": one for name, one in value.items()}
            else:
                found[f"{section}.{key}"] = value
    return found
