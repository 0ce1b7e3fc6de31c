"""Taggers that ask an OpenAI-compatible endpoint: the score that a model gives a text, and its embedding."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from resources.documents.batch_tagger import Batch, BatchTagger, Loading, Row
from resources.endpoint.asking import Asker, Unanswered, value_at
from resources.endpoint.client import Address, Client

_HOLE = "{text}"
_SHOWN = 120
_ADDRESS = [field.name for field in fields(Address)]


def _asker(endpoint: dict[str, Any], kind: str, *about: str) -> Asker:
    address = Address(**{name: endpoint[name] for name in _ADDRESS})
    parameters = json.dumps(endpoint["parameters"], sort_keys=True)
    return Asker(address, endpoint["answers"], (kind, *about, parameters), counts=endpoint["failures"] == "count")


@dataclass(frozen=True)
class _Scores:
    """Asks for a score of each text, one text in a request."""

    asker: Asker
    endpoint: dict[str, Any]

    def batch(self, texts: Sequence[str]) -> list[Row]:
        answers = self.asker.answers([text[: self.endpoint["characters"]] for text in texts], self._ask)
        return [answer if isinstance(answer, Unanswered) else self._scored(answer) for answer in answers]

    def _ask(self, client: Client, texts: Sequence[str]) -> list[str]:
        content = self.endpoint["prompt"].replace(_HOLE, texts[0])
        question = {"model": self.endpoint["model"], "messages": [{"role": "user", "content": content}]}
        answer = client.ask("/chat/completions", {**self.endpoint["parameters"], **question})
        said = value_at(answer, "choices", 0, "message", "content")
        if not isinstance(said, str):
            problem = f"its answer has no text at choices[0].message.content: {_beginning(answer)}"
            raise self.asker.error(problem)
        return [said]

    def _scored(self, said: str) -> Row:
        matches = list(re.finditer(self.endpoint["score"], said))
        found = matches[-1][matches[-1].re.groups] if matches else None
        try:
            score = float(found or "")
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            wanted = f"valid: a match of `score`, {self.endpoint['score']!r}, that is a number"
            return self.asker.refused(f"its answer has no score: {said[:_SHOWN]!r}; {wanted}", "no score")
        least, most = self.endpoint["least"], self.endpoint["most"]
        if (least is not None and score < least) or (most is not None and score > most):
            return self.asker.refused(f"its answer has score {score:g}; valid: {least} to {most}", "score out of range")
        return {"score": score}


def load_scores(loading: Loading) -> Batch:
    """Returns the function that asks for scores; `ConfigError` without the key."""
    endpoint = dict(loading.endpoint)
    return _Scores(_asker(endpoint, "score", endpoint["prompt"]), endpoint).batch


@dataclass(frozen=True)
class _Embeddings:
    """Asks for the embedding of each text, several texts in a request."""

    asker: Asker
    endpoint: dict[str, Any]

    def batch(self, texts: Sequence[str]) -> list[Row]:
        cut = [text[: self.endpoint["characters"]] for text in texts]
        answers = self.asker.answers(cut, self._ask, self.endpoint["texts_per_request"])
        return [
            answer
            if isinstance(answer, Unanswered)
            else {f"e{place}": value for place, value in enumerate(json.loads(answer))}
            for answer in answers
        ]

    def _ask(self, client: Client, texts: Sequence[str]) -> list[str]:
        question = {"model": self.endpoint["model"], "input": list(texts)}
        answer = client.ask("/embeddings", {**self._parameters, **question})
        rows = value_at(answer, "data")
        if not isinstance(rows, list) or len(rows) != len(texts):
            given = f"{len(rows)} rows" if isinstance(rows, list) else _beginning(answer)
            raise self.asker.error(f"its answer has {given} at data; valid: {len(texts)}, one for each text")
        found = {value_at(row, "index"): value_at(row, "embedding") for row in rows}
        vectors = [found.get(place) for place in range(len(texts))]
        if not all(map(_is_vector, vectors)) or len({len(vector) for vector in vectors if vector}) > 1:
            raise self.asker.error(
                f"its rows at data are not one `embedding` of finite numbers, equally many, for each `index` 0 to "
                f"{len(texts) - 1}: {_beginning(rows[0])}"
            )
        return [json.dumps(vector) for vector in vectors]

    @property
    def _parameters(self) -> dict[str, Any]:
        return {name: value for name, value in self.endpoint["parameters"].items() if name != "temperature"}


def _is_vector(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(type(one) in (int, float) and math.isfinite(one) for one in value)
    )


def _beginning(answer: Any) -> str:
    return repr(json.dumps(answer, ensure_ascii=False)[:_SHOWN])


def load_embeddings(loading: Loading) -> Batch:
    """Returns the function that asks for embeddings; `ConfigError` without the key."""
    endpoint = dict(loading.endpoint)
    return _Embeddings(_asker(endpoint, "embedding"), endpoint).batch


TAGGERS = [
    BatchTagger(
        "endpoint_score_v1",
        load_scores,
        version="1",
        gives="`score`: the number in what a model answers to `endpoint.prompt`",
        source="an endpoint of your own",
        types=("score",),
        endpoint=True,
        asks_with=("prompt",),
    ),
    BatchTagger(
        "endpoint_embedding_v1",
        load_embeddings,
        version="1",
        gives="`e0`, `e1`, ...: each number of the embedding of the text",
        source="an endpoint of your own",
        endpoint=True,
    ),
]
