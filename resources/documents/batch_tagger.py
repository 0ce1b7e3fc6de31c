"""Taggers that score many texts at once: models on an accelerator, and endpoints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resources.endpoint.asking import Unanswered
from resources.formats.attributes import Span
from resources.outside_files import OutsideFile

Row = Mapping[str, float | Sequence[Span]] | Unanswered
"""What is found in one text, by type: a number for the whole text, or spans."""

Batch = Callable[[Sequence[str]], Sequence[Row]]
"""Returns a row for each of some texts, in their order."""


@dataclass(frozen=True)
class Loading:
    """What a batch tagger is loaded with.

    files: those that its options name. settings: its values, all of them. device: where it runs, as the library names
    it. endpoint: the section `endpoint` of its options.
    """

    files: Mapping[str, Sequence[OutsideFile]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    endpoint: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchTagger:
    """A tagger that is loaded once per worker, and then looks at many texts at a time.

    name, version, gives, source, types, extra, wheels: as those of a `Tagger`.
    load: module-level function that reads models and returns a function `batch(texts)`, which gives a row for each
        text. A row depends on its text alone: not on other texts, the size of the batch, or the device.
    files: options that name files or folders; their digests are part of the recipe.
    settings: values that corpus.yaml may change, with their defaults; they are part of the recipe.
    endpoint: whether it needs the option `endpoint`. asks_with: keys of that section that must be given.
    digits: digits after the point of a score; what differs beyond them between batches must not matter.
    batch_size: texts in a batch, where corpus.yaml says nothing else.

        def load(loading: Loading) -> Batch:
            weights = read_weights(loading.files["model"][0])

            def batch(texts: Sequence[str]) -> list[Row]:
                return [{"score": score} for score in weights.scores(texts)]

            return batch

        TAGGERS = [BatchTagger("edu", load, version="1", gives="`score`: ...", types=("score",), files=("model",))]
    """

    name: str
    load: Callable[[Loading], Batch]
    version: str
    gives: str
    source: str = "your own"
    types: tuple[str, ...] = ()
    extra: str = ""
    wheels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    endpoint: bool = False
    asks_with: tuple[str, ...] = ()
    digits: int = 5
    batch_size: int = 32

    @property
    def options(self) -> tuple[str, ...]:
        """The options that it must be given."""
        return (*self.files, *(["endpoint"] if self.endpoint else []))
