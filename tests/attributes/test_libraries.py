"""Taggers that lean on a library which may be absent; what is absent here is skipped."""

import errno
import random
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import msgspec
import pytest

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.semantic import static
from corpus_assets.attributes.taggers.personal.presidio import analyzer_of
from corpus_assets.attributes.taggers.source_code.starcoder import python_comments
from corpus_assets.attributes.taggers.tokens import Run, runs, tokenizer_of
from resources.documents.tagger import Spans, Text
from resources.errors import BadFileError, StorageError
from resources.formats.documents import Document
from resources.outside_files import OutsideFile

ENGLISH = "This is an English sentence about the history of the parliament and its many members.\n"
FRENCH = "Ceci est une phrase en français, qui parle de l'histoire du parlement et de ses nombreux membres.\n"


def require(tagger: str) -> None:
    modules = {
        "cld2": "pycld2",
        "cld3": "gcld3",
        "langdetect": "langdetect",
        "lingua": "lingua",
        "fasttext": "fasttext",
    }
    extra = BUILT_IN[tagger].extra
    for module in [modules[extra]] if extra in modules else ["bs4", "detect_secrets", "pygments"]:
        pytest.importorskip(module, reason=f"the extra {extra} is not installed")


def tagged(tagger: str, text: str, compat: str | None = None, **values: Any) -> Spans:
    metadata = values.pop("metadata", {})
    document = Document("a", text, "s", metadata=msgspec.Raw(msgspec.json.encode(metadata)))
    return BUILT_IN[tagger].function(compat)(Text(document), **values)


@pytest.mark.parametrize("tagger", ["cld2_doc_v2", "langdetect_doc_v1", "lingua_1e2"])
def test_languages(tagger: str) -> None:
    require(tagger)
    for text, language in ((ENGLISH, "en"), (FRENCH, "fr")):
        ((start, end, score),) = tagged(tagger, text)[language]
        assert (start, end) == (0, len(text))
        assert score > 0.8
    assert tagged(tagger, "") == {}


def test_a_secret_that_stands_twice_is_found_twice() -> None:
    require("code_secrets_v1")
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    text = f"{secret}\nkey = '{secret}' # {secret}\n{secret}"
    places = [text.find(secret), text.find(secret, 1), text.find(secret, 40), text.rfind(secret)]
    found = tagged("code_secrets_v1", text)
    (spans,) = [spans for kind, spans in found.items() if "AWS" in kind]
    assert [start for start, _, _ in spans] == sorted(set(places))
    assert {text[start:end] for start, end, _ in spans} == {secret}


@pytest.mark.parametrize("tagger", ["cld2_en_paragraph_v2", "cld3_en_paragraph_v2", "langdetect_en_paragraph_v1"])
def test_english_by_paragraph(tagger: str) -> None:
    require(tagger)
    found = tagged(tagger, f"{ENGLISH}\n{FRENCH}")
    (first, second), (not_first, not_second) = found["en"], found["not_en"]
    assert first[:2] == not_first[:2] == (0, len(ENGLISH))
    assert second[:2] == not_second[:2] == (len(ENGLISH) + 1, len(ENGLISH) + 1 + len(FRENCH))
    assert first[2] > 0.9
    assert second[2] < 0.1
    assert first[2] + not_first[2] == second[2] + not_second[2] == pytest.approx(1.0)


def test_the_share_of_english() -> None:
    require("cld2_doc_v2")
    text = f"{ENGLISH}{FRENCH}"
    found = tagged("cld2_en_paragraph_with_doc_score_v2", text)
    share = sum((end - start) * score for start, end, score in found["en"]) / len(text)
    assert found["doc_en"] == [(0, len(text), share)]
    assert found["doc_not_en"] == [(0, len(text), 1 - share)]


def test_languages_of_cld2_have_codes() -> None:
    require("cld2_doc_v2")
    german = "Dies ist ein deutscher Satz über die Geschichte des Parlaments und seiner Mitglieder."
    assert set(tagged("cld2_doc_v2", german)) == {"de"}
    assert set(tagged("cld2_doc_v2", german, "dolma")) == {"ge", "un"}
    assert set(tagged("cld2_doc_v2", f"\x07{german}\x00")) == {"de"}


