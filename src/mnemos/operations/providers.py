"""Operations on memory providers: list them, show their status, set one up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from mnemos.deadlines import Overdue, Patience
from mnemos.errors import MnemosError, Unavailable
from mnemos.integrations.providers import discovery, provider_tools, setup
from mnemos.integrations.providers.setup import Field
from mnemos.operations.base import Info, Operation, Question, Result, Traits, fill
from mnemos.operations.texts import cut
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 80


class ListProviders(Operation, frozen=True, kw_only=True):
    """List memory providers: the built-in one, those of installed packages, and those in the plugins folder
    of the home. Runs none of their code."""

    traits: ClassVar[Traits] = Traits(title="List providers", read_only=True, begins=True, local=True)

    def run(self, memory: Memory) -> ProvidersListed:
        used = memory.settings.provider or discovery.BUILT_IN
        found = discovery.find_providers(memory.settings.home)
        listed = [{**asdict(one), "used": one.name in (used, discovery.BUILT_IN)} for one in found]
        return ProvidersListed(providers=[fill(ProviderInfo, one) for one in listed])


class ProviderInfo(Info, frozen=True, kw_only=True):
    name: str
    version: str
    description: str
    where: str
    used: bool
    requirements: list[str]
    problem: str

    def render(self) -> str:
        about = cut(self.problem or self.description, _SHOWN)
        name = f"{self.name} {self.version}".rstrip()
        return f"{'*' if self.used else ' '} {name} ({self.where})" + (f": {about}" if about else "")


class ProvidersListed(Result, frozen=True, kw_only=True):
    providers: list[ProviderInfo]

    def as_text(self) -> str:
        return join_items(one.render() for one in self.providers)


class ProviderField(Info, frozen=True, kw_only=True):
    """A setting that a provider needs."""

    key: str
    description: str
    secret: bool
    url: str
    choices: list[str]
    env_var: str

    def render(self) -> str:
        choices = f" ({', '.join(self.choices)})" if self.choices else ""
        source = f", from {self.url}" if self.url else ""
        return f"  {self.key}: {self.description or 'required'}{choices}{source}"


class ShowProviders(Operation, frozen=True, kw_only=True):
    """Show whether the selected provider is installed, configured and available."""

    traits: ClassVar[Traits] = Traits(title="Show the provider", read_only=True, begins=True, local=True)

    def run(self, memory: Memory) -> ProviderShown:
        name = memory.settings.provider
        if not name:
            return ProviderShown(used=discovery.BUILT_IN, available=True, tools=[], missing=[], problem="")
        try:
            return _check_provider(memory, name)
        except (MnemosError, Overdue) as exc:
            return ProviderShown(used=name, available=False, tools=[], missing=[], problem=str(exc))


def _check_provider(memory: Memory, name: str) -> ProviderShown:
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
        missing=[fill(ProviderField, field) for field in missing],
        problem="; ".join([*packages, *wrong]),
    )


def _ask(name: str, call: Callable[[], Any], seconds: float) -> Any:
    """Call third-party code, which may hang or raise anything."""
    try:
        return Patience(name).ask(call, seconds)
    except (MnemosError, Overdue):
        raise
    except Exception as exc:
        raise Unavailable(f"The provider {name!r} failed: {type(exc).__name__}: {exc}") from exc


class ProviderShown(Result, frozen=True, kw_only=True):
    used: str
    available: bool
    tools: list[str]
    missing: list[ProviderField]
    problem: str

    @property
    def is_ok(self) -> bool:
        return self.available and not self.problem

    def as_text(self) -> str:
        if self.used == discovery.BUILT_IN:
            return "Using only the built-in memory."
        lines = [f"Using {self.used}, which is {'available' if self.available else 'not available'}."]
        lines += [self.problem] if self.problem else []
        lines += [f"Tools: {', '.join(self.tools)}"] if self.tools else []
        lines += _render_missing(self.used, self.missing) if not self.available else []
        return join_items(lines)


class SetUpProvider(Operation, frozen=True, kw_only=True):
    """Set up a memory provider and use it from now on; builtin switches back to the built-in one. Secrets are
    stored in the .env file of the home, readable by its owner only."""

    traits: ClassVar[Traits] = Traits(
        title="Set up a provider",
        help="Set up a memory provider and use it from now on; builtin switches back to the built-in one. "
        "At a terminal, asks for what the provider needs. Secrets are stored in the .env file of the home, "
        "readable by its owner only.",
        idempotent=True,
        begins=True,
        local=True,
        positional=("name", "values"),
        stdin="values",
        example="builtin",
    )

    name: Annotated[str, Meta(description="Name of a provider from the list, or builtin")]
    values: Annotated[str, Meta(description="Settings as KEY=VALUE, one per line")] = ""

    def run(self, memory: Memory) -> ProviderSetUp:
        home = memory.settings.home
        if self.name == discovery.BUILT_IN:
            setup.use(home, "")
            return ProviderSetUp(name=self.name, used=True, kept=[], secrets=[], missing=[])
        loaded = setup.load_provider(self.name, home)
        values = setup.parse_values(self.values, loaded.fields)
        secrets, kept = _split_secrets(loaded.fields, values)
        if secrets:
            setup.keep_secrets(home, secrets)
        if kept:
            _save(self.name, loaded, kept, str(home))
        missing = setup.find_unset(loaded.fields, values)
        # An earlier setup may have stored what it needs in a place of the provider's choice.
        if missing and _ask(self.name, loaded.provider.is_available, memory.settings.prefetch_seconds):
            missing = []
        if not missing:
            setup.use(home, self.name)
        return ProviderSetUp(
            name=self.name,
            used=not missing,
            kept=list(kept),
            secrets=list(secrets),
            missing=[fill(ProviderField, field) for field in missing],
        )

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.values or self.name == discovery.BUILT_IN:
            return ()
        loaded = setup.load_provider(self.name, memory.settings.home)
        return [_question(field) for field in loaded.fields]

    def with_answers(self, answers: Mapping[str, str]) -> Operation:
        lines = [f"{key}={value}" for key, value in answers.items() if value]
        return replace(self, values="\n".join(lines))


class ProviderSetUp(Result, frozen=True, kw_only=True):
    name: str
    used: bool
    kept: list[str]
    secrets: list[str]
    """Names of the variables written to the .env file."""
    missing: list[ProviderField]

    @property
    def is_ok(self) -> bool:
        return self.used

    def as_text(self) -> str:
        if self.name == discovery.BUILT_IN:
            return "Using only the built-in memory from now on."
        lines = [f"Stored: {', '.join(self.kept)}."] if self.kept else []
        lines += [f"Stored in .env: {', '.join(self.secrets)}."] if self.secrets else []
        if self.used:
            return join_items(
                [*lines, f"Using {self.name} from now on. Check it with `mnemos providers status`."]
            )
        return join_items(
            [*lines, f"{self.name} is not used yet.", *_render_missing(self.name, self.missing)]
        )


def _split_secrets(
    fields: Sequence[Field], values: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables of secrets, and the other values."""
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
        raise Unavailable(f"The provider {name!r} did not keep its values: {exc}") from exc


def _render_missing(name: str, missing: Sequence[ProviderField]) -> list[str]:
    lines = [one.render() for one in missing]
    return [f"Missing settings; run `mnemos providers setup {name}`:", *lines] if lines else []


def _question(field: Field) -> Question:
    needed = "" if field.required else " (optional)"
    where = f", from {field.url}" if field.url else ""
    known = setup.is_set(field)
    kept = " (already set; Enter keeps it)" if known else ""
    return Question(
        field.key,
        f"{field.description or field.key}{where}{needed}{kept}",
        field.secret,
        "" if known or field.default is None else str(field.default),
        field.choices if field.required or field.default is not None else (),
    )
