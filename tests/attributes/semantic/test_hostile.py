"""Models and texts that nobody wants: a sentence that says what is wrong, or the plain result."""

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_assets.attributes.semantic.models import files_of
from resources.errors import ConfigError, StorageError
from tests.attributes.semantic.model import DIMENSIONS, WORDS, safetensors, vectors, write_model
from tests.attributes.semantic.test_stages import ENTRY, built, marked, partitions
from tests.build.small import drive, opened, write_config, write_raw, write_small
from tests.failing import failing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small(tmp_path)
    write_model(tmp_path / "model")
    return tmp_path


def write(folder: Path, rows: list[str], path: str = "web/odd.jsonl") -> None:
    write_raw(folder, path, [{"id": f"odd-{n}", "text": text} for n, text in enumerate(rows)])


def failure(folder: Path, entry: Mapping[str, Any]) -> str:
    """What a build says that fails."""
    write_config(folder, {"dedupers": [entry]})
    corpus = opened(folder)
    found = drive(corpus, corpus.graph.select(["+semantic_attributes"])).failed
    assert found
    return found[0]


def test_texts_without_known_tokens_resemble_nothing(folder: Path) -> None:
    corpus, _ = built(folder)
    assert marked(corpus) == {}
    statistics = [one.record.statistics for one in partitions(corpus, "semantic_vectors")]
    assert sum(numbers["left_out"].get("unknown", 0) for numbers in statistics) == sum(n["rows_in"] for n in statistics)
    (note,) = corpus.graph["semantic_vectors"].hooks.notes(
        partitions(corpus, "semantic_vectors"), corpus.settings.values
    )
    assert "none of 44 documents has a token that the model knows" in note


def test_no_documents_are_no_duplicates(tmp_path: Path) -> None:
    write_model(tmp_path / "model")
    write_raw(tmp_path, "web/none.jsonl", [])
    source = {"name": "web", "location": "raw/web", "may_be_empty": True}
    corpus, _ = built(tmp_path, {**ENTRY, "clusters": 4}, sources=[source])
    assert marked(corpus) == {}


def test_of_thousands_of_equal_texts_one_stays(folder: Path) -> None:
    write(folder, [" ".join(WORDS[:20])] * 5000)
    corpus, _ = built(folder, {**ENTRY, "clusters": 50})
    found = marked(corpus)
    assert len(found) == 4999
    assert {(kept, score) for kept, score in found.values()} == {(min(found) - 1, 1.0)}


def test_a_text_of_a_million_words_is_compared_whole(folder: Path) -> None:
    write(folder, [" ".join(WORDS[:9]), " ".join(WORDS[:9] * 20_000), " ".join(WORDS[100:109])])
    assert [score for _, score in marked(built(folder)[0]).values()] == [pytest.approx(1.0, abs=1e-4)]


OWN = {
    "nan": "numpy.full((len(texts), 3), numpy.nan)",
    "one_nan": "[[1.0, 2.0] if 'Bad!' not in text else [float('nan'), 1.0] for text in texts]",
    "flat": "numpy.zeros(len(texts))",
    "few": "numpy.zeros((1, 3)) if len(texts) > 1 else numpy.zeros((2, 3))",
    "words": "[['a', 'b']] * len(texts)",
    "other": "numpy.ones((len(texts), 2 + ('long' in texts[0])))",
    "fails": "1 / 0",
    "zeros": "numpy.zeros((len(texts), 3))",
    "good": "[[len(text) % 5 + 1, 3.0, -1.0] for text in texts]",
}


