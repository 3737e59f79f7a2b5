"""Operations over everything that is remembered: recall and remember."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, cast

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from mnemos.errors import InvalidInput, Refused
from mnemos.operations.arguments import (
    Allow,
    AllProjects,
    AsOf,
    Project,
    Since,
    Source,
    Until,
    User,
    is_elsewhere,
    leave_unlisted,
    person_only,
    resolve_exclusions,
    resolve_sessions,
    up_to,
)
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.facts import FactInfo, FactsWritten, Scope, SessionId, describe
from mnemos.operations.texts import cut, floor_share, plural, render_time, render_title
from mnemos.recall.answer import (
    HITS,
    MOST_HITS,
    TOKENS,
    HitExplanation,
    Probed,
    StageCounts,
    Understood,
)
from mnemos.recall.certainty import WEAK
from mnemos.recall.embedding import describe_search
from mnemos.text.highlight import snippet
from mnemos.text.query import parse
from mnemos.text.stored_text import join_items, one_line

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.recall.answer import Kind

_SHOWN_CHARACTERS = 320
_ECHOED = 80


class RecallEverything(Operation, frozen=True, kw_only=True):
    """Ask the memory a question in plain words about anything said, decided, noted or stored before. Returns
    the passages that answer it best, with dates, within a token budget. They may use other words than the
    question. Use it when the user refers to something from before, and before saying that you don't know."""

    traits: ClassVar[Traits] = Traits(
        title="Recall",
        help="Ask the memory a question in plain words. Searches everything said, decided, noted or "
        "stored, by words and by meaning. Shows the best passages with their dates and the reasons "
        "they were found.",
        read_only=True,
        positional=("query",),
        words=True,
        example="when did we move the database",
        few=5,
    )

    query: Annotated[str, Meta(description="A question or a few words")]
    limit: Annotated[int, up_to(MOST_HITS)] = HITS
    budget: Annotated[int, Meta(ge=0, le=100_000, description="Maximum tokens of the packed text")] = TOKENS
    kinds: Annotated[
        list[str] | None, Meta(description="Only these: message, fact, note, entry, template, table")
    ] = None
    since: Since = None
    until: Until = None
    source: Source = None
    session: Annotated[list[str] | None, Meta(description="Only these conversations")] = None
    exclude: Annotated[list[str] | None, Meta(description="Conversations to leave out")] = None
    as_of: AsOf = None
    words_only: Annotated[bool, Meta(description="Match words only, without semantic search")] = False
    deep: Annotated[
        bool,
        person_only("Rerank the best passages with a small model: slower, but more accurate"),
    ] = False
    project: Project = None
    all_projects: AllProjects = False
    matches_only: Annotated[bool, leave_unlisted("Leave out messages that are only next to a match")] = False
    explain: Annotated[
        bool, leave_unlisted("Show what each score is made of, what each stage did and how long it took")
    ] = False
    probe: Annotated[
        str | None,
        leave_unlisted("Show why this passage is missing, e.g. message:42"),
    ] = None
    user_id: User = None

    def run(self, memory: Memory) -> Recalled:
        # Models pass empty lists and texts for arguments that they don't mean to set.
        recalled = memory.recall(
            self.query,
            limit=self.limit,
            budget=self.budget,
            # Not a Literal in the input, because a list of names costs tokens in every prompt.
            kinds=cast("list[Kind]", self.kinds) or None,
            since=self.since,
            until=self.until,
            source=self.source or None,
            session_ids=resolve_sessions(memory, self.session, self.user_id) if self.session else None,
            exclude_session_ids=resolve_exclusions(memory, self.exclude, self.user_id),
            words_only=self.words_only,
            depth="deep" if self.deep else None,
            project=self.project or None,
            matches_only=self.matches_only,
            all_projects=self.all_projects,
            user_id=self.user_id,
            as_of=self.as_of,
            explain=self.explain,
            probe=self.probe or None,
        )
        about = recalled.explanation
        ids = memory.sessions.shorten_ids(hit.session_id for hit in recalled.hits if hit.session_id)
        return Recalled(
            query=self.query,
            mode=recalled.mode,
            coverage=floor_share(recalled.coverage),
            hits=[
                replace(
                    fill(HitInfo, hit),
                    short_id=ids.get(hit.session_id or ""),
                    elsewhere=is_elsewhere(memory, hit.project),
                    explained=UNSET if about is None else about.hits[number],
                )
                for number, hit in enumerate(recalled.hits)
            ],
            packed=recalled.text,
            left_out=recalled.left_out,
            notes=list(recalled.notes),
            certainty=recalled.certainty,
            explanation=UNSET if about is None else fill(RecallExplained, about),
        )


