"""Runs in an environment that has dolma 1.2.1, and imports nothing of ours: CPU seconds of each tagger over texts.

Standard input: `{"taggers": [...], "texts": [...]}`; standard output: `{tagger: seconds}` on its last line.
"""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")


def main() -> None:
    from dolma.core.data_types import InputSpec
    from dolma.core.registry import TaggerRegistry

    given = json.load(sys.stdin)
    rows = [InputSpec(id=str(number), text=text) for number, text in enumerate(given["texts"])]
    seconds = {}
    for name in given["taggers"]:
        tagger = TaggerRegistry.get(name)()
        tagger.tag(rows[0])
        started = time.process_time()
        for row in rows:
            tagger.tag(row)
        seconds[name] = time.process_time() - started
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
