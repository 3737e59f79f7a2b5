"""The update judge: which statement replaces which, and what a statement is about."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.language.notation import normalize_target
from mnemos.language.updates import Verdict, judge
from mnemos.language.updates.claim import name_target

PAIRS = Path(__file__).parents[2] / "data" / "updates" / "pairs.tsv"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Berlin", "I moved to Hamburg last week"),
        ("The API port is 8080", "The API port is 9090"),
        ("Standup is at 9:30", "Standup is at 10"),
        ("The docs site is hosted on Netlify", "The docs site is hosted on Cloudflare"),
        ("Der Buildserver läuft mit Java 17", "Der Buildserver läuft mit Java 21"),
        ("Le menu du midi est à 14,50 €", "Le menu du midi est à 15,90 €"),
        ("Mi hermana vive en Sevilla", "Mi hermana se ha mudado a Málaga"),
    ],
)
def test_a_clear_update_replaces_the_old_statement(old: str, new: str) -> None:
    assert judge(old, new).verdict is Verdict.REPLACES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User id 17 must never be deleted", "User id 18 must never be deleted"),
        ("Shard 1 listens on 5432", "Shard 2 listens on 5433"),
        ("Anna likes jazz", "Hannah likes jazz"),
        ("Staging runs on Postgres 15", "Production runs on Postgres 14"),
        ("My brother lives in Lyon", "My sister lives in Paris"),
        ("Node A listens on 5001", "Node B listens on 5002"),
        ("The account svc-lager must never be locked", "The account svc-lagerplan must never be locked"),
        ("I live in Berlin", "My mother lives in Munich"),
        ("I live in Berlin", "My sister now lives in Munich"),
        ("The API listens on port 8080", "The API might listen on port 9090"),
        ("El plan Oro cuesta 49 euros", "El plan Oro Anual cuesta 39 euros"),
        ("Latency from Dublin to Oregon: 140 ms", "Latency from Oregon to Dublin: 155 ms"),
        ("The free tier allows 60 requests per minute", "The free tier allows 5,000 requests per day"),
        ("I speak German", "I speak Italian too"),
        ("The API is written in Go", "The API is deployed on Fridays"),
        ("", "anything"),
        ("🎉", "🎈"),
        ("我住在柏林", "我喜欢茶"),
    ],
)
def test_a_look_alike_replaces_nothing(old: str, new: str) -> None:
    assert judge(old, new).verdict is not Verdict.REPLACES


def test_a_doubtful_update_is_named_and_not_made() -> None:
    judged = judge("Sessions are cached in Memcached", "We dropped Memcached")
    assert judged.verdict is Verdict.MAY_REPLACE


def test_no_look_alike_or_addition_of_the_tuning_pairs_is_replaced() -> None:
    with PAIRS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    kept = [row for row in rows if row["kind"] in ("lookalike", "addition")]
    assert len(kept) > 100
    assert [row for row in kept if judge(row["old"], row["new"]).verdict is Verdict.REPLACES] == []


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("I live in Berlin", "user.home"),
        ("I moved to Hamburg last week", "user.home"),
        ("Ich wohne in Berlin", "user.home"),
        ("Vivo en Madrid", "user.home"),
        ("My manager is Claire", "user.manager"),
        ("The API port is 8080", "api.port"),
        ("Shard 1 listens on 5432", "shard.1.port"),
        ("User id 17 must never be deleted", "user.id.17"),
        ("Priya owns the payments repo", "payments.repo.owner"),
        ("Project Kestrel: targets Python 3.12", "project.kestrel.version"),
        ("We use Redis for caching", "team.caching.tool"),
    ],
)
def test_a_target_names_the_subject_and_not_the_value(text: str, target: str) -> None:
    assert name_target(text) == target


def test_a_statement_whose_subject_is_unknown_gets_a_target_of_its_own() -> None:
    one, other = name_target("Restarted db-04 yesterday"), name_target("Restarted db-05 yesterday")
    assert one.startswith("note.")
    assert one != other
    assert name_target("restarted  db-04 Yesterday") == one


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_are_judged(old: str, new: str) -> None:
    assert 0 <= judge(old, new).chance <= 1
    target = name_target(new)
    assert normalize_target(target) == target


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I moved to York last week", "The staging server moved to port 3080"),
        ("The nightly build moved to the new cluster", "I moved to Leeds"),
        ("Deploys run on Tuesdays", "I run every morning"),
        ("Backups of the shop run at 02:30", "I moved to York"),
    ],
)
def test_the_user_and_a_thing_that_share_at_most_a_verb_are_different(old: str, new: str) -> None:
    assert judge(old, new).verdict is Verdict.DIFFERENT
