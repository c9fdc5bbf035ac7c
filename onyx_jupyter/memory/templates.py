"""Copies the first files into a new workspace, and finds what was added to them since. It never overwrites a file."""

from __future__ import annotations

from pathlib import Path

from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors


def install_templates(source: Path, workspace: Path) -> list[str]:
    """Copies missing files, keeping folders. Returns the paths written, from the workspace. Raises: StorageError."""
    written = []
    make_private_folder(workspace)
    for template in sorted(source.rglob("*")):
        if not template.is_file() or template.name.startswith("."):
            continue
        name = template.relative_to(source)
        target = workspace / name
        make_private_folder(target.parent)
        with disk_errors("write", target):
            if _write_new(target, template.read_bytes()):
                written.append(name.as_posix())
    return written


def non_template_lines(template: Path, text: str) -> str:
    """The lines of a workspace file that are not in its template; all if the template can't be read."""
    try:
        given = set(template.read_text("utf-8").splitlines())
    except OSError:
        return text
    return "\n".join(line for line in text.splitlines() if line not in given)


def _write_new(target: Path, content: bytes) -> bool:
    """False if something exists there, even a broken link."""
    try:
        with target.open("xb") as file:
            target.chmod(PRIVATE_FILE)
            file.write(content)
    except FileExistsError:
        return False
    return True
