import base64
import json

import pytest

from onyx_jupyter.notebook import output_collector
from onyx_jupyter.notebook.output_collector import OutputCollector
from onyx_jupyter.notebook.outputs import collapse_overwritten, render_outputs, shorten

FRAME = """<div><style scoped>.dataframe { color: red }</style><table border="1" class="dataframe">
<thead><tr><th></th><th>month</th><th>a|b</th></tr></thead>
<tbody><tr><th>0</th><td>March</td><td>1.5</td></tr></tbody></table><p>1 rows x 2 columns</p></div>"""


def test_data_frame_becomes_markdown_table() -> None:
    shown = render_outputs([{"output_type": "execute_result", "data": {"text/html": FRAME, "text/plain": "…"}}], 1000)
    assert shown.text == "|  | month | a\\|b |\n| --- | --- | --- |\n| 0 | March | 1.5 |\n1 rows x 2 columns"


def test_non_table_html_is_replaced_by_plain_text() -> None:
    shown = render_outputs([{"output_type": "display_data", "data": {"text/html": "<b>x</b>", "text/plain": "x!"}}], 99)
    assert shown.text == "x!"


def test_image_becomes_attachment_and_a_line() -> None:
    png = base64.b64encode(b"picture").decode()
    data = {"image/png": png[:4] + "\n" + png[4:] + "\n", "text/plain": "<Figure size 640x480>"}
    shown = render_outputs([{"output_type": "display_data", "data": data}], 1000)
    assert shown.text == "[image/png: <Figure size 640x480>]"
    assert [(image.mime_type, image.data) for image in shown.attachments] == [("image/png", png)]


def test_traceback_loses_colours_and_middle_but_keeps_end() -> None:
    frames = [f"\x1b[31mframe {number}\x1b[0m" for number in range(100)]
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": [*frames, "KeyError: 'x'"]}
    shown = render_outputs([error], 100_000).text
    assert "\x1b" not in shown
    assert shown.startswith("frame 0")
    assert shown.endswith("KeyError: 'x'")
    assert "lines left out" in shown
    assert "frame 50" not in shown


def test_single_string_traceback_is_split_and_loses_rule() -> None:
    traceback = f"{'-' * 75}\nframe 1\n\nKeyError: 'x'"
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": traceback}
    assert render_outputs([error], 1_000).text == "frame 1\n\nKeyError: 'x'"


def test_long_output_keeps_head_and_tail_with_note() -> None:
    shown = render_outputs([{"output_type": "stream", "name": "stdout", "text": "a" * 500 + "z" * 500}], 100)
    assert shown.truncated
    assert shown.text == "a" * 50 + "\n[… 900 characters left out …]\n" + "z" * 50
    assert shorten("short", 5) == "short"


def test_progress_bar_counts_once() -> None:
    assert collapse_overwritten("10%\r50%\r100%\nnext\r\n") == "100%\nnext\n"


def test_streams_merge_until_another_output() -> None:
    collector = OutputCollector()
    for name, text in [("stdout", "a"), ("stdout", "b"), ("stderr", "c"), ("stdout", "d")]:
        collector.add("stream", {"name": name, "text": text})
    assert [(output["name"], output["text"]) for output in collector.outputs()] == [
        ("stdout", "ab"),
        ("stderr", "c"),
        ("stdout", "d"),
    ]


def test_clear_with_wait_keeps_old_output_until_new_one() -> None:
    collector = OutputCollector()
    collector.add("stream", {"name": "stdout", "text": "old"})
    collector.add("clear_output", {"wait": True})
    assert [output["text"] for output in collector.outputs()] == ["old"]
    collector.add("stream", {"name": "stdout", "text": "new"})
    assert [output["text"] for output in collector.outputs()] == ["new"]


def display(collector: OutputCollector, text: str, display_id: str | None = None, *, update: bool = False) -> None:
    transient = {"display_id": display_id} if display_id else {}
    kind = "update_display_data" if update else "display_data"
    collector.add(kind, {"data": {"text/html": text}, "metadata": {}, "transient": transient})


def test_too_large_display_is_left_out_and_named() -> None:
    collector = OutputCollector()
    display(collector, "x" * (output_collector.MAX_DISPLAY_CHARS + 1))
    display(collector, "small", "d")
    display(collector, "y" * (output_collector.MAX_DISPLAY_CHARS + 1), "d", update=True)
    texts = [output["data"]["text/plain"] for output in collector.outputs()]
    assert texts == ["[… text/html: 20,000,001 characters were left out …]"] * 2


def test_total_output_is_limited_and_final_error_kept() -> None:
    collector = OutputCollector()
    for _ in range(5):
        display(collector, "x" * output_collector.MAX_DISPLAY_CHARS)
    collector.add("stream", {"name": "stdout", "text": "late" * 2})
    collector.add("error", {"ename": "E", "evalue": "v" * 10_000_000, "traceback": ["line"] * 1_000_000})
    outputs = collector.outputs()
    kinds = [output["output_type"] for output in outputs]
    assert kinds == ["display_data"] * 3 + ["stream", "error"]
    assert "left out" in outputs[3]["text"]
    assert len(str(outputs[4])) < 200_000
    collector.add("clear_output", {"wait": False})
    display(collector, "again")
    assert [output["data"] for output in collector.outputs()] == [{"text/html": "again"}]


def test_very_many_outputs_end_with_a_note() -> None:
    collector = OutputCollector()
    for number in range(output_collector.MAX_OUTPUTS + 10):
        display(collector, str(number))
        collector.add("stream", {"name": "stdout", "text": "x"})
    outputs = collector.outputs()
    assert len(outputs) == output_collector.MAX_OUTPUTS + 1
    assert "too many" in outputs[-1]["text"]


def held_chars(collector: OutputCollector) -> int:
    return len(json.dumps([collector.outputs(), *collector._displays.values()]))


def test_omitted_displays_and_updates_of_kept_ones_stay_within_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output_collector, "MAX_DISPLAY_CHARS", 1000)
    monkeypatch.setattr(output_collector, "MAX_TOTAL_CHARS", 3000)
    collector = OutputCollector()
    for number in range(50):
        display(collector, "x" * 900, f"d{number}")
    for number in range(50):
        display(collector, "y" * 1000, f"d{number}", update=True)
    display(collector, "z", "d0", update=True)
    texts = [output["data"]["text/html"] for output in collector.outputs() if "data" in output]
    assert texts == ["z", "y" * 1000, "y" * 1000]
    assert held_chars(collector) < 8000
    many = OutputCollector()
    for number in range(100):
        display(many, "x", f"d{number}")
    for number in range(100):
        display(many, "y" * 900, f"d{number}", update=True)
    assert held_chars(many) < 40_000


def test_metadata_and_errors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_collector, "MAX_TOTAL_CHARS", 3000)
    collector = OutputCollector()
    data = {"text/plain": "x"}
    for _ in range(50):
        collector.add("display_data", {"data": data, "metadata": {"a": ["m" * 900]}})
        collector.add("error", {"ename": "E", "evalue": "e", "traceback": ["t" * 900]})
    assert [output["output_type"] for output in collector.outputs()].count("error") < 4
    assert held_chars(collector) < 6000
