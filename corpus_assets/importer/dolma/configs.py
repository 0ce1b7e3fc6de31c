"""Configurations of the Dolma toolkit 1.2.1 as a corpus.yaml (docs/formats/dolma.md "Configurations")."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_assets.importer.dolma.commands import command_lines
from corpus_assets.importer.dolma.dedupe import check_against, import_dedupe, is_read_only, narrow
from corpus_assets.importer.dolma.interpolations import filled_in, forget_unused
from corpus_assets.importer.dolma.keys import name_all
from corpus_assets.importer.dolma.mix import add_mixes, import_mix
from corpus_assets.importer.dolma.shapes import check_shapes
from corpus_assets.importer.dolma.tag import import_tag
from corpus_assets.importer.dolma.tokens import add_tokens, import_tokens
from corpus_assets.importer.draft import Draft
from corpus_assets.importer.finishing import finished
from corpus_assets.importer.reading import is_configuration, read_mapping
from resources.errors import ConfigError

Take = Callable[[Draft, Mapping[str, Any], Path], None]
KINDS: dict[str, Take] = {
    "taggers": import_tag,
    "dedupe": import_dedupe,
    "streams": import_mix,
    "tokenizer": import_tokens,
}
"""The importer of each kind of configuration, by the key that identifies the kind."""


def import_dolma(files: Sequence[Path], folder: Path) -> Draft:
    """Returns one corpus.yaml for several configurations and command lines.

    files: configurations in YAML or JSON; any other file has shell lines. folder: the folder of the new corpus.yaml.
    Raises `ConfigError` if a file is no configuration of tag, dedupe, mix or tokens, or if the result is not a valid
    corpus.yaml.
    """
    draft = Draft({"normalize": {"method": "none"}, "sources": []})
    given = [one for file in files for one in _given(draft, file)]
    order = list(KINDS)
    for file, kind, values in sorted(given, key=lambda one: (order.index(one[1]), is_read_only(one[2]))):
        check_shapes(file, values)
        try:
            KINDS[kind](draft, values, folder)
        except (TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"{file}: the toolkit does not accept the type of a value: {error}") from error
        if kind != "tokenizer" and isinstance(workers := values.get("processes"), int) and workers > 0:
            known = draft.values.setdefault("engine", {"workers": workers})
            known["workers"] = max(known["workers"], workers)
    check_against(draft)
    narrow(draft)
    add_mixes(draft)
    add_tokens(draft)
    draft.values.setdefault("datasets", [])
    forget_unused(draft)
    for _, kind, values in given:
        if kind != "tokenizer":
            name_all(draft, values)
    if not draft.values["sources"] and not draft.values["datasets"]:
        raise ConfigError(f"{files[0]}: no `documents` can be imported as a source\n{_words(draft)}")
    return finished(draft, str(files[0]))


def _given(draft: Draft, file: Path) -> list[tuple[Path, str, dict[str, Any]]]:
    """Returns the configurations that a file holds, each with the name for messages and its kind."""
    if not is_configuration(file):
        return list(command_lines(draft, file))
    values = read_mapping(file, "a configuration of `dolma tag`, `dolma dedupe`, `dolma mix` or `dolma tokens`")
    return [(file, _kind(file, values), filled_in(draft, values))]


def _words(draft: Draft) -> str:
    return "\n".join(f"  {key}: {why}" for key, why in draft.left_out.items())


def _kind(file: Path, values: Mapping[str, Any]) -> str:
    found = [key for key in KINDS if key in values]
    if len(found) != 1:
        raise ConfigError(
            f"{file}: has {' and '.join(found) or 'none'} of {', '.join(KINDS)}; valid: a configuration of "
            "`dolma tag`, `dolma dedupe`, `dolma mix` or `dolma tokens`"
        )
    return found[0]
