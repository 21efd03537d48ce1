"""Masks: what each row of a forward sees, as an int with a bit for each column or slot."""

from __future__ import annotations

import sys
from typing import Any, Iterator, List, Optional, Tuple

from . import _values as values

HIDDEN = -1000.0  # an additive mask hides with -inf, the type's lowest, or -1e4
_DIGITS = bytes([48]) + bytes([49]) * 255


def bits_of(line: List[Any]) -> int:
    """[True, False, True] as 0b101: the first column is the lowest bit."""
    try:
        return int(bytes(line)[::-1].translate(_DIGITS) or b"0", 2)
    except (TypeError, ValueError):  # numbers that are no bytes
        return int("".join("1" if one else "0" for one in reversed(line)) or "0", 2)


def array_bits(lines: Any) -> Optional[List[int]]:
    """bits_of() each row of a bool tensor or array; None: numpy is not there, or the values are no bools."""
    numpy = sys.modules.get("numpy")
    if hasattr(lines, "detach"):
        lines = lines.detach().cpu()
        if "bool" not in str(lines.dtype) or numpy is None:
            return None
        try:
            lines = lines.numpy()
        except RuntimeError:  # a torch built for another numpy
            return None
    if numpy is None or not isinstance(lines, numpy.ndarray) or lines.dtype != bool:
        return None
    packed = numpy.packbits(lines, axis=1, bitorder="little")
    data, width = packed.tobytes(), packed.shape[1]
    return [int.from_bytes(data[at:at + width], "little") for at in range(0, len(data), width)] if width else [0] * len(lines)


def bits_of_slots(slots: List[int]) -> int:
    found = 0
    for slot in slots:
        found |= 1 << slot
    return found


def each_bit(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def runs(bits: int) -> str:
    """0b100111 as '0-2,5'."""
    text: List[str] = []
    at = 0
    while bits:
        zeros = (bits & -bits).bit_length() - 1
        bits >>= zeros
        at += zeros
        ones = (~bits & (bits + 1)).bit_length() - 1
        text.append(str(at) if ones == 1 else f"{at}-{at + ones - 1}")
        bits >>= ones
        at += ones
    return ",".join(text)


def all_runs(lines: List[int]) -> List[str]:
    """runs() of each. A row of a tree sees what the row above it sees, and itself: most lines are another one and a slot."""
    known = {0: ""}
    texts: List[str] = []
    for bits in lines:
        text = known.get(bits)
        if text is None:
            top = bits.bit_length() - 1
            rest = bits ^ (1 << top)
            above = known.get(rest)
            if above is None or rest.bit_length() == top:  # a run goes on
                text = runs(bits)
            else:
                text = f"{above},{top}" if rest else str(top)
            known[bits] = text
        texts.append(text)
    return texts


def mask_rows(value: Any, rows: int, where: str) -> Tuple[List[int], Optional[int]]:
    """What each row sees, and how many columns there are (None: the lists name slots)."""
    hint = "pass a bool or additive float mask [rows, slots or rows], or a list of slots for each row"
    shape = getattr(value, "shape", None)
    if isinstance(value, (str, bytes, dict)):
        raise values.wrong(where, "a mask", value, hint)
    if shape is not None:
        while len(shape) > 2 and shape[0] == 1:
            value = value[0]
            shape = value.shape
        if len(shape) != 2:
            raise values.wrong(where, "a mask", value, hint)
        dtype = str(getattr(value, "dtype", ""))
        if "float" in dtype:
            value = value > HIDDEN
        elif "int" in dtype:
            value = value != 0
        if len(value) == rows:
            bits = array_bits(value)
            if bits is not None:
                return bits, int(shape[1])
        lines = values.plain(value)
    else:
        try:
            lines = [line if type(line) is list else values.plain(line) for line in value]
        except TypeError:
            raise values.wrong(where, "a mask", value, hint) from None
        while len(lines) == 1 and rows != 1 and isinstance(lines[0], list):
            lines = lines[0]
    if len(lines) != rows:
        raise TypeError(f"{where}: expected a mask of {rows} rows, one for each row, found {len(lines)}; {hint}")
    lines = [line if isinstance(line, list) else list(line) for line in lines]
    first = next((one for line in lines for one in line), None)
    if shape is None and first is not None and isinstance(first, int) and not isinstance(first, bool):
        return [bits_of_slots(values.slots(line, where)) for line in lines], None
    widths = {len(line) for line in lines}
    if len(widths) > 1:
        raise TypeError(f"{where}: expected lines of one length, found lengths {sorted(widths)}; {hint}")
    if isinstance(first, float):
        lines = [[one > HIDDEN for one in line] for line in lines]
    width = widths.pop() if widths else 0
    return [bits_of(line) for line in lines], width