class HitInfo(Info, frozen=True, kw_only=True):
    """A passage that answers a question."""

    kind: str
    ref: int | str
    """Id of a message, or its name in its part of the memory."""
    session_id: str | None
    speaker: str
    text: str
    place: tuple[int, int]
    """The start and end of the passage in its text."""
    at: float
    score: float
    why: list[str]
    title: str | None
    """Title of the conversation it is from."""
    project: str | None
    state: str
    """``current``, ``superseded`` or ``possibly outdated``."""
    until: float | None
    replaced_by: str | None
    short_id: str | None = None
    """Beginning of ``session_id`` that is enough to name it."""
    elsewhere: bool = False
    """True if it is about another project than the current one."""
    explained: HitExplanation | UnsetType = UNSET
    """The parts of the score, with ``explain``."""


class RecallExplained(Info, frozen=True, kw_only=True):
    """An account of how the question was understood, and what each stage did."""

    understood: Understood
    counts: StageCounts
    tokens: int
    """Of the packed text."""
    milliseconds: dict[str, float]
    """By stage, in order."""
    probed: Probed | None

    def render(self) -> Iterator[str]:
        yield _render_question(self.understood)
        yield _render_counts(self.counts)
        stages = ", ".join(f"{stage} {spent:.1f}" for stage, spent in self.milliseconds.items())
        yield f"{sum(self.milliseconds.values()):.1f} ms: {stages}."
        if self.probed is not None:
            yield f"{self.probed.ref}: {self.probed.sentence}"


def render_score(score: float, explained: HitExplanation) -> str:
    parts = " ".join(f"{part.points:+.2f} {part.label}" for part in explained.parts)
    return f"{score:.2f} = {parts}" + (f" ({explained.packed})" if explained.packed != "whole" else "")


def _render_question(one: Understood) -> str:
    said = [", ".join(one.words) or "no words to look for"]
    said += [f"names {', '.join(one.speakers)}"] if one.speakers else []
    said += [f"asks for {', '.join(one.asks_for)}"] if one.asks_for else []
    if one.since is not None and one.until is not None:
        said.append(f"from {render_time(one.since)} to {render_time(one.until)}")
    return f"Understood: {'; '.join(said)}."


def _render_counts(one: StageCounts) -> str:
    return (
        f"Proposed: {one.by_words:,} by words, {one.by_vectors:,} by vectors, {one.by_time:,} by time"
        f"; {one.too_many:,} too many. Read with neighbours: {one.read:,}. Judged: {one.judged:,}. "
        f"Ranked: {one.ranked:,}. Shown: {one.shown:,}. Packed: {one.packed:,} ({one.cut:,} cut, "
        f"{one.doubled:,} doubled)."
    )


class Recalled(Result, frozen=True, kw_only=True):
    query: str
    mode: str
    coverage: float
    hits: list[HitInfo]
    packed: str
    left_out: int
    notes: list[str]
    certainty: str = "good"
    """``good``; ``weak`` if the passages may not answer the question; ``none`` if there are none."""
    more: int | UnsetType = UNSET
    """Number of passages that ``shorten`` left out."""
    explanation: RecallExplained | UnsetType = UNSET

    def as_text(self) -> str:
        share = self._share()
        search = [] if share is None or share >= 1 else [f"By {describe_search(share)}."]
        answer = self.packed or join_items([self._nothing()])
        return join_items([*self.notes, *search]) + "\n" * bool(self.notes or search) + answer

    def for_person(self) -> str:
        lines = [*self.notes]
        if not self.hits:
            lines.append(self._nothing())
        for hit in self.hits:
            lines += [
                "  ".join(filter(None, render_heading(hit, render_time(hit.at)))),
                f"  {render_passage(hit, self.query)}",
                f"  ({'; '.join(hit.why)})",
            ]
            lines += [f"  {render_score(hit.score, hit.explained)}"] if hit.explained else []
        return join_items([*lines, self.footer(), *self.explain()])

    def explain(self) -> Iterator[str]:
        """Yield the explanation line by line, if one was asked for."""
        return self.explanation.render() if self.explanation else iter(())

    def footer(self) -> str:
        doubt = " that may not answer the question" if self.certainty == WEAK else ""
        more = f"; {self.more} more: --limit {len(self.hits) + self.more}" if self.more else ""
        search = describe_search(self._share(), deep="deep" in self.mode)
        return f"{plural(len(self.hits), 'passage')}{doubt}, {search}{more}"

    def shorten(self, most: int) -> Recalled:
        return (
            replace(self, hits=self.hits[:most], more=len(self.hits) - most)
            if len(self.hits) > most
            else self
        )

    def _share(self) -> float | None:
        return None if self.mode.removesuffix("+deep") == "lexical" else self.coverage

    def _nothing(self) -> str:
        if self.hits:
            return "No passage fits into the budget. Raise it."
        return f"Nothing in memory answers {cut(self.query, _ECHOED)!r}. Try other words."


