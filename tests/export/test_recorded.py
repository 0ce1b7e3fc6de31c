"""Files as the trainers' own libraries write them (`readers/inside/record.py`), compared byte for byte with ours."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.export.streams import documents_of, written

RECORDED = Path(__file__).parent / "recorded"
MDS = {"format": "mds", "sequence_length": 16, "size_limit": 1024}


@pytest.mark.parametrize(
    ("name", "options", "lengths"),
    [
        ("mds_windows", {**MDS, "keep_tail": True}, [150, 1, 174]),
        ("mds_fixed", {**MDS, "fixed_size": True}, [150, 1, 174]),
        (
            "mds_documents",
            {**MDS, "unit": "document", "size_limit": 300_000, "hashes": ["sha1", "sha256", "xxh64"]},
            [1, 255, 256, 65535, 65536, 7],
        ),
    ],
)
def test_mds_is_as_mosaicml_streaming_writes_it(
    tmp_path: Path, name: str, options: Mapping[str, Any], lengths: Sequence[int]
) -> None:
    written(tmp_path, documents_of(lengths, dtype="uint32"), options)
    made = tmp_path / "exports" / "made" / "part"
    recorded = {path.name: path.read_bytes() for path in (RECORDED / name).iterdir()}
    assert "index.json" in recorded
    assert {key: (made / key).read_bytes() for key in recorded} == recorded
    for shard in json.loads(recorded["index.json"])["shards"]:
        content = (made / shard["raw_data"]["basename"]).read_bytes()
        if "sha1" in shard["hashes"]:
            assert hashlib.sha1(content).hexdigest() == shard["raw_data"]["hashes"]["sha1"]
    assert len(list(made.iterdir())) == len(json.loads(recorded["index.json"])["shards"]) + 1


def test_litdata_chunks_are_as_litdata_writes_them(tmp_path: Path) -> None:
    options = {"format": "litdata", "sequence_length": 17, "chunk_blocks": 4}
    files = written(tmp_path, documents_of([100, 1, 75]), options)
    assert files.dropped == {"tail": {"documents": 0, "ids": 6}}
    made = tmp_path / "exports" / "made"
    recorded = {path.name: path.read_bytes() for path in (RECORDED / "litdata").glob("*.bin")}
    assert {path.name.replace("part", "0"): path.read_bytes() for path in made.iterdir()} == recorded
    assert len(recorded) == 3
