"""What the web tools are configured with is known to the filter, so it is shown nowhere."""

from onyx_jupyter.agents.settings import load_settings
from onyx_jupyter.config.paths import Home


def test_search_key_and_password_are_redacted_everywhere(tmp_path):
    home = Home(tmp_path)
    web = "searxngUrl: 'https://ada:p%20ss-word-1@search.example', braveApiKey: 'brave-key-77aa'"
    home.config_file.write_text(f"{{ tools: {{ web: {{ {web} }} }} }}")
    settings = load_settings(home, {})
    assert settings.error is None
    shown = settings.secrets.apply("one p ss-word-1, two brave-key-77aa, three")
    assert "ss-word" not in shown
    assert "77aa" not in shown
    assert shown.endswith(", three")
