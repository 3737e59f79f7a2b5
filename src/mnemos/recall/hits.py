"""Hits made from judged lines, with their text, origin and reasons."""

from __future__ import annotations

from collections.abc import Callable

from mnemos.language import times
from mnemos.recall.answer import RecallHit
from mnemos.recall.candidates import NEIGHBOUR_CHARACTERS, Gathered
from mnemos.recall.features import DEEP, HYBRID, Candidate, has_number
from mnemos.recall.lines import Line, Scene
from mnemos.recall.pack import Excerpt, Turn
from mnemos.recall.validity import HOLDS, Standing
from mnemos.sessions.message_text import document_of
from mnemos.sessions.titles import choose_title
from mnemos.storage.base import Filters, MessageRow
from mnemos.storage.passages import LONGEST, MAX_PIECES, MESSAGE, PART_CHARACTERS
from mnemos.text.pieces import PIECE_CHARACTERS, pieces
from mnemos.text.words import fold

# From this cosine on, a text without any of the words is still about the question.
_CLEARLY_NEAR = 0.35
# The weight of the model's choice of a piece, relative to the words in it.
_NEAREST_PIECE = 0.3
# A reason that adds less than this to the score is not shown.
_WORTH_SHOWING = 0.25
_REASONS = 4
# From this similarity on, being close in meaning is a reason.
_NEAR = 0.3
_SHOWN_WORDS = 6
# The share of the question that a conversation must add to the line's to be a reason.
_ADDED = 0.1
# A reading this close to the best one still counts as a reason.
_READS_ALIKE = 1.0


ReadWhole = Callable[[int], MessageRow | None]


def make_excerpt(
    read_whole: ReadWhole,
    scene: Scene,
    candidate: Candidate,
    gathered: Gathered,
    score: float,
    filters: Filters,
) -> Excerpt:
    """Make an excerpt of a candidate. ``read_whole`` reads messages too long to judge in full."""
    line = candidate.line
    stretch = candidate.stretch
    if stretch is None:
        return Excerpt(_passage_hit(scene, candidate, score, gathered.standings.of.get(line.id, HOLDS)))
    text, place = _text_of(read_whole, scene, line, gathered)
    why = _why(scene, candidate, text)
    hit = RecallHit(
        MESSAGE,
        line.id,
        stretch.session_id,
        line.speaker,
        text,
        place,
        line.at,
        round(score, 4),
        why,
        stretch.title or choose_title(gathered.openings.get(stretch.session_id, ())),
        stretch.project,
    )
    before = stretch.find_before(candidate.position)
    after = stretch.lines[candidate.position + 1] if candidate.position + 1 < len(stretch.lines) else None
    return Excerpt(hit, _turn(before, filters), _turn(after, filters))


def _passage_hit(scene: Scene, candidate: Candidate, score: float, standing: Standing) -> RecallHit:
    line = candidate.line
    passage = line.passage
    assert passage is not None  # noqa: S101
    return RecallHit(
        # The kind of an entry has its user after a colon.
        passage.kind.partition(":")[0],
        passage.ref,
        passage.session_id,
        passage.speaker or "",
        passage.text,
        (0, len(passage.text)),
        passage.at,
        round(score, 4),
        _why(scene, candidate, passage.text),
        state=standing.state,
        until=standing.until,
        replaced_by=standing.by,
    )


def _turn(line: Line | None, filters: Filters) -> Turn | None:
    if line is None or not line.text.strip() or not fits(line, filters):
        return None
    return Turn(line.id, line.speaker, line.text)


def fits(line: Line, filters: Filters) -> bool:
    """True if a line matches the filters. Proposals do, but their neighbours may not."""
    if filters.since is not None and line.at < filters.since:
        return False
    if filters.until is not None and line.at >= filters.until:
        return False
    if line.passage is not None and line.passage.session_id in filters.exclude_session_ids:
        return False
    if filters.group is not None and (line.passage is None or line.passage.group != filters.group):
        return False
    return filters.roles is None or line.row is None or line.row.role in filters.roles


