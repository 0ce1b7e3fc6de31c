"""Filters of datatrove as taggers with ranges, and as expressions where no tagger says it."""

import json
from typing import Any

from corpus_assets.importer.datatrove.draft import Trove
from corpus_assets.importer.datatrove.values import Block
from corpus_assets.importer.given import Given, Unknown, number, switch, text, whole

QUALITY, LANGUAGE = "quality", "language"
_WORDS_AND_LINES, _REPEATED, _FINEWEB = (
    f"{QUALITY}.{name}" for name in ("gopher_quality", "gopher_repetition", "fineweb_quality")
)
_RANGES = {
    "min_doc_words": (50, ("words",), "min"),
    "max_doc_words": (100_000, ("words",), "max"),
    "min_avg_word_length": (3, ("word_length",), "min"),
    "max_avg_word_length": (10, ("word_length",), "max"),
    "max_symbol_word_ratio": (0.1, ("hashes_per_word", "ellipses_per_word"), "max"),
    "max_bullet_lines_ratio": (0.9, ("bullet_lines",), "max"),
    "max_ellipsis_lines_ratio": (0.3, ("ellipsis_lines",), "max"),
    "max_non_alpha_words_ratio": (0.8, ("words_with_letter",), "min"),
    "min_stop_words": (2, ("stop_words",), "min"),
}
"""Parameters of Gopher's rules: default, types of the tagger, and whether it is the least or greatest value."""
_REPETITIONS = {
    "dup_para_frac": (0.3, "duplicate_paragraphs"),
    "dup_para_char_frac": (0.2, "characters_in_duplicate_paragraphs"),
    "dup_line_frac": (0.3, "duplicate_lines"),
    "dup_line_char_frac": (0.2, "characters_in_duplicate_lines"),
}
_NGRAMS = {
    "top_n_grams": (((2, 0.2), (3, 0.18), (4, 0.16)), "characters_in_top_{}grams", range(2, 5)),
    "dup_n_grams": (
        ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1)),
        "characters_in_duplicate_{}grams",
        range(5, 11),
    ),
}
LINES = '([.text | split("\\n")[] | select(test("\\\\S"))]) as $lines'
_LENGTHS = "(map(length) | add // 0)"


def _limit(given: Given, key: str, default: Any, ours: str, *, off: tuple[Any, ...] = (None, 0)) -> Any:
    """Returns a limit, or its default if it is not given; None if it is one of `off`, or no literal."""
    if key not in given.values:
        return default
    if given.values[key] in off:
        given.leave(key, "it turns the rule off, so there is none")
        return None
    return given.take(key, ours, number)


def gopher_quality(trove: Trove, block: Block) -> None:
    """Adds the rules of Gopher on words and lines."""
    given = start(trove, block, "gopher_quality")
    for key, (default, kinds, limit) in _RANGES.items():
        value = _limit(given, key, default, f"filter.rules: {_WORDS_AND_LINES}.{kinds[0]}.{limit}")
        for kind in kinds if value is not None else ():
            trove.rule(f"{_WORDS_AND_LINES}.{kind}", {limit: value})
    given.leave("stop_words", "the eight words of Gopher are those of gopher_quality; write a tagger for others")
    trove.finish(given)


def gopher_repetition(trove: Trove, block: Block) -> None:
    """Adds the rules of Gopher on repetitions."""
    given = start(trove, block, "gopher_repetition")
    trove.rule(f"{_REPEATED}.characters", {"min": 1})
    for key, (default, kind) in _REPETITIONS.items():
        if (value := _limit(given, key, default, f"filter.rules: {_REPEATED}.{kind}.max")) is not None:
            trove.rule(f"{_REPEATED}.{kind}", {"max": value})
    for key, (pairs, kind, sizes) in _NGRAMS.items():
        for size, value in _pairs(given, key, pairs):
            if size in sizes:
                trove.rule(f"{_REPEATED}.{kind.format(size)}", {"max": value})
            else:
                said = f"gopher_repetition has {sizes.start} to {sizes.stop - 1} words"
                trove.draft.leave(f"{given.where}{key}: {size}", said)
    trove.finish(given)


def _pairs(given: Given, key: str, default: tuple[tuple[int, float], ...]) -> list[tuple[int, float]]:
    def read(value: Any) -> list[tuple[int, float]]:
        if not isinstance(value, list) or not all(isinstance(one, list) and len(one) == 2 for one in value):
            raise ValueError("pairs of a number of words and a share")
        return [(whole(size), number(share)) for size, share in value]

    if key not in given.values:
        return list(default)
    return given.take(key, f"filter.rules: {_REPEATED}", read) or []


def is_on(given: Given, key: str, ours: str) -> bool:
    """Returns whether a rule is on, as it is if nothing is said. ours: what it becomes."""
    if key not in given.values:
        return True
    return given.take(key, ours, switch) is True


def fineweb_quality(trove: Trove, block: Block) -> None:
    """Adds the rules of FineWeb as expressions."""
    given = trove.given(block)
    trove.draft.take(given.where.strip(), "filter.exclude")
    trove.exclude(f"{LINES} | ($lines | length) == 0")
    marks = "\\p{STerm}"
    if given.take("stop_chars", "filter.exclude", _texts) is not None:
        marks = "|".join(map(_escaped, given.values["stop_chars"]))
    if (share := _limit(given, "line_punct_thr", 0.12, "filter.exclude", off=(None,))) is not None:
        zero = "$ended > 0 and " if given.take("line_punct_exclude_zero", "filter.exclude", switch) else ""
        ended = f"([$lines[] | select(test({json.dumps(f'({marks})$', ensure_ascii=False)}))] | length) as $ended"
        trove.exclude(f"{LINES} | {ended} | {zero}$ended < {share} * ($lines | length)")
    length = _limit(given, "short_line_length", 30, "filter.exclude", off=(None,))
    share = _limit(given, "short_line_thr", 0.67, "filter.exclude", off=(None,))
    if share is not None and length is not None:
        short = f"[$lines[] | select(length <= {int(length)})] | length"
        trove.exclude(f"{LINES} | ({short}) > {share} * ($lines | length)")
    if (share := _limit(given, "char_duplicates_ratio", 0.01, "filter.exclude", off=(None,))) is not None:
        repeated = f"($lines | {_LENGTHS}) - ($lines | unique | {_LENGTHS})"
        trove.exclude(f'{LINES} | ({repeated}) > {share} * (.text | gsub("\\n"; "") | length)')
    ours = f"{_FINEWEB}.newlines_per_word"
    if (share := _limit(given, "new_line_ratio", 0.3, f"filter.rules: {ours}.max", off=(None,))) is not None:
        trove.tag(QUALITY, "fineweb_quality")
        trove.rule(ours, {"max": share})
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
        if is_on(given, key, f"filter.span_replacement: {span}"):
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


def start(trove: Trove, block: Block, tagger: str) -> Given:
    """Adds the tagger of a block; returns the parameters of the block."""
    given = trove.given(block)
    trove.tag(QUALITY, tagger)
    trove.draft.take(given.where.strip(), f"attributes: {QUALITY}.{tagger}, and filter; with its defaults")
    return given
