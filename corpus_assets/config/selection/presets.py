"""`filter.presets` of `corpus.yaml`: the rules of published corpora, as taggers, ranges and replacements.

A preset is written out when the configuration is read: an entry `presets` of `attributes` with its taggers, and rules
of the filter. A rule that the file gives itself stands in place of the preset's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from corpus_assets.config.selection.fineweb2 import section as fineweb2

PresetName = Literal[
    "gopher", "gopher_quality", "gopher_repetition", "c4", "c4_any_ending", "fineweb", "fineweb2", "dclm"
]
ENTRY: Final = "presets"
Range = Mapping[str, float]


@dataclass(frozen=True)
class Preset:
    """What a preset consists of.

    tagger: gives the types. rules: a range for each type, in the order of the original.
    replaced: types whose spans are replaced, and the new text.
    sees_lines: whether it measures what a preset of lines before it leaves of the text.
    source: what it is equal to, for the documentation.
    """

    tagger: str
    rules: Mapping[str, Range]
    source: str
    replaced: Mapping[str, str] = field(default_factory=dict)
    sees_lines: bool = True


_C4_RULES: Final[Mapping[str, Range]] = {
    "lorem_ipsum": {"max": 0},
    "curly_bracket": {"max": 0},
    "sentences": {"min": 5},
}
_LINES: Final = {"removed": "", "line_end": "\n"}
PRESETS: Final[Mapping[str, Preset]] = {
    "gopher_repetition": Preset(
        "gopher_repetition",
        {
            "characters": {"min": 1},
            "duplicate_paragraphs": {"max": 0.3},
            "characters_in_duplicate_paragraphs": {"max": 0.2},
            "duplicate_lines": {"max": 0.3},
            "characters_in_duplicate_lines": {"max": 0.2},
            "characters_in_top_2grams": {"max": 0.2},
            "characters_in_top_3grams": {"max": 0.18},
            "characters_in_top_4grams": {"max": 0.16},
            "characters_in_duplicate_5grams": {"max": 0.15},
            "characters_in_duplicate_6grams": {"max": 0.14},
            "characters_in_duplicate_7grams": {"max": 0.13},
            "characters_in_duplicate_8grams": {"max": 0.12},
            "characters_in_duplicate_9grams": {"max": 0.11},
            "characters_in_duplicate_10grams": {"max": 0.1},
        },
        "`GopherRepetitionFilter` of datatrove; Rae et al. 2021, table A1",
    ),
    "gopher_quality": Preset(
        "gopher_quality",
        {
            "words": {"min": 50, "max": 100_000},
            "word_length": {"min": 3, "max": 10},
            "hashes_per_word": {"max": 0.1},
            "ellipses_per_word": {"max": 0.1},
            "bullet_lines": {"max": 0.9},
            "ellipsis_lines": {"max": 0.3},
            "words_with_letter": {"min": 0.8},
            "stop_words": {"min": 2},
        },
        "`GopherQualityFilter` of datatrove; Rae et al. 2021, appendix A.1.1",
    ),
    "c4": Preset(
        "c4_lines",
        _C4_RULES,
        "`C4QualityFilter` of datatrove; Raffel et al. 2020, section 2.2",
        _LINES,
        sees_lines=False,
    ),
    "c4_any_ending": Preset(
        "c4_lines_any_ending",
        _C4_RULES,
        "`C4QualityFilter(filter_no_terminal_punct=False)`, as FineWeb uses it",
        _LINES,
        sees_lines=False,
    ),
    "fineweb": Preset(
        "fineweb_quality",
        {
            "lines": {"min": 1},
            "lines_with_final_mark": {"min": 0.12},
            "short_lines": {"max": 0.67},
            "characters_in_duplicate_lines": {"max": 0.01},
            "newlines_per_word": {"max": 0.3},
        },
        "`FineWebQualityFilter` of datatrove; Penedo et al. 2024, section 3.6",
    ),
    "dclm": Preset(
        "dclm_page",
        {
            "words": {"min": 50, "max": 100_000},
            "word_length": {"min": 3, "max": 10},
            "symbols_per_word": {"max": 0.1},
            "bullet_lines": {"max": 0.9},
            "ellipsis_lines": {"max": 0.3},
            "words_without_letter": {"max": 0.2},
            "stop_words": {"min": 2},
            "repeated_lines": {"max": 0.3},
            "repeated_paragraphs": {"max": 0.3},
            "characters_in_repeated_lines": {"max": 0.2},
            "characters_in_repeated_paragraphs": {"max": 0.2},
            "characters_in_top_2grams": {"max": 0.2},
            "characters_in_top_3grams": {"max": 0.18},
            "characters_in_top_4grams": {"max": 0.16},
            "characters_in_repeated_5grams": {"max": 0.15},
            "characters_in_repeated_6grams": {"max": 0.14},
            "characters_in_repeated_7grams": {"max": 0.13},
            "characters_in_repeated_8grams": {"max": 0.12},
            "characters_in_repeated_9grams": {"max": 0.11},
            "characters_in_repeated_10grams": {"max": 0.1},
            "characters_left": {"min": 1},
            "removed_words": {"max": 0.05},
        },
        "the heuristics of DCLM-Baseline behind its filters of addresses and languages; Li et al. 2024",
        {"removed": ""},
        sees_lines=False,
    ),
}
GROUPS: Final[Mapping[str, Sequence[str]]] = {"gopher": ("gopher_repetition", "gopher_quality")}
_AFTER: Final = {"c4": "_after_c4", "c4_any_ending": "_after_c4_any_ending", "dclm": "_after_dclm"}


def written_out(values: dict[str, Any]) -> dict[str, Any]:
    """Returns plain values of a configuration with its presets as taggers, rules and replacements.

    Values that are no presets stay, for the schema to refuse. `ValueError` for presets that exclude each other.
    """
    section = values.get("filter")
    names = section.get("presets") if isinstance(section, Mapping) else None
    known = get_args(PresetName)
    if not isinstance(section, Mapping) or not isinstance(names, list) or any(name not in known for name in names):
        return values
    if fineweb2.NAME in names:
        return _by_language(values, section, names)
    taggers: list[str] = []
    rules: dict[str, Any] = {}
    replaced: list[dict[str, Any]] = []
    for tagger, preset in _chosen(names):
        taggers += [tagger] if tagger not in taggers else []
        rules |= {f"{ENTRY}.{tagger}.{kind}": dict(limits) for kind, limits in preset.rules.items()}
        replaced += [{"span": f"{ENTRY}.{tagger}.{kind}", "replacement": new} for kind, new in preset.replaced.items()]
    given = section.get("rules") or {}
    rules = {**rules, **given} if isinstance(given, Mapping) else given
    pieces = section.get("span_replacement") or []
    if isinstance(pieces, list):
        pieces = [*(one for one in replaced if one not in pieces), *pieces]
    filled = {**section, "rules": rules, "span_replacement": pieces}
    return {**values, "filter": filled, "attributes": _with_entry(values.get("attributes") or [], taggers)}


def is_of_preset(name: str) -> bool:
    """Returns whether a type of attributes is one of a preset: spelt right, though clean texts may have none of it."""
    entry, _, rest = name.partition(".")
    tagger, _, kind = rest.partition(".")
    made = [preset for preset in PRESETS.values() if tagger.removesuffix(_after(tagger)) == preset.tagger]
    return entry == ENTRY and any(kind in preset.rules or kind in preset.replaced for preset in made)


def _after(tagger: str) -> str:
    return next((end for end in sorted(_AFTER.values(), key=len, reverse=True) if tagger.endswith(end)), "")


def _by_language(values: dict[str, Any], section: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Returns the values with the preset `fineweb2` written out."""
    own = section.get(fineweb2.NAME)
    if len(names) > 1:
        raise ValueError("filter.presets: fineweb2 has ranges of its own for what others measure; name it alone")
    if own is None:
        raise ValueError(
            "filter.fineweb2: missing, but the preset needs it: the languages, such as {language: tha_Thai}"
        )
    parts = (section.get(key) or {} for key in ("rules", "languages"))
    if not fineweb2.is_usable(own) or not all(isinstance(part, Mapping) for part in parts):
        return values
    entries = _with_entry(values.get("attributes") or [], fineweb2.TAGGERS, {"words": fineweb2.words_of(own)})
    return {**values, "filter": fineweb2.written_into(section, ENTRY), "attributes": entries}


