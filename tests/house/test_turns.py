"""Texts are plain English: the turns of phrase that ``scripts/count_turns.py`` counts don't come back."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Path, turn, a part of the text, and why it may stay.
ALLOWED = (
    ("src/mnemos/language/threats/classifier.py", "told", "authority system rules told", "a list of ideas"),
    ("src/mnemos/language/times/time_context.py", "told", "gave told said", "a list of verbs"),
    ("src/mnemos/recall/question.py", "told", "tell told talk", "a list of verbs"),
    ("src/mnemos/entries/evaluation.py", "beside", "A lantern beside", "made-up text"),
    ("src/mnemos/storage/terms.py", "beside", "said, tool, beside", "a column"),
    (
        "src/mnemos/language/threats/__init__.py",
        "no longer holds",
        "rules that",
        "pinned by tests of the scanner",
    ),
    ("src/mnemos/memory/consolidation.py", "stays as it is", "Leave out facts", "a prompt that was measured"),
    ("tests/house/test_turns.py", "told", "is told in the guide", "an example"),
    ("src/mnemos/notebook/notebook.py", "participle as a function", "removed", "public since 0.1"),
)


def test_no_text_reads_as_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from count_turns import find_turns, list_files

    left = [
        turn
        for path in list_files()
        for turn in find_turns(path)
        if not any((turn.path, turn.name) == one[:2] and one[2] in turn.text for one in ALLOWED)
    ]
    shown = "\n".join(f"{turn.path}:{turn.line}: [{turn.name}] {turn.text}" for turn in left)
    assert not left, f"{len(left)} turns; write them plainly, or allow one with its reason:\n{shown}"


def test_no_module_has_a_name_that_says_nothing_in_a_traceback() -> None:
    vague = {"asked", "border", "reading", "relief", "rest", "showing", "told", "writing"}
    assert [path for path in (ROOT / "src").rglob("*.py") if path.stem in vague] == []


def test_the_turns_are_found_where_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import count_turns

    monkeypatch.setattr(count_turns, "ROOT", tmp_path)
    page, module = tmp_path / "page.md", tmp_path / "src" / "module.py"
    page.write_text(
        "It is no number.\n\n- What was decided it keeps.\n\n`is no` is code, there is no need.\n"
    )
    module.parent.mkdir()
    module.write_text(
        'def _told(x):\n    """Whether it holds, 50 a call."""\n    # The rest is told in the guide.\n'
    )
    found = [turn.name for path in (page, module) for turn in count_turns.find_turns(path)]
    assert sorted(found) == [
        *("a call for per call", "clause as a docstring", "clause as a subject"),
        *("is no", "participle as a function", "told"),
    ]
