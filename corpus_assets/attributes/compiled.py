"""The kernels that the taggers call; a build compiles exactly these ahead."""

from collections.abc import Iterable

KERNELS = "corpus_assets.attributes.kernels"
_WORDS = ("units.split_words",)
_PARAGRAPHS = ("units.split_paragraphs",)
_SPANS = ("encoding.encode_spans",)
_C4 = ("c4.measure_lines",)
_GOPHER = ("gopher.measure_text",)
_SEGMENTS = ("units.strip_parts", "word_breaks.boundaries.count_segments")
_SIGNS = ("personal.signs.find_signs",)
_LAYOUT = ("layout.lines.measure_layout",)
_GRAMS = ("layout.grams.measure_grams",)
_LIST = ("layout.grams.measure_list",)
_OF_WORDS = {"gopher_quality": (*_LAYOUT, *_LIST), "gopher_repetition": (*_LAYOUT, *_GRAMS), "fineweb_quality": _LAYOUT}
_FOUND = ("pii.find_addresses", "pii.find_phones", "pii.find_emails")
_BY_PARAGRAPH = (
    *("cld2_paragraph_v2", "cld2_en_paragraph_v2", "cld2_en_paragraph_with_doc_score_v2"),
    *("cld3_en_paragraph_v2", "cld3_en_paragraph_with_doc_score_v2"),
    *("langdetect_paragraph_v1", "langdetect_en_paragraph_v1", "lingua_par_v1", "lingua_en_par_v1"),
    *("ft_lang_id_paragraph_v1", "ft_lang_id_en_paragraph_v2", "ft_lang_id_en_paragraph_with_doc_score_v2"),
    *("fasttext_paragraph", "paragraph_tokenizer_repetitions_v1"),
)
CALLED = {
    **dict.fromkeys(_BY_PARAGRAPH, _PARAGRAPHS),
    **{
        f"{name}{after}": kernels
        for name, kernels in _OF_WORDS.items()
        for after in ("", "_after_c4", "_after_c4_any_ending", "_after_dclm")
    },
    "c4_v1": _C4,
    "c4_v2": _C4,
    "char_length_with_paragraphs_v1": (*_PARAGRAPHS, *_SPANS),
    "code_redpajama_taggers_v1": ("pieces.count_pieces",),
    "dclm_page": ("word_breaks.boundaries.find_words",),
    "gopher_v1": _GOPHER,
    "gopher_v2": _GOPHER,
    "not_alphanum_paragraph_v1": (*_PARAGRAPHS, "punctuation.are_punctuation", *_SPANS),
    "olmo_pretokenizer_v1": ("olmo.count_olmo_pieces",),
    "olmo_pretokenizer_with_paragraphs_v1": (*_PARAGRAPHS, "olmo.count_olmo_pieces", *_SPANS),
    "paragraph_repetitions_v1": (*_PARAGRAPHS, "repetitions.find.find_repetitions", *_SPANS),
    "pii_regex_v1": (*_WORDS, *_SIGNS),
    "pii_regex_v2": (*_WORDS, *_SIGNS),
    "pii_regex_with_counts_v2": (*_WORDS, *_SIGNS),
    "pii_regex_with_counts_fast_v2": _SIGNS,
    "repetitions_v1": ("repetitions.find.find_repetitions", *_SPANS),
    "uniseg_length_paragraphs_v1": (*_PARAGRAPHS, *_SEGMENTS, *_SPANS),
    "uniseg_length_paragraphs_with_doc_length_v1": (*_PARAGRAPHS, *_SEGMENTS, *_SPANS),
    "uniseg_length_paragraphs_with_empty_v1": (*_PARAGRAPHS, *_SEGMENTS, *_SPANS),
    "uniseg_length_v1": _SEGMENTS,
    "whitespace_tokenizer_v1": ("pieces.count_pieces",),
    "whitespace_tokenizer_with_paragraphs_v1": (*_PARAGRAPHS, "pieces.count_pieces", *_SPANS),
}
"""Kernels of each built-in tagger that calls any."""

CALLED_OF_DOLMA = {
    "pii_regex_v1": (*_WORDS, *_FOUND),
    "pii_regex_v2": (*_WORDS, *_FOUND),
    "pii_regex_with_counts_fast_v2": _FOUND,
    "pii_regex_with_counts_v2": (*_WORDS, *_FOUND),
}
"""The same with `compat: dolma`, where it differs."""


def of_taggers(names: Iterable[str], compat: str | None = None) -> tuple[str, ...]:
    """Returns the kernels that these taggers call with a `compat`."""
    called = {**CALLED, **CALLED_OF_DOLMA} if compat == "dolma" else CALLED
    return tuple(f"{KERNELS}.{kernel}" for name in names for kernel in called.get(name, ()))
