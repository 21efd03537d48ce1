"""What callers hand over: ids, logits and masks as lists, numpy arrays or torch tensors. Neither numpy nor torch is
imported here; the values bring them."""

from __future__ import annotations

import math
import sys
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from ._schema import LIMITS

# A row's answers: its best tokens with log p, log p of any token, and its rank (None: not known).
LAST_TOKEN, LAST_SLOT = LIMITS["node", "token"][1], LIMITS["slot", "slot"][1]  # type: ignore[index]
Row = Tuple[List[Tuple[int, float]], Callable[[int], Optional[float]], Callable[[int], Optional[int]]]

_INTS = frozenset((int,))


def kind_of(value: Any) -> str:
    """For messages: 'a Tensor of shape (1, 4)', 'a str'."""
    shape = getattr(value, "shape", None)
    name = type(value).__name__
    return f"a {name} of shape {tuple(shape)}" if shape is not None and not callable(shape) else f"a {name}"


def wrong(where: str, expected: str, found: Any, hint: str) -> TypeError:
    return TypeError(f"{where}: expected {expected}, found {kind_of(found)}; {hint}")


def plain(value: Any) -> Any:
    """Lists in place of arrays and tensors."""
    if hasattr(value, "detach"):
        value = value.detach()
    return value.tolist() if hasattr(value, "tolist") else value


def ids(value: Any, where: str, what: str = "token ids") -> List[int]:
    """A flat list of ints out of lists, arrays and tensors; a batch of one loses its batch."""
    if type(value) is list and _INTS.issuperset(map(type, value)):
        return list(value)
    hint = "pass [1, 2, 3], or the tensor's row"
    if isinstance(value, (str, bytes, dict)) or value is None:
        raise wrong(where, what, value, hint)
    value = plain(value)
    if isinstance(value, int):
        value = [value]
    try:
        found = list(value)
    except TypeError:
        raise wrong(where, what, value, hint) from None
    if len(found) == 1 and isinstance(plain(found[0]), list):
        return ids(found[0], where, what)
    result = []
    for one in found:
        one = plain(one)
        if isinstance(one, bool) or not isinstance(one, int):
            if isinstance(one, float) and one.is_integer():
                one = int(one)
            else:
                raise TypeError(f"{where}: expected {what}, found {one!r} among them; {hint}")
        result.append(one)
    return result


def tokens(value: Any, where: str, hint: str = "pass ids of the vocabulary", least: int = 0) -> List[int]:
    found = ids(value, where)
    if found and (min(found) < least or max(found) > LAST_TOKEN):
        wrong_one = next(one for one in found if not least <= one <= LAST_TOKEN)
        raise TypeError(f"{where}: expected token ids from {least} to {LAST_TOKEN}, found {wrong_one}; {hint}")
    return found


def slots(value: Any, where: str, least: int = 0) -> List[int]:
    found = ids(value, where, "slots")
    if found and (min(found) < least or max(found) > LAST_SLOT):
        wrong_one = next(one for one in found if not least <= one <= LAST_SLOT)
        raise TypeError(f"{where}: expected slots from {least} to {LAST_SLOT}, found {wrong_one}; number them from 0")
    return found


def count(value: Any, where: str) -> Optional[int]:
    """A count, or None."""
    if value is None:
        return None
    found = an_id(value, where)
    if not 0 <= found <= 2147483647:
        raise TypeError(f"{where}: expected a count from 0 to 2147483647, found {found}")
    return found


def an_id(value: Any, where: str) -> int:
    if type(value) is int:
        return value
    found = ids(value, where, "one token id")
    if len(found) != 1:
        raise TypeError(f"{where}: expected one token id, found {len(found)}; a round commits one token of the target")
    return found[0]


