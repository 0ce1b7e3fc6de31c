"""`corpus import amber`: lines of amber-data-prep as datasets of windows, which are built."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.importer.amber import SUBSETS, import_amber
from resources.errors import ConfigError
from tests.golden import shared
from tests.golden.files import content, row_files
from tests.importer.built import assert_all_named, built, imported, text, write_tokenizer

LINES = """
# Windows

First tokenize each set:

```bash
cd code
git clone somewhere
├── a.jsonl
python convert_dataset_hf_refinedpajama_json.py \\
  --input_root raw --out_root windows \\
  --concat_tokens 65 \\
  --tokenizer tokenizer/tokenizer.json --num_workers 3 --eos_text '<|endoftext|>' --colour blue
```

which gives

```
{"token_ids": [1, 2], "source": "c4"}
```

and then mix:

```bash
python mix_and_split.py --input_root windows --out_root mixed \\
  --subfolders='windows/redpajama_v1/arxiv,refinedweb,nothing' \\ # as many as wanted
  --num_chunks 3 --num_valid_samples_per_subfolder 1
python validate_json.py
```
"""


def write_raw(folder: Path) -> None:
    write_tokenizer(folder / "tokenizer" / "tokenizer.json")
    (folder / "raw/redpajama_v1/arxiv").mkdir(parents=True)
    rows = [json.dumps({"text": text(number), "meta": {}}) for number in range(9)]
    (folder / "raw/redpajama_v1/arxiv/a.jsonl").write_text("\n".join(rows))
    (folder / "raw/falcon-refinedweb/data").mkdir(parents=True)
    table = pa.table({"content": [text(number) for number in range(20, 28)], "url": ["u"] * 8})
    pq.write_table(table, folder / "raw/falcon-refinedweb/data/train-0.parquet")


def test_lines_become_windows_that_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_raw(tmp_path)
    draft = imported(import_amber, tmp_path, {"README.md": LINES})
    names = [dataset["name"] for dataset in draft.values["datasets"]]
    assert names == ["arxiv", "refinedweb", "amber"]
    assert draft.values["datasets"][1]["input"] == {"location": "raw/falcon-refinedweb/data", "text_key": "content"}
    assert draft.values["tokenizer"]["path"] == "tokenizer/tokenizer.json"
    assert draft.values["engine"] == {"workers": 3}
    options = ("input_root", "out_root", "concat_tokens", "tokenizer", "num_workers", "eos_text", "colour")
    mixing = ("subfolders", "num_chunks", "num_valid_samples_per_subfolder", "subfolders: nothing")
    assert_all_named(draft, [*options, *mixing, "validate_json"])
    assert "known" in draft.left_out["line 10: convert_dataset_hf_refinedpajama_json colour"]
    assert draft.left_out["subset redpajama_v1/c4"] == "there is no such folder in raw"
    assert draft.left_out["line 8: git clone somewhere"] == "no command of amber-data-prep"
    assert not any("token_ids" in key or "a.jsonl" in key for key in draft.left_out)
    corpus = built(draft, tmp_path)
    with corpus.storage.open("exports/amber/train/train_0.jsonl") as file:
        rows = [json.loads(line) for line in file.read().splitlines()]
    assert {row["source"] for row in rows} == {"arxiv", "refinedweb"}
    assert {len(row["token_ids"]) for row in rows} == {65}


def test_the_subsets_of_the_program_if_none_is_there(tmp_path: Path) -> None:
    line = "python convert_dataset_hf_refinedpajama_json.py --input_root /nowhere --concat_tokens 9 --no_wrap\n"
    line = line.replace("--no", "--tokenizer a/b --no")
    mix = "python mix_and_split.py --subfolders book,... --num_split 2\n"
    draft = imported(import_amber, tmp_path, {"run.sh": line + mix})
    *converted, mixed = draft.values["datasets"]
    assert [dataset["source"] for dataset in converted] == list(SUBSETS)
    assert all(dataset["wrap"] is False and dataset["separator"] == "none" for dataset in converted)
    assert mixed["input"][0]["source"] == "book"
    assert len(mixed["input"]) == len(SUBSETS)
    assert "take out datasets whose folder is not in /nowhere" in draft.to_do[0]


@pytest.mark.parametrize("lines", ["", "ls", "python mix_and_split.py --subfolders a --num_split 2"])
def test_lines_that_convert_nothing_are_refused(tmp_path: Path, lines: str) -> None:
    with pytest.raises(ConfigError, match="nothing can be imported"):
        imported(import_amber, tmp_path, {"run.sh": lines})


@pytest.mark.slow
def test_the_original_run(tmp_path: Path) -> None:
    """The command line of the golden conversion gives its files, byte for byte."""
    root, tokenizer = shared("golden", "amber", "input"), shared("golden", "amber", "tokenizer")
    line = "python convert_dataset_hf_refinedpajama_json.py --concat_tokens 2049 --eos_text '</s>' --num_workers 1"
    line += f" --input_root {root.resolve()} --out_root x --tokenizer {tokenizer.resolve()}"
    draft = imported(import_amber, tmp_path, {"run.sh": line})
    corpus, converted = built(draft, tmp_path), shared("golden", "amber", "converted_2049_eos")
    files = {str(file.parent.relative_to(converted)): content(file) for file in row_files(converted)}
    assert files
    for dataset in draft.values["datasets"]:
        with corpus.storage.open(f"exports/{dataset['name']}/train/train_0.jsonl") as file:
            assert file.read() == files[dataset["source"]], dataset["source"]
