"""Tokenizers from the bytes of their files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.backend import Around, TokenizerBackend
from corpus_assets.tokenize.tokenizers.fast_t5 import T5_SETTINGS, is_fast_t5
from corpus_assets.tokenize.tokenizers.files import AddedToken, Json, chat_template, settings
from corpus_assets.tokenize.tokenizers.kinds import bos_setting, control_tokens, make_backend, reads_more
from corpus_assets.tokenize.tokenizers.training import END_OF_TEXT, PADDING
from resources.errors import ConfigError
from resources.hashing import content_digest


@dataclass(frozen=True)
class TokenizerSpec:
    """How to make a tokenizer out of files (docs/formats/cerebras-hdf5.md "Tokenizers").

    kind: `tokenizer_json` (any file of the tokenizers library), `neox` (the same, with the GPT-NeoX defaults for eos
        and pad), `gpt2` (merges and id table), `huggingface` (the files of a transformers tokenizer) or `sentencepiece`
        (a model of that library) or `ids` (a vocabulary without texts).
    eos, pad: a token or an id that replaces the tokenizer's own. A given eos becomes the pad as well, unless pad is
        given too; with `gpt2` pad always equals eos.
    match_special_tokens: text such as `<|endoftext|>` inside a document becomes the control token. Off by default:
        otherwise a document can end itself. `gpt2` has no control tokens to match.
    add_special_tokens: ids that the post-processor puts around a text (begin-of-text, class tokens) are kept.
    fast_t5: of `huggingface` without a `tokenizer.json`, T5 gives the ids of transformers' fast class; False: those of
        the SentencePiece library, which tokenizers that were stored before have.
    as_declared: settings say which tokens are control tokens (also in `extra_special_tokens`), and by `legacy: false`
        that a SentencePiece model puts no space after them, what is spelled `<|name|>` is one, and tokens that settings
        add have the flags there; False: as tokenizers that were stored before.
    """

    kind: Literal["tokenizer_json", "gpt2", "neox", "huggingface", "sentencepiece", "ids"]
    eos: str | int | None = None
    pad: str | int | None = None
    match_special_tokens: bool = False
    add_special_tokens: bool = True
    fast_t5: bool = True
    as_declared: bool = True

    def stored(self, files: Mapping[str, bytes]) -> Json:
        """Returns what is kept of it beside the files; the last two only where they count: others are as before."""
        readings = {"fast_t5": _is_fast_t5(files, self), "as_declared": _is_as_declared(files, self)}
        values = {name: value for name, value in asdict(self).items() if name not in readings}
        return values | {name: True for name, counts in readings.items() if counts}

    @classmethod
    def of_stored(cls, values: Json) -> "TokenizerSpec":
        """Returns the spec that `stored` kept."""
        fields: Json = {"fast_t5": False, "as_declared": False, **values}
        return cls(**fields)


@dataclass(frozen=True)
class LoadedTokenizer:
    """`Tokenizer` of the protocol, over one of the backends. Results do not depend on a number of threads.

    template_values: contents of `bos_token`, `eos_token`, ... for chat templates.
    bos_by_setting: see the protocol.
    control: control tokens by `with_control`, which its files do not make such.
    """

    backend: TokenizerBackend
    eos_id: int | None
    pad_id: int
    bos_id: int | None
    digest: str
    match_special_tokens: bool = False
    add_special_tokens: bool = True
    chat_template: str | None = None
    template_values: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "tokenizer_json"
    bos_by_setting: bool = False
    control: tuple[str, ...] = ()

    @property
    def encoding_digest(self) -> str:
        """32 hex digits; equal ones give equal ids of equal texts."""
        return content_digest(self.digest.encode(), *map(str.encode, self.control)) if self.control else self.digest

    @property
    def vocab_size(self) -> int:
        """The largest id plus one: every id is less."""
        return len(self.backend.tokens)

    @property
    def definition(self) -> str | None:
        """A `tokenizer.json` that gives the ids of `encode_plain`, if its control tokens are not matched.

        With its post-processor it gives those of `encode_batch`, unless `match_special_tokens`. None for a
        SentencePiece model.
        """
        return self.backend.definition

    @property
    def around(self) -> Around:
        """Ids that `encode_batch` puts before and after every text."""
        return self.backend.around if self.add_special_tokens else ((), ())

    @property
    def adds_bos(self) -> bool:
        """True if `encode_batch` puts an id before every text: a begin-of-text or a class id."""
        return bool(self.around[0])

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the control tokens by content."""
        return self.backend.special_tokens

    @property
    def added_tokens(self) -> Mapping[str, int]:
        """Ids of the tokens that are found as a whole in a text, control tokens among them."""
        return self.backend.added_tokens

    @property
    def strips(self) -> Mapping[str, tuple[bool, bool]]:
        """Whether white space before and after a token goes with it, for those with which some goes."""
        return self.backend.strips

    @cached_property
    def after_control(self) -> "LoadedTokenizer":
        """The tokenizer of plain text that follows a control token."""
        backend = self.backend.after_control()
        if backend is self.backend:
            return self
        return replace(self, backend=backend, digest=content_digest(self.digest.encode(), b"after a control token"))

    def encode_batch(self, texts: Sequence[str]) -> Ragged:
        """Returns the ids of every text and those around it; control tokens are matched if `match_special_tokens`."""
        return self.backend.encode(texts, around=self.add_special_tokens, matched=self.match_special_tokens)

    def encode_plain(self, texts: Sequence[str]) -> Ragged:
        """Returns the ids of the texts alone; control tokens in them are plain text."""
        return self.backend.encode(texts, around=False, matched=False)

    def encode_trusted(self, text: str, *, bos: bool = True) -> Ids:
        """Returns the ids of a text whose control tokens are matched; `bos`: with the ids around it."""
        return self.backend.encode([text], around=bos and self.add_special_tokens, matched=True).ids

    def encode_offsets(self, text: str) -> tuple[Ids, NDArray[np.int64]]:
        """Returns the ids (n,) of `encode_plain` and int64 (n,) code points of the text where their tokens start."""
        return self.backend.encode_offsets(text)

    def token_id(self, token: str) -> int | None:
        """Returns the id of an entry of the vocabulary, added tokens included."""
        return self.backend.token_id(token)

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> str:
        """Returns the text of the ids, control tokens included. Raises ConfigError for an id outside the vocabulary."""
        array = np.asarray(ids, np.int64)
        if array.size and not 0 <= array.min() <= array.max() < self.vocab_size:
            raise ConfigError(f"ids from {array.min()} to {array.max()}; valid: 0 to {self.vocab_size - 1}")
        return self.backend.decode(array.tolist())

    def with_token(self, token: str) -> "LoadedTokenizer":
        """Returns this tokenizer if it has the token, else one with it as a control token under the next free id."""
        if not token:
            raise ConfigError("a control token cannot be empty")
        if self.token_id(token) is not None:
            return self
        digest = content_digest(self.digest.encode(), token.encode())
        return replace(self, backend=self.backend.with_added([AddedToken(token)]), digest=digest)

    def without_inner_spaces(self) -> "LoadedTokenizer":
        """Returns this tokenizer as transformers reads it with `legacy=False`, whatever its own settings say.

        T5 then puts a space before a text, and none after a control token in it. Other tokenizers stay as they are.
        """
        backend = self.backend.without_inner_spaces()
        if backend is self.backend:
            return self
        return replace(self, backend=backend, digest=content_digest(self.digest.encode(), b"legacy=False"))

    def with_control(self, tokens: Iterable[str]) -> "LoadedTokenizer":
        """Returns this tokenizer with more tokens of its vocabulary as control tokens; it leaves out unknown ones."""
        known = self.special_tokens
        wanted = sorted({token for token in tokens if token not in known and self.token_id(token) is not None})
        if not wanted:
            return self
        control = tuple(sorted({*self.control, *wanted}))
        return replace(self, backend=self.backend.with_control(wanted), control=control)

    def text_sizes(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Returns UTF-8 bytes and code points (vocab_size,) of every id's text; see `token_sizes.text_sizes`."""
        return self.backend.text_sizes()


def load_tokenizer(files: Mapping[str, bytes], spec: TokenizerSpec) -> LoadedTokenizer:
    """Make a tokenizer from file contents, keyed by the names in `tokenizer_files`.

    `gpt2` needs `vocab.bpe` and `encoder.json`; `neox` and `tokenizer_json` need `tokenizer.json`; `huggingface`
    needs `tokenizer.json`, or a SentencePiece model, or `vocab.json` and `merges.txt` of GPT-2; `sentencepiece`
    needs `tokenizer.model` or `spiece.model`. All but `gpt2` read `tokenizer_config.json` and
    `special_tokens_map.json` when given; `chat_template.jinja` goes before the template of the configuration.

    Raises ConfigError for a file that is missing, a token that the vocabulary does not have, or when neither
    an eos nor a pad token is known; BadFileError for a file that cannot be used.
    """
    config = settings(files) if spec.kind != "gpt2" else {}
    fast_t5 = _is_fast_t5(files, spec)
    config = T5_SETTINGS | config if fast_t5 else config
    backend = make_backend(files, spec.kind, config, fast_t5=fast_t5, as_declared=spec.as_declared)
    tokens = control_tokens(backend, config)
    eos_id, pad_id = _end_and_padding(backend, tokens, spec)
    bos = tokens.get("bos_token")
    return LoadedTokenizer(
        backend=backend,
        eos_id=eos_id,
        pad_id=pad_id,
        bos_id=next(iter(backend.around[0]), None) if bos is None else _id(backend, "bos", bos),
        digest=files_digest(files, spec),
        match_special_tokens=spec.match_special_tokens,
        add_special_tokens=spec.add_special_tokens,
        chat_template=chat_template(files, config),
        kind=spec.kind,
        bos_by_setting=spec.add_special_tokens and bos_setting(spec.kind, config),
        template_values=_named(backend, eos_token=eos_id, bos_token=_first_around(backend)) | tokens,
    )


def _first_around(backend: TokenizerBackend) -> int | None:
    """Returns the id that the tokenizer puts before a text, if it is one."""
    before = backend.around[0]
    return before[0] if len(before) == 1 else None


def _named(backend: TokenizerBackend, **ids: int | None) -> dict[str, str]:
    """Returns tokens by their roles, for those ids that there are."""
    names = {role: backend.tokens[id_] for role, id_ in ids.items() if id_ is not None}
    return {role: name for role, name in names.items() if name is not None}


def _is_fast_t5(files: Mapping[str, bytes], spec: TokenizerSpec) -> bool:
    return spec.fast_t5 and spec.kind == "huggingface" and is_fast_t5(files, settings(files))


def _is_as_declared(files: Mapping[str, bytes], spec: TokenizerSpec) -> bool:
    return spec.as_declared and spec.kind != "gpt2" and reads_more(files, spec.kind, settings(files))


def files_digest(files: Mapping[str, bytes], spec: TokenizerSpec) -> str:
    """Returns the digest of the tokenizer that `load_tokenizer` makes of these files."""
    parts = [part for name in sorted(files) for part in (name.encode(), files[name])]
    return content_digest(json.dumps(spec.stored(files), sort_keys=True).encode(), *parts)


def _end_and_padding(
    backend: TokenizerBackend, tokens: Mapping[str, str], spec: TokenizerSpec
) -> tuple[int | None, int]:
    """Returns (eos, pad): given ones first, then the declared ones, then the defaults of the kind."""
    defaults = dict(tokens)
    if spec.kind in ("gpt2", "neox"):
        defaults.setdefault("eos_token", END_OF_TEXT)
    if spec.kind == "neox" and backend.token_id(PADDING) is not None:
        defaults.setdefault("pad_token", PADDING)
    eos = _id(backend, "eos", spec.eos if spec.eos is not None else defaults.get("eos_token"))
    if spec.kind == "gpt2":
        pad = eos
    elif spec.pad is not None:
        pad = _id(backend, "pad", spec.pad)
    elif spec.eos is not None or "pad_token" not in defaults:
        pad = eos
    else:
        pad = _id(backend, "pad", defaults["pad_token"])
    if pad is None:
        raise ConfigError("tokenizer declares neither an eos nor a pad token; name one of them")
    return eos, pad


def _id(backend: TokenizerBackend, role: str, token: str | int | None) -> int | None:
    """Returns the id of a token; an id is checked against the vocabulary."""
    if token is None:
        return None
    names = backend.tokens
    found = backend.token_id(token) if isinstance(token, str) else token
    if found is None or not 0 <= found < len(names) or names[found] is None:
        raise ConfigError(f"{role} token is {token!r}; valid: a token or id of the vocabulary ({len(names)} entries)")
    return found
