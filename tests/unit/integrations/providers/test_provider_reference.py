"""The reference names every method of the manager and of a provider, as it is called."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mnemos.integrations.providers import (
    BuiltinMemoryProvider,
    ManagerStatus,
    MemoryManager,
    MemoryProvider,
    ProviderStatus,
)

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Providers\n")[2].partition("\n## ")[0]


def methods(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if not name.startswith("_") and callable(value)]


def parameters(function: Any) -> str:
    """The parameters as they are written in a call: without types, and without self."""
    plain = [
        each.replace(annotation=each.empty)
        for each in inspect.signature(function).parameters.values()
        if each.name != "self"
    ]
    return str(inspect.Signature(plain))


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in (MemoryManager, MemoryProvider) for name in methods(kind)]
)
def test_every_method_is_in_the_reference(kind: type, name: str) -> None:
    assert f"`{name}{parameters(getattr(kind, name))}`" in SECTION


@pytest.mark.parametrize("kind", [MemoryManager, BuiltinMemoryProvider])
def test_every_constructor_is_in_the_reference(kind: type) -> None:
    assert f"`{kind.__name__}{parameters(kind)}`" in SECTION


@pytest.mark.parametrize("kind", [ManagerStatus, ProviderStatus])
def test_every_field_of_a_status_is_listed(kind: Any) -> None:
    assert [field.name for field in fields(kind) if f"`{field.name}`" not in SECTION] == []
