"""Documents for OLMo are those of `dolma tokens` on the golden corpus: ids, names and places of all of them."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_assets.corpus.corpus import Corpus
from resources.formats.codecs import open_gzip
from tests.data.building import build, open_corpus
from tests.golden.dolma import ABSENT, SET, configs, top
from tests.golden.dolma import documents as golden_documents
from tests.golden.files import plain_name, rows

pytestmark = pytest.mark.skipif(not SET.is_dir(), reason=ABSENT)
SUFFIX = ".canonical.jsonl"


def runs() -> dict[str, Path]:
    """What the golden runs of `dolma tokens` wrote, in one order, by the configuration that names its folder."""
    found = {}
    for name, config in configs().items():
        if "tokenizer" in config and "destination" in config:
            folder = SET / config["destination"]
            (found[name],) = (file for file in folder.parent.glob("*") if plain_name(file) == folder.name + SUFFIX)
    return found


def token(tokenizer: Path, id_: int) -> str:
    """The entry of a vocabulary with an id."""
    values = json.loads(tokenizer.read_text(encoding="utf-8"))
    added = {entry["content"]: entry["id"] for entry in values["added_tokens"]}
    known: dict[str, int] = {**values["model"]["vocab"], **added}
    return next(content for content, found in known.items() if found == id_)


def made(run: str, folder: Path) -> Corpus:
    """A corpus with all golden documents as a dataset for OLMo, built with the options of a run."""
    config = configs()[run]
    options = config["tokenizer"]
    tokenizer = SET / options["name_or_path"]
    first = options.get("bos_token_id")
    dataset = {
        **{"name": "olmo", "format": "olmo", "compat": "dolma", "file_ids": config.get("max_size", 2**29)},
        "bos_token": None if first is None else token(tokenizer, first),
        "input": {"location": str(top() / "documents")},
    }
    matched = not options.get("encode_special_tokens", False)
    last = token(tokenizer, options["eos_token_id"])
    chosen = {"kind": "tokenizer_json", "path": str(tokenizer), "eos": last, "special_tokens_in_text": matched}
    corpus = open_corpus(folder, {"sources": [], "tokenizer": chosen, "datasets": [dataset]})
    build(corpus)
    return corpus


def documents(corpus: Corpus, folder: Path) -> Iterator[dict[str, Any]]:
    """The documents that were written, with the paths of their raw files."""
    paths = {shard.key: shard.full_path for shard in corpus.listing().shards}
    for file in sorted((folder / "corpus" / "exports" / "olmo").glob("*.npy")):
        ids = np.fromfile(file, np.uint16).tolist()
        with file.with_suffix(".csv.gz").open("rb") as raw, open_gzip(raw) as content:
            for start, end, id_, key, row in csv.reader(io.TextIOWrapper(content, "utf-8", newline="")):
                source = str(Path(paths[key]).relative_to(SET))
                yield {"src": source, "loc": int(row), "id": id_, "tokens": ids[int(start) : int(end)]}


@pytest.mark.parametrize("run", runs())
def test_documents_are_those_of_the_toolkit(run: str, tmp_path: Path) -> None:
    expected = rows(runs()[run])
    files = {str(file.relative_to(SET)) for file in golden_documents(*configs()[run]["documents"])}
    found = [one for one in documents(made(run, tmp_path), tmp_path) if one["src"] in files]
    assert expected
    assert sorted(found, key=lambda one: (one["src"], one["loc"])) == expected
