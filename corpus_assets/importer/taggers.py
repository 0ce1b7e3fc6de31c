"""Built-in taggers as entries of `attributes`, with the files and packages that they need."""

from collections.abc import Sequence
from typing import Any

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.importer.draft import Draft

_PLACES = {"lists": "lists/{}.txt", "model": "models/{}.bin"}


def add_taggers(draft: Draft, name: str, taggers: Sequence[str], **more: Any) -> None:
    """Adds taggers to the entry of a name, and makes it if there is none. more: further keys of a new entry."""
    entry = draft.entry("attributes", name)
    if entry is None:
        entry = {"name": name, "taggers": [], **more}
        draft.add("attributes", entry)
    for tagger in (one for one in taggers if one not in entry["taggers"]):
        entry["taggers"].append(tagger)
        _add_needs(draft, entry, tagger)


def _add_needs(draft: Draft, entry: dict[str, Any], name: str) -> None:
    tagger = BUILT_IN[name]
    for option in tagger.files:
        path = _PLACES[option].format(name)
        entry.setdefault("options", {})[name] = {option: path}
        draft.remind(f"put what {name} downloads into {path}, or name another file")
    if tagger.extra:
        draft.remind(f"pip install 'corpus-assets[{tagger.extra}]'")
