"""Filters of datatrove as taggers with ranges, and as expressions where no tagger says it."""

import json
from typing import Any

from corpus_assets.importer.datatrove.draft import Trove
from corpus_assets.importer.datatrove.values import Block
from corpus_assets.importer.given import Given, Unknown, number, switch, text, whole

QUALITY, LANGUAGE = "quality", "language"
_GOPHER = f"{QUALITY}.gopher_v2"
_C4 = f"{QUALITY}.c4_v2"
_RANGES = {
    "min_doc_words": (50, "word_count", "min"),
    "max_doc_words": (100_000, "word_count", "max"),
    "min_avg_word_length": (3, "median_word_length", "min"),
    "max_avg_word_length": (10, "median_word_length", "max"),
    "max_symbol_word_ratio": (0.1, "symbol_to_word_ratio", "max"),
    "max_bullet_lines_ratio": (0.9, "fraction_of_lines_starting_with_bullet_point", "max"),
    "max_ellipsis_lines_ratio": (0.3, "fraction_of_lines_ending_with_ellipsis", "max"),
    "max_non_alpha_words_ratio": (0.8, "fraction_of_words_with_alpha_character", "min"),
    "min_stop_words": (2, "required_word_count", "min"),
}
"""Parameters of Gopher's rules: default, type of gopher_v2, and whether it is the least or greatest value."""
_REPETITIONS = {
    "dup_line_frac": (0.3, "fraction_of_duplicate_lines"),
    "dup_line_char_frac": (0.2, "fraction_of_characters_in_duplicate_lines"),
}
_NGRAMS = {
    "top_n_grams": (((2, 0.2), (3, 0.18), (4, 0.16)), "fraction_of_characters_in_most_common_{}grams", range(2, 5)),
    "dup_n_grams": (
        ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1)),
        "fraction_of_characters_in_duplicate_{}grams",
        range(5, 11),
    ),
}
_LINES = '([.text | split("\\n")[] | select(test("\\\\S"))]) as $lines'
_CITATIONS = r'[.text | match("\\[\\d*\\]|\\[edit\\]|\\[citation needed\\]"; "g") | [.offset, .offset + .length, 1]]'
_POLICY = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
_SENTENCES = r'1 + ([scan("\\p{STerm}[^\\s\\p{L}\\p{N}]*\\s+\\S")] | length)'
_PARAGRAPHS = r'[.text | gsub("^\\s+|\\s+$"; "") | splits("\n{2,}")] as $parts'
_LENGTHS = "(map(length) | add // 0)"
_WORDS = '[.text | scan("[\\\\p{L}\\\\p{N}]+|[^\\\\s\\\\p{L}\\\\p{N}]")]'


def _limit(given: Given, key: str, default: Any, ours: str) -> Any:
    """Returns a limit, or its default if it is not given; None if it is turned off, or no literal."""
    if key not in given.values:
        return default
    if given.values[key] in (None, 0):
        given.leave(key, "it turns the rule off, so there is none")
        return None
    return given.take(key, ours, number)


def gopher_quality(trove: Trove, block: Block) -> None:
    """Adds the rules of Gopher on words and lines."""
    given = _start(trove, block, "gopher_v2")
    for key, (default, kind, limit) in _RANGES.items():
        ours = f"filter.rules: {_GOPHER}.{kind}.{limit}"
        value = _limit(given, key, default, ours + (" (the median)" if kind.startswith("median") else ""))
        if value is not None:
            trove.rule(f"{_GOPHER}.{kind}", {limit: value})
    given.leave("stop_words", "the eight words of Gopher are those of gopher_v2; write a tagger for others")
    trove.finish(given)


def gopher_repetition(trove: Trove, block: Block) -> None:
    """Adds the rules of Gopher on repetitions."""
    given = _start(trove, block, "gopher_v2")
    for key, (default, kind) in _REPETITIONS.items():
        if (value := _limit(given, key, default, f"filter.rules: {_GOPHER}.{kind}.max")) is not None:
            trove.rule(f"{_GOPHER}.{kind}", {"max": value})
    if (share := _limit(given, "dup_para_frac", 0.3, "filter.exclude")) is not None:
        trove.exclude(f"{_PARAGRAPHS} | ($parts | length) - ($parts | unique | length) > {share} * ($parts | length)")
    if (share := _limit(given, "dup_para_char_frac", 0.2, "filter.exclude")) is not None:
        repeated = f"($parts | {_LENGTHS}) - ($parts | unique | {_LENGTHS})"
        trove.exclude(f"{_PARAGRAPHS} | ({repeated}) > {share} * (.text | length)")
    for key, (pairs, kind, sizes) in _NGRAMS.items():
        for size, value in _pairs(given, key, pairs):
            if size in sizes:
                trove.rule(f"{_GOPHER}.{kind.format(size)}", {"max": value})
            else:
                trove.draft.leave(
                    f"{given.where}{key}: {size}", f"gopher_v2 has {sizes.start} to {sizes.stop - 1} words"
                )
    trove.finish(given)


