"""What a plot's axes hold, in one line: labels, ranges, and the numbers behind what was drawn. It runs in the kernel.

It reads axes that have been drawn already, and changes nothing of them.
"""

from __future__ import annotations

import sys
from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import is_of, lineage, module_of, name_of
from onyx_jupyter.notebook.kernel_probe.box_plots import boxes_of

_VALUES = 12
_SERIES = 8
_HEAT_CELLS = 36
_QUOTED_CHARS = 80
_DRAWN_BY = ("matplotlib", "mpl_toolkits", "seaborn", "pandas")
_NEAR = 0.5
_DAYS = 5
_SIGNS = {ord("["): "(", ord("]"): ")", ord(";"): ",", ord('"'): "'"}


def describe_axes(axes: Any) -> str:
    """`title "…"; x "…" …; y "…" …; bars: a 1, b 2`. Raises whatever the library does."""
    pies = [patch for patch in axes.patches if name_of(type(patch)) == "Wedge"]
    parts = [_titled("title", axes.get_title() or axes.get_title("left"))]
    if hasattr(axes, "zaxis"):  # what is drawn there is kept as it looks, not as it is
        labels = [_titled(name, getattr(axes, f"{name}axis").get_label_text()) for name in "xyz"]
        return "; ".join(part for part in (*parts, "in three dimensions", *labels) if part)
    if not pies:
        parts += [_axis("x", axes.xaxis, axes.get_xlim()), _axis("y", axes.yaxis, axes.get_ylim())]
    shown = [_pie(pies)] if pies else [*_bars(axes), *_boxes_and_lines(axes), *_collections(axes), *_images(axes)]
    parts += dict.fromkeys(filter(None, shown))
    if not any(shown):
        parts.append("what is drawn in it is not described" if axes.has_data() else "nothing is drawn in it")
    legend = axes.get_legend()
    if legend is not None:
        named = ", ".join(as_label(text.get_text()) for text in legend.get_texts()[:_VALUES])
        parts.append(f"legend{_of(legend.get_title().get_text())}: {named}")
    return "; ".join(part for part in parts if part)


def is_known_artist(value: Any) -> bool:
    """Whether a library drew it, so that asking it runs nothing that a user wrote."""
    return module_of(type(value)).split(".")[0] in _DRAWN_BY


def _axis(name: str, axis: Any, limits: Any) -> str:
    label, names = _titled(name, axis.get_label_text()) or name, _names(axis)
    if names:
        kept = ", ".join(text for _, text in names[:_VALUES])
        more = f" and {len(names) - _VALUES} more" if len(names) > _VALUES else ""
        return f"{label}: {kept}{more}"
    scale = axis.get_scale()
    low, high = (_value(axis, limit) for limit in sorted(limits))
    return f"{label} from {low} to {high}{'' if scale == 'linear' else f' ({scale})'}"


def _names(axis: Any) -> list[tuple[float, str]]:
    """Place and text of the ticks, where they are names and no numbers."""
    units = getattr(axis, "units", None)
    mapping = getattr(units, "_mapping", None)
    if mapping is not None:  # what was drawn over texts
        return [(float(place), as_label(str(text))) for text, place in mapping.items()]
    if _is_date(axis) or getattr(axis, "freq", None) is not None:
        return []
    in_use = axis.majorTicks[: len(axis.get_majorticklocs())]  # behind them are those of an earlier drawing
    ticks = [(float(tick.get_loc()), as_label(tick.label1.get_text())) for tick in in_use]
    said = [(place, text) for place, text in ticks if text]
    return said if any(not _is_number(text) for _, text in said) else []


def _is_number(text: str) -> bool:
    plain = text.replace("\u2212", "-").replace(",", "").strip("$%kM ")
    try:
        float(plain)
    except ValueError:
        return "mathdefault" in text  # a power of ten
    return True


