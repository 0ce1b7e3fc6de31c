"""What datatrove's filters say of texts, in a Python that has datatrove and no more of this project than this file.

Reads a list of texts as JSON; the last line that it writes is an object: for each preset `seconds` of CPU, and
`decisions`: the type that drops each text, and the text that is left if the filter changes it.
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


def main() -> None:
    texts = json.load(sys.stdin)
    found: dict[str, Any] = {}
    for preset, original in filters().items():
        decision(preset, original, "Warm up.")
        started = time.process_time()
        said = decisions(preset, original, texts)
        found[preset] = {"seconds": time.process_time() - started, "decisions": said}
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