def _chosen(names: Sequence[str]) -> Iterator[tuple[str, Preset]]:
    """Yields the tagger of each preset, and the preset."""
    lines = None
    for name in (one for given in names for one in GROUPS.get(given, (given,))):
        preset = PRESETS[name]
        if preset.replaced and lines not in (None, name):
            raise ValueError(f"filter.presets: {lines} and {name} both remove lines; name one of them")
        yield f"{preset.tagger}{_AFTER[lines] if lines and preset.sees_lines else ''}", preset
        lines = name if preset.replaced else lines


def _with_entry(entries: Any, taggers: Sequence[str], more: Mapping[str, Any] | None = None) -> Any:
    """Returns the entries of `attributes` with the taggers in the entry of presets, which is first if it is new.

    more: its other keys; those that it has stay.
    """
    if not taggers or not isinstance(entries, list):
        return entries
    place = next((n for n, one in enumerate(entries) if isinstance(one, Mapping) and one.get("name") == ENTRY), None)
    if place is None:
        return [{"name": ENTRY, "taggers": list(taggers), **(more or {})}, *entries]
    given = entries[place].get("taggers")
    held = given if isinstance(given, list) else []
    entry = {**(more or {}), **entries[place], "taggers": [*held, *(name for name in taggers if name not in held)]}
    return [*entries[:place], entry, *entries[place + 1 :]]