def _is_date(axis: Any) -> bool:
    ask = getattr(axis, "get_converter", None)
    converter = ask() if ask is not None else getattr(axis, "converter", None)
    return converter is not None and any("Date" in name_of(one) for one in lineage(type(converter)))


def _value(axis: Any, value: Any) -> str:
    """A place on the axis as one reads it there: a name, a moment, a number."""
    near = [(abs(place - float(value)), text) for place, text in _names(axis)]
    if near and min(near)[0] <= _NEAR:
        return min(near)[1]
    frequency = getattr(axis, "freq", None)
    if frequency is not None and "pandas" in sys.modules:
        return str(sys.modules["pandas"].Period(ordinal=round(float(value)), freq=frequency))
    if _is_date(axis):
        moment = sys.modules["matplotlib.dates"].num2date(float(value)).replace(tzinfo=None)
        text = str(moment.isoformat(" ", "seconds"))
        low, high = axis.get_view_interval()
        return text[:10] if text.endswith(" 00:00:00") or high - low > _DAYS else text
    return format_number(value)


def format_number(value: Any) -> str:
    """With four digits that count; a whole number as it is."""
    number = float(value)
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    if abs(number) >= 1000:
        return f"{number:.1f}"
    return f"{number:.4g}" if abs(number) >= 1e-4 else f"{number:.3e}"


def _bars(axes: Any) -> list[str]:
    found = [one for one in axes.containers if name_of(type(one)) == "BarContainer" and len(one.patches)]
    told = []
    for container in found[:_SERIES]:
        patches = [patch for patch in container.patches if patch.get_width() == patch.get_width()]
        is_flat = getattr(container, "orientation", "vertical") == "horizontal"
        spans = [_span(patch, is_flat) for patch in patches]
        axis = axes.yaxis if is_flat else axes.xaxis
        label = _name_of(axes, container, patches[0] if patches else None)
        if _is_histogram(spans) and not _names(axis):
            told.append(f"histogram{label}: {_bins(axis, spans)}")
        else:
            told.append(f"bars{label}: {_heights(axis, spans)}")
    return told + _more(found, "sets of bars")


def _span(patch: Any, is_flat: bool) -> tuple[float, float, float]:
    """Where a bar begins and ends on its axis, and what it says."""
    begin = patch.get_y() if is_flat else patch.get_x()
    width = patch.get_height() if is_flat else patch.get_width()
    return float(begin), float(begin + width), float(patch.get_width() if is_flat else patch.get_height())


def _is_histogram(spans: list[tuple[float, float, float]]) -> bool:
    pairs = list(zip(spans, spans[1:]))  # noqa: B905, RUF007
    return bool(pairs) and all(abs(one[1] - two[0]) <= 1e-6 * max(1e-300, one[1] - one[0]) for one, two in pairs)


def _bins(axis: Any, spans: list[tuple[float, float, float]]) -> str:
    high = max(spans, key=lambda span: span[2])
    told = f"{len(spans)} bins from {_value(axis, spans[0][0])} to {_value(axis, spans[-1][1])}"
    if len(spans) <= _VALUES:
        told += f" with {', '.join(format_number(span[2]) for span in spans)}"
    edges = f"{_value(axis, high[0])} to {_value(axis, high[1])}"
    return f"{told}, the highest {edges} with {format_number(high[2])}"


def _heights(axis: Any, spans: list[tuple[float, float, float]]) -> str:
    pairs = [(_value(axis, (begin + end) / 2), height) for begin, end, height in spans if height == height]
    if len(pairs) <= _VALUES:
        return ", ".join(f"{name} {format_number(height)}" for name, height in pairs)
    low, high = min(pairs, key=lambda pair: pair[1]), max(pairs, key=lambda pair: pair[1])
    ends = [f"at {name} with {format_number(height)}" for name, height in (high, low)]
    return f"{len(pairs)} of them, the highest {ends[0]}, the lowest {ends[1]}"


