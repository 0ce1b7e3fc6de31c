"""Tokenizers from the bytes of their files, and the way from texts to ids."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer as Encoder
from tokenizers import decoders, models, pre_tokenizers

from corpus_assets.tokenize.cleaning import CleaningSettings, clean, split_text
from corpus_assets.tokenize.statistics import Statistics
from resources.errors import BadFileError, ConfigError
from resources.hashing import content_digest

TOKENIZER_JSON = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS_MAP = "special_tokens_map.json"
GPT2_MERGES = "vocab.bpe"
GPT2_TABLE = "encoder.json"
END_OF_TEXT = "<|endoftext|>"
PADDING = "<|padding|>"
BATCH_CHARACTERS = 1 << 20
_WORD_START = re.compile(r"(?<=\S)[ \n](?=\S)")


class Tokenizer(Protocol):
    """What the dataset modes need of a tokenizer."""

    @property
    def vocab_size(self) -> int:
        """Number of entries, added tokens included."""

    @property
    def eos_id(self) -> int | None:
        """End-of-text id, None if there is none."""

    @property
    def pad_id(self) -> int:
        """Id on padding."""

    @property
    def adds_bos(self) -> bool:
        """Whether every encoded text starts with a begin-of-text id."""

    @property
    def digest(self) -> str:
        """32 hex digits; equal digests give equal ids."""

    def encode_batch(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """One 1-d array of ids per text."""


@dataclass(frozen=True)
class TokenizerSpec:
    """How to make a tokenizer out of files (specs/cerebras-hdf5.md section 3).

    kind: `tokenizer_json` (any file of the tokenizers library), `neox` (the same, with the GPT-NeoX defaults
    for eos and pad) or `gpt2` (merges and id table).
    eos, pad: a token or an id that replaces the tokenizer's own. A given eos becomes the pad as well, unless
    pad is given too; with `gpt2` pad always equals eos.
    match_special_tokens: text such as `<|endoftext|>` inside a document becomes the control token. Off by
    default: otherwise a document can end itself.
    add_special_tokens: ids that the post-processor puts around a text (begin-of-text, class tokens) are kept.
    """

    kind: Literal["tokenizer_json", "gpt2", "neox"]
    eos: str | int | None = None
    pad: str | int | None = None
    match_special_tokens: bool = False
    add_special_tokens: bool = True


@dataclass(frozen=True)
class LoadedTokenizer:
    """`Tokenizer` over the tokenizers library. Results do not depend on its number of threads.

    words_apart: no token and no rule of the tokenizer reaches across a space or line feed that stands alone, so a
    long text may be encoded in parts. The library takes about 170 bytes of memory per character of one text.
    """

    encoder: Encoder
    vocab_size: int
    eos_id: int | None
    pad_id: int
    adds_bos: bool
    add_special_tokens: bool
    words_apart: bool
    digest: str

    def encode_batch(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """One int32 array of ids per text."""
        if self.words_apart and any(len(text) > BATCH_CHARACTERS for text in texts):
            return [self._encode_long(text) for text in texts]
        return self._encode(texts)

    def _encode_long(self, text: str) -> NDArray[np.int32]:
        ids = bytearray()  # grows in place, where joining arrays would hold all ids twice
        for part in _parts(text):
            ids += self._encode([part])[0].data
        return np.frombuffer(ids, dtype=np.int32)

    def _encode(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        encodings = self.encoder.encode_batch_fast(list(texts), add_special_tokens=self.add_special_tokens)
        return [np.array(encoding.ids, dtype=np.int32) for encoding in encodings]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of the ids, control tokens included."""
        return str(self.encoder.decode(list(ids), skip_special_tokens=False))


