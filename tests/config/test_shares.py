"""Every share of corpus.yaml may be written as a percentage; the schema says which keys are shares."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.loading import parse_config
from corpus_assets.config.section import Share
from docs.configuration_page import models
from resources.errors import ConfigError


def shares() -> Iterator[tuple[str, FieldInfo]]:
    """Yields every key of the schema that takes numbers with a fraction up to 1."""
    every: list[type[BaseModel]] = [CorpusConfig, *models(CorpusConfig)]
    for model in dict.fromkeys(every):
        for name, field in model.model_fields.items():
            if float in parts(field.annotation) and up_to_one(field):
                yield f"{model.__name__}.{name}", field


def parts(annotation: Any) -> set[Any]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return set()
    return {annotation}.union(*map(parts, get_args(annotation)))


def up_to_one(field: FieldInfo) -> bool:
    schema = TypeAdapter(field.rebuild_annotation()).json_schema()
    return any(one.get(limit) == 1 for one in _schemas(schema) for limit in ("maximum", "exclusiveMaximum", "le", "lt"))


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Yields a schema and those within it."""
    if isinstance(schema, dict):
        yield schema
    for one in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _schemas(one)


SHARES = dict(shares())


def test_the_schema_has_shares() -> None:
    assert {"Split.holdout", "Split.validation", "Sample.share", "FIMDataset.fim_rate"} <= set(SHARES)


@pytest.mark.parametrize("key", SHARES)
def test_a_percentage_is_the_number(key: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(SHARES[key].rebuild_annotation())
    if key == "MixOrder.phases":
        assert adapter.validate_python(["50%", 0.5]) == adapter.validate_python([0.5, 0.5]) == [0.5, 0.5]
        return
    assert adapter.validate_python("50%") == adapter.validate_python(0.5) == 0.5


def test_shares_of_sources() -> None:
    sources = [{"name": name, "location": name} for name in "ab"]
    dataset = {"name": "t", "mode": "lm", "weights": {"shares": {"a": "12.5 %", "b": 0.875}}}
    read = parse_config({"sources": sources, "datasets": [dataset], "sample": {"shares": {"a": "1%"}}})
    assert read.model_dump()["datasets"][0]["weights"]["shares"] == {"a": 0.125, "b": 0.875}
    assert read.sample is not None and read.sample.shares == {"a": 0.01}


@given(st.decimals(0, 100, places=3))
def test_a_percentage_is_as_exact_as_the_number(percent: Any) -> None:
    assert TypeAdapter(Share).validate_python(f"{percent}%") == float(f"{percent / 100:f}")


@pytest.mark.parametrize("given", ["2", "two %", "-1%", "1%%", "%", "1e1%", "٣%"])
def test_anything_else_is_refused_with_what_is_valid(given: str) -> None:
    with pytest.raises(ConfigError, match=r"split\.holdout: .*(a share such as 0\.02 or 2%)"):
        parse_config({"sources": [{"name": "a", "location": "raw"}], "split": {"holdout": given}})


def test_the_limits_count_for_percentages_too() -> None:
    with pytest.raises(ConfigError, match=r"split\.holdout: received '100%'"):
        parse_config({"sources": [{"name": "a", "location": "raw"}], "split": {"holdout": "100%"}})
