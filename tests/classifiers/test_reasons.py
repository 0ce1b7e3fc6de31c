"""The plan names what changed of a learned filter: its examples, their file or condition, or the file of its model."""

from pathlib import Path
from typing import Any

from tests.build.small import Key, opened, statuses
from tests.classifiers.test_stages import BASIC, built, content, text, write, write_corpus, write_rows

LEARNED = ("edu_labelled", "edu_classifier")


def reasons(folder: Path) -> dict[Key, tuple[str, str]]:
    """What the plan says of the filter, and of the scores that it gives."""
    plan = statuses(opened(folder).planner().plan())
    scored = {found for (asset, _), found in plan.items() if asset == "quality_attributes"}
    assert scored <= {("waiting", "edu_classifier is stale"), ("waiting", "edu_classifier is waiting")}
    return {key: found for key, found in plan.items() if key[0] in LEARNED}


def graded(folder: Path, last: int) -> None:
    write_rows(folder / "good.jsonl", [{"text": text("good", n), "grade": n % 5} for n in range(200, last)])


def given(folder: Path, *positive: Any) -> None:
    write_corpus(folder, {**BASIC, "positive": list(positive)})


def test_a_changed_list_of_positives_and_another_condition_are_the_reason(tmp_path: Path) -> None:
    write(tmp_path)
    graded(tmp_path, 240)
    given(tmp_path, "good.jsonl")
    built(tmp_path)
    assert reasons(tmp_path) == {}
    graded(tmp_path, 241)
    place = "classifiers.edu.positive.0"
    assert reasons(tmp_path) == {("edu_classifier", None): ("stale", f"{place}.file changed")}
    graded(tmp_path, 240)
    given(tmp_path, {"file": "good.jsonl", "key": "grade", "min": 2})
    (_, reason) = reasons(tmp_path)["edu_classifier", None]
    assert reason == f"{place}.key None -> grade, {place}.min None -> 2.0"
    given(tmp_path, "good.jsonl", "good")
    found = reasons(tmp_path)
    assert {key for asset, key in found if asset == "edu_labelled"} == {"good--0", "good--1"}
    assert found["edu_labelled", "good--0"][1].startswith("classifiers.edu.positive.1 (unset) -> ")


def test_the_first_condition_of_a_source_is_the_reason_for_all_shards(tmp_path: Path) -> None:
    write(tmp_path)
    given(tmp_path, "good")
    built(tmp_path)
    given(tmp_path, {"source": "good", "key": "grade", "min": 2})
    key, least = "classifiers.edu.positive.0.key (unset) -> grade", "classifiers.edu.positive.0.min None -> 2.0"
    said = {key[1]: reason for key, (_, reason) in reasons(tmp_path).items() if key[0] == "edu_labelled"}
    assert said == {"good--0": f"{least}, {key}", "good--1": f"{least}, {key}", "spam--0": key, "spam--1": key}


def test_another_model_is_the_reason(tmp_path: Path) -> None:
    write(tmp_path)
    first = content(built(tmp_path))
    write_corpus(tmp_path, {**BASIC, "epochs": 9})
    other = content(built(tmp_path))
    (tmp_path / "edu.classifier").write_bytes(first)
    write_corpus(tmp_path, {"name": "edu", "model": "edu.classifier"})
    built(tmp_path)
    assert reasons(tmp_path) == {}
    (tmp_path / "edu.classifier").write_bytes(other)
    assert reasons(tmp_path) == {("edu_classifier", None): ("stale", "classifiers.edu.model changed")}
    assert content(built(tmp_path)) == other
