"""`filter.fineweb2` of `corpus.yaml`: the limits and stop words of each language with which FineWeb-2 was filtered.

The preset `fineweb2` is written out as the others are: taggers, whose words are those of each language, and ranges: in
`filter.languages` by the label of a document, or in `filter.rules` if all documents are in one language. Source:
github.com/huggingface/fineweb-2, fineweb-2-pipeline.py, step 5; Penedo et al. 2025.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationError, model_validator

from corpus_assets.config.naming import ATTRIBUTE, FILE
from corpus_assets.config.section import LocalPath, Section
from corpus_assets.config.selection.attributes import label_key

NAME: Final = "fineweb2"
TAGGERS: Final = ("gopher_repetition", "fineweb_quality", "gopher_quality")
Ranges = dict[str, dict[str, float]]
Gram = Annotated[list[float], Field(min_length=2, max_length=2)]
_TOP, _DUPLICATE = range(2, 5), range(5, 11)


class LanguageLimits(Section):
    """The configuration of a language, with the keys that FineWeb-2 has."""

    dup_line_frac: float = Field(description="greatest share of repeated lines; 0 for any")
    top_n_grams: list[Gram] = Field(description="n, and the greatest share of characters in the most frequent n-gram")
    dup_n_grams: list[Gram] = Field(description="n, and the greatest share of characters in repeated n-grams")
    language_score: float = Field(description="least score of the label")
    line_punct_thr: float = Field(description="least share of lines that end with a final mark")
    new_line_ratio: float = Field(description="most newlines per word")
    min_avg_word_length: float = Field(description="least mean length of words")
    max_avg_word_length: float = Field(description="greatest mean length of words; 0 for any")
    max_non_alpha_words_ratio: float = Field(description="least share of words with a letter")
    stopwords: list[str] = Field(description="words of which two must occur")

    @model_validator(mode="after")
    def _known_sizes(self) -> "LanguageLimits":
        for key, known in (("top_n_grams", _TOP), ("dup_n_grams", _DUPLICATE)):
            if [n for n, _ in getattr(self, key)] != list(known):
                raise ValueError(f"{key}: valid are n of {known[0]} to {known[-1]}, each once and in order")
        return self


class FineWeb2(Section):
    """The languages of the preset `fineweb2` (docs/presets.md)."""

    language: str | None = Field(None, min_length=1, description="the language of all documents, such as `tha_Thai`")
    by: Annotated[str | None, AfterValidator(lambda value: value and label_key(value)), ATTRIBUTE] = Field(
        None, description="`ENTRY.TAGGER` whose label is the language of a document, such as `lang.language`"
    )
    languages: list[str] = Field(default=[], description="with `by`: the languages that stay")
    configs: Annotated[LocalPath | None, FILE] = Field(
        None, description="a folder with LABEL.yml of FineWeb-2 for each of them; by default those of this package"
    )
    limits: dict[str, LanguageLimits] = Field(
        default={}, description="the same in place, by language; they stand in place of other ones"
    )

    @model_validator(mode="after")
    def _fits(self) -> "FineWeb2":
        if (self.language is None) == (self.by is None) or (self.by is None) != (not self.languages):
            raise ValueError("give language, for one of all documents, or by and languages")
        return self


@cache
def shipped() -> Mapping[str, Mapping[str, Any]]:
    """Returns the configurations of languages that come with the package, by label."""
    table = files("corpus_assets.config.selection.fineweb2") / "languages.txt"
    rows = (json.loads(line) for line in table.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return {row.pop("label"): row for row in rows}


def languages_of(section: Mapping[str, Any]) -> list[str]:
    """Returns the labels of the languages of a section."""
    return [section["language"]] if section.get("language") else list(section.get("languages") or ())


def ranges_of(limits: Mapping[str, Any], entry: str) -> Ranges:
    """Returns the ranges of a language by the keys that rules have, in the order in which FineWeb-2 applies them."""
    repetition, lines, words = (f"{entry}.{tagger}." for tagger in TAGGERS)
    longest = limits["max_avg_word_length"]
    return {
        f"{repetition}characters": {"min": 1},
        f"{repetition}duplicate_lines": {"max": limits["dup_line_frac"] or 1},
        **{f"{repetition}characters_in_top_{n:g}grams": {"max": most} for n, most in limits["top_n_grams"]},
        **{f"{repetition}characters_in_duplicate_{n:g}grams": {"max": most} for n, most in limits["dup_n_grams"]},
        f"{lines}lines": {"min": 1},
        f"{lines}lines_with_final_mark": {"min": limits["line_punct_thr"]},
        f"{lines}characters_in_duplicate_lines": {"max": 0.1},
        f"{lines}newlines_per_word": {"max": limits["new_line_ratio"]},
        f"{words}words": {"min": 50, "max": 100_000},
        f"{words}word_length": {"min": limits["min_avg_word_length"], **({"max": longest} if longest else {})},
        f"{words}hashes_per_word": {"max": 0.1},
        f"{words}ellipses_per_word": {"max": 0.1},
        f"{words}bullet_lines": {"max": 0.9},
        f"{words}ellipsis_lines": {"max": 0.3},
        f"{words}words_with_letter": {"min": limits["max_non_alpha_words_ratio"]},
        f"{words}stop_words": {"min": 2},
    }


def limits_of(section: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Returns the limits of each language; `ValueError` names one of which there are none."""
    given = section.get("limits") or {}
    found = {}
    for label in languages_of(section):
        limits = given.get(label) or shipped().get(label)
        if limits is None:
            raise ValueError(
                f"filter.fineweb2: no limits of {label!r} come with the package; `configs` names a folder with "
                f"{label}.yml of FineWeb-2, or `limits` gives them"
            )
        found[label] = limits
    return found


def is_usable(section: Any) -> bool:
    """Whether plain values are a section that can be written out; others are for the schema to refuse."""
    try:
        FineWeb2.model_validate(section)
    except ValidationError:
        return False
    return True


def written_into(section: Mapping[str, Any], entry: str) -> dict[str, Any]:
    """Returns `filter` with the ranges of each language, of which those that it has itself stay.

    section: `filter`, with a usable `fineweb2`. entry: of the taggers. `ValueError` if `filter.languages` goes by
    another label.
    """
    own = section[NAME]
    limits = limits_of(own)
    if own.get("language"):
        (ranges,) = (ranges_of(one, entry) for one in limits.values())
        return {**section, "rules": {**ranges, **(section.get("rules") or {})}}
    languages = section.get("languages") or {}
    if languages.get("by", own["by"]) != own["by"]:
        raise ValueError(f"filter.languages.by: received {languages['by']!r}, but filter.fineweb2.by is {own['by']!r}")
    theirs = languages.get("thresholds") or {}
    scores = {
        label: {"score": {"min": one["language_score"]}, **ranges_of(one, entry)} for label, one in limits.items()
    }
    merged = {label: {**scores.get(label, {}), **theirs.get(label, {})} for label in [*scores, *theirs]}
    return {**section, "languages": {**languages, "by": own["by"], "thresholds": merged}}


def words_of(section: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `words` of the entry of the taggers."""
    chosen = {"language": section["language"]} if section.get("language") else {"by": section["by"]}
    return {**chosen, "stop_words": {label: one["stopwords"] for label, one in limits_of(section).items()}}
