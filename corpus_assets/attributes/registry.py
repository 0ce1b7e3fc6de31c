"""All taggers in one list, module by module, and those of the user's own modules."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from corpus_assets.attributes.taggers.c4 import TAGGERS as C4
from corpus_assets.attributes.taggers.gopher import TAGGERS as GOPHER
from corpus_assets.attributes.taggers.lengths import TAGGERS as LENGTHS
from corpus_assets.attributes.taggers.licences import TAGGERS as LICENCES
from corpus_assets.attributes.taggers.olmo import TAGGERS as OLMO
from corpus_assets.attributes.taggers.pii import TAGGERS as PII
from corpus_assets.attributes.taggers.punctuation import TAGGERS as PUNCTUATION
from corpus_assets.attributes.taggers.repetitions import TAGGERS as REPETITIONS
from corpus_assets.attributes.taggers.sampling import TAGGERS as SAMPLING
from corpus_assets.attributes.taggers.uniseg import TAGGERS as UNISEG
from resources.errors import ConfigError
from resources.own_code import own_module
from resources.stage.graph import did_you_mean
from resources.tagger import Tagger

BUILT_IN: Mapping[str, Tagger] = {
    tagger.name: tagger
    for tagger in (*LENGTHS, *UNISEG, *OLMO, *PUNCTUATION, *C4, *GOPHER, *REPETITIONS, *PII, *LICENCES, *SAMPLING)
}


def known_taggers(modules: Sequence[str], folder: Path) -> dict[str, Tagger]:
    """Returns all taggers by name: the built-in ones, and those of modules that have a list TAGGERS.

    folder: that of corpus.yaml, where the modules may lie.
    """
    known = dict(BUILT_IN)
    for tagger in _own_taggers(modules, folder):
        if tagger.name in known:
            raise ConfigError(f"taggers: two taggers are named {tagger.name!r}; give one another name")
        known[tagger.name] = tagger
    return known


def _own_taggers(modules: Sequence[str], folder: Path) -> Iterator[Tagger]:
    for name in modules:
        taggers = getattr(own_module(name, "taggers", folder), "TAGGERS", None)
        if not isinstance(taggers, list | tuple) or not all(isinstance(tagger, Tagger) for tagger in taggers):
            raise ConfigError(f"taggers: module {name!r} needs a list TAGGERS of resources.Tagger")
        yield from taggers


def named_tagger(name: str, known: Mapping[str, Tagger], key: str) -> Tagger:
    """Returns a tagger by its name; `ConfigError` names the configuration key, and the nearest known name."""
    if name not in known:
        near = did_you_mean(name, known)
        raise ConfigError(f"{key}: no tagger named {name!r}{near}; docs/attributes.md lists them")
    return known[name]
