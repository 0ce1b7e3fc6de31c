"""What is given hostile inputs: a function of bytes, inputs to begin with, and the errors that it may raise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from resources.errors import CorpusError

REGRESSIONS = Path(__file__).parent / "regressions"


@dataclass(frozen=True)
class Harness:
    """A reader. read: reads an input to its end. seeds: sound inputs. typed: the errors that it may raise.

    words: pieces that inputs of its kind are made of.
    """

    name: str
    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    typed: tuple[type[Exception], ...] = (CorpusError,)
    words: tuple[bytes, ...] = ()

    def __call__(self, content: bytes) -> bool:
        """Reads an input; returns whether it is sound. Any other error than a typed one comes out."""
        try:
            self.read(content)
        except self.typed:
            return False
        return True

    @property
    def regressions(self) -> list[bytes]:
        """Inputs that once broke it."""
        return [file.read_bytes() for file in sorted((REGRESSIONS / self.name).glob("*"))]


@cache
def harnesses() -> Mapping[str, Harness]:
    """Returns all of them by name."""
    from tests.fuzz import asked, ids, odd_values, raw, stored

    return {one.name: one for module in (raw, stored, asked, odd_values, ids) for one in module.HARNESSES}
