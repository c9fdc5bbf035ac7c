"""Turns the paths that models and people write into real ones, and refuses what lies outside the allowed roots."""

from __future__ import annotations

from pathlib import Path

from onyx_jupyter.errors import PathNotAllowed

WORKSPACE_PREFIX = "onyx:"


class PathGuard:
    """Resolves paths as JupyterLab's file browser writes them.

    Relative to the server's root; `onyx:` in front means the agent's workspace; absolute paths are taken inside the
    allowed roots. Containment is judged on the real path, so `..` and symbolic links lead nowhere else.
    """

    def __init__(self, server_root: Path, workspace: Path) -> None:
        self.server_root = server_root.resolve()
        self.workspace = workspace.resolve()

    @property
    def roots(self) -> tuple[Path, Path]:
        """The folders within which tools may work, as real paths."""
        return (self.server_root, self.workspace)

    def resolve(self, path: str) -> Path:
        """The real path, whether or not something is there yet. Raises: PathNotAllowed."""
        if "\0" in path:
            raise PathNotAllowed(f"The path {path!r} contains a NUL character.")
        try:
            real = self._candidate(path).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or a name the system cannot hold
            raise PathNotAllowed(f"The path {path!r} cannot be resolved: {error}.") from error
        if not any(real == root or root in real.parents for root in self.roots):
            raise PathNotAllowed(
                f"The path {path!r} lies outside the folders that Onyx may use: {', '.join(map(str, self.roots))}."
            )
        return real

    def api_path(self, path: str) -> str:
        """The path as Jupyter's contents API wants it: posix, from the server's root. Raises: PathNotAllowed."""
        real = self.resolve(path)
        if real != self.server_root and self.server_root not in real.parents:
            raise PathNotAllowed(f"The path {path!r} lies outside the server's root {self.server_root}.")
        return real.relative_to(self.server_root).as_posix()

    def _candidate(self, path: str) -> Path:
        if path.startswith(WORKSPACE_PREFIX):
            return self.workspace / path.removeprefix(WORKSPACE_PREFIX).lstrip("/")
        given = Path(path)
        return given if given.is_absolute() else self.server_root / given
