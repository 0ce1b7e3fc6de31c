"""The validators of the formats themselves accept the papers: mlcroissant, and the model of SPDX."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.card.croissant import croissant
from corpus_assets.card.facts import Written
from corpus_assets.card.spdx import spdx
from tests.card.facts import SAID, facts

EVERY = pytest.mark.parametrize("said", [SAID, {}], ids=["all said", "nothing said"])


@EVERY
def test_mlcroissant_accepts_it(said: dict[str, Any], tmp_path: Path) -> None:
    mlc = pytest.importorskip("mlcroissant", reason="it comes with the extra `papers`")
    known = facts(said)
    file = tmp_path / "croissant.json"
    file.write_text(json.dumps(croissant(known, Written(known.card))))
    read = mlc.Dataset(file)
    assert read.metadata.ctx.issues.errors == set()
    assert {found.id for found in read.metadata.record_sets} == {"train_documents"}
    broken = json.loads(file.read_text())
    del broken["recordSet"][0]["field"][0]["source"]["extract"]
    broken["recordSet"][0]["field"][0]["source"]["fileSet"] = {"@id": "nowhere"}
    with pytest.raises(mlc.ValidationError):
        mlc.Dataset(broken)


@EVERY
def test_the_model_of_spdx_accepts_it(said: dict[str, Any]) -> None:
    model = pytest.importorskip("spdx_python_model", reason="it comes with the extra `papers`").v3_0_1
    known = facts(said)
    document = spdx(known, Written(known.card))
    found = model.SHACLObjectSet()
    model.JSONLDDeserializer().deserialize_data(document, found)
    datasets = list(found.foreach_type(model.dataset_DatasetPackage, match_subclass=False))
    assert {one.name for one in datasets} == {known.title, "books", "web"}
    missing = found.link()
    assert {str(one) for one in missing} <= {"https://spdx.org/rdf/3.0.1/terms/ExpandedLicensing/NoAssertionLicense"}
    document["@graph"][-2]["relationshipType"] = "likes"
    with pytest.raises(ValueError, match="likes"):
        model.JSONLDDeserializer().deserialize_data(document, model.SHACLObjectSet())
