"""Files of datatrove, read from the description of the format alone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.document_exports import DatatroveExport
from tests.export.exported import encoded, exported, folder_of, manifest_of, tokenizer_of
from tests.export.memory import EOS, written

DATATROVE = {"name": "trove", "format": "datatrove"}
lists = st.lists(st.lists(st.integers(3, 299), max_size=9), max_size=12)


def read(content: bytes, index: bytes, metadata: bytes) -> tuple[str, list[list[int]]]:
    """The name of the tokenizer, and the documents of a file (docs/formats/trainers.md "datatrove")."""
    first, count = metadata.decode().splitlines()
    name, width = first.split("|")
    ids, ends = np.frombuffer(content, f"<u{width}").tolist(), np.frombuffer(index, "<u8").tolist()
    assert int(count) == len(ids) == ends[-1]
    return name, [ids[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def test_an_index_says_where_documents_end(tmp_path: Path) -> None:
    corpus = exported(tmp_path, DATATROVE)
    tokenizer = tokenizer_of(corpus)
    for key, documents in encoded(corpus).items():
        path = folder_of(tmp_path, "trove") / f"{key}-00000.ds"
        contents = [Path(f"{path}{suffix}").read_bytes() for suffix in ("", ".index", ".metadata")]
        name, found = read(*contents)
        assert found == [[*ids, tokenizer.eos_id] for ids in documents if ids]
        assert name == f"{tokenizer.kind}-{tokenizer.digest}"
    assert manifest_of(corpus, "trove")["units"] == sum(map(len, encoded(corpus).values()))


@given(lists=lists, file_ids=st.one_of(st.none(), st.integers(1, 25)))
def test_documents_never_span_files(lists: list[list[int]], file_ids: int | None) -> None:
    found, files = written("datatrove", {"file_ids": file_ids, "tokenizer_name": "gpt2"}, {"chunk-0000": lists})
    every = []
    for number, place in enumerate(files.places):
        name = f"chunk-0000-{number:05d}.ds"
        tokenizer, documents = read(*(found[f"{name}{suffix}"] for suffix in ("", ".index", ".metadata")))
        assert (tokenizer, place.path, place.units) == ("gpt2", f"exports/made/{name}", len(documents))
        assert file_ids is None or place.ids <= file_ids or place.units == 1
        every += documents
    assert every == [[*ids, EOS] for ids in lists if ids]
    assert len(found) == 3 * len(files.places)
    assert file_ids is not None or len(files.places) == bool(every)


@pytest.mark.parametrize(("vocabulary", "width"), [(65_536, 2), (65_537, 4)])
def test_ids_are_as_wide_as_the_vocabulary_asks_for(vocabulary: int, width: int) -> None:
    found, _ = written("datatrove", {}, {"chunk-0000": [[vocabulary - 1]]}, vocabulary)
    name = "chunk-0000-00000.ds"
    assert found[f"{name}.metadata"] == f"huggingface-d1|{width}\n2".encode()
    assert read(found[name], found[f"{name}.index"], found[f"{name}.metadata"])[1] == [[vocabulary - 1, EOS]]


@pytest.mark.parametrize("name", ["a|b", "a\nb", "a\n", ""])
def test_a_name_that_metadata_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="tokenizer_name"):
        DatatroveExport.model_validate({**DATATROVE, "tokenizer_name": name})
