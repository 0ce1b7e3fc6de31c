"""What a build asks of the counts of origins: the list of public suffixes, and the library that tokenizes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.origins.counting import LIST, rules_of
from corpus_assets.origins.languages import PREFIX
from corpus_assets.tokenize.encode.attempts import BACKEND
from resources.config_files import beside, read_outside
from resources.documents.looked_for import absent_notes
from resources.errors import ConfigError
from resources.hashing import content_digest
from resources.outside.looking import is_file
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition

_LIST_BYTES = 16 << 20
_PACKAGE = "tldextract"
_SUFFIX_LIST = "origins.suffix_list"


@dataclass(frozen=True)
class CountsHooks(Hooks):
    """The hooks of the counts of a chunk. tokenizer: the asset that tokenizes; empty for none."""

    tokenizer: str

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {"origins.suffixes": content_digest(suffix_list(settings)), "origins.tokenizer": self.tokenizer}

    @override
    def local_files(self, settings: Values) -> Mapping[str, bytes]:
        return {LIST: suffix_list(settings)}

    @override
    def run_options(self, settings: Values) -> Values:
        own = [entry["tokenizer"] for entry in settings["datasets"] if names.tokenizer(entry["name"]) == self.tokenizer]
        return {BACKEND: (own[0] if own else settings["tokenizer"]).get("backend", "tokenizers")}

    @override
    def check_before(self, settings: Values) -> None:
        """Raises `ConfigError` for a list without suffixes."""
        try:
            rules_of(suffix_list(settings))
        except ValueError as fault:
            raise ConfigError(f"{_SUFFIX_LIST}: {settings['origins']['suffix_list']!r} {fault}") from None

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        """Returns a sentence if no document has a URL."""
        return absent_notes(partitions, None)


@dataclass(frozen=True)
class LanguageHooks(Hooks):
    """The hooks of scores by language. prefix: how the keys of languages begin."""

    prefix: str

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {PREFIX: self.prefix}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        """Returns a sentence if no document has a language."""
        return absent_notes(partitions, None)


def suffix_list(settings: Values) -> bytes:
    """Returns the Public Suffix List; `ConfigError` if there is none."""
    if path := settings["origins"]["suffix_list"]:
        return read_outside(_SUFFIX_LIST, path, _LIST_BYTES)
    package = find_spec(_PACKAGE)
    known = beside(package.origin, ".tld_set_snapshot") if package and package.origin else ""
    if not is_file(known):
        raise ConfigError(
            f"{_SUFFIX_LIST}: none is given, and the package that has one is missing; run: pip install "
            "'corpus-assets[domains]', or give the path of a public_suffix_list.dat"
        )
    return read_outside(_SUFFIX_LIST, known, _LIST_BYTES)
