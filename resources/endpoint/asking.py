"""Many questions to one endpoint: those with a kept answer are not asked, the others are asked side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resources.endpoint.answers import Answers, answer_key
from resources.endpoint.client import Address, Client
from resources.errors import ConfigError, EndpointError
from resources.user.cache import user_folder

_OF_THE_CONFIGURATION = ("status 401", "status 403", "status 404", "bad certificate")
"""Problems that every question would have; they are never counted."""

Ask = Callable[[Client, Sequence[str]], Sequence[str]]
"""Asks about some texts in one request; returns an answer for each."""


@dataclass(frozen=True)
class Unanswered:
    """Stands for the answer about a text that has none. reason: in a few words, for counts."""

    reason: str


class Asker:
    """Asks an endpoint about texts.

    folder: where answers are kept; None for the user's cache. about: everything besides the text that an answer
    depends on. counts: whether a question without answer is counted, and not an error.
    """

    def __init__(self, address: Address, folder: str | None, about: Sequence[str], *, counts: bool = False) -> None:
        self._address = address
        held = _folder(folder, address)
        self._client = Client(address, held)
        self._answers = Answers(held)
        self._about = (address.model, *about)
        self._counts = counts
        self._pool = ThreadPoolExecutor(address.concurrency, "endpoint")

    def answers(self, texts: Sequence[str], ask: Ask, together: int = 1) -> list[str | Unanswered]:
        """Returns the answer about each text. ask: asks about up to `together` texts in one request.

        `EndpointError` if there is none, unless such questions are counted. Equal texts are asked about once.
        """
        keys = {text: answer_key(*self._about, text) for text in texts}
        known: dict[bytes, str | Unanswered] = {**self._answers.known(keys.values())}
        new = [text for text, key in keys.items() if key not in known]
        asked = [new[start : start + together] for start in range(0, len(new), together)]
        for group, found in zip(asked, self._pool.map(lambda group: self._kept(group, keys, ask), asked), strict=True):
            known |= dict(zip((keys[text] for text in group), found, strict=True))
        return [known[keys[text]] for text in texts]

    def _kept(self, group: Sequence[str], keys: dict[str, bytes], ask: Ask) -> Sequence[str | Unanswered]:
        try:
            found = ask(self._client, group)
        except EndpointError as error:
            if self._counts and error.reason not in _OF_THE_CONFIGURATION:
                return [Unanswered(error.reason)] * len(group)
            raise
        for text, answer in zip(group, found, strict=True):
            self._answers.keep(keys[text], answer)
        return found

    def refused(self, problem: str, reason: str) -> Unanswered:
        """Returns what stands for an answer that cannot be used; `EndpointError` unless those are counted."""
        if self._counts:
            return Unanswered(reason)
        raise self.error(problem, reason)

    def error(self, problem: str, reason: str = "another shape") -> EndpointError:
        """Returns an error about the endpoint, with its address and model."""
        return EndpointError(self._address.where, problem, reason)


def value_at(answer: Any, *path: str | int) -> Any:
    """Returns what an answer has at a path of keys and places; None if it has another shape."""
    for part in path:
        is_there = (
            isinstance(answer, dict) and part in answer
            if isinstance(part, str)
            else isinstance(answer, list) and part < len(answer)
        )
        if not is_there:
            return None
        answer = answer[part]
    return answer


def _folder(folder: str | None, address: Address) -> Path:
    try:
        return Path(folder) if folder else user_folder("endpoints")
    except RuntimeError:
        raise ConfigError(f"{address.where}: there is no home folder to keep answers in; give `answers`") from None
