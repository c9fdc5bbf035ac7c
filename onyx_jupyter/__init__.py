"""Onyx for Jupyter: an assistant that lives in JupyterLab. Importing this package does no work."""

from onyx_jupyter._version import __version__ as __version__


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where JupyterLab finds the built front end (source folder, name of the extension)."""
    return [{"src": "labextension", "dest": "onyx-jupyter"}]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    """The server half; its module is imported only when a server loads the extension."""
    from onyx_jupyter.server.extension import OnyxApp

    return [{"module": "onyx_jupyter", "app": OnyxApp}]


def load_ipython_extension(shell: object) -> None:
    """`%load_ext onyx_jupyter`: `%onyx` and `%%onyx` in this kernel."""
    from onyx_jupyter.magics.extension import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    """`%unload_ext onyx_jupyter`."""
    from onyx_jupyter.magics.extension import unload

    unload(shell)


def skill_form(name: str, agent: str | None = None) -> object:
    """A form that runs the skill of that name, in any front end with widgets. Needs ipywidgets."""
    from onyx_jupyter.magics import panels

    return panels.skill_form(name, agent)


def memory_search(query: str = "", agent: str | None = None) -> object:
    """A search in the agent's memory files. Needs ipywidgets."""
    from onyx_jupyter.magics import panels

    return panels.memory_search(query, agent)


def usage() -> object:
    """A table of the sessions with their messages and tokens. Needs ipywidgets."""
    from onyx_jupyter.magics import panels

    return panels.usage()
