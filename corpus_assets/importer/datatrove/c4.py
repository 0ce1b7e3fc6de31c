"""The filter of C4 as the tagger of its preset with another number of sentences, or as replacements of lines."""

import json

from corpus_assets.importer.datatrove.draft import Trove
from corpus_assets.importer.datatrove.filters import LINES, QUALITY, is_on, start
from corpus_assets.importer.datatrove.values import Block, is_value
from corpus_assets.importer.given import Given, whole

_C4 = f"{QUALITY}.c4_v2"
_USUAL = {
    **{"split_paragraph": True, "remove_citations": True, "min_words_per_line": 3, "max_word_length": 1000},
    **{"filter_javascript": True, "filter_policy": True, "filter_lorem_ipsum": True, "filter_curly_bracket": True},
}
"""Parameters of C4's rules as the taggers of its presets have them."""
_CITATIONS = r'[.text | match("\\[\\d*\\]|\\[edit\\]|\\[citation needed\\]"; "g") | [.offset, .offset + .length, 1]]'
_POLICY = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
_SENTENCES = r'1 + ([scan("\\p{STerm}[^\\s\\p{L}\\p{N}]*\\s+\\S")] | length)'


def c4_quality(trove: Trove, block: Block) -> None:
    """Adds the rules of C4: ranges that drop documents, replacements that drop lines."""
    values = trove.given(block).values
    usual = all(is_value(values.get(key, default), default) for key, default in _USUAL.items())
    if usual and not {"c4", "c4_any_ending"} & {*trove.filter.get("presets", ())}:
        _by_preset(trove, block)
        return
    given = start(trove, block, "c4_v2")
    for key, kind in (("filter_lorem_ipsum", "has_lorem_ipsum"), ("filter_curly_bracket", "has_curly_brace")):
        if is_on(given, key, f"filter.rules: {_C4}.{kind}.max"):
            trove.rule(f"{_C4}.{kind}", {"max": 0})
    ended = f"{_C4}.lines_with_no_ending_punctuation"
    if is_on(given, "filter_no_terminal_punct", f"filter.span_replacement: {ended}"):
        trove.replace(ended, "")
    if (fewest := _number_of(given, "min_words_per_line", 3)) is not None:
        trove.replace(_lines_with(f'[scan("\\\\S+")] | length < {fewest}'), "", syntax="jq")
    if (longest := _number_of(given, "max_word_length", 1000)) is not None:
        trove.replace(_lines_with(f'[scan("\\\\S+") | length] | max // 0 | . > {longest}'), "", syntax="jq")
    for key, phrases in (("filter_javascript", ("javascript",)), ("filter_policy", _POLICY)):
        if is_on(given, key, "filter.span_replacement"):
            trove.replace(_lines_with(f"ascii_downcase | test({json.dumps('|'.join(phrases))})"), "", syntax="jq")
    if is_on(given, "remove_citations", "filter.span_replacement"):
        trove.replace(_CITATIONS, "", syntax="jq")
    if (fewest := _number_of(given, "min_num_sentences", 5)) is not None:
        trove.exclude(f"{LINES} | ([$lines[] | {_SENTENCES}] | add // 0) < {fewest}")
    given.leave("split_paragraph", "rules look at lines, and a line of one sentence is the same")
    trove.finish(given)


def _by_preset(trove: Trove, block: Block) -> None:
    """Adds the rules of C4 as the tagger of its preset has them, with another number of sentences."""
    ending = trove.given(block).values.get("filter_no_terminal_punct", True)
    tagger = "c4_lines" if ending else "c4_lines_any_ending"
    given = start(trove, block, tagger)
    is_on(given, "filter_no_terminal_punct", f"attributes: {QUALITY}.{tagger}")
    for key in _USUAL:
        if key in given.values:
            given.take(key, f"attributes: {QUALITY}.{tagger}", lambda value: value)
    for kind in ("lorem_ipsum", "curly_bracket"):
        trove.rule(f"{QUALITY}.{tagger}.{kind}", {"max": 0})
    if (fewest := _number_of(given, "min_num_sentences", 5)) is not None:
        trove.rule(f"{QUALITY}.{tagger}.sentences", {"min": fewest})
    for kind, text_instead in (("removed", ""), ("line_end", "\n")):
        trove.replace(f"{QUALITY}.{tagger}.{kind}", text_instead)
    trove.finish(given)


def _number_of(given: Given, key: str, default: int) -> int | None:
    """Returns a number, by default the default; None if it is -1, which turns the rule off, or no literal."""
    if key not in given.values:
        return default
    if given.values[key] == -1:
        given.leave(key, "it turns the rule off, so there is none")
        return None
    return given.take(key, "filter", whole)


def _lines_with(condition: str) -> str:
    """Returns an expression in jq for the spans of all lines of which a condition is true."""
    step = "{line: $line, start: .end, end: (.end + ($line | length) + 1)}"
    spans = f'[foreach (.text | split("\\n"))[] as $line ({{end: 0}}; {step})]'
    return f'{spans} | map(select(.line != "" and (.line | {condition})) | [.start, .end - 1, 1])'
