"""Configurations of the Dolma toolkit 1.2.1 as a corpus.yaml (docs/formats/dolma.md "Configurations")."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from corpus_assets.config.reading.loading import parse_config
from corpus_assets.config.reading.strict_yaml import MAX_CONFIG_BYTES, load_yaml
from corpus_assets.importer.dolma_dedupe import check_against, import_dedupe, is_read_only, narrow
from corpus_assets.importer.dolma_mix import add_mixes, import_mix
from corpus_assets.importer.dolma_tag import import_tag
from corpus_assets.importer.draft import Draft
from resources.config_files import read_outside
from resources.errors import ConfigError

Take = Callable[[Draft, Mapping[str, Any], Path], None]
KINDS: dict[str, tuple[Take, tuple[str, ...]]] = {
    "taggers": (
        import_tag,
        (
            *("documents", "taggers", "tagger_modules", "experiment", "processes", "destination", "ignore_existing"),
            *("debug", "dryrun", "profile", "work_dir", "skip_on_failure"),
        ),
    ),
    "dedupe": (
        import_dedupe,
        ("documents", "dedupe", "processes", "bloom_filter", "is_s3_volume", "compression", "work_dir", "dryrun"),
    ),
    "streams": (import_mix, ("streams", "processes", "shuffle", "work_dir", "dryrun")),
}
"""The importer of each kind of configuration and its keys, by the key that identifies the kind; a mix comes last."""
_INTERPOLATION = re.compile(r"\$\{[^}]*\}")


def import_dolma(files: Sequence[Path], folder: Path) -> Draft:
    """Returns one corpus.yaml for several configurations.

    folder: the folder of the new corpus.yaml. Raises `ConfigError` if a file is no configuration of tag, dedupe or mix,
    or if the result is not a valid corpus.yaml.
    """
    draft = Draft({"normalize": {"method": "none"}, "sources": []})
    given = [(file, _read(file)) for file in files]
    order = list(KINDS)
    for file, values in sorted(given, key=lambda one: (order.index(_kind(*one)), is_read_only(one[1]))):
        take, keys = KINDS[_kind(file, values)]
        _check_shapes(file, values)
        try:
            take(draft, values, folder)
        except (TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"{file}: the toolkit does not accept the type of a value: {error}") from error
        for key in (key for key in values if key not in keys):
            draft.leave(key, "no key of the toolkit that is known here")
        if isinstance(workers := values.get("processes"), int) and workers > 0:
            known = draft.values.setdefault("engine", {"workers": workers})
            known["workers"] = max(known["workers"], workers)
    check_against(draft)
    narrow(draft)
    add_mixes(draft)
    draft.values["datasets"] = []
    if not draft.values["sources"]:
        raise ConfigError(f"{files[0]}: no `documents` can be imported as a source\n{_words(draft)}")
    parse_config(draft.values, "what comes out")
    return draft


def _words(draft: Draft) -> str:
    return "\n".join(f"  {key}: {why}" for key, why in draft.left_out.items())


def _read(file: Path) -> dict[str, Any]:
    content = read_outside(str(file), str(file), MAX_CONFIG_BYTES)
    try:
        text = content.decode()
        values = msgspec.json.decode(content) if file.suffix == ".json" else load_yaml(text, str(file))
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from None
    if found := _INTERPOLATION.search(text):
        raise ConfigError(f"{file}: only the toolkit can resolve {found[0]!r}; write its value instead")
    if not isinstance(values, dict):
        raise ConfigError(
            f"{file}: is not a mapping; valid: a configuration of `dolma tag`, `dolma dedupe` or `dolma mix`"
        )
    return values


def _kind(file: Path, values: Mapping[str, Any]) -> str:
    found = [key for key in KINDS if key in values]
    if len(found) != 1:
        raise ConfigError(
            f"{file}: has {' and '.join(found) or 'none'} of {', '.join(KINDS)}; valid: a configuration of "
            "`dolma tag`, `dolma dedupe` or `dolma mix`"
        )
    return found[0]


def _check_shapes(file: Path, values: Mapping[str, Any]) -> None:
    """Raises `ConfigError` if a value that must be a list or mapping is not one."""
    lists = ("documents", "taggers", "tagger_modules", "streams")
    mappings = ("dedupe", "bloom_filter")
    for key in (key for key in (*lists, *mappings) if values.get(key) is not None):
        if not isinstance(values[key], list if key in lists else dict):
            what = "a list" if key in lists else "a mapping"
            raise ConfigError(f"{file}: {key}: received {values[key]!r}; valid: {what}")
    for key in ("documents", "taggers"):
        if wrong := [entry for entry in values.get(key) or [] if not isinstance(entry, str)]:
            raise ConfigError(f"{file}: {key}: received {wrong[0]!r}; valid: a list of texts")
    for place, stream in enumerate(values.get("streams") or []):
        if not isinstance(stream, dict):
            raise ConfigError(f"{file}: streams.{place}: received {stream!r}; valid: a mapping")
        _check_shapes(file, stream)