def _pie(wedges: list[Any]) -> str:
    shares = [(as_label(wedge.get_label()), (wedge.theta2 - wedge.theta1) / 360) for wedge in wedges]
    named = [f"{'' if name.startswith('_') else name} {format_number(share)}".strip() for name, share in shares]
    return f"pie with shares: {', '.join([*named[:_VALUES], *_more(named, 'slices', _VALUES)])}"


def _boxes_and_lines(axes: Any) -> list[str]:
    boxes, used, is_flat = boxes_of(axes)
    axis = axes.yaxis if is_flat else axes.xaxis
    told = []
    for box in boxes[:_VALUES]:
        numbers = [format_number(one) for one in (box.median, box.low, box.high, *box.ends)]
        text = "{} median {}, middle half {} to {}, whiskers {} to {}".format(_value(axis, box.place), *numbers)
        told.append(f"{text}, {box.outliers} outlier{'s' if box.outliers > 1 else ''}" if box.outliers else text)
    plot = [f"box plot: {' / '.join([*told, *_more(boxes, 'boxes', _VALUES)])}"] if told else []
    return plot + _lines(axes, [line for line in axes.lines if line not in used])


def _lines(axes: Any, drawn: list[Any]) -> list[str]:
    lines = [line for line in drawn if is_known_artist(line)]
    named = [line for line in lines if not str(line.get_label()).startswith("_")]
    plain = [line for line in lines if line not in named]
    if axes.containers:
        plain = [line for line in plain if len(line.get_xdata(orig=False)) > 3]  # what is left are error bars
    told = [_line(axes, line) for line in [*named, *plain][:_SERIES]]
    return [*filter(None, told), *_more([*named, *plain], "lines")]


def _line(axes: Any, line: Any) -> str:
    label = _of(line.get_label())
    if line.get_transform() != axes.transData:
        return _straight(axes, line, label) if len(line.get_xdata(orig=False)) == 2 else ""
    label = label or _name_of(axes, line, line)
    is_drawn = str(line.get_linestyle()).lower() not in ("none", "", " ")
    return _points(
        f"{'line' if is_drawn else 'points'}{label}", axes, *_finite(line.get_xdata(False), line.get_ydata(False))
    )


def _name_of(axes: Any, artist: Any, drawn: Any) -> str:
    """` "label"` of a series, else that of the legend's entry in its colour; empty where it has none."""
    label, legend = _of(artist.get_label()), axes.get_legend()
    if label or legend is None or drawn is None:
        return label
    handles = getattr(legend, "legend_handles", None) or getattr(legend, "legendHandles", [])
    entries = zip(handles, legend.get_texts())  # noqa: B905
    named = [text.get_text() for one, text in entries if _colour(one) == _colour(drawn)]
    taken = {one.get_label() for one in axes.lines if len(one.get_xdata(orig=False))}
    taken |= {one.get_label() for one in axes.containers}
    return _of(named[0]) if len(named) == 1 and named[0] not in taken else ""


def _colour(artist: Any) -> Any:
    """Without its opacity; None where an artist has no one colour."""
    if not is_of(artist, "matplotlib.patches", "Patch") and not is_of(artist, "matplotlib.lines", "Line2D"):
        return artist
    colour = artist.get_facecolor() if hasattr(artist, "get_facecolor") else artist.get_color()
    return sys.modules["matplotlib.colors"].to_rgb(colour)


def _straight(axes: Any, line: Any, label: str) -> str:
    """One that goes from edge to edge."""
    (x, x_end), (y, y_end) = line.get_xdata(orig=False), line.get_ydata(orig=False)
    if y == y_end:
        return f"horizontal line{label} at {_value(axes.yaxis, y)}"
    return f"vertical line{label} at {_value(axes.xaxis, x)}" if x == x_end else ""


