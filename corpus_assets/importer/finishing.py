"""The end of every import: the values must be a valid corpus.yaml."""

from corpus_assets.config.reading.loading import parse_config
from corpus_assets.importer.draft import Draft
from resources.errors import ConfigError

_ORDER = (
    *("name", "compat", "sources", "sample", "normalize", "short_documents", "attributes", "dedupers", "filter"),
    *("streams", "minhash", "dedup", "mix", "split", "tokenizer", "datasets", "engine"),
)
"""Sections in the order in which data passes them."""


def finished(draft: Draft, where: str) -> Draft:
    """Returns the draft; `ConfigError` if there is nothing in it, or its values are no valid corpus.yaml.

    where: the file that an error names.
    """
    if not draft.values.get("sources") and not draft.values.get("datasets"):
        words = "\n".join(f"  {key}: {why}" for key, why in draft.left_out.items())
        raise ConfigError(f"{where}: nothing can be imported{':' if words else ''}\n{words}".rstrip())
    draft.values = {key: draft.values[key] for key in sorted(draft.values, key=_place)}
    parse_config(draft.values, "what comes out")
    return draft


def _place(section: str) -> int:
    return _ORDER.index(section) if section in _ORDER else len(_ORDER)
