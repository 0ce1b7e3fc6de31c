"""The examples on docs/token-files.md do what the page says."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from tests.build.small import drive, opened
from tests.export.exported import partitions
from tests.token_files import writing

PAGE = Path(__file__).parents[2] / "docs" / "token-files.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def write(folder: Path, example: str) -> None:
    usual = {"sources": [], "engine": {"workers": 0}, "storage": {"sync": False}}
    (folder / "corpus.yaml").write_text(yaml.safe_dump({**usual, **yaml.safe_load(example)}), encoding="utf-8")
    (folder / "tokens").mkdir()


def test_megatron_becomes_windows_of_parquet(tmp_path: Path) -> None:
    write(tmp_path, EXAMPLES[0])
    rows = [[*range(number, number + 900), 50256] for number in range(5)]
    writing.megatron(tmp_path / "tokens", rows)
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+again_manifest"])).failed == []
    (file,) = (tmp_path / "corpus" / "exports" / "again").glob("*.parquet")
    flat = [id_ for row in rows for id_ in row]
    assert pq.read_table(file)["input_ids"].to_pylist() == [flat[:2048], flat[2048:4096]]


def test_ragged_arrays_become_rows_of_hdf5(tmp_path: Path) -> None:
    write(tmp_path, EXAMPLES[1])
    writing.ragged(tmp_path / "tokens", [[5] * 700, [], [7] * 900], "int16")
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+again_token_params"])).failed == []
    (made,) = partitions(corpus, "again_tokens")
    row = made.token_rows(0, 1)[0][0].tolist()
    assert sorted(set(row)) == [0, 5, 7]
    assert (row.count(5), row.count(7)) == (700, 900)
    assert made.record.statistics["dropped"] == {"no_ids": 1}
