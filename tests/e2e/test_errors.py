"""What goes wrong is said where it happened, with what to do, and without a stack."""

from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import HttpError
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import RIGHT_KEY, WRONG_KEY, Stage

OpenLab = Callable[..., tuple[Sidebar, Notebook]]


def test_wrong_key_is_shown_inline_with_hint_and_without_key(open_lab: OpenLab, stage: Stage) -> None:
    sidebar, _ = open_lab()
    sidebar.models.select_option("locked/vault")
    sidebar.ask("Let me in")
    expect(sidebar.problems).to_have_attribute("data-code", "authentication")
    expect(sidebar.problems).to_contain_text("key")
    expect(sidebar.problems.locator(".onyx-Problem-hint")).not_to_be_empty()
    expect(sidebar.problems).not_to_contain_text(WRONG_KEY)
    expect(sidebar.problems).not_to_contain_text("Traceback")
    expect(sidebar.input).to_be_enabled()


def test_failed_answer_can_be_retried(open_lab: OpenLab, stage: Stage) -> None:
    sidebar, _ = open_lab()
    stage.play([HttpError(401, "Incorrect API key provided.", "invalid_api_key")], "Now it works.")
    sidebar.ask("Anybody there?")
    expect(sidebar.problems).to_be_visible()
    sidebar.hook("retry").click()
    expect(sidebar.answers.last).to_contain_text("Now it works.")
    assert ["Anybody there?" in request.last_user_text for request in stage.asked] == [True, True]


def test_unreachable_provider_is_named(open_lab: OpenLab) -> None:
    sidebar, _ = open_lab()
    sidebar.models.select_option("down/silent")
    sidebar.ask("Anybody there?")
    expect(sidebar.problems).to_have_attribute("data-code", "unavailable")
    expect(sidebar.problems).to_contain_text("127.0.0.1")
    expect(sidebar.problems.locator(".onyx-Problem-hint")).to_contain_text("providers.down.baseUrl")
    expect(sidebar.hook("retry")).to_be_visible()


def test_configuration_error_names_key_value_and_line(open_lab: OpenLab, lab: LabServer, stage: Stage) -> None:
    sidebar, _ = open_lab()
    good = lab.home.joinpath("onyx.json").read_text("utf-8")
    broken = '{\n  runtime: {\n    maxTurns: "many",\n  },\n}\n'
    try:
        lab.home.joinpath("onyx.json").write_text(broken, "utf-8")
        expect(sidebar.config_banner).to_contain_text("maxTurns")
        expect(sidebar.config_banner).to_contain_text("many")
        expect(sidebar.config_banner).to_contain_text("line 3")
        expect(sidebar.config_banner).to_contain_text("its default applies")
        lab.home.joinpath("onyx.json").write_text(good, "utf-8")
        expect(sidebar.config_banner).to_have_count(0)
    finally:
        lab.home.joinpath("onyx.json").write_text(good, "utf-8")
    stage.play("Back to normal.")
    sidebar.ask("And now?")
    expect(sidebar.answers.last).to_contain_text("Back to normal.")
    assert RIGHT_KEY not in sidebar.page.content()
