"""Operations on providers of memory: which there are, how they do, and setting one up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from mnemos.deadlines import Overdue, Patience
from mnemos.errors import MnemosError, Unavailable
from mnemos.integrations.providers import discovery, provider_tools, setup
from mnemos.integrations.providers.setup import Field
from mnemos.operations.base import Operation, Question, Result, Traits
from mnemos.operations.wording import cut

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 80


class ListProviders(Operation, frozen=True, kw_only=True):
    """List the providers of memory that could be used: the built-in one, those that packages declare, and
    those in the folder plugins of the home. No code of theirs is run."""

    traits: ClassVar[Traits] = Traits(title="List providers", read_only=True, begins=True, local=True)

    def run(self, memory: Memory) -> ProvidersListed:
        used = memory.settings.provider or discovery.BUILT_IN
        return ProvidersListed(
            providers=[
                {
                    "name": one.name,
                    "version": one.version,
                    "description": one.description,
                    "where": one.where,
                    "used": one.name in (used, discovery.BUILT_IN),
                    "requirements": list(one.requirements),
                    "problem": one.problem,
                }
                for one in discovery.find_providers(memory.settings.home)
            ]
        )


class ProvidersListed(Result, frozen=True, kw_only=True):
    providers: list[dict[str, Any]]

    def as_text(self) -> str:
        return "\n".join(_line(one) for one in self.providers)


def _line(one: dict[str, Any]) -> str:
    about = cut(one["problem"] or one["description"], _SHOWN)
    name = f"{one['name']} {one['version']}".rstrip()
    return f"{'*' if one['used'] else ' '} {name} ({one['where']})" + (f": {about}" if about else "")


class ShowProviders(Operation, frozen=True, kw_only=True):
    """Show whether the provider that is used beside the built-in one is there, configured and available."""

    traits: ClassVar[Traits] = Traits(title="Show the provider", read_only=True, begins=True, local=True)

    def run(self, memory: Memory) -> ProviderShown:
        name = memory.settings.provider
        if not name:
            return ProviderShown(used=discovery.BUILT_IN, available=True, tools=[], missing=[], problem="")
        try:
            return _examined(memory, name)
        except (MnemosError, Overdue) as exc:
            return ProviderShown(used=name, available=False, tools=[], missing=[], problem=str(exc))


def _examined(memory: Memory, name: str) -> ProviderShown:
    home, seconds = memory.settings.home, memory.settings.prefetch_seconds
    loaded = _ask(name, lambda: setup.load_provider(name, home), seconds)
    available = bool(_ask(name, loaded.provider.is_available, seconds))
    known, wrong = provider_tools.parse_schemas(_ask(name, loaded.provider.get_tool_schemas, seconds))
    missing = setup.find_unset(loaded.fields, {})
    found = next(one for one in discovery.find_providers(home) if one.name == name)
    packages = [f"the package {package} is not installed" for package in discovery.find_missing(found)]
    return ProviderShown(
        used=name,
        available=available,
        tools=list(known),
        missing=[_described(field) for field in missing],
        problem="; ".join([*packages, *wrong]),
    )


def _ask(name: str, call: Callable[[], Any], seconds: float) -> Any:
    """An answer of other people's code, which may take for ever and raise anything."""
    try:
        return Patience(name).ask(call, seconds)
    except (MnemosError, Overdue):
        raise
    except Exception as exc:
        raise Unavailable(f"the provider {name!r} failed: {type(exc).__name__}: {exc}") from exc


class ProviderShown(Result, frozen=True, kw_only=True):
    used: str
    available: bool
    tools: list[str]
    missing: list[dict[str, Any]]
    problem: str

    def succeeded(self) -> bool:
        return self.available and not self.problem

    def as_text(self) -> str:
        if self.used == discovery.BUILT_IN:
            return "Only the built-in memory is used."
        lines = [f"{self.used} is used, and is {'available' if self.available else 'not available'}."]
        lines += [self.problem] if self.problem else []
        lines += [f"Tools: {', '.join(self.tools)}"] if self.tools else []
        lines += _wanted(self.used, self.missing) if not self.available else []
        return "\n".join(lines)


