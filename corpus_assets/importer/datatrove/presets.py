"""Filters of datatrove with their default limits as `filter.presets`, which decide as they do."""

from collections.abc import Mapping
from typing import Any, Final

from corpus_assets.importer.datatrove.draft import Trove
from corpus_assets.importer.datatrove.values import Block, is_value

_PRESETS: Final = {
    "GopherQualityFilter": "gopher_quality",
    "GopherRepetitionFilter": "gopher_repetition",
    "C4QualityFilter": "c4",
    "FineWebQualityFilter": "fineweb",
}
_ANY_ENDING: Final = "filter_no_terminal_punct"
_WITHOUT_EFFECT: Final = "exclusion_writer"
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "GopherQualityFilter": {
        **{"min_doc_words": 50, "max_doc_words": 100_000, "min_avg_word_length": 3, "max_avg_word_length": 10},
        **{"max_symbol_word_ratio": 0.1, "max_bullet_lines_ratio": 0.9, "max_ellipsis_lines_ratio": 0.3},
        **{"max_non_alpha_words_ratio": 0.8, "min_stop_words": 2, "stop_words": None},
    },
    "GopherRepetitionFilter": {
        **{"dup_line_frac": 0.3, "dup_para_frac": 0.3, "dup_line_char_frac": 0.2, "dup_para_char_frac": 0.2},
        "top_n_grams": [[2, 0.2], [3, 0.18], [4, 0.16]],
        "dup_n_grams": [[5, 0.15], [6, 0.14], [7, 0.13], [8, 0.12], [9, 0.11], [10, 0.1]],
    },
    "C4QualityFilter": {
        **{"split_paragraph": True, "remove_citations": True, _ANY_ENDING: True, "min_num_sentences": 5},
        **{"min_words_per_line": 3, "max_word_length": 1000, "filter_lorem_ipsum": True, "filter_javascript": True},
        **{"filter_curly_bracket": True, "filter_policy": True},
    },
    "FineWebQualityFilter": {
        **{"line_punct_thr": 0.12, "line_punct_exclude_zero": False, "stop_chars": None, "short_line_thr": 0.67},
        **{"short_line_length": 30, "char_duplicates_ratio": 0.01, "new_line_ratio": 0.3},
    },
}


def preset(trove: Trove, block: Block) -> bool:
    """Adds the preset that a block is equal to; returns whether there is one: whether its values are the defaults."""
    if block.name not in _PRESETS:
        return False
    given, name = trove.given(block), _PRESETS[block.name]
    others = {key: value for key, value in given.values.items() if key != _WITHOUT_EFFECT}
    if block.name == "C4QualityFilter" and others.get(_ANY_ENDING) is False:
        del others[_ANY_ENDING]
        name = "c4_any_ending"
    defaults = _DEFAULTS[block.name]
    if any(key not in defaults or not is_value(value, defaults[key]) for key, value in others.items()):
        return False
    known: list[str] = trove.filter.get("presets", [])
    if {name, *known} >= {"c4", "c4_any_ending"}:  # They exclude each other.
        return False
    trove.filter["presets"] = known if name in known else [*known, name]
    ours = f"filter.presets: {name}"
    trove.draft.take(given.where.strip(), ours)
    for key in given.values:
        if key != _WITHOUT_EFFECT:
            given.take(key, ours, lambda value: value)
    trove.finish(given)
    return True