@pytest.fixture
def own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    name = f"own_{folder.name}".replace("-", "_")
    code = "import numpy\n" + "".join(f"def {key}(texts): return {value}\n" for key, value in OWN.items())
    (folder / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(folder))
    write(folder, [f"long {n} text" for n in range(3)], "books/a.jsonl")
    return Path(name)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("nan", r"gave numbers that are not finite .* for row 0 of books/"),
        ("one_nan", r"not finite .* for row 2 of web/odd.jsonl \(odd-2\)"),
        ("flat", r"gave numbers of shape \(\d+,\) for \d+ texts; valid: a row for each"),
        ("few", r"gave numbers of shape \(\d, 3\) for \d+ texts"),
        ("words", "ValueError: could not convert string"),
        ("other", "gave vectors of .* dimensions|gave vectors of 3 in .* and 2 in"),
        ("fails", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_a_function_of_the_users_own_gives_is_checked(folder: Path, own: Path, function: str, words: str) -> None:
    write(folder, ["fine", "fine too", "Bad!"])
    said = failure(folder, {**ENTRY, "model": f"{own}:{function}"})
    assert re.search(words, said), said


@pytest.mark.parametrize("function", ["zeros", "good"])
def test_a_function_of_the_users_own_is_a_model(folder: Path, own: Path, function: str) -> None:
    corpus, _ = built(folder, {**ENTRY, "model": f"{own}:{function}"})
    assert (len(marked(corpus)) > 30) == (function == "good")


def tensors(**given: Any) -> dict[str, Any]:
    return {"embeddings": vectors(), **given}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no safetensors file"),
        (b"\xff" * 40, "is no safetensors file"),
        (safetensors({"embeddings": vectors()})[:-9], "a tensor from byte"),
        (safetensors({"weights": vectors()}), "valid: `embeddings` or `embedding.weight`"),
        (safetensors({"embeddings": vectors()[0]}), "valid: `embeddings` or `embedding.weight`"),
        (safetensors({"embeddings": vectors()[:9]}), "has vectors of 9 tokens"),
        (safetensors({"embeddings": vectors() * np.float32(np.nan)}), "not finite"),
        (safetensors(tensors(weights=np.ones(3, np.float32))), "has 3 weights"),
        (safetensors(tensors(mapping=np.full(241, 999))), "mapping to vectors that it does not hold"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_before_the_build(folder: Path, content: bytes, words: str) -> None:
    (folder / "model" / "model.safetensors").write_bytes(content)
    write_config(folder, {"dedupers": [ENTRY]})
    corpus = opened(folder)
    with pytest.raises(ConfigError, match=rf"dedupers.semantic.model: .*{words}"):
        corpus.planner().check_before(corpus.graph)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("nowhere", "'.*nowhere' cannot be read: No such file or directory; valid: a folder with"),
        ("raw", "holds books, notes, web; valid: one \\*.safetensors and one tokenizer.json"),
        ("no_module:embed", "module 'no_module' cannot be imported"),
        ("json:embed", "module 'json' has no function 'embed'"),
    ],
)
def test_a_model_that_is_not_there_is_said(folder: Path, model: str, words: str) -> None:
    write_config(folder, {"dedupers": [{**ENTRY, "model": model}]})
    with pytest.raises(ConfigError, match=words):
        opened(folder).planner().plan()


@pytest.mark.parametrize(
    "given",
    [
        {"embeddings": np.repeat(vectors()[:1], 2, axis=0), "mapping": np.zeros(241, np.int64)},
        {"embeddings": vectors().astype(np.float16), "weights": np.ones(241)},
        {"embedding.weight": np.rint(vectors() * 20).astype(np.int8)},
    ],
    ids=["mapping", "weights", "int8"],
)
def test_forms_of_model_files_are_read(folder: Path, given: dict[str, Any]) -> None:
    write_model(folder / "model", given)
    write(folder, [" ".join(WORDS[:20]), " ".join(WORDS[:20][::-1]), " ".join(WORDS[150:170])])
    assert len(marked(built(folder)[0])) == (2 if "mapping" in given else 1)
    assert DIMENSIONS == 24


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOENT])
def test_a_folder_that_the_machine_cannot_list_is_no_wrong_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    failing(monkeypatch, "listdir", tmp_path.name, number)
    failing(monkeypatch, "scandir", tmp_path.name, number)
    with pytest.raises(StorageError if number == errno.EIO else ConfigError, match=f"^model: .*{os.strerror(number)}"):
        files_of(str(tmp_path), "model")
