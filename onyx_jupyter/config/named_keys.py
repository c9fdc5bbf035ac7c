"""The environment variables from which onyx.json, or a variable of Onyx, takes the API keys of providers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from onyx_jupyter.config.json5_lines import Path

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def named_keys(raw: object, variables: Mapping[Path, str]) -> dict[str, str]:
    """Provider → variable. `raw` is the file's content before references are replaced, `variables` what set a key path.

    A literal key in the file is in neither.
    """
    providers = raw.get("providers") if isinstance(raw, Mapping) else None
    named = {}
    for name, provider in providers.items() if isinstance(providers, Mapping) else ():
        value: Any = provider.get("apiKey") if isinstance(provider, Mapping) else None
        if isinstance(value, str) and (found := _REFERENCE.search(value)):
            named[str(name)] = found[1]
    set_by = {
        path[1]: name for path, name in variables.items() if path[:1] == ("providers",) and path[2:] == ("apiKey",)
    }
    return named | {str(provider): name for provider, name in set_by.items()}
