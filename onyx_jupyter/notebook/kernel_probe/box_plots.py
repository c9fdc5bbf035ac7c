"""The numbers of a box plot, read back from the lines that it is drawn with. It runs in the kernel."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import name_of

_CLOSED = (5, 6)


class Box:
    """One box: where it stands, its middle half, the median, the ends of its whiskers, its outliers."""

    def __init__(self, place: float, low: float, high: float) -> None:
        self.place = place
        self.low = low
        self.high = high
        self.median: Any = None
        self.ends = [low, high]
        self.outliers = 0


def boxes_of(axes: Any) -> tuple[list[Box], list[Any], bool]:
    """The boxes, the lines that belong to them, and whether they lie on their side; none where none is drawn."""
    lines = [(line, _corners(line.get_xdata(orig=False), line.get_ydata(orig=False))) for line in axes.lines]
    shapes = [points for line, points in lines if _is_box(points)]
    paths = [patch.get_path().vertices for patch in axes.patches if name_of(type(patch)) == "PathPatch"]
    shapes += [points for points in (_corners(path[:, 0], path[:, 1]) for path in paths) if _is_box(points)]
    medians = [points for _, points in lines if len(points) == 2]
    for is_flat in (False, True):
        boxes = [_box(points, is_flat) for points in shapes]
        if boxes and all(_take(box, medians, is_flat) for box in boxes):
            places = {box.place for box in boxes}
            used = [line for line, points in lines if _belongs(line, points, boxes, places, is_flat)]
            return boxes, used, is_flat
    return [], [], False


def _corners(x: Any, y: Any) -> list[tuple[float, float]]:
    if len(x) > 100:
        return []
    return [(float(one), float(two)) for one, two in zip(x, y) if one == one and two == two]  # noqa: B905


def _is_box(points: list[tuple[float, float]]) -> bool:
    """A rectangle that ends where it began."""
    sides = [len({round(point[at], 9) for point in points}) for at in (0, 1)]
    return len(points) in _CLOSED and points[0] in points[4:] and sides == [2, 2]


def _turned(points: list[tuple[float, float]], is_flat: bool) -> tuple[list[float], list[float]]:
    """Along the axis of the names, and along that of the values."""
    at = 1 if is_flat else 0
    return [point[at] for point in points], [point[1 - at] for point in points]


def _box(points: list[tuple[float, float]], is_flat: bool) -> Box:
    places, values = _turned(points, is_flat)
    return Box((min(places) + max(places)) / 2, min(values), max(values))


def _take(box: Box, lines: list[list[tuple[float, float]]], is_flat: bool) -> bool:
    """Gives the box its median, the widest line across it, and its whiskers; whether it has a median."""
    widest = 0.0
    for points in lines:
        places, values = _turned(points, is_flat)
        if abs((places[0] + places[1]) / 2 - box.place) > 1e-6:
            continue
        width = abs(places[0] - places[1])
        if values[0] == values[1] and box.low <= values[0] <= box.high and width > widest:
            box.median, widest = values[0], width
        elif not width:
            box.ends = [min(box.ends[0], *values), max(box.ends[1], *values)]
    return box.median is not None


def _belongs(line: Any, points: list[tuple[float, float]], boxes: list[Box], places: set[float], is_flat: bool) -> bool:
    """Also counts the outliers. A line that is none of the plot's own stays what it is."""
    along, _ = _turned(points, is_flat) if points else ([], [])
    if points and min(abs((min(along) + max(along)) / 2 - place) for place in places) > 1e-6:
        return False
    if points and str(line.get_linestyle()).lower() in ("none", "", " "):
        box = min(boxes, key=lambda one: abs(one.place - along[0]))
        box.outliers += len(points)
    return True
