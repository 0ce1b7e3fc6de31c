"""All taggers in one list, module by module."""

from collections.abc import Iterable, Mapping

from corpus_assets.attributes.taggers.c4 import TAGGERS as C4
from corpus_assets.attributes.taggers.endpoint import TAGGERS as ENDPOINT
from corpus_assets.attributes.taggers.fasttext import TAGGERS as FASTTEXT
from corpus_assets.attributes.taggers.gopher import TAGGERS as GOPHER
from corpus_assets.attributes.taggers.labels.language import TAGGERS as LANGUAGE
from corpus_assets.attributes.taggers.labels.perplexity import TAGGERS as PERPLEXITY
from corpus_assets.attributes.taggers.languages import TAGGERS as LANGUAGES
from corpus_assets.attributes.taggers.lengths import TAGGERS as LENGTHS
from corpus_assets.attributes.taggers.licences import TAGGERS as LICENCES
from corpus_assets.attributes.taggers.olmo import TAGGERS as OLMO
from corpus_assets.attributes.taggers.personal.pii import TAGGERS as PII
from corpus_assets.attributes.taggers.personal.presidio import TAGGERS as PRESIDIO
from corpus_assets.attributes.taggers.presets.c4 import TAGGERS as C4_LINES
from corpus_assets.attributes.taggers.presets.dclm.page import TAGGERS as DCLM
from corpus_assets.attributes.taggers.presets.english import TAGGERS as ENGLISH
from corpus_assets.attributes.taggers.punctuation import TAGGERS as PUNCTUATION
from corpus_assets.attributes.taggers.repetitions import TAGGERS as REPETITIONS
from corpus_assets.attributes.taggers.sampling import TAGGERS as SAMPLING
from corpus_assets.attributes.taggers.source_code.code import TAGGERS as CODE
from corpus_assets.attributes.taggers.source_code.secrets import TAGGERS as SECRETS
from corpus_assets.attributes.taggers.source_code.starcoder import TAGGERS as STARCODER
from corpus_assets.attributes.taggers.tokens import TAGGERS as TOKENS
from corpus_assets.attributes.taggers.uniseg import TAGGERS as UNISEG
from corpus_assets.attributes.taggers.urls import TAGGERS as URLS
from resources.documents.batch_tagger import BatchTagger
from resources.documents.tagger import Tagger
from resources.errors import ConfigError
from resources.stage.graph import did_you_mean

BUILT_IN: Mapping[str, Tagger] = {
    tagger.name: tagger
    for tagger in (
        *LENGTHS,
        *UNISEG,
        *OLMO,
        *PUNCTUATION,
        *C4,
        *GOPHER,
        *ENGLISH,
        *C4_LINES,
        *DCLM,
        *REPETITIONS,
        *PII,
        *PRESIDIO,
        *CODE,
        *SECRETS,
        *STARCODER,
        *LANGUAGES,
        *LANGUAGE,
        *PERPLEXITY,
        *LICENCES,
        *URLS,
        *FASTTEXT,
        *TOKENS,
        *SAMPLING,
    )
}


IN_BATCHES: Mapping[str, BatchTagger] = {tagger.name: tagger for tagger in ENDPOINT}
AnyTagger = Tagger | BatchTagger


def known_taggers(own: Iterable[AnyTagger]) -> dict[str, AnyTagger]:
    """Returns all taggers by name: the built-in ones and the user's own; `ConfigError` if two have one name."""
    known: dict[str, AnyTagger] = {**BUILT_IN, **IN_BATCHES}
    for tagger in own:
        if tagger.name in known:
            raise ConfigError(f"taggers: two taggers are named {tagger.name!r}; give one another name")
        known[tagger.name] = tagger
    return known


def named_tagger(name: str, known: Mapping[str, AnyTagger], key: str) -> AnyTagger:
    """Returns a tagger by its name; `ConfigError` names the configuration key, and the nearest known name."""
    if name not in known:
        near = did_you_mean(name, known)
        raise ConfigError(f"{key}: no tagger named {name!r}{near}; `corpus docs attributes` lists them")
    return known[name]
