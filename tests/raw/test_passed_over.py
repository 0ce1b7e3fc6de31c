"""Files of a dataset's own that Cerebras does not read, which its profile passes over and names."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build.small import drive, opened
from tests.golden import shared

PAIR = {"prompt": "Why?", "completion": "Because of that."}
FILES = {
    "a.jsonl": json.dumps({**PAIR, "text": "A text of several words."}) + "\n",
    "b.csv": "text,prompt,completion\nx,y,z\n",
    "c/d.TSV": "text\tprompt\tcompletion\nx\ty\tz\n",
    "e.txt": "A text by itself.",
    "f.warc.wet": "WARC/1.0\r\n\r\n",
}
NEVER_READ = {"b.csv", "c/d.TSV", "f.warc.wet"}


def listed(folder: Path, mode: str, **options: Any) -> tuple[set[str], dict[str, str]]:
    """The files that a dataset reads, and those that are passed over with what the plan says of each."""
    own = folder / "own"
    for name, content in FILES.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(content, newline="")
    dataset = {"name": "d", "mode": mode, "input": {"location": "own", **options.pop("input", {})}, **options}
    path = shared("golden", "cerebras", "tokenizers", "tiny", "tokenizer.json")
    values = {
        "sources": [],
        "datasets": [dataset],
        "tokenizer": {"kind": "neox", "path": str(path), "eos": 0, "pad": 1},
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (folder / "corpus.yaml").write_text(json.dumps(values))
    corpus = opened(folder)
    notes = dict(note.split(": ", 1) for note in corpus.planner().plan().notes if note.startswith("d/"))
    read = {shard.path for shard in corpus.listing().shards}
    return read, {name.removeprefix("d/"): note for name, note in notes.items()}


@pytest.mark.parametrize(
    ("mode", "passed"),
    [
        ("LMData", NEVER_READ),
        ("LMData_VSL", NEVER_READ),
        ("Summarization", NEVER_READ | {"e.txt"}),
        ("Summarization_VSL", NEVER_READ | {"e.txt"}),
        ("DPO", NEVER_READ | {"e.txt"}),
    ],
)
def test_the_profile_passes_over_what_cerebras_does_not_read(tmp_path: Path, mode: str, passed: set[str]) -> None:
    read, notes = listed(tmp_path, mode, compat="cerebras")
    assert (read, set(notes)) == (set(FILES) - passed, passed)
    assert "Cerebras reads no .csv; `input.format: csv`" in notes["b.csv"]
    assert "Cerebras reads no .tsv" in notes["c/d.TSV"]
    assert all("makes nothing of it" in note for name, note in notes.items() if name == "e.txt")


def test_a_folder_of_pairs_with_a_text_file_is_built_with_the_profile_alone(tmp_path: Path) -> None:
    for compat, failures in (("cerebras", 0), (None, 1)):
        listed(tmp_path, "summarization", compat=compat, input={"glob": ["*.jsonl", "*.txt"]})
        corpus = opened(tmp_path)
        assert len(drive(corpus, corpus.graph.select(["+d_examples"])).failed) == failures


def test_without_the_profile_and_with_a_format_all_files_are_read(tmp_path: Path) -> None:
    assert listed(tmp_path, "lm") == (set(FILES), {})
    for_tables = {"format": "csv", "glob": "*.csv"}
    assert listed(tmp_path, "lm", compat="cerebras", input=for_tables) == ({"b.csv"}, {})
