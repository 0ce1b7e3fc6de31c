"""Notes that a fast library gave the ids of the reference for all probe texts, in the cache folder of the user.

The comparison takes every new process a third of a second, and its result depends only on programs, tokenizer and
machine. A note saves only that comparison: the first texts of each partition, and a sample of all, are still compared.
Only equality is noted. A damaged or other note is ignored.
"""

import platform
from importlib.metadata import version

from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.hashing import content_digest
from resources.user.cache import keep, kept
from resources.version import VERSION

RULES = "1"
"""Number of the probe texts and of the way they are compared: raised with each change of either."""

GROUP = "proofs"


def noted(library: str, tokenizer: Tokenizer) -> int | None:
    """Returns the noted number of probe texts with equal ids; None without a note."""
    name = _name(library, tokenizer)
    told, _, count = (kept(GROUP, name) or "").partition(" ")
    return int(count) if told == name and count.isdecimal() and count.isascii() else None


def note(library: str, tokenizer: Tokenizer, texts: int) -> None:
    """Notes that the ids of so many probe texts were equal."""
    name = _name(library, tokenizer)
    keep(GROUP, name, f"{name} {texts}")


def _name(library: str, tokenizer: Tokenizer) -> str:
    """Returns a name for everything that the result depends on: programs, tokenizer, and machine."""
    versions = [f"{library}-{version(library)}", f"tokenizers-{version('tokenizers')}", f"corpus-assets-{VERSION}"]
    machine = f"{platform.machine()} {platform.node()}"
    parts = (RULES, *versions, tokenizer.encoding_digest, machine)
    return f"{library}-{content_digest(*(part.encode() for part in parts))}"
