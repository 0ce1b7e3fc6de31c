"""Writes made-up pages of a web crawl, and some with a score from 0 to 5: `python make_data.py`."""

import json
import random
from pathlib import Path

SUBJECTS = ["water", "iron", "bread", "the tide", "a lens", "the wind", "a bridge", "salt", "yeast", "the moon", "wood"]
CAUSES = ["heat", "pressure", "light", "time", "friction", "gravity", "moisture", "air", "weight", "cold", "movement"]
EXPLAINED = [
    "The reason is that {cause} changes {subject} step by step, so the effect grows with it.",
    "To see why, compare {subject} with {other}: both react to {cause}, but not at the same rate.",
    "For example, after {number} minutes {subject} has taken up most of what {cause} can give.",
    "This means that {subject} depends on {cause}, and that {other} does not.",
    "First {cause} acts on the surface of {subject}; then the inside follows, which takes about {number} minutes.",
    "If you double the {cause}, {subject} changes less than twice as much, because part of it is lost.",
    "In short, {subject} is shaped by {cause}: measure it before and after, and you will find the difference.",
    "Scientists explained it in {number} experiments, in which {other} and {subject} were weighed.",
    "A common mistake is to think that {other} causes it; in fact {cause} does, as the measurements show.",
]
NOISE = [
    "Buy {subject} online now and save {number} % today only!!!",
    "Click here to subscribe to our newsletter about {subject} and {other}.",
    "Home | Shop | {subject} | Contact | Login | Cart ({number})",
    "We use cookies to show you offers for {other}. Accept all cookies?",
    "Free shipping on {subject} over {number} dollars. Limited stock, order now.",
    "Best {subject} deals of the week: top {number} picks, share this page with friends.",
    "Posted by admin in {other}. {number} comments. Read more. Next page. Previous page.",
    "Sign up for {number} free {subject} coupons and win {other}!",
    "Copyright. All rights reserved. Terms, privacy, imprint, sitemap, {subject}.",
]


def text(chance: random.Random, sentences: list[str]) -> str:
    """Nine sentences in any order, about anything."""
    chosen = chance.choices(sentences, k=9)
    filled = (
        one.format(
            subject=chance.choice(SUBJECTS),
            other=chance.choice(SUBJECTS),
            cause=chance.choice(CAUSES),
            number=chance.randrange(2, 100),
        )
        for one in chosen
    )
    return " ".join(filled)


def write(file: Path, rows: list[dict[str, object]]) -> None:
    """Writes a file of JSON lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{file}: {len(rows)} rows")


def main() -> None:
    """One page in three explains something; of the scored ones every second does."""
    for crawl in range(2):
        chance = random.Random(crawl)
        rows: list[dict[str, object]] = []
        for number in range(150):
            explains = number % 3 == 0
            kind = "explains" if explains else "sells"
            page = text(chance, EXPLAINED if explains else NOISE)
            rows.append({"id": f"{kind}-{crawl}-{number}", "text": page})
        write(Path(f"raw/web/crawl-{crawl}.jsonl"), rows)
    chance = random.Random("scored")
    scored: list[dict[str, object]] = []
    for number in range(400):
        explains = number % 2 == 0
        page = text(chance, EXPLAINED if explains else NOISE)
        # A model is not always right: of ten scores one is of the other kind.
        high = explains != (number % 20 in (6, 13))
        scored.append({"text": page, "score": chance.randrange(3, 6) if high else chance.randrange(3)})
    write(Path("scored.jsonl"), scored)


if __name__ == "__main__":
    main()
