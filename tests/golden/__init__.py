"""Golden sets: what other systems made of given files, beside this checkout. Without them their tests skip.

A set lies in `../shared/golden/<system>`; the environment variable `CORPUS_GOLDEN` names another folder in the place of
`../shared/golden`. The tests run on whatever lies there: they take names of runs, folders and files from the set. Of
what a set does not have, the tests skip. The shape of each set:

- `amber`: `input/<subset>/` (JSON lines or parquet, key `text` or `content`), `tokenizer/`, any number of `converted_*`
  (`<subset>/train.jsonl*`) and of `merged_*` (`mix.json`, `train/`, `valid/`). The options of a conversion, such as
  `--num_workers`, stand in the line of `README.md` that names it, else in its name (`converted_2049_eos`).
- `cerebras`: `cases/<run>/` (`case.json`, `expected.npz`, `expected.json`, for FIM `trace.json`), `inputs/`,
  `tokenizers/<label>/`, `sample_h5/`.
- `dolma`: `configs/` of the toolkit, as YAML or JSON, whose patterns say where documents, attributes and output are;
  `tagger_strings.jsonl`, `edge_cases.jsonl`, `tokens/<run>.canonical.jsonl*`.
- `ragged`: `in/`, `tokenizer/`, `out`, `wrap<length>`, `wrapbos<length>`, `packings.json`.
- `slimpajama`: `raw/`, and the tables that its README lists.

Files of rows may be plain, or compressed as `.gz` or `.zst`.
"""

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
GOLDEN = Path(os.environ.get("CORPUS_GOLDEN") or SHARED / "golden")


def shared(*parts: str) -> Path:
    """Path under the shared folder, where `golden` is the folder of golden sets; skips the test if it is not there."""
    first, *rest = parts
    path = GOLDEN.joinpath(*rest) if first == "golden" else SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no ../shared/{'/'.join(parts)} beside this checkout, or in CORPUS_GOLDEN")
    return path
