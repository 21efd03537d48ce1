"""What a recorder knows of its run while it goes on, and the rows that are not written yet."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Union

from . import _endings as endings
from . import _values as values
from ._background import BackgroundFile
from ._block import Block
from ._cache import Cache
from ._file import CaptureFile
from ._schema import COLUMNS, tables_of
from ._tree import Tree
from ._words import DRAFTER_KINDS, OWNERS, PHASES, Drafter, RecordError, RecordWarning, choice


def _callers() -> int:
    """The stacklevel at which a warning names the line of the caller's program, not one of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level


def kv_bytes(model: Dict[str, Any]) -> int:
    """Bytes of a token's keys and values; 0: not known."""
    sizes = {"f32": 4, "float32": 4, "f16": 2, "float16": 2, "bf16": 2, "bfloat16": 2}
    each = sizes.get(str(model.get("dtype", "")).replace("torch.", ""), 0)
    layers, heads, size = (model.get(name) for name in ("layers", "kv_heads", "head_dim"))
    return 2 * int(layers) * int(heads) * int(size) * each if layers and heads and size else 0


class Book:
    """The state of one recording. `rows` is by table; tables that the level leaves out are absent."""

    def __init__(self, path: str, kind: str, level: str, piece: Callable[[int], Optional[bytes]], run: Dict[str, Any],
                 settings: Dict[str, Any], model: Dict[str, Any], program: Tuple[str, str, str], best: int, strict: bool,
                 in_background: bool = False):
        self.path = path
        self.kind = kind
        self.run = run
        self.changes: Dict[str, Any] = {}  # of the run's row, not written yet
        self.settings = settings
        self.width: int = run["width"]
        self.max_new_tokens: int = run["max_new_tokens"]
        self.window: int = run["sliding_window"]
        self.best = best  # candidates a row
        self._model: Optional[Dict[str, Any]] = None if model.get("dtype") else dict(model)  # None: its dtype is known
        self.strict = strict
        self.piece = piece
        ends = model.get("eos_token_ids") or []
        self.ends = list(ends) if isinstance(ends, (list, tuple)) else [ends]
        self.lock = threading.RLock()
        self.rows: Dict[str, List[Union[Sequence[Any], Block]]] = {table: [] for table in COLUMNS if table in tables_of(level)}
        self.tree = Tree()
        self.caches = {owner: Cache(owner, self.rows.get("slot")) for owner in OWNERS}
        self.prompt: Optional[List[int]] = None
        self.prompt_row: Optional[values.Row] = None  # what its last token's logits say
        self.prompt_slots: Optional[List[int]] = None
        self.prompt_begun = 0
        self.is_late = True  # the prompt's rows of step 0 are not written yet
        self.frontier: List[int] = [0]
        self.step = 0  # the next one to be written
        self.ended: Set[int] = set()  # beams: nodes on finished texts
        self.is_dense = False  # no slots are told: a cache without gaps, as a mask's columns are
        self.dense_length = 0
        self.has_memory = False
        self.is_in_round = False
        self.is_finished = False
        self._is_off = False
        self._warned: Set[str] = set()
        self._drafters: Dict[str, int] = {}
        self.pieces: Set[int] = set()
        self.new_pieces: List[int] = []  # of this round
        self._began = time.perf_counter()
        file = CaptureFile(path, run, program)
        self._file = BackgroundFile(file) if in_background else file
        endings.opened(self)

    def now(self) -> int:
        """µs since the recording began."""
        return int((time.perf_counter() - self._began) * 1e6)

    def learn_dtype(self, logits: Any) -> None:
        """A model of which no dtype was said has that of its logits, where it is a coarse one: what rounding explains follows it."""
        if self._model is None:
            return
        dtype = str(getattr(logits, "dtype", "")).replace("torch.", "")
        if dtype in ("bfloat16", "float16"):
            model = {**self._model, "dtype": dtype}
            self.changes.update(model_json=json.dumps(model), kv_bytes_per_token=kv_bytes(model))
            self._model = None

    def add(self, table: str, row: Union[Sequence[Any], Block]) -> None:
        rows = self.rows.get(table)
        if rows is not None:
            rows.append(row)

    def add_phases(self, step: int, begun: int, times: Dict[str, float]) -> None:
        at = begun
        rows = self.rows["phase"]
        for phase, name in enumerate(PHASES):
            length = round(times[name] * 1000) if name in times else 0
            rows.append((5 * step + phase, at, length))
            at += length

    def add_candidates(self, node: int, row: values.Row, tick: int, owner: str, chosen: Sequence[int] = ()) -> None:
        rows = self.rows.get("candidate")
        for rank, (token, logprob) in enumerate(row[0]):
            self.know(token)
            if rows is not None:
                rows.append((tick, node, rank, token, logprob, int(token in chosen), owner))

    # Tokens and nodes.

    def know(self, token: int) -> None:
        """Writes a token's text when it first occurs."""
        if token in self.pieces or token < 0 or "piece" not in self.rows:
            return
        self.pieces.add(token)
        self.new_pieces.append(token)
        piece = self._piece_of(token)
        if piece is not None:
            self.rows["piece"].append((token, piece))

    def _piece_of(self, token: int) -> Optional[bytes]:
        try:
            return self.piece(token)
        except Exception:  # noqa: BLE001  (an id beyond the vocabulary: the caller's tokenizer decides how it fails)
            return None

    def hang(self, parent: int, token: int, source: str, tick: int, *, q: Optional[float] = None, drafter: int = -1,
             logprob: Optional[float] = None, score: Optional[float] = None, again: bool = True,
             role: str = "candidate") -> int:
        """The node of `token` below `parent`: the one that is there, unless `again` says otherwise."""
        tree = self.tree
        if again:
            there = tree.child(parent, token)
            if there >= 0:
                return there
        node = tree.hang(parent, token, logprob, score)
        if token not in self.pieces:
            self.know(token)
        rows = self.rows.get("node")
        if rows is not None:
            rows.append((node, parent, token, tree.depth[node], logprob, tree.score[node], 1.0 if q is None else q, source, tick,
                         role, drafter))
        return node

    def hang_drafts(self, parents: List[int], tokens: List[int], keys: List[int], tick: int, qs: List[Optional[float]], drafter: int) -> range:
        """hang() of drafts that are not there yet: nothing is known of them but q."""
        nodes = self.tree.hang_many(parents, tokens, keys)
        if not self.pieces.issuperset(tokens):
            for token in tokens:
                self.know(token)
        chance: Any = 1.0
        if any(q is not None for q in qs):
            chance = [1.0 if q is None else q for q in qs]
        self.add("node", Block(len(nodes), (nodes, parents, tokens, self.tree.depth[nodes.start:], None, None, chance, "draft", tick,
                                            "candidate", drafter)))
        return nodes

    def drafter(self, drafter: Any) -> int:
        if drafter is None:
            drafter = Drafter("drafts")
        elif isinstance(drafter, str):
            drafter = Drafter(drafter)
        elif isinstance(drafter, (tuple, list)) and drafter and isinstance(drafter[0], str):
            drafter = Drafter(*drafter)
        else:
            raise values.wrong("draft(drafter=…)", "a name or a Drafter", drafter, 'pass drafter="my head"')
        found = self._drafters.get(drafter.name)
        if found is None:
            choice("draft(drafter=…)", drafter.kind, DRAFTER_KINDS)
            found = self._drafters[drafter.name] = len(self._drafters)
            self.add("drafter", (drafter.name, drafter.title, drafter.kind))
        return found

    def position(self, node: int) -> int:
        """Where a row stands by the rule: prompt + depth - 1."""
        return -2 - node if node <= -2 else len(self.prompt or ()) + self.tree.depth[node] - 1

    def name(self, node: int) -> str:
        if node <= -2:
            return f"prompt token {-2 - node}"
        return "the prompt" if node == 0 else f"node {node}{self.piece_text(self.tree.token[node])}"

    def piece_text(self, token: int) -> str:
        piece = self._piece_of(token)
        return f" ({piece.decode('utf-8', 'replace')!r})" if piece else f" (token {token})"

    def end_of(self, tokens: Sequence[int]) -> str:
        """Why a text ends here."""
        if tokens and tokens[-1] in self.ends:
            return "eos"
        if self.max_new_tokens and len(tokens) >= self.max_new_tokens:
            return "length"
        return "stopped"

    # What is wrong, and the file.

    def remark(self, rule: str, text: str, tick: int) -> None:
        if self.strict:
            raise RecordError(text)
        self.add("log", (tick, "warning", text))
        if rule not in self._warned:
            self._warned.add(rule)
            warnings.warn(f"{text} (recorded as it is; more of this kind is only in the capture's log)", RecordWarning,
                          stacklevel=_callers())

    def write(self, run: Optional[Dict[str, Any]] = None) -> None:
        """Writes the rows since the last call, together."""
        try:
            if not self._is_off:
                self._file.write(self.rows, {**self.changes, **(run or {})})
                if self.is_finished:
                    self._file.wait()
        except (sqlite3.Error, OSError, OverflowError) as error:
            self._is_off = True
            if self.strict:
                raise RecordError(f"{self.path}: cannot be written: {error}") from error
            warnings.warn(f"{self.path}: cannot be written any more: {error}; the run goes on unrecorded. "
                          "What was written stays readable", RecordWarning, stacklevel=_callers())
        finally:
            self.changes.clear()
            for rows in self.rows.values():
                if rows:
                    rows.clear()

    def end(self, status: str, message: str = "") -> None:
        if self.is_finished:
            return
        self.is_finished = True
        endings.closed(self)
        if not self._is_off:
            self.write({"status": status, "message": message})
        self._file.close()

    def left_behind(self) -> None:
        """In a forked child: the run is the parent's to record."""
        self._is_off = True
        self.lock = threading.RLock()
        self._file.close()
