"""`classifiers` of `corpus.yaml`: filters that are learned from examples."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from corpus_assets.config.naming import FILE, METADATA_KEY, SOURCE, VALUES
from corpus_assets.config.section import LocalPath, Name, Section, Share
from corpus_assets.config.selection.attributes import entry_name, key_prefix

_SUFFIXES = (".jsonl", ".json", ".gz")
FEWEST = 20
"""Fewest examples of a class that `least` may ask for: one in ten of them is two."""


def _examples(value: Any) -> Any:
    """Returns a text as the section that it stands for: a file if it looks like a path, else a source."""
    if not isinstance(value, str):
        return value
    return {"file": value} if "/" in value or value.endswith(_SUFFIXES) else {"source": value}


class Examples(Section):
    """Documents of one class: of a source, or of a file of JSON lines."""

    source: Annotated[str | None, SOURCE] = Field(None, description="a source of the corpus")
    file: Annotated[LocalPath | None, FILE] = Field(
        None, description="or a file of JSON lines with `text`, plain or `.gz`"
    )
    key: Annotated[str | None, METADATA_KEY] = Field(
        None,
        description="key that decides which of them count: of the metadata of documents, or of the file's rows; dots "
        "lead into objects, and spans of attributes are the sum of their scores",
    )
    min: float | None = Field(None, description="lowest number at `key`")
    max: float | None = Field(None, description="highest number at `key`")
    values: Annotated[list[str | int | bool] | None, VALUES] = Field(
        None, min_length=1, description="or the values that count"
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> "Examples":
        if (self.source is None) == (self.file is None):
            raise ValueError("a source or a file, one of the two")
        limits = self.min is not None or self.max is not None
        if self.key is None and (limits or self.values is not None):
            raise ValueError("key: missing, but `min`, `max` or `values` is given")
        if self.key is not None and limits == (self.values is not None):
            raise ValueError(f"key: {self.key!r} needs `min` or `max`, or `values`")
        return self


Class = list[Annotated[Examples, BeforeValidator(_examples)]]


class Classifier(Section):
    """A filter that is learned: an asset `<name>_classifier`, and a tagger of that name with the type `score`."""

    name: Annotated[Name, AfterValidator(entry_name)] = Field(description="name of the tagger")
    kind: Literal["linear", "fasttext"] = Field(
        "linear", description="`linear`: logistic regression over hashed n-grams of words; `fasttext`: needs the extra"
    )
    positive: Class = Field(default=[], description="what the score is the probability of: sources, files, or both")
    negative: Class = Field(default=[], description="what the score is not: sources, files, or both")
    model: Annotated[LocalPath | None, FILE] = Field(
        None, description="or an exported classifier, which is used as it is (docs/learned-filters.md)"
    )
    frozen: bool = Field(
        False, description="keep the trained model, whatever becomes of its examples and of the keys below"
    )
    holdout: Annotated[Share, Field(gt=0, le=0.4)] = Field(
        0.1, description="share of the examples for the figures alone; as many more are for the calibration alone"
    )
    examples: Annotated[int, Field(ge=FEWEST, le=10_000_000)] = Field(
        50_000, description="most examples of a class, chosen by a hash of their text"
    )
    least: Annotated[int, Field(ge=FEWEST)] = Field(100, description="fewest examples of a class")
    characters: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        10_000, description="code points of a text that are looked at, from its beginning"
    )
    ngrams: Annotated[int, Field(ge=1, le=5)] = Field(2, description="longest n-grams, in words")
    buckets: Annotated[int, Field(ge=1024, le=1 << 26)] = Field(1 << 18, description="buckets that n-grams share")
    epochs: Annotated[int, Field(ge=1, le=100)] = Field(5, description="passes over the examples")
    dimension: Annotated[int, Field(ge=1, le=1024)] = Field(64, description="size of the vectors of fastText")
    learning_rate: Annotated[float, Field(gt=0, le=10)] | None = Field(
        None, description="size of the steps; by default 0.5 for `linear`, 0.1 for `fasttext`"
    )
    calibration: Literal["platt", "isotonic"] = Field(
        "platt", description="how scores become probabilities; `isotonic` for some thousand examples or more"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="another seed chooses and holds out other examples")

    @property
    def prefix(self) -> str:
        """Returns its name as attribute keys have it."""
        return key_prefix(self.name)

    @model_validator(mode="after")
    def _examples_or_a_model(self) -> "Classifier":
        if self.model is not None:
            if self.positive or self.negative or self.frozen:
                raise ValueError("model: an exported classifier takes no examples and is not trained; leave out one")
            return self
        for name, given in (("positive", self.positive), ("negative", self.negative)):
            if not given:
                raise ValueError(f"{name}: missing; valid: both classes, or `model` with an exported classifier")
        if self.least > self.examples:
            raise ValueError(f"least: received {self.least}, more than `examples` ({self.examples})")
        return self

    @property
    def classes(self) -> dict[str, list[Examples]]:
        """Returns the examples of both classes."""
        return {"positive": self.positive, "negative": self.negative}
