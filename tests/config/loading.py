"""Loads a configuration in tests."""

from collections.abc import Mapping
from pathlib import Path

from onyx_jupyter.config.load import Loaded, load, read_text
from onyx_jupyter.config.problems import Problem
from onyx_jupyter.config.schema import Config


def loaded(path: Path, environment: Mapping[str, str] | None = None) -> Loaded:
    return load(read_text(path), path, environment or {})


def clean(path: Path, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration of a file in which nothing is wrong."""
    found = loaded(path, environment)
    assert found.problems == ()
    return found.config


def load_text(text: str, environment: Mapping[str, str] | None = None) -> Loaded:
    return load(text, Path("/home/onyx.json"), environment or {})


def problem_of(text: str, environment: Mapping[str, str] | None = None) -> Problem:
    """The only problem of a file with that text."""
    [problem] = load_text(text, environment).problems
    return problem
