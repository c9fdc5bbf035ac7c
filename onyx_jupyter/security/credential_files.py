"""Which files hold credentials, by name and location.

Reading one needs an approval in every mode; searches through a folder skip them. `docs/tools.md` has the same list
in words.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from pathlib import Path

# Patterns for names, or for the end of a path if they contain a slash; `*` also matches slashes. In lower case.
_CREDENTIALS = (
    # settings of programs and services
    ".env", ".env.*", "*.env", ".envrc", "secrets.toml", "secrets.yml", "secrets.yaml", "secrets.json",
    "*credentials*.json", "credentials", "credentials.toml", "service-account*.json", "service_account*.json",
    "client_secret*.json", "terraform.tfvars", "*.auto.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.backup",
    ".htpasswd", ".vault-token", "kaggle.json", ".databrickscfg", "application_default_credentials.json",
    # logins
    ".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".git-credentials", ".pypirc", ".npmrc",
    ".yarnrc.yml", ".dockercfg", ".docker/config.json", ".config/gh/hosts.yml", ".huggingface/*token",
    "huggingface/token", "huggingface/stored_tokens", ".s3cfg", ".boto", ".smbcredentials",
    # clouds and clusters
    ".aws/*", ".azure/*", "gcloud/*", ".kube/*", "kubeconfig*", "*.kubeconfig", ".oci/*",
    # keys
    ".ssh/*", ".gnupg/*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx",
    "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc.key",
    # Jupyter: with these one can run code in a kernel or log in as the user
    "runtime/kernel-*.json", "kernel-????????-????-????-????-????????????.json", "jpserver-*.json",
    "nbserver-*.json", "jupyter_cookie_secret", "notebook_cookie_secret", "jupyter_server_config.json",
    # the environment of a process
    "/proc/*/environ",
)  # fmt: skip
_FREE = (
    "*.example", "*.sample", "*.template", "*.dist", "*.pub", ".ssh/known_hosts*", ".ssh/authorized_keys*",
)  # fmt: skip


def holds_credentials(given: str, real: Path) -> bool:
    """Whether the file is known to hold credentials, by the given path or by the real one after following links."""
    return _is_named(real.as_posix()) or _is_named(given.replace("\\", "/"))


def why_asked(shown: str) -> str:
    """What the user is told before such a file is read."""
    return (
        f"`{shown}` contains credentials. Allowing this sends its content to the model, with recognized secrets removed"
    )


def _is_named(path: str) -> bool:
    first, colon, rest = path.casefold().rstrip("/ ").partition(":")
    place = f"/{rest}" if colon and "/" not in first else f"/{first}{colon}{rest}"  # `onyx:.env`
    return _pattern(_CREDENTIALS).match(place) is not None and _pattern(_FREE).match(place) is None


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(f"*/{name.lstrip('/')}") for name in names))