class SetUpProvider(Operation, frozen=True, kw_only=True):
    """Set up a provider of memory and use it from now on; builtin goes back to the built-in one alone. At a
    terminal, what it needs is asked for. Secrets go to the file .env of the home, for its owner's eyes."""

    traits: ClassVar[Traits] = Traits(
        title="Set up a provider",
        idempotent=True,
        begins=True,
        local=True,
        positional=("name", "values"),
        stdin="values",
        example=("builtin",),
    )

    name: Annotated[str, Meta(description="A provider that the list names, or builtin")]
    values: Annotated[
        str, Meta(description="KEY=VALUE, one a line; - : from standard input, which nobody else sees")
    ] = ""

    def run(self, memory: Memory) -> ProviderSetUp:
        home = memory.settings.home
        if self.name == discovery.BUILT_IN:
            setup.use(home, "")
            return ProviderSetUp(name=self.name, used=True, kept=[], secrets=[], missing=[])
        loaded = setup.load_provider(self.name, home)
        values = setup.parse_values(self.values, loaded.fields)
        secrets, kept = _parted(loaded.fields, values)
        if secrets:
            setup.keep_secrets(home, secrets)
        if kept:
            _save(self.name, loaded, kept, str(home))
        missing = setup.find_unset(loaded.fields, values)
        # It may have what it needs from an earlier time, in a place of its own.
        if missing and _ask(self.name, loaded.provider.is_available, memory.settings.prefetch_seconds):
            missing = []
        if not missing:
            setup.use(home, self.name)
        return ProviderSetUp(
            name=self.name,
            used=not missing,
            kept=list(kept),
            secrets=list(secrets),
            missing=[_described(field) for field in missing],
        )

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.values or self.name == discovery.BUILT_IN:
            return ()
        loaded = setup.load_provider(self.name, memory.settings.home)
        return [_question(field) for field in loaded.fields]

    def answered(self, answers: Mapping[str, str]) -> Operation:
        lines = [f"{key}={value}" for key, value in answers.items() if value]
        return replace(self, values="\n".join(lines))


class ProviderSetUp(Result, frozen=True, kw_only=True):
    name: str
    used: bool
    kept: list[str]
    secrets: list[str]
    """The variables that were set in the file of secrets."""
    missing: list[dict[str, Any]]

    def succeeded(self) -> bool:
        return self.used

    def as_text(self) -> str:
        if self.name == discovery.BUILT_IN:
            return "Only the built-in memory is used from now on."
        lines = [f"Kept: {', '.join(self.kept)}."] if self.kept else []
        lines += [f"Secrets in .env: {', '.join(self.secrets)}."] if self.secrets else []
        if self.used:
            return "\n".join(
                [*lines, f"{self.name} is used from now on; `mnemos providers status` looks at it."]
            )
        return "\n".join([*lines, f"{self.name} is not used yet.", *_wanted(self.name, self.missing)])


def _parted(fields: Sequence[Field], values: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Variables for secrets, and the other values."""
    secret = {field.key: field.env_var for field in fields if field.secret}
    return (
        {secret[key]: value for key, value in values.items() if key in secret},
        {key: value for key, value in values.items() if key not in secret},
    )


def _save(name: str, loaded: setup.Loaded, values: dict[str, str], home: str) -> None:
    save = getattr(loaded.provider, "save_config", None)
    try:
        if save is not None:
            save(values, home)
    except Exception as exc:
        raise Unavailable(f"the provider {name!r} did not keep its values: {exc}") from exc


def _described(field: Field) -> dict[str, Any]:
    return {
        "key": field.key,
        "description": field.description,
        "secret": field.secret,
        "url": field.url,
        "choices": list(field.choices),
        "env_var": field.env_var,
    }


def _wanted(name: str, missing: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"  {one['key']}: {one['description'] or 'required'}"
        + (f" ({', '.join(one['choices'])})" if one["choices"] else "")
        + (f", from {one['url']}" if one["url"] else "")
        for one in missing
    ]
    return [f"It needs these; run `mnemos providers setup {name}`:", *lines] if lines else []


def _question(field: Field) -> Question:
    needed = "" if field.required else " (may be left out)"
    where = f", from {field.url}" if field.url else ""
    known = setup.is_set(field)
    kept = " (already set: Enter keeps it)" if known else ""
    return Question(
        field.key,
        f"{field.description or field.key}{where}{needed}{kept}",
        field.secret,
        "" if known or field.default is None else str(field.default),
        field.choices if field.required or field.default is not None else (),
    )
