"""Every id of every document is in exactly one row, or counted; readers learn each document alone."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.config.datasets.exports import EXPORTS, export_section
from corpus_assets.config.datasets.masked import RowPacking
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.file_faults import _expected
from corpus_assets.export.format import Build, Files
from corpus_assets.export.masked.documents import LearnedReader
from corpus_assets.export.masked.figures import row_figures
from corpus_assets.export.registry import format_of
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage
from tests.export.masked import rules
from tests.export.masked.rules import of_documents
from tests.export.masked.written import Made, _joined, _Stored
from tests.export.streams import documents_of

LENGTH = 6
BEFORE, AFTER = 7, 9


def write(folder: Path, documents: Documents, **options: Any) -> Made:
    """Writes rows; what the format's checks read must be the documents."""
    entry: dict[str, Any] = {
        "name": "made",
        "input": "train",
        "format": "parquet",
        "sequence_length": LENGTH,
        "unit": "row",
    } | options
    section: Any = export_section(EXPORTS[entry["format"]].model_validate(entry).model_dump())
    tokenizer: Any = None
    build: Build[Any] = Build("made", section, tokenizer, None, None)
    files, known = Files(), format_of(section)
    task = Task(Given("made", documents.key, LocalStorage(folder, sync=False), {}))
    files.count(documents=len(documents), ids=documents.ids)
    known.write(task, build, Parts([documents.stream], lambda _: documents), files)
    files.count(units=files.units)
    task.publish()
    stored: Any = _Stored(folder)
    assert known.targets is not None
    for place in files.places:
        with stored.open(place.path) as file:
            held = known.cut(documents, section)
            assert _joined(known.read(file, build)) == _joined(_expected(place, held.blocks(np.uint32)))
        learned = LearnedReader(known.cut(documents, section), in_part=False)
        assert _joined(known.targets(stored, place.path, build)) == _joined(_expected(place, learned.blocks()))
    return Made(folder / "exports" / "made", files, build, task.files)


def whole(documents: Documents) -> list[list[int]]:
    """The ids of each document with its separators."""
    return [documents.with_separators(number).tolist() for number in range(len(documents))]


def pieces_of(documents: Documents, rule: str) -> list[list[int]]:
    """What rows hold of documents, by the rule for long ones."""
    found = []
    for ids in whole(documents):
        pieces = [ids[start : start + LENGTH] for start in range(0, len(ids), LENGTH)]
        found += pieces if rule == "fold" else pieces[:1] if rule == "cut" or len(pieces) == 1 else []
    return found


def in_rows(rows: list[dict[str, list[int]]]) -> list[list[int]]:
    """The pieces of rows, as the columns tell them apart."""
    found = []
    for row in rows:
        ends = np.cumsum(row["seq_lengths"])
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            assert row["position_ids"][start:end] == [*range(end - start)]
            found.append(row["input_ids"][start:end])
        assert ends[-1] == len(row["input_ids"]) <= LENGTH
    return found


@settings(max_examples=60)
@given(
    lengths=st.lists(st.integers(0, 20), max_size=12),
    sides=st.tuples(st.booleans(), st.booleans()),
    rule=st.sampled_from(["fold", "cut", "drop"]),
    packing=st.sampled_from(get_args(RowPacking)),
    kind=st.sampled_from(["parquet", "arrow"]),
)
def test_every_id_is_in_one_row_or_counted(
    lengths: list[int], sides: tuple[bool, bool], rule: str, packing: str, kind: str
) -> None:
    documents = documents_of(lengths, BEFORE if sides[0] else None, AFTER if sides[1] else None)
    columns = ["input_ids", "labels", "position_ids", "seq_lengths"]
    with tempfile.TemporaryDirectory() as folder:
        options = {"long_documents": rule, "packing": packing, "columns": columns, "file_ids": 20}
        made = write(Path(folder), documents, format=kind, **options)
        rows = made.parquet() if kind == "parquet" else made.arrow()
    expected = pieces_of(documents, rule)
    assert Counter(map(tuple, in_rows(rows))) == Counter(map(tuple, expected))
    assert rules.trl(rows) == of_documents([(ids, [0] + [1] * (len(ids) - 1)) for ids in expected])
    long = sum(len(ids) > LENGTH for ids in whole(documents))
    lost = made.files.dropped.get("long_document", {"ids": 0, "documents": 0})
    assert lost["ids"] == documents.ids - sum(map(len, expected))
    assert lost["documents"] == (long if rule == "drop" else 0)
    assert made.files.totals.get("documents_truncated", 0) == (long if rule == "cut" else 0)
    figures = row_figures(made.build.section, {**made.files.totals, "dropped": made.files.dropped})
    assert figures["sequences"] == len(expected)
    assert figures["rows"] == len(rows)
    assert figures["padded_tokens"] == len(rows) * LENGTH - sum(len(row["input_ids"]) for row in rows)
    assert figures["truncated_tokens"] == lost["ids"]


@given(lengths=st.lists(st.integers(1, 20), max_size=12), count=st.integers(1, 7))
def test_all_but_first_ids_are_learned_however_many_are_read_at_once(lengths: list[int], count: int) -> None:
    documents = documents_of(lengths)
    reader = LearnedReader(documents, in_part=False)
    found: list[int] = []
    while len(found) < documents.ids:
        found += reader.read(min(count, documents.ids - len(found))).tolist()
    assert found == [int(place > 0) for length in lengths for place in range(length)]


def test_parts_are_of_whole_documents_with_one_separator_on_a_side() -> None:
    documents, one = documents_of([5]), np.array([0])
    with pytest.raises(ValueError, match="one separator on a side"):
        documents.between([1, 2], []).parts(one, one, one + 2)
    with pytest.raises(ValueError, match="whole documents"):
        documents.parts(one, one, one + 2).parts(one, one, one + 1)
