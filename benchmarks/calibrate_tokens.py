"""Error of the token estimate against true counts.

    python benchmarks/calibrate_tokens.py                 the texts of the tests, with their recorded counts
    python benchmarks/calibrate_tokens.py check FOLDER    every text file of a folder, in passages
    python benchmarks/calibrate_tokens.py recount         write the true counts of the tests' texts anew

``check`` and ``recount`` need the package rs-bpe, which carries the vocabularies of cl100k and o200k.
Every third text of the tests was held back while the constants of ``tokens.py`` were chosen. The
tables of ``token_costs.json`` are least-squares fits on other text: per letter for most scripts, per
pair of letters for Latin words that are not in the list of common ones.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import mean

from mnemos.text.tokens import count_tokens

FIXTURE = Path(__file__).parent.parent / "tests/unit/text/fixtures/token_counts.json"
PASSAGE = 1_000
Sample = tuple[str, str, int]


def true_counters() -> list[Callable[[str], int]]:
    # Optional and heavy: 48 MB of vocabulary.
    from rs_bpe.bpe import openai

    return [openai.cl100k_base().count, openai.o200k_base().count]


def recorded() -> list[Sample]:
    texts = json.loads(FIXTURE.read_text("utf-8"))
    return [(t["kind"], t["text"], max(t["cl100k"], t["o200k"])) for t in texts]


def recount() -> None:
    texts = json.loads(FIXTURE.read_text("utf-8"))
    cl100k, o200k = true_counters()
    for text in texts:
        text |= {"cl100k": cl100k(text["text"]), "o200k": o200k(text["text"])}
    lines = ",\n".join(json.dumps(text, ensure_ascii=False) for text in texts)
    FIXTURE.write_text(f"[\n{lines}\n]\n", "utf-8")


def passages(folder: Path) -> Iterator[Sample]:
    counters = true_counters()
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for start in range(0, len(text), PASSAGE):
            passage = text[start : start + PASSAGE]
            if (true := max(count(passage) for count in counters)) >= 20:
                yield path.suffix, passage, true


def report(title: str, samples: Iterable[Sample]) -> None:
    errors: dict[str, list[float]] = defaultdict(list)
    for kind, text, true in samples:
        error = count_tokens(text) / true - 1
        errors[kind].append(error)
        errors["ALL"].append(error)
    print(f"{title:<28}{'texts':>6}{'mean':>9}{'lowest':>9}{'highest':>9}")
    for kind, found in errors.items():
        row = f"{mean(found):>+9.1%}{min(found):>+9.1%}{max(found):>+9.1%}"
        print(f"{kind:<28}{len(found):>6}{row}")
    low = sum(error < -0.05 for error in errors["ALL"])
    print(f"more than 5 % too low: {low} of {len(errors['ALL'])}\n")


def speed(samples: list[Sample]) -> None:
    english = "\n".join(text for kind, text, _ in samples if kind in ("english", "chat")) * 200
    count_tokens(english)
    started = time.perf_counter()
    count_tokens(english)
    print(f"{len(english.encode()) / (time.perf_counter() - started) / 1e6:.0f} MB/s on English")


def main(arguments: list[str]) -> None:
    match arguments:
        case []:
            samples = recorded()
            report("calibrated on", [s for i, s in enumerate(samples) if i % 3 != 2])
            report("held back", samples[2::3])
            speed(samples)
        case ["check", folder]:
            report(folder, passages(Path(folder)))
        case ["recount"]:
            recount()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
