"""Sphinx's settings for `make docs`. The site loads nothing from other servers, and the pages are plain Markdown, which
reads the same where the code is hosted."""

from pathlib import Path

from sphinx.application import Sphinx

project = "Onyx for Jupyter"
extensions = ["myst_parser", "sphinx_copybutton"]
# Sources begin at the repository's root, so that links between docs/ and the pages beside the README work.
root_doc = "docs/index"
include_patterns = ["docs/**.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
exclude_patterns = [path.name for path in Path(__file__).parents[1].iterdir() if path.is_dir() and path.name != "docs"]
myst_heading_anchors = 4
smartquotes = False
suppress_warnings = ["misc.highlighting_failure"]  # Pygments cannot read all of JSX

html_theme = "furo"
html_title = project
html_additional_pages = {"index": "to_start.html"}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False

# Every page is in here, or the build fails.
NAVIGATION = {
    "Start": ["getting-started", "onboarding", "local-models", "providers", "acp"],
    "Chat": ["modes", "what-is-sent", "steering", "context", "limits", "schedule", "usage"],
    "Notebooks": ["notebooks", "review", "kernel", "magics"],
    "Memory": ["memory", "memory-search", "knowledge"],
    "Skills and tools": ["skills", "tools-of-your-own", "web"],
    "Security": ["approvals", "privacy", "/SECURITY"],
    "Reference": ["configuration", "tools", "workspace", "/CHANGELOG"],
    "Development": ["/CONTRIBUTING", "architecture", "glossary", "figures"],
}


def add_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == root_doc:
        for caption, pages in NAVIGATION.items():
            source[0] += "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])
    if page == "docs/architecture":
        source[0] += "\n## Decisions\n\n```{toctree}\n:glob:\n:titlesonly:\n\ndecisions/*\n```\n"


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_navigation)
