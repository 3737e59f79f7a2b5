"""Sessions of the page: a code works once, and a session ends when it is not used."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from mnemos.errors import NotAllowed, PermissionDenied
from mnemos.memory.access_tokens import Scope
from mnemos.memory.page_sessions import CODE_SECONDS, FILE, IDLE_SECONDS, PageSessions, make_code
from mnemos.settings import Settings
from mnemos.testing import FixedClock


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, space="work")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def test_code_is_traded_once_for_the_rights_of_the_owner(settings: Settings, clock: FixedClock) -> None:
    code = make_code(settings, clock())
    sessions = PageSessions(settings, clock)
    session, token = sessions.trade(code)
    assert (session.space, session.grant.scope) == ("work", Scope.LOCAL)
    admitted = sessions.admit(token.encode())
    assert admitted == dataclasses.replace(session.grant, actor="", is_person=True)
    with pytest.raises(NotAllowed, match="already used"):
        PageSessions(settings, clock).trade(code)


@pytest.mark.parametrize("code", ["", "x", "ü" * 43, "a" * 43, "../" * 20])
def test_unknown_code_is_refused(settings: Settings, clock: FixedClock, code: str) -> None:
    with pytest.raises(NotAllowed):
        PageSessions(settings, clock).trade(code)


def test_code_expires_after_five_minutes(settings: Settings, clock: FixedClock) -> None:
    code = make_code(settings, clock())
    clock.advance(CODE_SECONDS)
    with pytest.raises(NotAllowed, match="expired"):
        PageSessions(settings, clock).trade(code)


def test_session_lives_while_it_is_used(settings: Settings, clock: FixedClock) -> None:
    sessions = PageSessions(settings, clock)
    _, token = sessions.trade(make_code(settings, clock()))
    for _ in range(3):
        clock.advance(IDLE_SECONDS - 1)
        assert sessions.admit(token.encode()) is not None
    clock.advance(IDLE_SECONDS + 1)
    assert sessions.admit(token.encode()) is None


def test_other_servers_know_a_session_and_its_file_has_no_secret(
    settings: Settings, clock: FixedClock
) -> None:
    code = make_code(settings, clock())
    _, token = PageSessions(settings, clock).trade(code)
    assert PageSessions(settings, clock).admit(token.encode()) is not None
    kept = (settings.home / FILE).read_text()
    assert code not in kept
    assert token not in kept
    assert (settings.home / FILE).stat().st_mode & 0o077 == 0


def test_damaged_file_ends_sessions_and_says_so(settings: Settings, clock: FixedClock) -> None:
    sessions = PageSessions(settings, clock)
    _, token = sessions.trade(make_code(settings, clock()))
    (settings.home / FILE).write_text("{")
    assert sessions.admit(token.encode()) is None
    with pytest.raises(PermissionDenied, match="damaged"):
        make_code(settings, clock())
