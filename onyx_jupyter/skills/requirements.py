"""Checks what a skill requires against this machine: programs, variables, packages, the kernel. It installs nothing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from onyx_jupyter.skills.skill import Skill

DEFAULT_KERNEL = "python3"


def missing_requirements(skill: Skill, environment: Mapping[str, str], kernels: Mapping[str, str]) -> str | None:
    """Everything that is missing, as a sentence; None if nothing is.

    `kernels` maps each installed kernel to the program that it starts. Packages are checked if the kernel runs this
    server's Python; for other kernels, a missing package shows when the skill runs.
    """
    path, needs = environment.get("PATH"), skill.requires
    problems = [
        *(f"the program `{name}` is not on the PATH" for name in needs.bins if shutil.which(name, path=path) is None),
        *(f"the environment variable {name} is not set" for name in needs.env if not environment.get(name)),
    ]
    kernel = skill.kernel or DEFAULT_KERNEL
    program = kernels.get(kernel)
    if skill.kind == "notebook" and program is None:
        problems.append(f"the kernel `{kernel}` is not installed")
    elif skill.kind == "text" or _is_ours(program or ""):
        problems += [problem for name in needs.python if (problem := _package_problem(name))]
    if not problems:
        return None
    text = ", ".join(problems)
    return f"{text[0].upper()}{text[1:]}."


def installed_kernels() -> dict[str, str]:
    """Name → the program that the kernel starts."""
    from jupyter_client.kernelspec import KernelSpecManager

    manager = KernelSpecManager()
    found = {}
    for name in manager.find_kernel_specs():
        try:
            argv = manager.get_kernel_spec(name).argv
        except Exception:  # nosec B112 # one broken spec must not hide the others
            continue
        found[name] = argv[0] if argv else ""
    return found


def kernel_facts(name: str) -> dict[str, str]:
    """A kernelspec as stored in notebooks; only the name if it is not installed."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec(name)
    except NoSuchKernel:
        return {"name": name, "display_name": name}
    return {"name": name, "display_name": spec.display_name, "language": str(spec.language).lower()}


def _is_ours(program: str) -> bool:
    if program in ("python", "python3", f"python{sys.version_info.major}.{sys.version_info.minor}"):
        return True  # jupyter_client uses the interpreter it runs in
    return Path(program).absolute() == Path(sys.executable).absolute()


def _package_problem(requirement: str) -> str | None:
    """Checks a distribution by name and version, else a module by name."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(requirement)
    except InvalidRequirement:
        return f"`{requirement}` is not a valid Python requirement"
    if wanted.marker is not None and not wanted.marker.evaluate():
        return None
    try:
        version = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return None if _has_module(wanted.name) else f"the Python package {wanted.name} is not installed"
    if wanted.specifier.contains(version, prereleases=True):
        return None
    return f"the Python package {wanted.name} is {version}, but {wanted.specifier} is required"


def _has_module(name: str) -> bool:
    try:
        return name.isidentifier() and importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
