import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from corpus_assets.raw.readers import BadRow, RawFile, RowRules, read_documents
from resources.formats.documents import Document
from tests.golden import shared

DOLMA_KEYS = {"id", "text", "source", "added", "created", "metadata", "meta"}

# set, files, rules, documents, text bytes: data/README.md
SETS = [
    ("books", "dolma/documents/books/000?.jsonl.gz", {}, 889, 10_906_869),
    ("books-long", "dolma/documents/books/long/*", {}, 2, 1_900_759),
    ("cc", "dolma/documents/cc/*", {}, 20, 155_587),
    ("code", "redpajama/code/*", {}, 1_614, 16_657_532),
    ("readme-history", "redpajama/github_readme/*", {}, 366, 4_662_172),
    ("licenses", "redpajama/licenses/*", {}, 501, 4_729_906),
    ("wiki", "cerebras/wiki_tldr.jsonl.zst.tar", {}, 6_360, 2_580_086),
    ("web", "cerebras/web/*", {}, 378, 10_682_292),
    ("udhr", "parquet/udhr.parquet", {}, 528, 7_235_358),
    ("udhr-nfd", "parquet/udhr_nfd.parquet", {}, 27, 428_887),
    ("qa", "cerebras/idea/*", {"text_key": "idea"}, 371, 1_042_998),
    ("man-txt", "txt/metadata_?.txt", {"format": "txt_list"}, 494, 2_707_782),
    ("man-txt", "txt/man/*.txt", {}, 494, 2_707_782),
    ("man", "dolma/documents/man/2022-12/*", {}, 1_312, 11_403_164),
    ("sft-seed", "sft/seed_tasks.jsonl", {"text_key": "prompt"}, 175, 40_358),
    ("sft-commands", "sft/commands.jsonl.zst", {"text_key": "question"}, 6_000, 417_910),
    ("sft-commands-tar", "sft/commands.jsonl.zst.tar", {"text_key": "question"}, 2_100, None),
    ("sft-man", "sft/man_summaries.parquet", {"text_key": "prompt"}, 985, 3_300_767),
    ("dpo", "dpo/commands.*", {"text_key": "prompt"}, 3_000, 290_568),
]


def read_set(root: Path, pattern: str, rules: RowRules) -> Iterator[Document | BadRow]:
    for path in sorted(root.glob(pattern)):

        def opened(path: Path = path) -> BinaryIO:
            return path.open("rb")

        def member(listed: str, path: Path = path) -> BinaryIO:
            return (path.parent / listed).open("rb")

        yield from read_documents(RawFile(path.relative_to(root).as_posix(), opened, member), rules)


@pytest.mark.parametrize(("source", "pattern", "rules", "documents", "text_bytes"), SETS)
def test_counts_of_the_sample_sets(
    source: str, pattern: str, rules: dict[str, str], documents: int, text_bytes: int | None
) -> None:
    ids, size = set(), 0
    for row in read_set(shared("data"), pattern, RowRules(source, **rules)):  # type: ignore[arg-type]
        assert isinstance(row, Document), row
        ids.add(row.id)
        size += len(row.text.encode())
    assert len(ids) == documents
    assert text_bytes in (None, size)


def test_a_listed_text_has_the_id_of_the_file_read_alone() -> None:
    root = shared("data")
    listed = list(read_set(root, "txt/metadata_?.txt", RowRules("man-txt", format="txt_list")))
    alone = list(read_set(root, "txt/man/*.txt", RowRules("man-txt")))
    assert sorted(map(str, listed)) == sorted(map(str, alone))


@pytest.mark.parametrize("pattern", ["dolma/documents/cc/*", "dolma/documents/books/0000*", "cerebras/web/*"])
def test_same_values_as_the_standard_library(pattern: str) -> None:
    root = shared("data")
    files = sorted(root.glob(pattern))
    expected = [json.loads(line) for path in files for line in gzip.decompress(path.read_bytes()).splitlines()]
    found = list(read_set(root, pattern, RowRules("s")))
    assert len(found) == len(expected)
    for document, row in zip(found, expected, strict=True):
        assert isinstance(document, Document)
        assert document.text == row["text"]
        assert document.id == row.get("id", document.id)
        assert (document.added, document.created) == (row.get("added"), row.get("created"))
        kept = json.loads(bytes(document.metadata))
        assert kept | {"source": row.get("source")} == {
            **{key: value for key, value in row.items() if key not in DOLMA_KEYS},
            **row.get("metadata", row.get("meta", {})),
            "source": row.get("source"),
        }