def load_tokenizer(files: Mapping[str, bytes], spec: TokenizerSpec) -> LoadedTokenizer:
    """Make a tokenizer from file contents, keyed by the names at the top of this module.

    `gpt2` needs `vocab.bpe` and `encoder.json`; the other kinds need `tokenizer.json` and read eos and pad
    from `tokenizer_config.json` and `special_tokens_map.json` when given.

    Raises ConfigError for a file that is missing, a token that the vocabulary does not have, or when neither
    an eos nor a pad token is known; BadFileError for a file that cannot be used.
    """
    encoder = _gpt2_encoder(files) if spec.kind == "gpt2" else _json_encoder(_file(files, TOKENIZER_JSON))
    # Both would cut or lengthen documents behind the caller's back.
    encoder.no_truncation()
    encoder.no_padding()
    encoder.encode_special_tokens = not spec.match_special_tokens
    eos_id, pad_id = _control_ids(encoder, files, spec)
    probe = encoder.encode("a", add_special_tokens=spec.add_special_tokens)
    return LoadedTokenizer(
        encoder=encoder,
        vocab_size=encoder.get_vocab_size(with_added_tokens=True),
        eos_id=eos_id,
        pad_id=pad_id,
        adds_bos=bool(probe.special_tokens_mask[:1] == [1]),
        add_special_tokens=spec.add_special_tokens,
        words_apart=_words_apart(encoder) and not any(probe.special_tokens_mask),
        digest=_digest(files, spec),
    )


def _words_apart(encoder: Encoder) -> bool:
    """Whether a single space or line feed always starts a token: byte-level BPE, pattern of GPT-2, plain or NFC."""
    parts = json.loads(encoder.to_str())
    normalizer, splitter, model = (parts[name] or {} for name in ("normalizer", "pre_tokenizer", "model"))
    added = parts["added_tokens"]
    return (
        model.get("type") == "BPE"
        and (splitter.get("type"), splitter.get("use_regex")) == ("ByteLevel", True)
        and not splitter["add_prefix_space"]
        and normalizer.get("type") in (None, "NFC")
        and not any(token["lstrip"] or token["rstrip"] for token in added)
        and all(token["content"].isspace() or not re.search(r"\s", token["content"]) for token in added)
    )


def _parts(text: str) -> Iterator[str]:
    """The text cut before such a space, about every `BATCH_CHARACTERS` characters."""
    start = 0
    while cut := _WORD_START.search(text, start + BATCH_CHARACTERS):
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]


def _digest(files: Mapping[str, bytes], spec: TokenizerSpec) -> str:
    parts = [part for name in sorted(files) for part in (name.encode(), files[name])]
    return content_digest(json.dumps(asdict(spec), sort_keys=True).encode(), *parts)


