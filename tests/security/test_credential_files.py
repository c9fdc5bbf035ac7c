"""Which files are known for credentials, by the path that was given and by the one to which it leads."""

from pathlib import Path

import pytest

from onyx_jupyter.security.credential_files import holds_credentials

CREDENTIALS = (
    ".env", ".ENV", ".env.production", "app/.env.local", ".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf",
    ".aws/credentials", ".aws/config", ".ssh/id_ed25519", ".ssh/work", ".kube/config", "kubeconfig-lab",
    ".docker/config.json", ".dockercfg", "tls/server.pem", "tls/server.KEY", "a.p12", "a.pfx", "a.jks", ".pypirc",
    ".npmrc", ".git-credentials", ".config/gh/hosts.yml", ".huggingface/token", ".cache/huggingface/token",
    ".config/gcloud/access_tokens.db", ".azure/msal_token_cache.json", "service-account-lab.json",
    "google-Credentials.json", ".streamlit/secrets.toml", "secrets.yml", "secrets.yaml", ".htpasswd", ".vault-token",
    "terraform.tfvars", "lab.tfstate", "keys/id_rsa", "jupyter/runtime/kernel-1.json",
    "kernel-a0436f6c-1916-498b-8eb9-e81ab9368e84.json", "jpserver-12.json", "jupyter_cookie_secret",
    "/proc/self/environ",
)  # fmt: skip
ORDINARY = (
    ".env.example", ".env.sample", ".env.template", ".ssh/known_hosts", ".ssh/id_rsa.pub", "environment.yml", "env",
    "config.json", "docker/config.json", "keyboard.py", "kernel.json", "notes/secrets.md", "a.pem.txt", "tokens.csv",
    "credentials.py", "kernel-notes.json", "runtime/a.json", "aws/credentials.md", "monkey.md", "key",
)  # fmt: skip


@pytest.mark.parametrize("path", CREDENTIALS)
def test_credential_files_are_recognized_in_any_folder(path: str) -> None:
    assert holds_credentials(path, Path("/srv/x"))
    assert holds_credentials("x", Path("/srv") / path)
    assert holds_credentials(f"onyx:{path.lstrip('/')}", Path("/srv/x"))


@pytest.mark.parametrize("path", ORDINARY)
def test_other_files_are_not_recognized(path: str) -> None:
    assert not holds_credentials(path, Path("/srv") / path)
