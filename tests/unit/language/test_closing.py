"""Messages close a scope if they declare work finished, not if they only mention it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import closing as bench_of_closing
from benchmarks import rules
from benchmarks.closing import LABELLED, Label, measure, read
from hypothesis import example, given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, NotFound
from mnemos.language.closing import Closing, find_closings
from mnemos.language.closing.grammar import LANGUAGES, Language
from mnemos.language.closing.lexicon import SIGNS, has_sign

EXAMPLES = read(LABELLED)
READ = 20_000


def test_there_are_enough_labelled_sentences() -> None:
    closing_ones = [one for one in EXAMPLES if one.label is Label.CLOSE]
    assert len(EXAMPLES) >= 350
    assert len(closing_ones) <= len(EXAMPLES) / 2
    assert {one.language for one in EXAMPLES} == {"en", "de", "fr", "es"}
    assert len({one.sentence for one in EXAMPLES}) == len(EXAMPLES)


@pytest.mark.parametrize("part", ["all", "en", "de", "fr", "es"])
def test_the_labelled_sentences_are_read_as_they_are_labelled(part: str) -> None:
    counts = measure("labelled", EXAMPLES).parts[part]
    assert counts.precision is not None
    assert counts.recall is not None
    assert counts.precision >= 0.97
    assert counts.recall >= 0.9


@pytest.mark.parametrize(
    ("message", "phrase"),
    [
        ("merged", "merged"),
        ("deployed", "deployed"),
        ("shipped", "shipped"),
        ("it works", "it works"),
        ("done!", "done"),
        ("LGTM, ship it", "LGTM"),
        ("PR landed", "PR landed"),
        ("phase B is done", "phase B is done"),
        ("Great, the migration is finished now.", "the migration is finished"),
        ("closing this", "closing this"),
        ("that fixed it", "that fixed it"),
        ("released v2", "released v2"),
        ("all green, merged to main", "merged"),
        ("perfect, thanks, works", "works"),
        ("✅ done", "done"),
        ("wroks now", "wroks"),
        ("a bit slow, but it works now", "it works"),
        ("Der PR ist gemerged.", "Der PR ist gemerged"),
        ("La PR a été mergée ce matin.", "La PR a été mergée"),
        ("ya está desplegado en producción", "ya está desplegado"),
    ],
)
def test_finished_work_closes(message: str, phrase: str) -> None:
    assert [found.phrase for found in find_closings(message)] == [phrase]


@pytest.mark.parametrize(
    "message",
    [
        "not yet deployed",
        "is it fixed?",
        "is it fixed",
        "when finished, ping me",
        "once merged, deploy",
        "fixed-width font",
        "closed-source",
        "has never been deployed",
        "revert what was merged",
        "almost finished",
        "we need to get this deployed",
        "will be shipped tomorrow",
        "let me know when it's done",
        "if it works",
        "merged cells in Excel",
        "finished goods",
        "the merged branch broke",
        "half done",
        "it mostly works",
        "it works by hashing",
        "how merge sort works",
        "done is better than perfect",
        "a deployed service calls the API",
        "the shipped version has a bug",
        "deployed but it fails",
        "merged, but prod is down",
        "yesterday's merged PR list",
        "3 of 5 tasks are done",
        "open, merged, closed",
        "",
        "   \n\n",
        "?",
    ],
)
def test_speaking_of_finishing_does_not_close(message: str) -> None:
    assert find_closings(message) == []


@pytest.mark.parametrize(
    "message",
    [
        'the button says "it works"',
        "the status is `merged`",
        "```\nthe migration is done\n```",
        "> it works now",
        "2026-01-02 10:00:00 deploy finished",
        "$ git branch --merged",
        "[INFO] build done",
        "call done() at the end",
        "| task | done |",
        "„Es funktioniert“ steht in der Mail",
        "«c'est fini» dit le bouton",
    ],
)
def test_quotations_and_output_of_programs_do_not_close(message: str) -> None:
    assert find_closings(message) == []


def test_code_may_be_what_is_finished() -> None:
    assert [found.phrase for found in find_closings("`auth.py` is done")] == ["`auth.py` is done"]


def test_closing_sentences_are_returned_in_order() -> None:
    message = "The login is fixed. Can you look at the search? Everything else is merged!"
    first, second = find_closings(message)
    assert first == Closing("The login is fixed.", "The login is fixed", 0, 18)
    assert (second.sentence, second.phrase) == ("Everything else is merged!", "Everything else is merged")
    assert message[second.start : second.end] == second.phrase


def test_the_next_sentence_may_take_it_back() -> None:
    assert find_closings("It's merged. Next, the docs.")
    assert find_closings("It's merged. But the pipeline is red.") == []
    assert find_closings("Deployed. It crashes on start.") == []
    assert find_closings("Done? Not quite.") == []


def test_a_question_after_the_statement_leaves_it_a_statement() -> None:
    assert find_closings("merged, what's next?")
    assert find_closings("it's merged, right?") == []


def test_a_full_line_goes_on_in_the_next() -> None:
    wrapped = "I talked to the others about it and what we all want is to get this feature\ndeployed"
    assert find_closings(wrapped) == []
    assert find_closings("I talked to the others\ndeployed")


def test_accents_may_be_missing_where_nothing_else_is_meant() -> None:
    assert find_closings("la migration est terminee")
    assert find_closings("ya esta desplegado")
    assert find_closings("laeuft wieder")
    assert find_closings("termine la migration") == []


def test_only_the_beginning_of_a_long_message_is_read() -> None:
    assert find_closings("x" * (READ - 5) + " done")
    assert find_closings("x" * READ + " done") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_that_closes_has_a_word_that_is_looked_for(language: Language) -> None:
    for first, choices in language.phrases.items():
        for rest, letters in choices:
            if set(letters) & set("DEQMFKLOUWJXAI"):
                assert not SIGNS.isdisjoint((first, *rest)), (first, *rest)


def test_a_message_without_such_a_word_is_not_read() -> None:
    assert not has_sign("please add a test for the parser and rename the helper")
    assert has_sign("it is terminé")


def assert_quotes(message: str) -> None:
    for found in find_closings(message):
        assert 0 <= found.start < found.end <= len(message)
        assert message[found.start : found.end] == found.phrase
        assert found.phrase in found.sentence
        assert found.sentence in message


# The words that rules are about, in any order: far likelier to be read than any text.
PIECES = sorted(
    {word for one in EXAMPLES[::7] for word in one.sentence.split()}
    | set(
        "İ ß ’ ' \" ` ``` « » ( ) [ ] < > # @ % / - — … . ! ? ¿ , ; : 🎉 ❌ \n \t \x00 \x01 \x02".split(" ")
    )
)


@given(st.text())
@example("İt works. İ done")
@example("\x01 is done \x02")
@example("done\ud800")
def test_no_text_raises_and_what_is_found_quotes_it(message: str) -> None:
    assert_quotes(message)


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from(("", " ")))
def test_no_order_of_words_raises_and_what_is_found_quotes_it(pieces: list[str], between: str) -> None:
    assert_quotes(between.join(pieces))


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "done ",
            "done, ",
            "done\n",
            "done. ",
            "done(",
            "[done",
            "<done ",
            '"done ',
            "`done ",
            "'done ",
            "«done ",
        ),
        *(
            "the new page ",
            "it is now ",
            "a:",
            "1/",
            "done-",
            "_",
            "a@_/.",
            "c'd'",
            "✅done",
            "\n",
            " ",
            "```",
            "> ",
        ),
    ],
)
def test_a_megabyte_of_anything_is_read_without_going_back_and_forth(piece: str) -> None:
    """Were any rule more than linear, these would take minutes and not milliseconds."""
    hostile = piece * (1_000_000 // len(piece)) + " it is done"
    assert_quotes(hostile)
    assert_quotes("done " + hostile)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read(tmp_path / "absent.tsv")
    wrong = tmp_path / "wrong.tsv"
    for text in ("", "close en merged\n", "maybe\ten\tmerged\n", "close\ten\t \n"):
        wrong.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInput):
            read(wrong)
    wrong.write_bytes(b"close\ten\t\xff\n")
    with pytest.raises(InvalidInput):
        read(wrong)


def test_precision_and_recall_are_counted_per_language(tmp_path: Path) -> None:
    data = tmp_path / "some.tsv"
    data.write_text(
        "# a remark\nclose\ten\tmerged\nclose\ten\tblue\n\nopen\tde\tfertig\nopen\tde\tnicht fertig\n",
        encoding="utf-8",
    )
    measured = measure("some", read(data))
    assert (measured.parts["all"].precision, measured.parts["all"].recall) == (0.5, 0.5)
    assert (measured.parts["en"].precision, measured.parts["en"].recall) == (1.0, 0.5)
    assert (measured.parts["de"].precision, measured.parts["de"].recall) == (0.0, None)
    assert [(miss.example.sentence, miss.phrase) for miss in measured.misses] == [
        ("blue", ""),
        ("fertig", "fertig"),
    ]


def test_the_command_prints_figures_and_on_request_what_was_read_wrongly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ran(*words: str) -> str:
        rules.main("closing", list(words))
        return capsys.readouterr().out

    data = tmp_path / "some.tsv"
    data.write_text("close\ten\tmerged\nclose\ten\tblue\nopen\tde\tfertig\n", encoding="utf-8")
    short, long = ran("--data", str(data)), ran("--data", str(data), "--misses")
    assert [line.split()[0] for line in short.splitlines()[1:5]] == ["language", "all", "en", "de"]
    assert "blue" not in short
    assert "blue" in long
    told = json.loads(ran("--data", str(data), "--json"))
    assert told["languages"]["all"]["recall"] == 0.5
    assert [miss["sentence"] for miss in told["misses"]] == ["blue", "fertig"]


def test_the_command_says_what_to_do_where_the_sentences_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_of_closing, "LABELLED", tmp_path / "labelled.tsv")
    with pytest.raises(NotFound):
        rules.main("closing", [])


def test_sentences_that_the_rules_were_not_made_for_are_read_well_enough() -> None:
    known = {one.sentence.casefold() for one in EXAMPLES}
    unseen = [one for one in read(LABELLED.with_name("heldout.tsv")) if one.sentence.casefold() not in known]
    counts = measure("heldout", unseen).parts["all"]
    assert len(unseen) >= 400
    assert (counts.precision or 0) >= 0.97
    assert (counts.recall or 0) >= 0.85