def test_secrets() -> None:
    require("code_secrets_v1")
    key = "AKIA" + "IOSFODNN7EXAMPLX"
    text = f"x = '{key}y'\r\nkey = '{key}'\n"
    found = tagged("code_secrets_v1", text)
    spans = found["SECRET_AWS_Access_Key"]
    assert {text[start:end] for start, end, _ in spans} == {key}
    assert tagged("code_secrets_v1", " ")["doc"] == [(0, 1, -1.0)]


PROGRAM = '# one\ndef f():\n    """Two."""\n    return 1  # three\n'


def test_comments_of_python() -> None:
    assert python_comments(PROGRAM) == "Two.\n one three"
    assert python_comments("def f(:\n# lost, as the parenthesis is open\n") == ""
    assert python_comments("x = = 1\n# still\n") == "still"
    assert python_comments('"""Open') == ""


@pytest.mark.parametrize(
    ("ext", "text", "comments", "page"),
    [
        ("py", PROGRAM, len("Two.\n one three") / len(PROGRAM), 1.0),
        ("java", "/* c */ int x; // y\n", len("/* c */// y") / 20, 1.0),
        ("html", "<p>" + "word " * 40 + "<script>no</script>", 0.5, 200 / 222),
        ("html", "<p>short", 0.5, 0.0),
        ("html", "", 0.5, -1.0),
        ("html", "<p>Cut <![n[ off", 0.5, -1.0),
        ("py", "", -1.0, 1.0),
        ("nope", "x", 0.5, 1.0),
    ],
)
def test_code_by_language(ext: str, text: str, comments: float, page: float) -> None:
    require("code_starcoder_taggers_v2")
    metadata: Mapping[str, Any] = {"ext": ext, "max_stars_count": "7"}
    found = tagged("code_starcoder_taggers_v2", text, metadata=metadata)
    assert found["code_to_comment_ratio_doc"][0][2] == pytest.approx(comments)
    assert found["code_to_text_ratio_html_doc"][0][2] == pytest.approx(page)
    assert found["num_github_stars_doc"][0][2] == 7.0


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OutsideFile:
    """A model of two labels, which words tell apart."""
    fasttext = pytest.importorskip("fasttext", reason="the extra fasttext is not installed")
    folder, drawn = tmp_path_factory.mktemp("model"), random.Random(1)
    words = {"en": ["the", "of", "and", "river"], "fr": ["le", "de", "et", "fleuve"]}
    lines = [
        f"__label__{label} {' '.join(drawn.choices(chosen, k=8))}" for label, chosen in words.items() for _ in "x" * 50
    ]
    (folder / "lines.txt").write_text("\n".join(lines))
    trained = fasttext.train_supervised(str(folder / "lines.txt"), dim=4, epoch=20, lr=1.0, thread=1, verbose=0)
    trained.save_model(str(folder / "model.bin"))
    return OutsideFile(str(folder / "model.bin"))


def test_models(model: OutsideFile) -> None:
    held = {option: load([model]) for option, load in BUILT_IN["ft_lang_id_doc_v1"].files.items()}
    text = "The river and the river\n \nle fleuve et le fleuve"
    found = tagged("ft_lang_id_en_paragraph_v2", text, **held)
    assert [(start, end, round(score)) for start, end, score in found["en"]] == [(0, 24, 1), (26, 48, 0)]
    assert set(tagged("ft_lang_id_doc_v1", text, **held)) == {"en", "fr"}
    assert set(tagged("jigsaw_hatespeech_document_v2", text, **held)) == {"__label__en", "__label__fr"}
    assert set(tagged("fasttext_doc", text, **held)) == {"en", "fr"}
    assert tagged("dolma17-quality", " \n", **held) == {}
    lines = tagged("code_composition", "the river and of the\nle fleuve et de le\n\nof\n", **held)
    assert {kind: spans[0][2] for kind, spans in lines.items() if not kind.endswith("_entropy")} == {
        "boundaries": 0.0,
        **dict.fromkeys(("en", "fr", "other"), 1.0),
        **{f"{kind}_pct": 0.33 for kind in ("en", "fr", "other")},
    }


