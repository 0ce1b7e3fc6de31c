"""Notes that a fast library gave the ids of the reference for all probe texts, in the cache folder of the user.

The comparison takes every new process a third of a second, and has one result for the same programs, tokenizer and
machine. A note spares that comparison alone: the first texts of each partition, and a sample of all, are compared as
before. Only equality is noted. A note that is damaged, or of anything else, is none.
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
    """Returns how many probe texts had equal ids when a process last compared them; None if nobody noted it."""
    name = _name(library, tokenizer)
    told, _, count = (kept(GROUP, name) or "").partition(" ")
    return int(count) if told == name and count.isdecimal() and count.isascii() else None


def note(library: str, tokenizer: Tokenizer, texts: int) -> None:
    """Notes that the ids of so many probe texts were equal."""
    name = _name(library, tokenizer)
    keep(GROUP, name, f"{name} {texts}")


def _name(library: str, tokenizer: Tokenizer) -> str:
    """Returns the name of all that the result depends on: programs, tokenizer, and machine, whose code may differ."""
    versions = [f"{library}-{version(library)}", f"tokenizers-{version('tokenizers')}", f"corpus-assets-{VERSION}"]
    machine = f"{platform.machine()} {platform.node()}"
    parts = (RULES, *versions, tokenizer.encoding_digest, machine)
    return f"{library}-{content_digest(*(part.encode() for part in parts))}"