def _pairs(given: Given, key: str, default: tuple[tuple[int, float], ...]) -> list[tuple[int, float]]:
    def read(value: Any) -> list[tuple[int, float]]:
        if not isinstance(value, list) or not all(isinstance(one, list) and len(one) == 2 for one in value):
            raise ValueError("pairs of a number of words and a share")
        return [(whole(size), number(share)) for size, share in value]

    if key not in given.values:
        return list(default)
    return given.take(key, f"filter.rules: {_GOPHER}", read) or []


def c4_quality(trove: Trove, block: Block) -> None:
    """Adds the rules of C4: ranges that drop documents, replacements that drop lines."""
    given = _start(trove, block, "c4_v2")
    for key, kind in (("filter_lorem_ipsum", "has_lorem_ipsum"), ("filter_curly_bracket", "has_curly_brace")):
        if _is_on(given, key, f"filter.rules: {_C4}.{kind}.max"):
            trove.rule(f"{_C4}.{kind}", {"max": 0})
    ended = f"{_C4}.lines_with_no_ending_punctuation"
    if _is_on(given, "filter_no_terminal_punct", f"filter.span_replacement: {ended}"):
        trove.replace(ended, "")
    if (fewest := _number_of(given, "min_words_per_line", 3)) is not None:
        trove.replace(_lines_with(f'[scan("\\\\S+")] | length < {fewest}'), "", syntax="jq")
    if (longest := _number_of(given, "max_word_length", 1000)) is not None:
        trove.replace(_lines_with(f'[scan("\\\\S+") | length] | max // 0 | . > {longest}'), "", syntax="jq")
    for key, phrases in (("filter_javascript", ("javascript",)), ("filter_policy", _POLICY)):
        if _is_on(given, key, "filter.span_replacement"):
            trove.replace(_lines_with(f"ascii_downcase | test({json.dumps('|'.join(phrases))})"), "", syntax="jq")
    if _is_on(given, "remove_citations", "filter.span_replacement"):
        trove.replace(_CITATIONS, "", syntax="jq")
    if (fewest := _number_of(given, "min_num_sentences", 5)) is not None:
        trove.exclude(f"{_LINES} | ([$lines[] | {_SENTENCES}] | add // 0) < {fewest}")
    given.leave("split_paragraph", "rules look at lines, and a line of one sentence is the same")
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


def _is_on(given: Given, key: str, ours: str) -> bool:
    if key not in given.values:
        return True
    return given.take(key, ours, switch) is True


def fineweb_quality(trove: Trove, block: Block) -> None:
    """Adds the rules of FineWeb as expressions."""
    given = trove.given(block)
    trove.draft.take(given.where.strip(), "filter.exclude")
    trove.exclude(f"{_LINES} | ($lines | length) == 0")
    marks = "\\p{STerm}"
    if given.take("stop_chars", "filter.exclude", _texts) is not None:
        marks = "|".join(map(_escaped, given.values["stop_chars"]))
    if (share := _limit(given, "line_punct_thr", 0.12, "filter.exclude")) is not None:
        zero = "$ended > 0 and " if given.take("line_punct_exclude_zero", "filter.exclude", switch) else ""
        ended = f"([$lines[] | select(test({json.dumps(f'({marks})$', ensure_ascii=False)}))] | length) as $ended"
        trove.exclude(f"{_LINES} | {ended} | {zero}$ended < {share} * ($lines | length)")
    length = _limit(given, "short_line_length", 30, "filter.exclude")
    if (share := _limit(given, "short_line_thr", 0.67, "filter.exclude")) is not None and length is not None:
        short = f"[$lines[] | select(length <= {int(length)})] | length"
        trove.exclude(f"{_LINES} | ({short}) > {share} * ($lines | length)")
    if (share := _limit(given, "char_duplicates_ratio", 0.01, "filter.exclude")) is not None:
        repeated = f"($lines | {_LENGTHS}) - ($lines | unique | {_LENGTHS})"
        trove.exclude(f'{_LINES} | ({repeated}) > {share} * (.text | gsub("\\n"; "") | length)')
    if (share := _limit(given, "new_line_ratio", 0.3, "filter.exclude")) is not None:
        trove.exclude(f'(.text | split("\\n") | length - 1) > {share} * ({_WORDS} | length)')
    trove.finish(given)


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise ValueError("a list of texts")
    return value


