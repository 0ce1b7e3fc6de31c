"""Dolma's `tokens` configuration as a dataset (docs/formats/dolma.md "Tokens")."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from corpus_assets.importer.documents import divided
from corpus_assets.importer.draft import Draft, GivenTokens, usable_name
from corpus_assets.importer.given import Given, switch, text, whole
from corpus_assets.importer.places import located, tokenizer_of, unreadable
from resources.config_files import read_outside
from resources.outside.hidden import shown_address

REASONS = {
    "destination": "datasets lie in the store, under storage.root",
    "seed": "documents keep their order; the mix orders those of a split, by `mix.seed`",
    "batch_size": "documents keep their order; memory is bounded by `engine.memory`",
    "ring_size": "documents keep their order",
    "sample_ring_prop": "documents keep their order",
    "files_per_process": "every shard is a partition",
    "dtype": "ids have the smallest type that holds the vocabulary",
    "debug": "set `engine: {workers: 0}` for that",
    "dryrun": "`corpus plan` says what would be done",
    "work_dir": "temporary files lie in the store",
    "tokenizer.segment_before_tokenization": "texts are encoded as a whole, in time that grows with their length",
    "tokenizer.fast": "`tokenizer.backend` chooses the fastest that is proved to give equal ids",
    "tokenizer.refresh": "a tokenizer is kept as long as its file is the same",
    "fields.text_field_type": "a text is a text",
    "fields.id_field_type": "an id is a text",
}
_LARGEST = 64 << 20
"""Bytes of a tokenizer.json."""
_OF_TOKENS = "tokens: documents"
NO_PARAMETER = "no key of the toolkit that is known here"


def import_tokens(draft: Draft, given: Mapping[str, Any], folder: Path) -> None:
    """Keeps a `tokens` configuration; `add_tokens` makes its dataset."""
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key in ("tokenizer", "fields") and isinstance(value, Mapping):
            values |= {f"{key}.{inside}": one for inside, one in value.items()}
        else:
            values[key] = value
    draft.tokens.append(GivenTokens(values, folder))


def add_tokens(draft: Draft) -> None:
    """Adds the datasets of all `tokens` configurations.

    One whose documents are the output of a mix that became the filter has the corpus as its input; any other has files
    of its own. Call it when all mixes are added.
    """
    written = [str((stream.values.get("output") or {}).get("path") or "") for stream in draft.streams]
    for one in draft.tokens:
        _add(draft, Given(draft, one.values, "tokens: "), one.folder, [path.rstrip("/") for path in written if path])


def _add(draft: Draft, given: Given, folder: Path, written: list[str]) -> None:
    entry: dict[str, Any] = {"format": "olmo", "compat": "dolma"}
    section = _tokenizer(given, folder)
    _take_bos(given, entry, section)
    if size := given.take("max_size", "datasets[].file_ids", whole):
        entry["file_ids"] = size
    files = _files(given)
    documents = [path for path in given.values.get("documents") or [] if isinstance(path, str)]
    given.named.add("documents")
    given.leave_all(REASONS)
    if (workers := given.take("processes", "engine.workers", whole)) and workers > 0:
        known = draft.values.setdefault("engine", {"workers": workers})
        known["workers"] = max(known["workers"], workers)
    given.finish(NO_PARAMETER)
    if not (groups := _inputs(draft, documents, folder, written)):
        draft.leave(_OF_TOKENS, "none of these can be read by a dataset")
    name = usable_name(PurePosixPath(str(given.values.get("destination") or "")).name, "tokens")
    if draft.values.setdefault("tokenizer", section) != section:
        entry["tokenizer"] = section
    for place in groups:
        own = {**place, **files} if isinstance(place, dict) else place
        draft.take(_OF_TOKENS, f"datasets[].input{'.location and glob' if isinstance(place, dict) else ''}")
        draft.add("datasets", {"name": draft.free_name("datasets", name), **entry, "input": own})


def _take_bos(given: Given, entry: dict[str, Any], section: Mapping[str, Any]) -> None:
    """Takes over the token before each document, which is named by its text here and by its id there."""
    key = "tokenizer.bos_token_id"
    if given.values.get(key) is None:
        return
    name = str(given.values.get("tokenizer.name_or_path"))
    token = _text_of(name, given.values[key]) if section["kind"] == "tokenizer_json" else None
    if token is None:
        given.leave(key, "write the text of this token in `bos_token` of the dataset")
    else:
        given.take(key, "datasets[].bos_token", whole)
        entry["bos_token"] = token


class _Added(msgspec.Struct):
    id: int
    content: str


class _TokenizerFile(msgspec.Struct):
    added_tokens: list[_Added] = []


def _text_of(path: str, token: Any) -> str | None:
    """Returns the text of a control token in a tokenizer.json; None if the file is not there or has none of this id."""
    if not Path(path).is_file():
        return None
    try:
        found = msgspec.json.decode(read_outside(path, path, _LARGEST), type=_TokenizerFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return next((one.content for one in found.added_tokens if one.id == token), None)


def _tokenizer(given: Given, folder: Path) -> dict[str, Any]:
    key = "tokenizer.name_or_path" if "tokenizer.name_or_path" in given.values else "tokenizer_name_or_path"
    section = tokenizer_of(given, key, folder)
    if section is None:
        given.draft.remind("name the tokenizer of `dolma tokens` in tokenizer.path")
        section = {"kind": "tokenizer_json", "path": "tokenizer.json"}
    for inside, ours in (("eos_token_id", "eos"), ("pad_token_id", "pad")):
        if (token := given.take(f"tokenizer.{inside}", f"tokenizer.{ours}", whole)) is not None:
            section[ours] = token
    plain = given.take("tokenizer.encode_special_tokens", "tokenizer.special_tokens_in_text", switch)
    return {**section, "special_tokens_in_text": not plain}


def _files(given: Given) -> dict[str, Any]:
    keys = {"fields.text_field_name": "text_key", "fields.id_field_name": "id_key"}
    found: dict[str, Any] = {}
    for key, ours in keys.items():
        if (name := given.take(key, f"datasets[].input.{ours}", text)) is not None:
            found[ours] = name
    return found


def _inputs(draft: Draft, documents: list[str], folder: Path, written: list[str]) -> list[str | dict[str, Any]]:
    """Returns the input of a dataset for each folder of documents; `train` for all that a mix writes."""
    found: dict[str, list[str]] = {}
    of_mix = False
    for place, pattern in enumerate(documents):
        if any(f"{pattern}/".startswith(f"{path}/") for path in written):
            of_mix = True
        elif why := unreadable(pattern):
            draft.leave(f"documents.{place}", f"{shown_address(pattern)} cannot be read where it is; {why}")
        else:
            location, glob = divided(pattern)
            found.setdefault(located(location, folder), []).append(glob)
    groups: list[str | dict[str, Any]] = [
        {"location": location, "glob": globs if len(globs) > 1 else globs[0]} for location, globs in found.items()
    ]
    if of_mix and "streams" in draft.values:
        draft.leave(_OF_TOKENS, "they are what the mix writes, here files of `streams` in the store; name their folder")
    elif of_mix:
        _keep_all(draft)
        groups.insert(0, "train")
    return groups


def _keep_all(draft: Draft) -> None:
    """Turns off what the toolkit does not do between the mixer and the tokenizer."""
    draft.values["short_documents"] = {"threshold": 0}
    draft.values["mix"] = {"leave_out": []}
    draft.values["split"] = {"holdout": 0.0}
