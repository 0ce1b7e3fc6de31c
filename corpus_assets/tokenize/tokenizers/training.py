"""Training of a byte-level BPE tokenizer (Sennrich et al. 2016; byte alphabet of Radford et al. 2019)."""

from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from resources.errors import ConfigError

END_OF_TEXT = "<|endoftext|>"
PADDING = "<|padding|>"
BYTE_ALPHABET = 256
_WORDS = pre_tokenizers.ByteLevel(add_prefix_space=False)


def special_tokens(more: Sequence[str]) -> tuple[str, ...]:
    """Returns the control tokens of a trained tokenizer. more: `tokenizer.special_tokens`."""
    return (END_OF_TEXT, PADDING, *more)


def may_be_learned(token: str) -> bool:
    """Returns whether training may put a token into the vocabulary: it is merged of bytes of one word.

    token: as the vocabulary spells it, a byte as a letter of the alphabet.
    """
    if not set(token) <= set(pre_tokenizers.ByteLevel.alphabet()):
        return False
    text = decoders.ByteLevel().decode([token])
    # A token may hold a part of a character, whose bytes alone are no text.
    return "\N{REPLACEMENT CHARACTER}" in text or len(_WORDS.pre_tokenize_str(text)) == 1


def train_bpe(
    texts: Iterable[str],
    vocab_size: int,
    *,
    min_frequency: int = 2,
    special_tokens: tuple[str, ...] = (END_OF_TEXT, PADDING),
) -> bytes:
    """Train a tokenizer and return its `tokenizer.json`, loadable with kind `neox`.

    The special tokens take ids 0, 1, ...; then come the 256 bytes, so any text can be encoded, then the
    merges. The vocabulary is smaller than asked when the texts run out of pairs seen `min_frequency` times.
    The same texts in the same order give the same bytes for any number of threads. Memory grows with the
    number of distinct words.

    Raises ConfigError when `vocab_size` cannot hold the special tokens and the byte alphabet, or for repeated
    special tokens.
    """
    smallest = len(special_tokens) + BYTE_ALPHABET
    if vocab_size < smallest:
        raise ConfigError(f"vocab_size is {vocab_size}; valid: at least {smallest} (special tokens and bytes)")
    if len(set(special_tokens)) != len(special_tokens):
        raise ConfigError(f"special tokens repeat: {special_tokens}")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _WORDS
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=list(special_tokens),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer.to_str().encode()
