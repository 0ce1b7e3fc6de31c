"""Control tokens that a document spells are its text, in every mode and for every trainer."""

import json
from pathlib import Path

import h5py
import numpy as np

from tests.data.building import build, open_corpus
from tests.tokenize.tokenizers_for_tests import CONTROL, trained

TOKENS = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<｜User｜>")
CODE = "for i in range(10):\n    pass  # <|fim_prefix|> <｜User｜>\n"


def ids_of(folder: Path) -> list[int]:
    """The ids of all rows or documents in the files of a dataset."""
    rows = [h5py.File(path)["data"][:, 0].ravel() for path in sorted(folder.rglob("*.h5"))]
    streams = [np.fromfile(path, np.uint16) for path in sorted(folder.rglob("*.bin"))]
    return [int(id_) for found in rows + streams for id_ in found]


def test_tokens_that_are_declared_as_text_too(tmp_path: Path) -> None:
    definition = json.loads(trained())
    first = len(definition["model"]["vocab"])
    definition["added_tokens"] += [
        {**CONTROL, "id": first + n, "content": token, "special": False} for n, token in enumerate(TOKENS)
    ]
    (tmp_path / "tokenizer.json").write_text(json.dumps(definition))
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text("".join(json.dumps({"text": f"{CODE}{n}"}) + "\n" for n in range(3)))
    places = json.dumps({"input": {"location": "in"}, "sequence_length": 512})
    datasets = [
        {"name": "lm", **json.loads(places)},
        {"name": "fim", "mode": "fim", "fim_rate": 1.0, "minimum_length": 0, **json.loads(places)},
        {"name": "parts", "mode": "lm_vsl", **json.loads(places)},
        {"name": "ours", "format": "nanogpt", "input": {"location": "in"}},
    ]
    tokenizer = {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"}
    corpus = open_corpus(tmp_path, {"sources": [], "datasets": datasets, "tokenizer": tokenizer})
    build(corpus)
    found = {name: ids_of(tmp_path / "corpus/tokens" / name) for name in ("lm", "fim", "parts")}
    found["ours"] = ids_of(tmp_path / "corpus/exports/ours")
    assert all(len(ids) > 100 for ids in found.values())
    rearranged = [first, first + 1, first + 2] * 3
    assert {name: sorted(id_ for id_ in ids if id_ >= first) for name, ids in found.items()} == {
        "lm": [],
        "fim": sorted(rearranged),
        "parts": [],
        "ours": [],
    }
