"""The page of figures keeps what was not measured anew."""

from benchmarks.figures_page import write_sections


def titles(page):
    return [line for line in page.read_text("utf-8").splitlines() if line.startswith("## ")]


def test_run_of_one_group_rewrites_only_its_section(tmp_path):
    page = tmp_path / "figures.md"
    write_sections(page, ["## One\n\nfirst", "## Two\n\nsecond", "## Three\n\nthird"])
    write_sections(page, ["## Two\n\nanew", "## Two and a half\n\nadded"])
    assert titles(page) == ["## One", "## Two", "## Two and a half", "## Three"]
    text = page.read_text("utf-8")
    assert text.startswith("# Figures\n")
    assert "second" not in text
    assert all(word in text for word in ("first", "anew", "added", "third"))
    once = text
    write_sections(page, ["## Two\n\nanew"])
    assert page.read_text("utf-8") == once
