"""Which API key each provider gets, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from onyx_jupyter.config.schema import Config
from onyx_jupyter.config.schema.section import REFUSED_KEY
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS, known_provider

KeySource = Literal["reference", "environment", "store", "file"]


@dataclass(frozen=True, slots=True)
class ProviderKey:
    """`variable` is the environment variable that holds it, if one does."""

    value: str = field(repr=False)
    source: KeySource
    variable: str | None = None


def provider_keys(
    config: Config, named: Mapping[str, str], stored: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, ProviderKey]:
    """The key of each provider that has one.

    A variable that onyx.json names for a provider (`named`: provider → variable) is a choice, so it comes first; then
    the provider's usual variable, a stored key, and a key written into onyx.json.
    """
    found = {}
    for name in dict.fromkeys([*config.providers, *stored, *KNOWN_PROVIDERS]):
        key = _key(name, config, named, stored, environment)
        if key is not None:
            found[name] = key
    return found


def keys_in_file(config: Config, named: Mapping[str, str]) -> dict[str, str]:
    """Provider → key, of the keys that onyx.json itself contains; `named` (provider → variable) come from elsewhere."""
    written = {
        name: provider.api_key.get_secret_value()
        for name, provider in config.providers.items()
        if provider.api_key and name not in named
    }
    return {name: key for name, key in written.items() if key != REFUSED_KEY}


def _key(
    name: str, config: Config, named: Mapping[str, str], stored: Mapping[str, str], environment: Mapping[str, str]
) -> ProviderKey | None:
    provider, known = config.providers.get(name), known_provider(name)
    in_file = provider.api_key.get_secret_value().strip() if provider and provider.api_key else None
    if in_file and name in named:
        return ProviderKey(in_file, "reference", named[name])
    usual = known.key_variables if known else ()
    variable = next((variable for variable in usual if environment.get(variable, "").strip()), None)
    if variable is not None:
        return ProviderKey(environment[variable].strip(), "environment", variable)
    if name in stored:
        return ProviderKey(stored[name], "store")
    return ProviderKey(in_file, "file") if in_file else None
