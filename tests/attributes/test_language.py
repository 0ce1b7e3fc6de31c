"""The tagger `language`: one label per document, in one scheme for all models."""

from pathlib import Path

import pytest

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.taggers.labels.schemes import LID_176, UNKNOWN, mapper, script_of
from resources.documents.tagger import Spans, Text
from resources.errors import BadFileError
from resources.formats.documents import Document
from resources.outside_files import OutsideFile
from tests.attributes.labels import said, write_model


def tagged(model: Path, text: str) -> Spans:
    tagger = BUILT_IN["language"]
    return tagger.tag(Text(Document("a", text, "s")), model=tagger.files["model"]([OutsideFile(str(model))]))


@pytest.mark.parametrize(
    "labels",
    [
        {"en": "en", "fr": "fr", "ru": "ru", "ja": "ja"},
        {"en": "eng_Latn", "fr": "fra_Latn", "ru": "rus_Cyrl", "ja": "jpn_Jpan"},
    ],
)
def test_models_of_either_scheme_give_one_label_with_script(tmp_path: Path, labels: dict[str, str]) -> None:
    model = write_model(tmp_path / "model.bin", labels)
    expected = {"en": "eng_Latn", "fr": "fra_Latn", "ru": "rus_Cyrl", "ja": "jpn_Jpan"}
    for code, label in expected.items():
        text = said(code)
        ((kind, ((start, end, score),)),) = tagged(model, text).items()
        assert (kind, start, end) == (label, 0, len(text))
        assert 0.5 < score <= 1
    assert tagged(model, "\n") == {UNKNOWN: [(0, 1, 0.0)]}


def test_a_label_of_no_scheme_is_named_with_its_file(tmp_path: Path) -> None:
    model = write_model(tmp_path / "topics.bin", {"en": "sports", "fr": "fra_Latn"})
    with pytest.raises(BadFileError, match=r"topics\.bin.*'sports' is of no scheme that is known"):
        tagged(model, "a")


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("fasttext", reason="the extra fasttext is not installed")
    (tmp_path / "bad.bin").write_bytes(b"no model" * 100)
    with pytest.raises(BadFileError, match=r"bad\.bin.*no model of fastText"):
        tagged(tmp_path / "bad.bin", "a")


def test_labels_of_other_models_are_those_of_glotlid() -> None:
    flores = mapper(["__label__zho_Hans", "__label__pes_Arab", "__label__eng_Latn"])
    assert [flores(f"__label__{label}", "") for label in ("zho_Hans", "pes_Arab", "eng_Latn")] == [
        "cmn_Hani",
        "fas_Arab",
        "eng_Latn",
    ]
    codes = mapper([f"__label__{code}" for code in LID_176])
    assert codes("__label__als", "Grüezi") == "gsw_Latn"
    assert codes("__label__sr", "Добар дан") == "srp_Cyrl"
    assert codes("__label__sr", "Dobar dan") == "srp_Latn"
    assert codes("__label__zh", "你好, world") == "cmn_Hani"
    assert (codes("__label__ja", "東京"), codes("__label__ko", "漢字")) == ("jpn_Jpan", "kor_Hang")
    assert len(LID_176) == 176


@pytest.mark.parametrize(
    ("labels", "named"),
    [(["en", "foo"], "foo"), (["eng_Latn", "foo"], "foo"), (["eng_Latn", "en"], "en"), (["eng_latn"], "eng_latn")],
)
def test_labels_of_no_scheme(labels: list[str], named: str) -> None:
    with pytest.raises(ValueError, match=f"the label '{named}' is of no scheme"):
        mapper(labels)


def test_scripts() -> None:
    for text, script in {
        "สวัสดี": "Thai",
        "ភាសាខ្មែរ": "Khmr",
        "": "Zyyy",
        "123": "Zyyy",
        "abв": "Latn",
        "한국": "Hang",
    }.items():
        assert script_of(text) == script
