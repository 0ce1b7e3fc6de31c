"""The endpoint that a tagger asks: an OpenAI-compatible server."""

import re
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue

from corpus_assets.config.section import LocalPath, Section

HOLE: Final = "{text}"
ASKED: Final = ("model", "prompt", "score", "least", "most", "characters", "parameters", "failures")
"""Keys that decide what an endpoint answers; the others only say where it is and how fast it may be asked."""


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        known = None
    if not known or parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "the address of an API, http:// or https://, without user, key and query, such as http://localhost:8000/v1"
        )
    return value


def _prompt(value: str) -> str:
    if HOLE not in value:
        raise ValueError(f"a text with {HOLE} where the document goes")
    return value


def _pattern(value: str) -> str:
    try:
        pattern = re.compile(value)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None
    if pattern.groups > 1:
        raise ValueError("a regular expression with one group, or none")
    return value


class Endpoint(Section):
    """An OpenAI-compatible server, and what it is asked."""

    url: Annotated[str, AfterValidator(_address)] = Field(description="address up to and with `/v1`")
    model: str = Field(min_length=1, description="name of the model, as the server knows it")
    key_variable: str | None = Field(
        None, min_length=1, description="environment variable that has the key; by default no key is sent"
    )
    prompt: Annotated[str, AfterValidator(_prompt)] | None = Field(
        None, description="what `endpoint_score_v1` asks, with `{text}` where the document goes"
    )
    score: Annotated[str, AfterValidator(_pattern)] = Field(
        r"-?\d+(?:\.\d+)?",
        description="regular expression of the score in an answer, or of its group; its last match counts",
    )
    least: float | None = Field(None, description="lowest score that an answer may have")
    most: float | None = Field(None, description="highest score that an answer may have")
    characters: Annotated[int, Field(ge=1)] = Field(8000, description="longer texts are cut to that many code points")
    parameters: dict[str, JsonValue] = Field(
        default={"temperature": 0}, description="further fields of every request, such as `max_tokens`"
    )
    texts_per_request: Annotated[int, Field(ge=1, le=2048)] = Field(
        16, description="texts in a request of `endpoint_embedding_v1`"
    )
    concurrency: Annotated[int, Field(ge=1, le=1024)] = Field(
        4, description="most requests under way at once, of all workers of a machine"
    )
    requests_per_second: Annotated[float, Field(gt=0)] | None = Field(
        None, description="most requests that all workers of a machine send in a second; by default any number"
    )
    timeout: Annotated[float, Field(gt=0)] = Field(60.0, description="seconds for a whole request")
    retries: Annotated[int, Field(ge=0, le=20)] = Field(
        4, description="how often a request without answer is sent again"
    )
    wait: Annotated[float, Field(ge=0)] = Field(1.0, description="seconds before that; doubled each time, 60 at most")
    failures: Literal["error", "count"] = Field(
        "error",
        description="`error`: a question without a usable answer fails the shard; `count`: the document gets no score, "
        "and is counted",
    )
    answers: LocalPath | None = Field(None, description="folder in which answers are kept; by default the user's cache")

    def asked(self) -> dict[str, Any]:
        """Returns the keys that decide what it answers."""
        return self.model_dump(include=set(ASKED))