def matches(line: Line) -> bool:
    """True if a line itself matches the question, by a word or clearly by its meaning."""
    return bool(line.strengths) or line.cosine >= _CLEARLY_NEAR


def _text_of(
    read_whole: ReadWhole, scene: Scene, line: Line, gathered: Gathered
) -> tuple[str, tuple[int, int]]:
    """Return the line, or for a long one, the piece with most of the question."""
    text = line.text
    # Only the beginning of a neighbour or a huge message was judged.
    read = len(line.row.content or "") if line.row is not None else 0
    row = read_whole(line.id) if read == NEIGHBOUR_CHARACTERS or len(text) >= LONGEST else None
    if row is not None and not row.forgotten:
        document = document_of(row)
        text = document.said or document.tool
    if len(text) <= PIECE_CHARACTERS:
        return text, (0, len(text))
    near = gathered.cosines.get(line.id)
    nearest = -1 if near is None else _start(text, near.piece)
    nearness = 0.0 if near is None else _NEAREST_PIECE * near.cosine
    best, place = -1.0, (0, min(len(text), PIECE_CHARACTERS))
    for start, end in pieces(text):
        value = sum(scene.shares[word] for word in scene.matcher.find(fold(text[start:end]))[0])
        value += nearness * (start <= nearest < end)
        if value > best:
            best, place = value, (start, end)
    piece = text[place[0] : place[1]]
    start = place[0] + len(piece) - len(piece.lstrip())
    return piece.strip(), (start, start + len(piece.strip()))


def _start(text: str, piece: int) -> int:
    """Return roughly where a piece begins. Each part of a very long text counts its own pieces."""
    part, number = divmod(piece, MAX_PIECES)
    start = part * PART_CHARACTERS
    there = pieces(text[start : start + PART_CHARACTERS])
    return start + there[min(number, len(there) - 1)][0] if there else -1


def _why(scene: Scene, candidate: Candidate, text: str) -> tuple[str, ...]:
    """Describe the main reasons for the score."""
    features = candidate.features
    shares = {name: weight * features.get(name, 0.0) for name, weight in HYBRID.items()}
    reasons: dict[str, str] = {}
    forms = scene.matcher.forms(fold(text))
    if forms:
        reasons["words"] = "contains " + ", ".join(f"'{form}'" for form in forms[:_SHOWN_WORDS])
    elif candidate.line.strengths:
        reasons["words"] = "uses similar words"
    elif shares.get("words", 0.0) > _WORTH_SHOWING:
        reasons["words"] = "next to lines that have the words"
    if candidate.line.cosine >= _NEAR:
        reasons["meaning"] = f"close in meaning ({candidate.line.cosine:.2f})"
    reasons |= {
        name: reason for name, reason in _REASON_TEXTS.items() if shares.get(name, 0.0) > _WORTH_SHOWING
    }
    if features.get(DEEP, -_READS_ALIKE) > -_READS_ALIKE:
        reasons[DEEP] = "reads like an answer"
        shares[DEEP] = _WORTH_SHOWING
    # The rest of the conversation has to say something about it, too.
    if candidate.stretch is None or features["session"] - candidate.line.cover < _ADDED:
        reasons.pop("session", None)
    if "number" in reasons and not has_number(text):
        del reasons["number"]
    if "time" in reasons and not times.has_time(text):
        del reasons["time"]
    if 0 < features.get("in_span", 0.0) < 1:
        reasons["in_span"] = "from the week after the time asked about"
    if features.get("speaker") == 1.0 and candidate.line.speaker:
        reasons["speaker"] = f"said by {candidate.line.speaker}"
    ranked = sorted(reasons, key=lambda name: (name != "words", -shares.get(name, 0.0)))
    return tuple(reasons[name] for name in ranked[:_REASONS]) or ("hardly related",)


_REASON_TEXTS = {
    "replies": "answers a question about it",
    "in_span": "from the time asked about",
    "time": "names a time",
    "number": "has a number",
    "name": "names a person or thing",
    "session": "in a conversation about it",
}