def number(value: Any, where: str) -> float:
    value = plain(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong(where, "a number", value, "pass a float")
    return float(value)


def numbers(value: Any, count: int, where: str) -> List[Optional[float]]:
    if value is None:
        return [None] * count
    value = plain(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [float(value)] * count
    try:
        found = list(value)
    except TypeError:
        raise wrong(where, f"{count} numbers", value, "pass one for each token") from None
    if len(found) != count:
        raise TypeError(f"{where}: expected {count} numbers, one for each token, found {len(found)}; "
                        "None stands for one that is not known")
    return [None if one is None else number(one, where) for one in found]


def _is_pairs(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    for row in value:
        if not isinstance(row, (list, tuple)):
            return False
        if not row:  # nothing is known of it
            continue
        return isinstance(row[0], (list, tuple)) and len(row[0]) == 2 and isinstance(plain(row[0][0]), int)
    return False


def _pair_row(pairs: Iterable[Any], best: int, where: str) -> Row:
    known: List[Tuple[int, float]] = []
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(f"{where}: expected (token, log p) pairs, found {pair!r}; pass [(17, -0.2), …] a row")
        token = an_id(pair[0], where)
        if not 0 <= token <= LAST_TOKEN:
            raise TypeError(f"{where}: expected token ids from 0 to {LAST_TOKEN}, found {token}; pass ids of the vocabulary")
        known.append((token, number(pair[1], where)))
    known.sort(key=lambda one: -one[1])
    table = dict(known)
    order = {token: rank for rank, (token, _) in enumerate(known)}
    return known[:best], table.get, order.get


def _list_row(row: Sequence[float], best: int) -> Row:
    top = max(row)
    sum_ = top + math.log(math.fsum(math.exp(one - top) for one in row)) if math.isfinite(top) else top
    order = sorted(range(len(row)), key=lambda i: (-row[i], i))[:best]
    get = lambda token: float(row[token] - sum_) if 0 <= token < len(row) else None  # noqa: E731
    return [(i, float(row[i] - sum_)) for i in order], get, lambda token: sum(one > row[token] for one in row)


def rows_of(value: Any, best: int, where: str) -> List[Row]:
    """Logits as rows: a tensor, an array or lists of shape [rows, vocabulary] or [vocabulary], or (token, log p)
    pairs a row. Log-probabilities are logits too. Top-k and sums run where the values are."""
    hint = "pass logits [rows, vocabulary], or [[(token, log p), …], …]"
    if value is None or isinstance(value, (str, bytes, dict)):
        raise wrong(where, "logits", value, hint)
    if _is_pairs(value):
        return [_pair_row(row, best, where) for row in value]
    shape = getattr(value, "shape", None)
    if shape is None:
        if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
            return [row for one in value for row in rows_of(one, best, where)]
        if not isinstance(value, (list, tuple)) or not value:
            raise wrong(where, "logits", value, hint)
        if isinstance(value[0], (int, float)):
            value = [value]
        if not all(isinstance(row, (list, tuple)) and row and isinstance(row[0], (int, float)) for row in value):
            raise wrong(where, "logits", value, hint)
        return [_list_row(row, best) for row in value]
    if len(shape) < 1 or shape[-1] == 0:
        raise wrong(where, "logits", value, hint)
    value = value.reshape(-1, shape[-1])
    if hasattr(value, "logsumexp") and hasattr(value, "topk"):  # torch
        value = value.detach()
        logits = value.float()
        sums = logits.logsumexp(-1)
        top, at = logits.topk(min(best, logits.shape[-1]), -1)
        of_top, of_at, of_sums = top.tolist(), at.tolist(), sums.tolist()
    else:
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(value, numpy.ndarray):
            return rows_of(plain(value), best, where)
        logits = value.astype(numpy.float64, copy=False)
        greatest = logits.max(-1, keepdims=True)
        of_sums = (greatest[:, 0] + numpy.log(numpy.exp(logits - greatest).sum(-1))).tolist()
        at = numpy.argsort(-logits, axis=-1, kind="stable")[:, :best]
        of_at, of_top = at.tolist(), numpy.take_along_axis(logits, at, -1).tolist()
    width = logits.shape[-1]

    def getter(row: int) -> Callable[[int], Optional[float]]:
        known: Dict[int, float] = {t: v - of_sums[row] for t, v in zip(of_at[row], of_top[row])}

        def get(token: int) -> Optional[float]:
            if token not in known:
                if not 0 <= token < width:
                    return None
                known[token] = float(logits[row][token]) - of_sums[row]
            return known[token]

        return get

    def ranker(row: int) -> Callable[[int], Optional[int]]:
        order = {token: rank for rank, token in enumerate(of_at[row])}
        return lambda token: order[token] if token in order else int((logits[row] > logits[row][token]).sum())

    return [([(t, v - of_sums[row]) for t, v in zip(of_at[row], of_top[row])], getter(row), ranker(row))
            for row in range(len(of_sums))]
