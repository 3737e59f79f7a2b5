"""Questions of files in SQuAD's format, asked of a home that holds their paragraphs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.recall import engine, languages

from mnemos.errors import InvalidInput

PARAGRAPHS = {
    "Das Dach ist undicht.": ["Was ist undicht?", "Wo regnet es hinein?"],
    "Die Katze schläft im Keller.": ["Wo schläft die Katze?"],
    "Der Zug fährt um neun.": [],
}


def write(path: Path, paragraphs: dict[str, list[str]], **flags: object) -> Path:
    listed = [
        {"context": text, "qas": [{"question": question, **flags} for question in questions]}
        for text, questions in paragraphs.items()
    ]
    path.write_text(json.dumps({"data": [{"title": "Haus", "paragraphs": listed}]}), "utf-8")
    return path


def test_every_paragraph_is_a_message_and_every_question_knows_its_own(tmp_path: Path) -> None:
    (corpus,) = languages.read(write(tmp_path / "haus.de.json", PARAGRAPHS)).corpora
    texts = {turn.id: turn.text for session in corpus.sessions for turn in session.turns}
    assert list(texts.values()) == list(PARAGRAPHS)
    asked = [(question.text, texts[question.turns[0]]) for question in corpus.questions]
    assert asked == [(question, text) for text, questions in PARAGRAPHS.items() for question in questions]


def test_the_table_has_what_words_find_and_what_vectors_add(tmp_path: Path) -> None:
    data = languages.read(write(tmp_path / "haus.de.json", PARAGRAPHS))
    result = languages.run([data], {"words": engine.lexical(), "hybrid": engine.hybrid()})
    figures = result.figures["haus.de"]
    assert (figures["messages"], figures["questions"]) == (3, 3)
    assert figures["words"]["@1"][0] >= 2 / 3
    assert figures["gain"]["@1"][0] == pytest.approx(figures["hybrid"]["@1"][0] - figures["words"]["@1"][0])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"data": [{}]}', '{"data": []}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(InvalidInput):
        languages.read(path)


def test_questions_without_an_answer_are_not_asked(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        languages.read(write(tmp_path / "haus.json", PARAGRAPHS, is_impossible=True))
