"""Documents of splits as rows of text, through the product: what came in is in the files, or counted as dropped."""

from pathlib import Path

import pytest

from tests.export.exported import exported, manifest_of, partitions
from tests.export.texts.made import dataset, rows_of

FILES = ("jsonl", "jsonl.gz", "jsonl.zst", "parquet")


@pytest.mark.parametrize("files", FILES)
def test_every_document_of_a_split_is_a_row(files: str, tmp_path: Path) -> None:
    corpus = exported(tmp_path, dataset("train", files=files), dataset("validation", input="validation", files=files))
    for name, split in (("train", "decontaminated_train"), ("validation", "validation")):
        wanted = {
            f"{partition.key}.{files}": [
                {"id": document.id, "source": document.source, "text": document.text}
                for document in partition.documents()
            ]
            for partition in partitions(corpus, split)
        }
        assert rows_of(tmp_path, name) == {file: rows for file, rows in wanted.items() if rows}
        manifest = manifest_of(corpus, name)
        assert manifest["rows_in"] == manifest["rows_out"] == sum(map(len, wanted.values()))
        assert manifest["dropped"] == {}
    assert "tokenizer" not in corpus.graph.stages
