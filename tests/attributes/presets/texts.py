"""Texts that meet every rule of the presets, some of them at its limit."""

from tests.build.small import prose

SENTENCE = "The quick brown fox has to be with the dog that jumps over the river and the hill."
LINES = [f"{SENTENCE[:-1]} {number} times." for number in range(12)]
PAGE = "\n".join(LINES)
ODD = "It was said (and \"quoted\"), e.g. by Mr. Smith's 3.5km... don't you think? Yes! 'No'.\t«Fin»… 100%"


def texts() -> list[str]:
    """Returns the texts, in a fixed order."""
    repeated = [f"{SENTENCE}\n" * times + PAGE for times in range(1, 9)]
    lists = [f"{PAGE}\n" + "\n".join(f"{sign} item {number}" for number in range(30)) for sign in "-*•#"]
    marked = [
        " ".join(PAGE.split() + [sign] * times) for sign in ("#", "...", "…", "1234", "—") for times in (10, 40, 90)
    ]
    lines = [
        "Please accept our cookie policy before you read all of this page.",
        "You need JavaScript to see this page in its full beauty, dear reader.",
        "A short one.",
        "No end of this line with many words in it",
        "An end with dots of this line with many words in it...",
        "The history of the town [1] was told [12] by many people [edit]. [citation needed]",
        f"A long word {'x' * 1001} stands in this line of text.",
        'What is it? It is a line! With four sentences. And "one quoted."',
    ]
    pages = [PAGE.replace(LINES[4], line) for line in lines]
    ends = [end.join([*LINES, *lines]) for end in ("\n", "\r\n", "\n\n", "\n \n", "\u2028", "\x0b", "\x85")]
    return [
        *("", " ", "\n", "\n\n\n", "a", "...", "[1] [2] [3]", "{", "x\r\ny", "\u3000\n\u00a0"),
        *(PAGE, f"\n\n  {PAGE}\n \n", PAGE.replace("\n", " "), PAGE.replace("\n", "\n\n"), PAGE.upper()),
        *(prose(number, 60) for number in range(12)),
        *(f"{PAGE}\n{what} of this line, which ends well." for what in ("lorem ipsum", "Lorem Ipsum", "{ and }", "{")),
        *(f"{PAGE}\n{what}" for what in ("lorem ipsum", "{", "javascript {", "lorem { x y.")),
        *repeated,
        *lists,
        *marked,
        *pages,
        *ends,
        "\n".join(lines),
        " [1]\n".join(LINES) + " [2]  \n[3] [4] [5] ",
        "\n".join(f"{ODD} {number}" for number in range(10)),
        "\n".join(["..... ....", ". ..... ..."] * 20 + LINES),
        " ".join(word for word in PAGE.split() for _ in range(2)),
        "\n".join(f"line {number}." for number in range(80)) + PAGE,
        "\n".join(f"{line}…" for line in LINES),
        "ÄÖÜ straße naïve 中文字 слово ไทย " * 40,
    ]