def test_sentences(model: OutsideFile) -> None:
    pytest.importorskip("blingfire", reason="the extra fasttext is not installed")
    held = {option: load([model]) for option, load in BUILT_IN["ft_lang_id_doc_v1"].files.items()}
    text = "The river is öld. And the end of it."
    found = tagged("jigsaw_nsfw_sencence_v2", text, **held)["__label__en"]
    assert [text[start:end] for start, end, _ in found] == ["The river is öld.", "And the end of it."]


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("fasttext", reason="the extra fasttext is not installed")
    (tmp_path / "model.bin").write_bytes(b"no model at all" * 20)
    for tagger, message in (("fasttext_doc", "no model of fastText"), ("dolma_v1_tokenizer", "no tokenizer.json")):
        with pytest.raises(BadFileError, match=rf"model\.bin: {message}"):
            BUILT_IN[tagger].files["model"]([OutsideFile(str(tmp_path / "model.bin"))])


def test_presidio(tmp_path: Path) -> None:
    pytest.importorskip("presidio_analyzer", reason="the extra presidio is not installed")
    spacy = pytest.importorskip("spacy", reason="the extra presidio is not installed")
    spacy.blank("en").to_disk(tmp_path / "pipeline")
    tagger = BUILT_IN["pii_presidio_v1"]
    held = {option: load([OutsideFile(str(tmp_path / "pipeline"))]) for option, load in tagger.files.items()}
    text = "Öffnen: write to jane.doe@example.com or call (212) 555-0100; the host is 192.168.17.4."
    found = tagged("pii_presidio_v1", text, **held)
    kinds = {"EMAIL_ADDRESS": "jane.doe@example.com", "PHONE_NUMBER": "(212) 555-0100", "IP_ADDRESS": "192.168.17.4"}
    assert {kind: [text[start:end] for start, end, _ in found[kind]] for kind in kinds} == {
        kind: [value] for kind, value in kinds.items()
    }
    assert found["doc"] == [(0, len(text), 3 / len(text.split()))]
    assert tagged("pii_presidio_v1", " ", **held)["doc"] == [(0, 1, -1.0)]
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFileError, match="no folder of a spaCy pipeline"):
        tagger.files["model"]([OutsideFile(str(tmp_path / "empty"))])


def test_runs_of_tokens() -> None:
    import numpy as np

    assert list(runs(np.array([9, 1, 2, 1, 2, 1, 2, 8]))) == [Run(1, 7, 2)]
    assert [run.times for run in runs(np.array([5] * 6))] == [6, 3]
    assert list(runs(np.array([], dtype=np.int64))) == []
    assert list(runs(np.arange(50))) == []


@pytest.mark.parametrize(
    ("error", "kind"), [(OSError(errno.ENOSPC, "full"), StorageError), (OSError("[E050] no pipeline"), BadFileError)]
)
def test_a_pipeline_that_the_machine_cannot_copy_may_be_one(
    monkeypatch: pytest.MonkeyPatch, error: OSError, kind: type[Exception]
) -> None:
    for name in ("", ".nlp_engine", ".predefined_recognizers"):
        monkeypatch.setitem(sys.modules, f"presidio_analyzer{name}", MagicMock(EmailRecognizer=object))
    monkeypatch.setitem(sys.modules, "tldextract", MagicMock())
    monkeypatch.setattr(OutsideFile, "copied", Mock(side_effect=error))
    with pytest.raises(kind, match=f"^folder: .*{re.escape(str(error))}"):
        analyzer_of([OutsideFile("/a/folder")])


def test_too_little_memory_is_no_fault_of_a_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    fails = Mock(from_buffer=Mock(side_effect=MemoryError("none left")))
    monkeypatch.setattr("tokenizers.Tokenizer", fails)
    monkeypatch.setattr(static, "Tokenizer", fails)
    path = str(tmp_path / "tokenizer.json")
    with pytest.raises(StorageError, match=r"tokenizer\.json: the machine failed: MemoryError: none left"):
        tokenizer_of([OutsideFile(path)])
    with pytest.raises(StorageError, match=r"model: .*tokenizer\.json: the machine failed: MemoryError: none left"):
        static._tokenizer(path, "model")
