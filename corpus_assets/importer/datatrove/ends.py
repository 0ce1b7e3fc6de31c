"""Readers, extractors, writers and tokenizers of datatrove as sources and datasets."""

import re
from typing import Any

from corpus_assets.importer.datatrove.draft import Trove
from corpus_assets.importer.datatrove.names import TOKENIZERS
from corpus_assets.importer.datatrove.values import Block
from corpus_assets.importer.draft import usable_name
from corpus_assets.importer.given import Given, Unknown, number, switch, text, whole
from corpus_assets.importer.places import located, tokenizer_of, unreadable
from resources.outside.hidden import shown_address

_SUFFIXES = {"gzip": ".gz", "zstd": ".zst"}
FROM_BEFORE = "it reads what an earlier step wrote, so the steps join"


def read(trove: Trove, block: Block) -> None:
    """Adds the source of a reader of files, unless an earlier pipeline wrote its files."""
    given = trove.given(block)
    folder = given.values.get("data_folder")
    if isinstance(folder, Block):  # DataFolder("path", ...)
        folder = folder.values.get("path", folder.values.get(0))
        given = Given(trove.draft, {**given.values, "data_folder": folder}, given.where)
    if (path := _text(folder)) and _is_written(trove, path):
        given.leave("data_folder", FROM_BEFORE)
        for key in ("glob_pattern", "text_key", "id_key", "recursive"):
            given.leave(key, FROM_BEFORE)
    else:
        _add_source(trove, given, _place(trove, given, "data_folder"))
    trove.finish(given)


def read_hub(trove: Trove, block: Block) -> None:
    """Adds a data set of the hub as a source, or a folder that `save_to_disk` wrote."""
    given = trove.given(block)
    if given.values.get("load_from_disk") is True:
        given.take("load_from_disk", "sources[].location", switch)
        place = _place(trove, given, "dataset")
    elif (name := given.take("dataset", "sources[].location", text)) is not None:
        place = f"hf://datasets/{name.strip('/')}"
    else:
        place = _placeholder(trove, given, "dataset")
    options = given.values.get("dataset_options")
    if isinstance(options, dict):
        given.named.add("dataset_options")
        for key in options:
            why = "name the files in `glob` of the source, such as `**/train-*`"
            trove.draft.leave(f"{given.where}dataset_options.{key}", why)
    given.leave("load_from_disk", "files of a hub's repository are read where they lie")
    _add_source(trove, given, place)
    trove.finish(given)


def _text(folder: Any) -> str | None:
    """Returns a folder as it is written, also with parts that only running the script would give."""
    return folder if isinstance(folder, str) else folder.shown_inside if isinstance(folder, Unknown) else None


def _is_written(trove: Trove, folder: str) -> bool:
    return any(f"{folder.rstrip('/')}/".startswith(f"{written.rstrip('/')}/") for written in trove.written)


def _place(trove: Trove, given: Given, key: str) -> str:
    if (path := given.path(key, "sources[].location")) is None:
        return _placeholder(trove, given, key)
    if why := unreadable(path):
        trove.draft.taken.pop(f"{given.where}{key}", None)
        given.leave(key, f"{shown_address(path)} cannot be read where it is; {why}")
        return _placeholder(trove, given, key)
    return located(path, trove.folder)


def _placeholder(trove: Trove, given: Given, key: str) -> str:
    """Returns a place to be written by the user."""
    value = given.values.get(key)
    place = value.shown_inside if isinstance(value, Unknown) else f"<{key}>"
    trove.draft.remind(f"write the folder of the raw files in place of {place}")
    return place


def _add_source(trove: Trove, given: Given, location: str) -> None:
    source: dict[str, Any] = {"location": location}
    if pattern := given.take("glob_pattern", "sources[].glob", text):
        source["glob"] = pattern.lstrip("/")
    if given.take("recursive", "sources[].glob", switch) is False and "glob" not in source:
        source["glob"] = "*"
    for key in ("text_key", "id_key"):
        if name := given.take(key, f"sources[].{key}", text):
            source[key] = name
    known = trove.draft.values["sources"]
    if all({key: value for key, value in one.items() if key not in ("name", "extractor")} != source for one in known):
        parts = re.split("[/<>]", location.rpartition("://")[2])
        usable = [part.removeprefix("args.") for part in parts if usable_name(part, "")]
        name = trove.draft.free_name("sources", usable_name(usable[-1] if usable else "", "documents"))
        known.append({"name": name, **source})


def extract(trove: Trove, block: Block) -> None:
    """Sets the extractor of the sources that are read up to here."""
    given = trove.given(block)
    trove.draft.take(given.where.strip(), "sources[].extractor")
    seconds = given.take("timeout", "sources[].html.seconds, of CPU time", number)
    for source in trove.draft.values["sources"]:
        if "extractor" not in source:
            source |= {"extractor": "trafilatura", **({"html": {"seconds": seconds}} if seconds else {})}
    trove.draft.remind("pip install 'corpus-assets[trafilatura]'")
    trove.finish(given)


def write(trove: Trove, block: Block) -> None:
    """Keeps a writer; the last one of a script says what dataset of texts there is."""
    given = trove.given(block)
    files = "parquet"
    if block.name == "JsonlWriter":
        packed = given.values.get("compression", "gzip")
        files = f"jsonl{_SUFFIXES.get(str(packed), '')}"
        if "compression" in given.values and packed is None:
            given.named.add("compression")
            trove.draft.take(f"{given.where}compression", "datasets[].files")
        given.take("compression", "datasets[].files", text)
    given.leave("compression", "files are packed by the writer of Parquet")
    if block.name == "HuggingFaceDatasetWriter":
        given.leave("dataset", "files lie in the store, under storage.root; upload them from there")
        given.leave("private", "files lie in the store, under storage.root; upload them from there")
    if folder := _text(given.values.get("output_folder")):
        trove.written.append(folder)
    trove.draft.take(given.where.strip(), "datasets[] with format: text, for the last writer of the script")
    trove.writer = {"name": "texts", "format": "text", "input": "train", "files": files}
    trove.finish(given)


def tokenize(trove: Trove, block: Block) -> None:
    """Adds a dataset of ids."""
    given = trove.given(block)
    export: dict[str, Any] = {"format": TOKENIZERS[block.name], "input": "train"}
    if "tokenizer_name_or_path" not in given.values:
        given = Given(trove.draft, {**given.values, "tokenizer_name_or_path": "gpt2"}, given.where)
    section = tokenizer_of(given, "tokenizer_name_or_path", trove.folder)
    if section is None:
        trove.draft.remind("name the tokenizer in tokenizer.path, or take a kind that needs none")
        section = {"kind": "huggingface", "path": "tokenizer"}
    if eos := given.take("eos_token", "tokenizer.eos", text):
        section["eos"] = eos
    if ids := given.take("max_tokens_per_file", "datasets[].file_ids", whole):
        export["file_ids"] = ids
    if seed := given.take("seed", "mix.seed", whole):
        trove.draft.values.setdefault("mix", {})["seed"] = seed
    if trove.draft.values.setdefault("tokenizer", section) != section:
        export["tokenizer"] = section
    trove.draft.take(given.where.strip(), f"datasets[] with format: {export['format']}")
    name = trove.draft.free_name("datasets", "tokens")
    trove.draft.add("datasets", {"name": name, **export})
    trove.finish(given)
