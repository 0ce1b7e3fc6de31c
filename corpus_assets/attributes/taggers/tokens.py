"""Tokens of a text and their repetitions, by a local tokenizer (docs/formats/dolma.md "Models")."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.taggers.repetitions import TYPES as REPETITIONS
from corpus_assets.attributes.units import all_paragraphs
from resources.documents.tagger import Spans, Tagger, Text
from resources.errors import BadFileError, raise_machine_fault
from resources.formats.attributes import Span
from resources.outside_files import OutsideFile

MOST_TOKENS_OF_A_UNIT = 13
LEAST_TIMES = 3
LONGEST_PART = 100_000
_LARGEST_MODEL = 1 << 28


class Run(NamedTuple):
    """Tokens from `start` to `end` that repeat their first `period` ones."""

    start: int
    end: int
    period: int

    @property
    def times(self) -> int:
        """How often the unit occurs in full."""
        return (self.end - self.start) // self.period


def tokenizer_of(files: Sequence[OutsideFile]) -> Any:
    """Returns the tokenizer of a tokenizer.json; `BadFileError` if it is none."""
    from tokenizers import Tokenizer

    content = files[0].read(_LARGEST_MODEL)
    if len(content) > _LARGEST_MODEL:
        raise BadFileError(files[0].name, f"has more than {_LARGEST_MODEL} bytes")
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # The library raises nothing more specific.
        raise_machine_fault(files[0].name, error)
        raise BadFileError(files[0].name, f"no tokenizer.json: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def tokens(text: Text, model: Any) -> Spans:
    """Returns the number of tokens, without those that the tokenizer adds."""
    return {"tokens": text.whole(float(len(model.encode(text.string, add_special_tokens=False).ids)))}


def stripped_length(text: Text, model: Any) -> Spans:
    """Returns the number of tokens of the text without whitespace at both ends, with those that the tokenizer adds."""
    stripped = text.string.strip()
    return {"length": text.whole(float(len(model.encode(stripped).ids) if stripped else 0))}


def runs(ids: NDArray[np.int64]) -> Iterator[Run]:
    """Yields runs by period and beginning.

    As in the toolkit, a run counts only if its unit occurs three times, and if it fills a whole row after its first
    unit when the text is cut into rows of one period from the first token.
    """
    for period in range(1, min(MOST_TOKENS_OF_A_UNIT, len(ids) // LEAST_TIMES) + 1):
        equal = np.zeros(len(ids) + 2, dtype=np.int8)
        equal[period + 1 : -1] = ids[period:] == ids[:-period]
        changes = np.flatnonzero(np.diff(equal))
        for start, end in changes.reshape(-1, 2).tolist():
            found = Run(start - period, end, period)
            if (-(-start // period) + 1) * period <= end and found.times >= LEAST_TIMES:
                yield found


def _repetitions(string: str, model: Any) -> Iterator[Span]:
    encoded = model.encode(string, add_special_tokens=False)
    offsets = encoded.offsets
    for run in runs(np.array(encoded.ids, dtype=np.int64)):
        yield offsets[run.start][0], offsets[run.end - 1][1], float(run.times)


def _with_measures(text: Text, spans: list[Span]) -> Spans:
    lengths = [end - start for start, end, _ in spans]
    measures = {
        "doc_max_score_repetition": max((score for _, _, score in spans), default=0.0),
        "doc_max_length_repetition": float(max(lengths, default=0)),
        "doc_frac_repetition": sum(lengths) / len(text.string) if spans else 0.0,
    }
    found = {"repetition": spans} if spans else {}
    return {**found, **{kind: text.whole(score) for kind, score in measures.items()}}


def token_repetitions(text: Text, model: Any) -> Spans:
    """Returns every run of repeated tokens, and measures of them."""
    return _with_measures(text, list(_repetitions(text.string, model)))


def token_repetitions_of_parts(text: Text, model: Any) -> Spans:
    """Returns the runs that lie in no other, found in parts of 100,000 code points; nothing if there are none."""
    spans: list[Span] = []
    for offset in range(0, len(text.string), LONGEST_PART):
        found = list(_repetitions(text.string[offset : offset + LONGEST_PART], model))
        spans += [(offset + start, offset + end, score) for start, end, score in _outermost(found)]
    return _with_measures(text, spans) if spans else {}


def _outermost(spans: Iterable[Span]) -> Iterator[Span]:
    first, last = -1, -1
    for start, end, score in sorted(spans, key=lambda span: (span[0], -span[1], -span[2])):
        if start < first or end > last:
            first, last = start, end
            yield start, end, score


def token_repetitions_of_paragraphs(text: Text, model: Any, *, of_dolma: bool = False) -> Spans:
    """Returns the runs of each paragraph, which is tokenized after a space.

    of_dolma: a run that includes that space begins one code point before its paragraph, as in the toolkit.
    """
    found, spans = text.once(all_paragraphs), []
    for start, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True):
        for first, last, score in _repetitions(f" {text.string[start:end]}", model):
            begin = start + first - 1
            spans.append((begin if of_dolma else max(start, begin), start + last - 1, score))
    return _with_measures(text, spans)


_SHARED: dict[str, Any] = {"version": "1", "files": {"model": tokenizer_of}}
_MEASURES = "`doc_max_score_repetition`, `doc_max_length_repetition`, `doc_frac_repetition`"
_RUNS = f"`repetition`: how often a unit of at most 13 tokens of `model` repeats, three times at least; {_MEASURES}"
TAGGERS = [
    *(
        Tagger(
            name,
            tokens,
            types=("tokens",),
            gives="`tokens`: tokens of `model`, a tokenizer.json",
            source="Dolma toolkit",
            **_SHARED,
        )
        for name in ("tokenizers_EleutherAI_GPT_NeoX_20B", "tokenizers_AI2_OLMo_v1")
    ),
    *(
        Tagger(
            name,
            stripped_length,
            types=("length",),
            gives="`length`: tokens of `model` for the text without whitespace at both ends, with those it adds",
            source="Dolma toolkit",
            **_SHARED,
        )
        for name in ("dolma_v1_tokenizer", "dolma_v2_tokenizer")
    ),
    Tagger(
        "tokenizer_repetitions_v1", token_repetitions, types=REPETITIONS, gives=_RUNS, source="Dolma toolkit", **_SHARED
    ),
    Tagger(
        "tokenizer_repetitions_v2r2",
        token_repetitions_of_parts,
        types=REPETITIONS,
        gives="as `tokenizer_repetitions_v1`, but for runs within others, and nothing where there is none",
        source="Dolma toolkit",
        **_SHARED,
    ),
    Tagger(
        "paragraph_tokenizer_repetitions_v1",
        token_repetitions_of_paragraphs,
        types=REPETITIONS,
        gives="as `tokenizer_repetitions_v1`, within paragraphs",
        source="Dolma toolkit",
        dolma=partial(token_repetitions_of_paragraphs, of_dolma=True),
        **_SHARED,
    ),
]