def _escaped(mark: str) -> str:
    return "".join(f"\\{character}" if character in ".?*+()[]{}|\\^$" else character for character in mark)


def language(trove: Trove, block: Block) -> None:
    """Adds a tagger of languages, and a range for one language or an expression for several."""
    given = trove.given(block)
    if given.values.get("backend", "ft176") != "ft176":
        given.leave("backend", "GlotLID is no built-in tagger; tagger fasttext_doc with options.model reads it")
        trove.draft.leave(given.where.strip(), "there is no tagger for its model; write a range of `filter.rules`")
        return
    given.take("backend", f"attributes: {LANGUAGE}.ft_lang_id_doc_v1", text)
    trove.tag(LANGUAGE, "ft_lang_id_doc_v1")
    trove.draft.take(given.where.strip(), f"attributes: {LANGUAGE}.ft_lang_id_doc_v1")
    least = _limit(given, "language_threshold", 0.65, "filter, the least probability")
    names = given.values.get("languages")
    if given.take("label_only", "attributes alone", switch) or least is None or isinstance(names, Unknown):
        given.take("languages", "filter", _texts)
        trove.finish(given)
        return
    listed = [names] if isinstance(names, str) else names
    if names is None:
        given.leave("languages", "null keeps all languages of which one is likely enough")
    else:
        given.take("languages", "filter", lambda _: _texts(listed))
    if listed is not None and len(listed) == 1:
        trove.rule(f"{LANGUAGE}.ft_lang_id_doc_v1.{listed[0]}", {"min": least})
    else:
        keys = _of_languages(listed)
        scores = f"[.attributes | to_entries[] | select({keys}) | .value[][2]]"
        trove.exclude(f"({scores} | max // 0) < {least}")
        trove.filter["attributes"] = [LANGUAGE]
    trove.finish(given)


def _of_languages(names: list[str] | None) -> str:
    """Returns the condition in jq that an attribute is one of some languages; of any without names."""
    if names is None:
        return f'.key | startswith("{LANGUAGE}__")'
    keys = json.dumps([f"{LANGUAGE}__ft_lang_id_doc_v1__{name}" for name in names])
    return f".key as $key | {keys} | index($key)"


def regex(trove: Trove, block: Block) -> None:
    """Adds a pattern whose documents are dropped."""
    given = trove.given(block)
    if (pattern := given.take("regex_exp", "filter.exclude", text)) is not None:
        trove.exclude(f".text | test({json.dumps(pattern, ensure_ascii=False)})")
        trove.draft.remind(f"see that {pattern!r} means the same in Oniguruma, which `filter` uses, as in Python")
    trove.finish(given)


def sample(trove: Trove, block: Block) -> None:
    """Takes a share of all rows."""
    given = trove.given(block)
    share = given.take("rate", "sample.share", number) if "rate" in given.values else 0.5
    if share is not None and 0 < share < 1:
        trove.draft.values["sample"] = {"share": share}
        if seed := given.take("seed", "sample.seed", whole):
            trove.draft.values["sample"]["seed"] = seed
    trove.finish(given)


def personal(trove: Trove, block: Block) -> None:
    """Replaces addresses."""
    given = trove.given(block)
    tagger = "pii_regex_with_counts_fast_v2"
    for key, kind, replacement, default in (
        ("remove_emails", "EMAIL_ADDRESS", "email_replacement", "email@example.com"),
        ("remove_ips", "IP_ADDRESS", "ip_replacement", "22.214.171.124"),
    ):
        span = f"personal.{tagger}.{kind}"
        if _is_on(given, key, f"filter.span_replacement: {span}"):
            trove.tag("personal", tagger)
            trove.draft.take(given.where.strip(), "filter.span_replacement")
            trove.replace(span, _first(given, replacement, default))
        given.leave_all({replacement: "what it stands for stays"})
    given.leave("only_remove_public_ips", "every address is replaced")
    trove.finish(given)


def _first(given: Given, key: str, default: str) -> str:
    """Returns the first of several replacements."""

    def read(value: Any) -> str:
        return value if isinstance(value, str) else _texts(value)[0]

    found = given.take(key, "filter.span_replacement, the first of several", read)
    # A dollar sign or braces at the beginning would be an expression.
    return default if found is None else f"${found}" if found.startswith("$") else found


def _start(trove: Trove, block: Block, tagger: str) -> Given:
    given = trove.given(block)
    trove.tag(QUALITY, tagger)
    trove.draft.take(given.where.strip(), f"attributes: {QUALITY}.{tagger}, and filter; with its defaults")
    return given
