"""NumPy arrays and torch tensors: shape, type, statistics, the first values. It runs in the kernel."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import Look, loaded
from onyx_jupyter.notebook.kernel_probe.streaming_statistics import (
    PIECE_ROWS,
    StreamingStatistics,
    memory,
    process_in_chunks,
)
from onyx_jupyter.notebook.kernel_probe.summaries import dtype_name
from onyx_jupyter.notebook.kernel_probe.values import short

_FIRST = 10
_TENSOR_VALUES = 5_000_000


def inspect_array(array: Any, look: Look) -> dict[str, Any]:
    """Of a plain NumPy array."""
    facts = [
        ["shape", " × ".join(f"{side:,}" for side in array.shape) or "no dimensions"],
        ["dtype", dtype_name(array.dtype)],
        ["memory", memory(int(array.nbytes))],
        ["values", f"{array.size:,}"],
    ]
    if array.dtype.names:
        facts.append(["fields", ", ".join(f"{name} {array.dtype[name]}" for name in array.dtype.names[:20])])
    notes: list[str] = []
    if array.dtype.kind in "iuf" and array.size:
        flat, is_all = _flat(array)
        seen = _Seen(flat)
        checked = process_in_chunks(flat.size, look.left_s() / 2, seen.add)
        facts.append(["statistics", seen.moments.to_text()])
        if array.dtype.kind == "f":
            facts.append(["NaN", f"{seen.nans:,}"])
        if not is_all or checked < flat.size:
            notes.append(f"statistics are of {checked:,} values" + ("" if is_all else " spread over all"))
    first = [short(value, look) for value in array.flat[:_FIRST].tolist()] if not array.dtype.hasobject else []
    if array.dtype.kind == "O":
        first = [short(value, look) for value in array.flat[:_FIRST]]
    facts.append(["first values", ", ".join(first) + (", …" if array.size > _FIRST else "")])
    return {"facts": facts, "notes": notes}


def inspect_tensor(tensor: Any, look: Look) -> dict[str, Any]:
    """Of a torch tensor; on another device than the processor nothing is read from it."""
    facts = [
        ["shape", " × ".join(f"{side:,}" for side in tuple(tensor.shape)) or "no dimensions"],
        ["dtype", str(tensor.dtype)],
        ["device", str(tensor.device)],
        ["requires gradient", str(bool(tensor.requires_grad))],
        ["memory", memory(int(tensor.element_size() * tensor.nelement()))],
    ]
    notes: list[str] = []
    if str(tensor.device) == "cpu" and tensor.is_contiguous() and tensor.nelement() and not tensor.dtype.is_complex:
        flat = tensor.detach().view(-1)[:_TENSOR_VALUES]
        mean = f", mean {flat.double().mean().item():.6g}" if tensor.dtype.is_floating_point else ""
        facts.append(["statistics", f"min {flat.min().item():.6g}, max {flat.max().item():.6g}{mean}"])
        facts.append(["first values", ", ".join(short(value, look) for value in flat[:_FIRST].tolist())])
        if tensor.nelement() > _TENSOR_VALUES:
            notes.append(f"statistics are of the first {_TENSOR_VALUES:,} values")
    return {"facts": facts, "notes": notes}


def inspect_sparse(matrix: Any, look: Look) -> dict[str, Any]:
    """Of a SciPy sparse matrix or array."""
    shape = " × ".join(f"{side:,}" for side in matrix.shape)
    facts = [["shape", shape], ["dtype", str(matrix.dtype)], ["format", str(matrix.format)]]
    return {"facts": [*facts, ["stored values", f"{matrix.nnz:,}"]]}


class _Seen:
    """Statistics of a flat array, piece by piece."""

    def __init__(self, flat: Any) -> None:
        self.moments = StreamingStatistics()
        self.nans = 0
        self._flat = flat

    def add(self, start: int, stop: int) -> None:
        piece = self._flat[start:stop]
        if piece.dtype.kind == "f":
            missing = loaded("numpy", "isnan")(piece)
            self.nans += int(missing.sum())
            piece = piece[~missing]
        if piece.size:
            kind = float if piece.dtype.kind == "f" else int
            mean, variance = float(piece.mean(dtype="float64")), float(piece.var(dtype="float64"))
            self.moments.add(int(piece.size), kind(piece.min()), kind(piece.max()), mean, variance)


def _flat(array: Any) -> Any:
    """A flat view, and True; where there is none, a sample spread over all, and False."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array.ravel(order="K"), True
    if array.size <= PIECE_ROWS:
        return array.ravel(), True
    step = max(1, round((array.size / PIECE_ROWS) ** (1 / array.ndim)))
    return array[tuple(slice(None, None, step) for _ in array.shape)].ravel(), False
