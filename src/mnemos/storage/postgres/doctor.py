"""Checks of a database: the server, the role, the separation of spaces, the data."""

from __future__ import annotations

from typing import Any

from mnemos.storage.base import Check, Documents, check_count, report_ok, report_problem
from mnemos.storage.postgres import schema
from mnemos.storage.postgres.backup_file import index_again
from mnemos.storage.postgres.connection import PostgresTransaction, Target
from mnemos.storage.postgres.statements import load
from mnemos.storage.stores.vectors import check_vectors
from mnemos.text.words import RULE_VERSION

_LAG_SECONDS = 60.0


def look_at(tx: PostgresTransaction, target: Target) -> list[Check]:
    """Run all checks that change nothing."""
    sql: Any = load("doctor", target.schema)
    return [
        report_ok("postgresql", _describe_server(tx)),
        report_ok("schema", f"version {schema.VERSION}"),
        _check_role(tx, sql),
        _check_wall(tx, sql, target),
        check_count("orphans", tx.value(sql.orphans), "messages without a session"),
        check_count("counters", tx.value(sql.wrong_counters), "sessions with a wrong message count"),
        _check_index(tx, sql),
        *_check_rule(tx, target),
        _describe_size(tx, sql, target),
        *check_vectors(tx, load("vectors", target.schema)),
        *_check_replica(tx, sql),
        *_check_transactions(tx, sql),
        *_check_dead_rows(tx, sql, target),
    ]


def repair(tx: PostgresTransaction, target: Target, documents: Documents) -> list[Check]:
    """Repair counters, words and vectors of the space, inside the caller's transaction."""
    sql: Any = load("doctor", target.schema)
    done: list[Check] = []
    if tx.value(sql.wrong_counters):
        tx.change(sql.right_counters)
        done.append(report_ok("counters", "counted again"))
    if not _check_index(tx, sql).ok:
        index_again(tx.connection, target, tx.space.id, documents)
        done.append(report_ok("index", "made again from the texts"))
    done.append(report_ok("new words", f"{tx.value(sql.empty_pending)} pages moved into the index"))
    return [*done, *check_vectors(tx, load("vectors", target.schema), repair=True)]


def _describe_server(tx: PostgresTransaction) -> str:
    info = tx.connection.info
    version = info.parameter_status("server_version") or str(info.server_version)
    return f"{version}, encoding {info.parameter_status('server_encoding')}"


def _check_role(tx: PostgresTransaction, sql: Any) -> Check:
    ((name, is_super, bypasses),) = tx.rows(sql.role)
    if is_super or bypasses:
        what = "is a superuser" if is_super else "bypasses row-level security"
        return report_problem(
            "role",
            f"{name} {what}, so row-level security does not separate spaces. Run CREATE ROLE agent LOGIN and "
            "`mnemos postgres init --role agent`, and name agent in the URL.",
        )
    return report_ok("role", f"{name}, bound by row-level security")


def _check_wall(tx: PostgresTransaction, sql: Any, target: Target) -> Check:
    unguarded = [name for (name,) in tx.rows(sql.unguarded, (target.schema,))]
    if unguarded:
        return report_problem("row-level security", f"turned off for {', '.join(unguarded)}")
    return report_ok("row-level security", "on for every table with rows of a space")


def _check_index(tx: PostgresTransaction, sql: Any) -> Check:
    missing = tx.value(sql.unindexed) + tx.value(sql.unindexed_passages)
    stale = tx.value(sql.stale)
    if missing or stale:
        detail = f"{missing} passages are not in the index, {stale} entries have no text"
        return report_problem("index", detail)
    return report_ok("index", "complete")


def _check_rule(tx: PostgresTransaction, target: Target) -> list[Check]:
    sql: Any = load("words", target.schema)
    found = tx.rows(sql.rule)
    if not found or found[0][0] >= RULE_VERSION:
        return []
    ((done, total),) = tx.rows(sql.count_renewed, (found[0][1] or 0,))
    return [report_ok("words", f"made again by the new rule for {done:,} of {total:,} messages")]


def _describe_size(tx: PostgresTransaction, sql: Any, target: Target) -> Check:
    ((own, total, size),) = tx.rows(sql.share, (f'"{target.schema}".messages', target.schema))
    share = size * own / max(own, total, 1)
    return report_ok(
        "size", f"about {share / 1e6:,.0f} MB of {size / 1e6:,.0f} MB, by {own:,} messages of this space"
    )


def _check_replica(tx: PostgresTransaction, sql: Any) -> list[Check]:
    if not tx.value(sql.is_replica):
        return []
    lag = tx.value(sql.lag)
    return [Check("replica", ok=lag < _LAG_SECONDS, detail=f"a replica, {lag:.1f} seconds behind")]


def _check_transactions(tx: PostgresTransaction, sql: Any) -> list[Check]:
    return [
        report_problem(
            "old transaction",
            f"session {pid} ({name or 'without a name'}) sees a state of {_describe_age(minutes, age)} ago; "
            "until it ends, erased rows stay in the server's files",
        )
        for pid, name, minutes, age in tx.rows(sql.old_snapshots)
    ]


def _describe_age(minutes: float | None, age: int) -> str:
    """Describe the age of others' transactions, which the server hides from most roles."""
    return f"{age:,} transactions" if minutes is None else f"{minutes:.0f} minutes"


def _check_dead_rows(tx: PostgresTransaction, sql: Any, target: Target) -> list[Check]:
    return [
        report_problem("dead rows", f"{count} in {table}: is autovacuum turned off?")
        for table, count in tx.rows(sql.dead_rows, (target.schema,))
    ]
