"""The filters of FineWeb-2, whose limits a script reads from a file for each language, as `filter.fineweb2`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from corpus_assets.config.selection.fineweb2.section import NAME, shipped
from corpus_assets.importer.datatrove.draft import Trove
from corpus_assets.importer.datatrove.values import Block
from corpus_assets.importer.given import Unknown

_FIXED: Final[Mapping[str, Mapping[str, float]]] = {
    "GopherRepetitionFilter": {"dup_para_frac": 0, "dup_line_char_frac": 0, "dup_para_char_frac": 0},
    "FineWebQualityFilter": {"short_line_thr": 999, "char_duplicates_ratio": 0.1},
    "GopherQualityFilter": {"min_stop_words": 2},
}
_READ: Final[Mapping[str, Mapping[str, str]]] = {
    "GopherRepetitionFilter": {key: key for key in ("dup_line_frac", "top_n_grams", "dup_n_grams")},
    "FineWebQualityFilter": {key: key for key in ("line_punct_thr", "new_line_ratio")},
    "GopherQualityFilter": {
        **{key: key for key in ("max_avg_word_length", "min_avg_word_length", "max_non_alpha_words_ratio")},
        "stop_words": "stopwords",
    },
}
"""Parameters, and the keys of a language's file that they are read from."""


def language_of(trove: Trove, blocks: Iterable[Block]) -> str | None:
    """Returns the language of a script that filters as FineWeb-2 does; None if it does not.

    All three filters must be there, with limits that are read by their keys in FineWeb-2. Of several languages in a
    loop it is the first whose limits are known here.
    """
    found = {block.name: block for block in blocks if _is_one(trove, block)}
    if found.keys() != _READ.keys():
        return None
    languages = [_languages(trove.given(block).values.get("language")) for block in found.values()]
    return next((one for one in languages[0] if one in shipped() and all(one in known for known in languages)), None)


def _is_one(trove: Trove, block: Block) -> bool:
    values, wanted = trove.given(block).values, _READ.get(block.name)
    if wanted is None or values.keys() - {"language", "exclusion_writer"} != {*wanted, *_FIXED[block.name]}:
        return False
    fixed = all(values[key] == value for key, value in _FIXED[block.name].items())
    return fixed and all(_reads(values[parameter], key) for parameter, key in wanted.items())


def _reads(value: Any, key: str) -> bool:
    return isinstance(value, Unknown) and re.fullmatch(rf"\w+\['{key}'\]", value.said) is not None


def _languages(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value.choices if isinstance(value, Unknown) else ()


def take(trove: Trove, block: Block) -> bool:
    """Takes one of the filters over by the preset; returns whether it is one of them."""
    language = trove.fineweb2
    if language is None or not _is_one(trove, block):
        return False
    given, ours = trove.given(block), f"filter.presets: {NAME}"
    known = trove.filter.setdefault("presets", [])
    if NAME not in known:
        known.append(NAME)
        trove.filter[NAME] = {"language": language}
        trove.draft.remind("pip install 'corpus-assets[splitters]'")
    trove.draft.take(given.where.strip(), ours)
    for key, value in given.values.items():
        if key == "language":
            others = [one for one in _languages(value) if one != language]
            trove.draft.take(f"{given.where}{key}", f"filter.{NAME}.language")
            if others:
                trove.draft.remind(
                    f"filter.{NAME}.language is {language}, the first of the script; `by` and `languages` filter "
                    f"documents in several (corpus docs presets): {', '.join(others)}"
                )
            given.named.add(key)
        elif key != "exclusion_writer":
            trove.draft.take(f"{given.where}{key}", ours)
            given.named.add(key)
    trove.finish(given)
    return True
