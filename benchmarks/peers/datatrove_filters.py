"""What datatrove's filters say of texts, in a Python that has datatrove and no more of this project than this file.

Reads a list of texts as JSON; the last line that it writes is an object: for each preset `seconds` of CPU, and
`decisions`: the type that drops each text, and the text that is left if the filter changes it. Or reads an object with
`limits` of FineWeb-2 and `texts` by language; then the same by language,
where a decision is the tagger and the type, and `words` are those of the first text.
"""

import json
import sys
import time
from typing import Any

TYPES = {
    "gopher_short_doc": "words",
    "gopher_long_doc": "words",
    "gopher_below_avg_threshold": "word_length",
    "gopher_above_avg_threshold": "word_length",
    "gopher_too_many_hashes": "hashes_per_word",
    "gopher_too_many_ellipsis": "ellipses_per_word",
    "gopher_too_many_bullets": "bullet_lines",
    "gopher_too_many_end_ellipsis": "ellipsis_lines",
    "gopher_below_alpha_threshold": "words_with_letter",
    "gopher_enough_stop_words": "stop_words",
    "dup_para_frac": "duplicate_paragraphs",
    "dup_para_char_frac": "characters_in_duplicate_paragraphs",
    "dup_line_frac": "duplicate_lines",
    "dup_line_char_frac": "characters_in_duplicate_lines",
    **{f"top_{n}_gram": f"characters_in_top_{n}grams" for n in range(2, 5)},
    **{f"duplicated_{n}_n_grams": f"characters_in_duplicate_{n}grams" for n in range(5, 11)},
    "line_punct_ratio": "lines_with_final_mark",
    "short_line_ratio": "short_lines",
    "char_dup_ratio": "characters_in_duplicate_lines",
    "list_ratio": "newlines_per_word",
    "lorem_ipsum": "lorem_ipsum",
    "curly_bracket": "curly_bracket",
    "too_few_sentences": "sentences",
}
"""Our type for each reason of datatrove."""
EMPTY = {"gopher_repetition": "characters", "fineweb": "lines"}
"""Our type for its reason `empty`."""
FAILED = "a division by zero"


def filters() -> dict[str, Any]:
    """Returns datatrove's filter for each preset."""
    from datatrove.pipeline.filters import (
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
        GopherRepetitionFilter,
    )

    return {
        "gopher_repetition": GopherRepetitionFilter(),
        "gopher_quality": GopherQualityFilter(),
        "c4": C4QualityFilter(),
        "c4_any_ending": C4QualityFilter(filter_no_terminal_punct=False),
        "fineweb": FineWebQualityFilter(),
    }


def decision(preset: str, original: Any, text: str) -> tuple[str | None, str]:
    """Returns the type that drops a text, None if it stays, and the text as the filter leaves it."""
    from datatrove.data import Document

    document = Document(text=text, id="a")
    found = original.filter(document)
    reason = found[1] if isinstance(found, tuple) else None
    return (EMPTY[preset] if reason == "empty" else TYPES[reason]) if reason else None, document.text


def decisions(preset: str, original: Any, texts: list[str]) -> list[list[str | None]]:
    """Returns for each text the type that drops it, and what is left of one that stays changed."""
    found = []
    for text in texts:
        try:
            dropped, left = decision(preset, original, text)
        except ZeroDivisionError:
            dropped, left = FAILED, text
        found.append([dropped, *([left] if left != text and dropped is None else [])])
    return found


def fineweb2(label: str, limits: dict[str, Any]) -> list[tuple[str, Any]]:
    """Returns the filters of FineWeb-2 for a language, as fineweb-2-pipeline.py has them, with our tagger for each."""
    from datatrove.pipeline.filters import FineWebQualityFilter, GopherQualityFilter, GopherRepetitionFilter

    repetition = GopherRepetitionFilter(
        language=label,
        dup_para_frac=0,
        dup_line_char_frac=0,
        dup_para_char_frac=0,
        dup_line_frac=limits["dup_line_frac"],
        top_n_grams=limits["top_n_grams"],
        dup_n_grams=limits["dup_n_grams"],
    )
    lines = FineWebQualityFilter(
        language=label,
        short_line_thr=999,
        char_duplicates_ratio=0.1,
        line_punct_thr=limits["line_punct_thr"],
        new_line_ratio=limits["new_line_ratio"],
    )
    words = GopherQualityFilter(
        language=label,
        max_avg_word_length=limits["max_avg_word_length"],
        min_avg_word_length=limits["min_avg_word_length"],
        stop_words=limits["stopwords"],
        max_non_alpha_words_ratio=limits["max_non_alpha_words_ratio"],
        min_stop_words=2,
    )
    return [("gopher_repetition", repetition), ("fineweb_quality", lines), ("gopher_quality", words)]


def in_turn(steps: list[tuple[str, Any]], text: str) -> str | None:
    """Returns `TAGGER.TYPE` that drops a text, None if it stays."""
    for tagger, original in steps:
        try:
            dropped, _ = decision(tagger.removesuffix("_quality") if "fineweb" in tagger else tagger, original, text)
        except ZeroDivisionError:
            dropped = FAILED
        if dropped:
            return f"{tagger}.{dropped}"
    return None


def of_languages(given: dict[str, Any]) -> dict[str, Any]:
    """Returns seconds, decisions, and the words of the first text by language."""
    from datatrove.utils.word_tokenizers import load_word_tokenizer

    found = {}
    for label, texts in given["texts"].items():
        steps = fineweb2(label, given["limits"][label])
        in_turn(steps, texts[0])
        started = time.process_time()
        said = [in_turn(steps, text) for text in texts]
        seconds, words = time.process_time() - started, load_word_tokenizer(label).word_tokenize(texts[0])
        found[label] = {"seconds": seconds, "decisions": said, "words": words}
    return found


def main() -> None:
    texts = json.load(sys.stdin)
    if isinstance(texts, dict):
        print("\n" + json.dumps(of_languages(texts)))
        return
    found: dict[str, Any] = {}
    for preset, original in filters().items():
        decision(preset, original, "Warm up.")
        started = time.process_time()
        said = decisions(preset, original, texts)
        found[preset] = {"seconds": time.process_time() - started, "decisions": said}
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