def _points(what: str, axes: Any, x: Any, y: Any) -> str:
    if not len(x):  # an entry for the legend alone
        return ""
    numpy = sys.modules["numpy"]
    ends = [_value(axes.xaxis, end(x)) for end in (numpy.min, numpy.max)]
    low, high = (_value(axes.yaxis, end(y)) for end in (numpy.min, numpy.max))
    told = f"{what}: {len(x)} point{'s' if len(x) > 1 else ''}, x from {ends[0]} to {ends[1]}, y from {low} to {high}"
    if what.startswith("line") and len(x) > 2:
        told += f", the highest at x {_value(axes.xaxis, x[numpy.argmax(y)])}"
    return told


def _finite(x: Any, y: Any) -> tuple[Any, Any]:
    """The points that are drawn."""
    numpy = sys.modules["numpy"]
    one, two = (numpy.ma.filled(numpy.ma.asarray(values, dtype=float), numpy.nan) for values in (x, y))
    kept = numpy.isfinite(one) & numpy.isfinite(two)
    return one[kept], two[kept]


def _collections(axes: Any) -> list[str]:
    told, found = [], [one for one in axes.collections if is_known_artist(one)]
    for one in found[:_SERIES]:
        label = _of(one.get_label())
        kind = type(one)
        if is_of(one, "matplotlib.collections", "PathCollection"):
            offsets = one.get_offsets()
            told.append(_points(f"points{label}", axes, *_finite(offsets[:, 0], offsets[:, 1])) if len(offsets) else "")
        elif is_of(one, "matplotlib.collections", "QuadMesh"):
            told.append(_grid(f"heat map{label}", one.get_array(), axes))
        elif name_of(kind) in ("FillBetweenPolyCollection", "PolyCollection"):
            told.append(f"filled area{label}")
        elif label:
            told.append(f"{name_of(kind)}{label}")
    return [*filter(None, told), *_more(found, "drawn things")]


def _images(axes: Any) -> list[str]:
    found = [one for one in axes.images if is_known_artist(one)]
    return [_grid("image", one.get_array(), axes) for one in found[:_SERIES]]


def _grid(what: str, values: Any, axes: Any) -> str:
    """Its size and range; every value of a small one, row by row, by the names at its axes."""
    numpy = sys.modules["numpy"]
    values = numpy.ma.filled(numpy.ma.asarray(values, dtype=float), numpy.nan)
    if values.ndim > 2:
        return f"{what} of {values.shape[0]} × {values.shape[1]} points in colour"
    names = [text for _, text in _names(axes.yaxis)]
    if values.ndim == 1 and names and values.size % len(names) == 0:  # older matplotlib keeps a mesh flat
        values = values.reshape(len(names), -1)
    finite = values[numpy.isfinite(values)]
    size = " × ".join(map(str, values.shape))
    if not finite.size:
        return f"{what} of {size}, without a value"
    told = f"{what} of {size}, values from {format_number(finite.min())} to {format_number(finite.max())}"
    if values.ndim == 2 and values.size <= _HEAT_CELLS and len(names) == len(values):
        rows = (f"{name} {', '.join(map(_grid_value, row))}" for name, row in zip(names, values))  # noqa: B905
        told += f", row by row: {' / '.join(rows)}"
    return told


def _grid_value(value: float) -> str:
    return format_number(value) if value == value else "none"


def _titled(name: str, text: str) -> str:
    return f'{name} "{as_label(text)}"' if text.strip() else ""


def _of(label: Any) -> str:
    """` "label"`, where somebody named it."""
    text = as_label(str(label))
    return f' "{text}"' if text and not text.startswith("_") else ""


def _more(found: list[Any], what: str, shown: int = _SERIES) -> list[str]:
    return [f"and {len(found) - shown} more {what}"] if len(found) > shown else []


def as_label(text: str) -> str:
    """On one line, within bounds, and without the signs that the description is made of."""
    plain = " ".join(text.split()).translate(_SIGNS)
    return plain if len(plain) <= _QUOTED_CHARS else plain[: _QUOTED_CHARS - 1] + "…"
