"""Which files hold credentials by their name and place. It opens none.

Reading one is asked about in every mode; a search through a folder leaves them out. `docs/tools.md` has the same list
in words.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from pathlib import Path

# Patterns of names, or of the end of a path where they hold a slash; `*` also stands for slashes. In lower case.
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
    # Jupyter: who reads these runs code in a kernel or is let in as its person
    "runtime/kernel-*.json", "kernel-????????-????-????-????-????????????.json", "jpserver-*.json",
    "nbserver-*.json", "jupyter_cookie_secret", "notebook_cookie_secret", "jupyter_server_config.json",
    # what a process was started with
    "/proc/*/environ",
)  # fmt: skip
_FREE = (
    "*.example", "*.sample", "*.template", "*.dist", "*.pub", ".ssh/known_hosts*", ".ssh/authorized_keys*",
)  # fmt: skip


def holds_credentials(given: str, real: Path) -> bool:
    """Whether the file is known for credentials by the path that was given or by the one to which links lead."""
    return _is_named(real.as_posix()) or _is_named(given.replace("\\", "/"))


def why_asked(shown: str) -> str:
    """What a person is told before such a file is read."""
    return (
        f"`{shown}` holds credentials: allowing it sends what it holds to the model, with recognised secrets taken out"
    )


def _is_named(path: str) -> bool:
    first, colon, rest = path.casefold().rstrip("/ ").partition(":")
    place = f"/{rest}" if colon and "/" not in first else f"/{first}{colon}{rest}"  # `onyx:.env`
    return _pattern(_CREDENTIALS).match(place) is not None and _pattern(_FREE).match(place) is None


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(f"*/{name.lstrip('/')}") for name in names))
