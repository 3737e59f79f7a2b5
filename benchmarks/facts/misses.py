"""``python -m benchmarks.facts.misses``: the questions whose answer does not come first, and what does."""

from __future__ import annotations

from benchmarks.facts import data, quality
from benchmarks.facts.command import MNEMOS
from benchmarks.peers import Child, working_folder


def main() -> None:
    made = data.statements()
    asked = data.questions(made)
    with working_folder() as folder, Child(MNEMOS, folder) as child:
        child.ask("tell", folder=str(folder / "told"), lines=[(one.line, one.scope) for one in made])
        answers = child.ask("ask", queries=[one.text for one in asked])["answers"]
        child.ask("close")
    places = [quality.rank(one, given) for one, given in zip(asked, answers, strict=True)]
    for cut in quality.CUTS:
        print(f"recall@{cut}: {sum(0 < place <= cut for place in places)} of {len(asked)}")
    for one, given, place in zip(asked, answers, places, strict=True):
        if place == 1:
            continue
        print(f"\n## {one.text} ({one.language}, {f'place {place}' if place else 'not found'})")
        for answer in one.answers:
            print(f"- wanted: {answer.scope or 'no scope'}: {answer.line}")
        for kind, target, scope, content in given:
            print(f"- given: {scope or 'no scope'}: {kind}[{target}]: {content}")


if __name__ == "__main__":
    main()