def _file(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise ConfigError(f"tokenizer needs the file {name}; received {sorted(files) or 'none'}")
    return files[name]


def _json_object(name: str, raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadFileError(name, f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadFileError(name, f"holds a JSON {type(value).__name__}; valid: an object")
    return value


def _json_encoder(raw: bytes) -> Encoder:
    model = _json_object(TOKENIZER_JSON, raw).get("model")
    if isinstance(model, dict) and model.get("dropout"):
        raise BadFileError(TOKENIZER_JSON, f"BPE dropout {model['dropout']} makes ids random; valid: none")
    try:
        return Encoder.from_str(raw.decode())
    except Exception as error:  # the library raises bare Exception for every fault of a file
        raise BadFileError(TOKENIZER_JSON, f"not a tokenizer: {error}") from error


def _gpt2_encoder(files: Mapping[str, bytes]) -> Encoder:
    """Byte-level BPE with the GPT-2 pattern (Radford et al. 2019), without special-token matching."""
    table = _json_object(GPT2_TABLE, _file(files, GPT2_TABLE))
    merges = _file(files, GPT2_MERGES)
    try:
        lines = merges.decode().split("\n")[1:]
        pairs = (line.partition(" ") for line in lines if line.strip())
        encoder = Encoder(models.BPE(vocab=table, merges=[(left, right) for left, _, right in pairs]))
    except Exception as error:  # see _json_encoder
        raise BadFileError(GPT2_MERGES, f"merges and table do not fit: {error}") from error
    encoder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    encoder.decoder = decoders.ByteLevel()
    return encoder


def _control_ids(encoder: Encoder, files: Mapping[str, bytes], spec: TokenizerSpec) -> tuple[int | None, int]:
    """(eos, pad): given ones first, then the declared ones, then the defaults of the kind."""
    declared = _declared_tokens(files)
    defaults = {"eos_token": END_OF_TEXT} if spec.kind == "gpt2" else declared
    if spec.kind == "neox":
        defaults = {"eos_token": END_OF_TEXT, **declared}
        if encoder.token_to_id(PADDING) is not None:
            defaults = {"pad_token": PADDING, **defaults}
    eos = _id(encoder, "eos", spec.eos if spec.eos is not None else defaults.get("eos_token"))
    if spec.kind == "gpt2":
        pad = eos
    elif spec.pad is not None:
        pad = _id(encoder, "pad", spec.pad)
    elif spec.eos is not None or "pad_token" not in defaults:
        pad = eos
    else:
        pad = _id(encoder, "pad", defaults["pad_token"])
    if pad is None:
        raise ConfigError("tokenizer declares neither an eos nor a pad token; name one of them")
    return eos, pad


def _declared_tokens(files: Mapping[str, bytes]) -> dict[str, str]:
    """eos and pad tokens of the sibling files; a token is a string or an object with `content`."""
    tokens: dict[str, str] = {}
    for name in (SPECIAL_TOKENS_MAP, TOKENIZER_CONFIG):
        declared = _json_object(name, files[name]) if name in files else {}
        for key in ("eos_token", "pad_token"):
            value = declared.get(key)
            content = value.get("content") if isinstance(value, dict) else value
            if isinstance(content, str):
                tokens[key] = content
    return tokens


def _id(encoder: Encoder, role: str, token: str | int | None) -> int | None:
    """Id of a token; an id is checked against the vocabulary."""
    if token is None:
        return None
    found = encoder.token_to_id(token) if isinstance(token, str) else token
    if found is None or encoder.id_to_token(found) is None:
        size = encoder.get_vocab_size(with_added_tokens=True)
        raise ConfigError(f"{role} token is {token!r}; valid: a token or id of the vocabulary ({size} entries)")
    return int(found)


def encode_texts(
    texts: Iterable[str],
    tokenizer: Tokenizer,
    cleaning: CleaningSettings,
    statistics: Statistics,
    *,
    split_length: int | None = None,
    remove_bos_in_pieces: bool = False,
) -> Iterator[NDArray[np.int32]]:
    """Ids of every text after cleaning, without end-of-text id: one 1-d array per text that is not empty.

    `split_length`: texts are encoded in pieces of about so many characters. `remove_bos_in_pieces`: then a
    tokenizer that adds a begin-of-text id leaves it on the first piece only; no other tokenizer is affected.
    Empty texts are counted as discarded. Texts go to the tokenizer in batches, which have no influence on the
    ids.
    """
    batch: list[list[str]] = []
    characters = 0
    skip = 1 if remove_bos_in_pieces and tokenizer.adds_bos else 0
    for raw in texts:
        text = clean(raw, cleaning)
        statistics.processed_files += 1
        statistics.add_text(raw, text)
        if not text:
            statistics.discard_document("empty_text")
            continue
        batch.append(list(split_text(text, split_length)) if split_length else [text])
        characters += len(text)
        if characters >= BATCH_CHARACTERS:
            yield from _encode_pieces(batch, tokenizer, skip)
            batch, characters = [], 0
    yield from _encode_pieces(batch, tokenizer, skip)


def _encode_pieces(batch: list[list[str]], tokenizer: Tokenizer, skip: int) -> Iterator[NDArray[np.int32]]:
    """Ids per text; `skip` ids are left out at the start of every piece but the first."""
    encoded = iter(tokenizer.encode_batch([piece for pieces in batch for piece in pieces]))
    for pieces in batch:
        first, *others = (next(encoded) for _ in pieces)
        yield np.concatenate([first, *(ids[skip:] for ids in others)]) if others else first