def render_heading(hit: HitInfo, when: str) -> tuple[str, str]:
    """Render a hit's title and project, ``when`` it was said, the speaker and the ids."""
    title = render_title(hit.title, hit.project, elsewhere=hit.elsewhere) if hit.title else ""
    parts = [when, hit.speaker, f"{hit.kind}:{hit.ref}", hit.short_id or ""]
    return title, "  ".join(filter(None, parts)) + _render_state(hit)


def _render_state(hit: HitInfo) -> str:
    by = f" by {hit.replaced_by}" if hit.replaced_by else ""
    if hit.state == "superseded":
        return f"  (until {render_time(hit.until)[:10]}, replaced{by})" if hit.until else "  (no longer true)"
    return f"  (possibly outdated, may be replaced{by})" if hit.state == "possibly outdated" else ""


def render_passage(hit: HitInfo, query: str) -> str:
    """Render the matching part of a passage, with words in ``>>>`` and ``<<<``."""
    return one_line(snippet(hit.text, parse(query).loosen(), width=_SHOWN_CHARACTERS))


class Remember(Operation, frozen=True, kw_only=True):
    """Remember something for later sessions, in plain words: a decision, a rule, an address, a preference, an
    open question. Pass one statement per call that can be understood on its own. Recall finds it, and
    memory_status shows it while it matters."""

    traits: ClassVar[Traits] = Traits(
        title="Remember",
        help="Remember something in plain words: a decision, a rule, an address, a preference, an open "
        "question. Write one statement at a time.",
        begins=True,
        positional=("text",),
        words=True,
        stdin="text",
        example="The staging database listens on port 5433 --scope infra",
    )

    text: Annotated[str, Meta(description="A sentence or two")]
    kind: Annotated[
        Literal["auto", "fact", "note", "entry"],
        Meta(
            description="fact: found when needed; note: in every prompt; entry: about the user, with "
            "target as its key. auto is a fact"
        ),
    ] = "auto"
    about: Annotated[
        str | None, Meta(description="Its subject, e.g. user.home; replaces what was known about it")
    ] = None
    replaces: Annotated[str | None, Meta(description="Id of a fact that it replaces, e.g. f3")] = None
    target: Annotated[str | None, Meta(description="Key of an entry; for a note: memory or user")] = None
    scope: Scope = None
    session_id: SessionId = None
    allow: Allow = False
    user_id: User = None

    def run(self, memory: Memory) -> Remembered:
        if self.kind == "note":
            use = memory.notebook.add(self.text, target=self.target or "memory", allow=self.allow)
            return Remembered(kind="note", where=use.book.filename, stored=[], warning=use.warning)
        if self.kind == "entry":
            return _store_entry(memory, self.target, self.text, self.user_id, allow=self.allow)
        written = memory.facts.remember(
            self.text,
            about=self.about or self.target,
            replaces=self.replaces,
            scope=self.scope,
            session_id=self.session_id,
            allow=self.allow,
            user_id=self.user_id,
        )
        return Remembered(
            kind="fact",
            where="facts",
            stored=[FactInfo.of(memory.facts.get(one.id)) for one in written.facts],
            done=FactsWritten.of(written),
        )


def _store_entry(
    memory: Memory, key: str | None, text: str, user_id: str | None, *, allow: bool
) -> Remembered:
    # Imported here, because backends are only needed for entries.
    from mnemos.entries.backend import NullBackend
    from mnemos.operations.entries import store_entry
    from mnemos.storage.entries import USUAL_USER

    if key is None:
        raise InvalidInput("target is missing. An entry needs a key, such as pref_editor.")
    if isinstance(memory.backend, NullBackend):
        raise Refused(
            f"Nothing was stored: the backend for entries is disabled ({memory.backend.reason}). Set "
            "MNEMOS_BACKEND=local to keep entries on this machine."
        )
    store_entry(memory, user_id or USUAL_USER, key, text, allow=allow)
    return Remembered(kind="entry", where=memory.backend.backend_name, stored=[])


class Remembered(Result, frozen=True, kw_only=True):
    kind: str
    where: str
    """The part of the memory that stores it."""
    stored: list[FactInfo]
    done: FactsWritten | None = None
    warning: str = ""

    def as_text(self) -> str:
        return self._render(for_person=False)

    def for_person(self) -> str:
        return self._render(for_person=True)

    def _render(self, *, for_person: bool) -> str:
        if self.done is None:
            article = "an" if self.kind == "entry" else "a"
            return f"Remembered as {article} {self.kind} in {self.where}. {self.warning}".rstrip()
        lines = [
            f"{'Known already' if one.outcome == 'unchanged' else 'Remembered as a fact'}: {describe(fact)}"
            for fact, one in zip(self.stored, self.done.facts, strict=True)
        ]
        return join_items([*lines, *self.done.remarks(for_person=for_person)])
