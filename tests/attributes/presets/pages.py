"""Pages that meet every rule of DCLM's heuristics, and what DCLM said of them.

`python -m tests.attributes.presets.pages FOLDER PYTHON` writes pages.json. FOLDER is a checkout of mlfoundations/dclm,
PYTHON has the libraries of its heuristics (benchmarks/presets.py names them).
"""

import json
import random
import sys
from pathlib import Path

from tests.attributes.presets.texts import texts

KEPT = Path(__file__).with_name("pages.json")
ADDED = (
    "BUY NOW AND SAVE MORE",
    "12345 67890",
    "1,204 likes",
    "  34K Views  ",
    "Home",
    "",
    " ",
    "3 items in cart today",
    "Items In Cart",
    "See the story, read more...",
    "Read Moreabc",
    "Sign-in to comment on this",
    "sign-in",
    "the house at 10.0.0.1:8080/path and 192.168.1.255 is near",
    "visit http://www.example.com/a?b=c or ftp://files.net, then example.museum/x.html or WWW.EXAMPLE.COM",
    "a line of ten words has got just ten items in cart",
    "a line of eleven words has got one word more: items in cart",
    "ÀÉÎ ÕÜ ß ０１２３",
)


def _line(chance: random.Random) -> str:
    words = ["".join(chance.choices(("ba", "ke", "lo", "mi", "nu", "tri"), k=chance.randint(2, 4))) for _ in range(9)]
    return f"The {' '.join(words)} of {words[0][::-1]}."


def pages() -> list[str]:
    """Returns the texts of `texts`, and pages with lines that are removed, cut, or decide."""
    chance = random.Random(1)
    lines_of = [_line(chance) for _ in range(12)]
    page = "\n".join(lines_of)
    found = [*texts(), "\n\n\n".join(lines_of), f"To {page}", f"Zz {page}", f"com\n{page}", f"{page}\n" * 2]
    for number in range(60):
        lines = [*lines_of, *chance.sample(ADDED, 1 + number % 9)]
        chance.shuffle(lines)
        begin = ("In short", "42", "Zz", "")[number % 4]
        found.append("\n".join([begin, *lines, *(["", "", ""] if number % 3 == 0 else [])]))
    for added in ADDED:
        found += [f"{added}\n{page}", f"{page}\n{added}", f"{page}\n\n\n\n{added}\n\n{_line(chance).upper()}"]
    found += [f"Info {page} {added}" for added in ADDED]
    found += [page.upper(), f"{page}\n{page[:90].upper()}", "\n".join(page.split())]
    return found


def main() -> None:
    """Writes the file."""
    from benchmarks.presets import said

    folder, python = sys.argv[1:]
    kept = said("dclm_heuristics.py", pages(), Path(python), folder)["decisions"]
    KEPT.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
