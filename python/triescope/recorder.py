"""The recorder: one draft, verify, commit after another, into a capture.

Rows are kept until a round ends and are committed together, so a process that dies leaves all rounds that ended.
What a caller gets wrong about its own run (a mask, a position, a slot) is recorded as it was, with a remark among the
log's rows and one warning: the recorder never breaks the run that it records. Wrong types raise where they are passed.
"""

from __future__ import annotations

import atexit
import datetime
import json
import math
import os
import sqlite3
import sys
import threading
import time
import warnings
import weakref
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from . import _values as values
from ._file import CaptureFile, identity, tables_of

KINDS = ("text", "drafts", "beams")
OWNERS = ("target", "draft", "head")
DRAFTER_KINDS = ("model", "head", "text", "other")
KV_PHASES = ("commit", "forward")
STATUSES = ("done", "stopped", "failed")
VERDICT_COLUMNS = ("p", "q", "u", "rank", "score", "gap", "replacement", "reason", "value", "threshold", "count", "why")
PROMPT, DRAFT, FORWARD, ACCEPT, COMMIT, OBSERVE = -1, 0, 1, 2, 3, 4


class RecordWarning(UserWarning):
    """The recorded run breaks a rule of decoding, or a recorder cannot write any more."""


class RecordError(ValueError):
    """The same, where strict=True asked for an exception."""


class Drafter(NamedTuple):
    """Who drafts: `kind` is model, head, text (a search in texts) or other."""

    name: str
    kind: str = "other"
    title: str = ""


class Node(int):
    """A node by its number in the capture, where an index among the round's drafts would be expected."""


NodeIndex = Union[int, Node]


def _choice(where: str, value: Any, names: Sequence[str]) -> str:
    if value not in names:
        raise ValueError(f"{where}: expected one of {', '.join(names)}; found {value!r}")
    return value


def _json(where: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, dict):
        raise values.wrong(where, "a dict", value, "pass {name: value}")
    return json.dumps(value, separators=(",", ":"), default=lambda one: values.plain(one) if hasattr(one, "tolist") else str(one))


def _callers() -> int:
    """The stacklevel at which a warning names the line of the caller's program, not one of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level


_open_recorders: "weakref.WeakSet[Recorder]" = weakref.WeakSet()


def _in_child() -> None:
    for recorder in list(_open_recorders):
        recorder._left_behind()


def _at_exit() -> None:
    for recorder in list(_open_recorders):
        recorder._end("stopped", "the program ended before finish()")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
atexit.register(_at_exit)


class Recorder:
    """Records one run into `path`, which it replaces if it is a capture.

    kind: "text" (a token a round), "drafts" (a round verifies drafts), "beams". level: "steps", "tree" or "full".
    tokenizer: Hugging Face's, a function id → str or bytes, a dict, or None. candidates: how many of a row's best
    tokens are kept. strict: whatever is wrong raises RecordError.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], tokenizer: Any = None, method: str = "recorded", title: str = "",
                 kind: str = "drafts", model: Optional[Dict[str, Any]] = None, settings: Optional[Dict[str, Any]] = None,
                 seed: int = 0, level: str = "full", *, width: Optional[int] = None, max_new_tokens: int = 0,
                 kv_policy: str = "", candidates: int = 5, setting_titles: Optional[Dict[str, str]] = None,
                 setting_words: Optional[Dict[str, str]] = None, versions: Optional[Dict[str, str]] = None, program: Tuple[str, str] = ("", ""),
                 conversation: Optional[List[Dict[str, str]]] = None, strict: bool = False):
        if not isinstance(path, (str, os.PathLike)):
            raise values.wrong("Recorder(path)", "a file name", path, 'pass "run.tscap"')
        if not isinstance(method, str) or not method:
            raise values.wrong("Recorder(method=…)", "a name", method, 'pass method="mine"')
        self.path = os.fspath(path)
        self.kind = _choice("Recorder(kind=…)", kind, KINDS)
        self._tables = tables_of(_choice("Recorder(level=…)", level, ("steps", "tree", "full")))
        self._piece = values.pieces_of(tokenizer)
        self._best = int(candidates)
        self._strict = strict
        self._settings = dict(settings or {})
        self._model = dict(model or {})
        self._window = int(self._model.get("sliding_window") or 0)
        width = int(width or self._settings.get("num_beams") or 1)
        self._width = width
        self._max_new_tokens = int(max_new_tokens)
        layers, heads, size = (self._model.get(name) for name in ("layers", "kv_heads", "head_dim"))
        bytes_of = {"f32": 4, "float32": 4, "f16": 2, "float16": 2, "bf16": 2, "bfloat16": 2}
        each = bytes_of.get(str(self._model.get("dtype", "")).replace("torch.", ""), 0)
        kv_bytes = 2 * int(layers) * int(heads) * int(size) * each if layers and heads and size else 0
        self._run: Dict[str, Any] = {
            "created_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "model_json": _json("Recorder(model=…)", model), "method": method, "method_title": title, "kind": kind,
            "width": width, "settings_json": _json("Recorder(settings=…)", settings),
            "setting_titles_json": _json("Recorder(setting_titles=…)", setting_titles),
            "setting_words_json": _json("Recorder(setting_words=…)", setting_words), "seed": int(seed),
            "versions_json": _json("Recorder(versions=…)", versions if versions is not None else _versions()),
            "max_new_tokens": self._max_new_tokens, "kv_bytes_per_token": kv_bytes, "sliding_window": self._window,
            "kv_policy": kv_policy, "conversation_json": json.dumps(conversation) if conversation else "",
            "status": "running", "recorder": identity()}
        self._lock = threading.RLock()
        self._began = time.perf_counter()
        self._rows: Dict[str, List[Sequence[Any]]] = {table: [] for table in self._tables}
        self._warned: Set[str] = set()
        self._is_off = False
        self._is_finished = False
        # The tree: by node.
        self._parent: List[int] = [-1]
        self._token: List[int] = [-1]
        self._depth: List[int] = [0]
        self._score: List[Optional[float]] = [0.0]
        self._logprob: List[Optional[float]] = [0.0]
        self._children: Dict[Tuple[int, int], int] = {}
        self._live_below: Dict[int, int] = {}  # beams: how many live leaves
        self._ended: Set[int] = set()  # beams: nodes on finished texts
        self._pieces: Set[int] = set()
        self._new_pieces: List[int] = []  # of this round
        self._drafters: Dict[str, int] = {}
        self._prompt: Optional[List[int]] = None
        self._prompt_rows: Optional[values.Row] = None
        self._prompt_slots: Optional[List[int]] = None
        self._prompt_begun = 0
        self._prompt_length = 0.0
        self._frontier: List[int] = [0]
        self._step = 0  # the next one to be written
        self._round: Optional[Round] = None
        # Caches, by owner: who lies in a slot, where an occupant lies, which slots were ever taken.
        self._holder: Dict[str, Dict[int, int]] = {owner: {} for owner in OWNERS}
        self._slot_of: Dict[str, Dict[int, int]] = {owner: {} for owner in OWNERS}
        self._used: Dict[str, Set[int]] = {owner: set() for owner in OWNERS}
        self._garbage: Dict[str, Set[int]] = {owner: set() for owner in OWNERS}
        self._is_dense = False  # no slots are told: a cache without gaps, as a mask's columns are
        self._dense_length = 0
        self._has_memory = False
        self._is_late = True  # the prompt's rows of step 0 are not written yet
        command = " ".join(sys.argv) if getattr(sys, "argv", None) else ""
        name, version = program
        self._file = CaptureFile(self.path, self._run, (name or "triescope for Python", version or _version(), command))
        _open_recorders.add(self)

    @staticmethod
    def off() -> "OffRecorder":
        """A recorder that does nothing, for runs that are not recorded."""
        return OffRecorder()

    # The run.

    def prompt(self, ids: Any, text: Optional[str] = None, logits: Any = None, *, slots: Any = None) -> None:
        """Step 0. `logits`: those of the prompt's last row. `slots`: where its KV lies; by default what the first
        round's slots or mask imply."""
        if self._prompt is not None:
            raise RuntimeError("prompt(): expected one prompt a run, found a second; open another Recorder")
        found = values.ids(ids, "prompt(ids)")
        for token in found:
            if token < 0:
                raise TypeError(f"prompt(ids): expected token ids from 0, found {token}; leave padding out")
        row = values.rows_of(logits, self._best, "prompt(logits=…)")[-1] if logits is not None else None
        if text is not None and not isinstance(text, str):
            raise values.wrong("prompt(text=…)", "a str", text, "leave it out, or pass the prompt as typed")
        with self._lock:
            self._prompt = found
            self._prompt_rows = row
            self._prompt_begun = self._now()
            if slots is not None:
                self._prompt_slots = values.ids(slots, "prompt(slots=…)", "slots")
                if len(self._prompt_slots) != len(found):
                    raise TypeError(f"prompt(slots=…): expected {len(found)} slots, found {len(self._prompt_slots)}")
            self._add("node", (0, -1, -1, 0, 0.0, 0.0, 1.0, "prompt", 0, "candidate", -1))
            for token in found:
                self._know(token)
            if text is None:
                text = b"".join(self._piece(token) or b"" for token in found).decode("utf-8", "replace")
            self._write({"prompt_text": text, "prompt_tokens": json.dumps(found)})

    def round(self) -> "Round":
        """One draft, verify, commit: `with cap.round() as r:`."""
        if self._prompt is None:
            raise RuntimeError("round(): expected prompt() before the first round, found none; call cap.prompt(ids)")
        if self._is_finished:
            raise RuntimeError("round(): expected a run that goes on, found finish(); open another Recorder")
        if self._round is not None:
            raise RuntimeError("round(): expected one round at a time, found one inside another; a recorder is for "
                               "one run, each thread takes its own")
        return Round(self)

    def finish(self, status: str = "done", sequences: Any = None, *, message: str = "") -> None:
        """The end. `sequences`: the texts that are returned, best first: token ids, or {"tokens", "score", "finish"}."""
        _choice("finish(status)", status, STATUSES)
        if self._is_finished:
            return
        with self._lock:
            self._close_prompt()
            self._prompt_inputs(None)
            tick = max(5 * self._step - 1, 0)
            if sequences is None and self._prompt is not None and self.kind != "beams":
                sequences = [self.tokens()]
            for rank, one in enumerate(sequences or []):
                if not isinstance(one, dict):
                    one = {"tokens": one}
                if "tokens" not in one:
                    raise TypeError("finish(sequences=…): expected token ids, or dicts with tokens, score and finish; "
                                    f"found a dict with {', '.join(map(str, one)) or 'nothing'}")
                tokens = values.ids(one["tokens"], "finish(sequences=…)")
                node = self._find(tokens)
                score = one.get("score")
                end = one.get("finish") or self._end_of(tokens, status)
                for token in tokens:
                    self._know(token)
                self._add("sequence", (tick, node if node > 0 else None, rank,
                                       None if score is None else values.number(score, "finish(sequences=…)"), end,
                                       json.dumps(tokens)))
            self._end(status, message)

    def log(self, text: str, level: str = "info") -> None:
        """A message beside the run, at the newest step."""
        with self._lock:
            self._add("log", (max(5 * self._step - 1, 0), _choice("log(level=…)", level, ("debug", "info", "warning", "error")),
                              str(text)))

    def tokens(self) -> List[int]:
        """What has become text so far (beams: of the best one)."""
        node = self._frontier[0] if self._frontier else 0
        return [self._token[one] for one in self._path(node)]

    def node(self, index: int) -> Node:
        """The node of the text's token `index`, 0 the first after the prompt, for rows of text that is older than
        the last token. Prompt token i is -2 - i."""
        return Node(self._path(self._frontier[0])[index])

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._is_finished:
            return
        if error is None:
            self.finish()
        else:
            stopped = isinstance(error, (KeyboardInterrupt, GeneratorExit))
            self.finish("stopped" if stopped else "failed", message=f"{kind.__name__}: {error}"[:1000])

    def __del__(self) -> None:
        try:
            self._end("stopped", "the recorder was dropped before finish()")
        except Exception:  # noqa: BLE001  (an interpreter that shuts down)
            pass

    # What rounds use.

    def _now(self) -> int:
        return int((time.perf_counter() - self._began) * 1e6)

    def _add(self, table: str, row: Sequence[Any]) -> None:
        rows = self._rows.get(table)
        if rows is not None:
            rows.append(row)

    def _know(self, token: int) -> None:
        if token in self._pieces or token < 0 or "piece" not in self._tables:
            return
        self._pieces.add(token)
        self._new_pieces.append(token)
        try:
            piece = self._piece(token)
        except Exception:  # noqa: BLE001  (an id beyond the vocabulary: the caller's tokenizer decides how it fails)
            piece = None
        if piece is not None:
            self._add("piece", (token, piece))

    def _path(self, node: int) -> List[int]:
        path: List[int] = []
        while node > 0:
            path.append(node)
            node = self._parent[node]
        return path[::-1]

    def _find(self, tokens: Iterable[int]) -> int:
        node = 0
        for token in tokens:
            node = self._children.get((node, token), -1)
            if node < 0:
                return -1
        return node

    def _end_of(self, tokens: Sequence[int], status: str) -> str:
        ends = self._model.get("eos_token_ids") or []
        ends = ends if isinstance(ends, (list, tuple)) else [ends]
        if tokens and tokens[-1] in ends:
            return "eos"
        if self._max_new_tokens and len(tokens) >= self._max_new_tokens:
            return "length"
        return "stopped"

    def _position(self, node: int) -> int:
        return -2 - node if node <= -2 else len(self._prompt or ()) + self._depth[node] - 1

    def _name(self, node: int) -> str:
        if node <= -2:
            return f"prompt token {-2 - node}"
        if node == 0:
            return "the prompt"
        piece = self._piece_text(self._token[node])
        return f"node {node}{piece}"

    def _piece_text(self, token: int) -> str:
        try:
            piece = self._piece(token)
        except Exception:  # noqa: BLE001
            piece = None
        return f" ({piece.decode('utf-8', 'replace')!r})" if piece else f" (token {token})"

    def _hang(self, parent: int, token: int, source: str, tick: int, *, q: Optional[float] = None, drafter: int = -1,
              logprob: Optional[float] = None, score: Optional[float] = None, again: bool = True,
              role: str = "candidate") -> int:
        if again and (parent, token) in self._children:
            return self._children[(parent, token)]
        node = len(self._parent)
        self._parent.append(parent)
        self._token.append(token)
        self._depth.append(self._depth[parent] + 1)
        if score is None and logprob is not None:
            above = self._score[parent]
            score = None if above is None else above + logprob
        self._score.append(score)
        self._logprob.append(logprob)
        self._children.setdefault((parent, token), node)
        self._know(token)
        self._add("node", (node, parent, token, self._depth[node], logprob, score, 1.0 if q is None else q, source, tick,
                           role, drafter))
        return node

    def _drafter(self, drafter: Any) -> int:
        if drafter is None:
            drafter = Drafter("drafts")
        elif isinstance(drafter, str):
            drafter = Drafter(drafter)
        elif isinstance(drafter, (tuple, list)) and drafter and isinstance(drafter[0], str):
            drafter = Drafter(*drafter)
        else:
            raise values.wrong("draft(drafter=…)", "a name or a Drafter", drafter, 'pass drafter="my head"')
        if drafter.name not in self._drafters:
            _choice("draft(drafter=…)", drafter.kind, DRAFTER_KINDS)
            self._drafters[drafter.name] = len(self._drafters)
            self._add("drafter", (drafter.name, drafter.title, drafter.kind))
        return self._drafters[drafter.name]

    def _remark(self, rule: str, text: str, tick: int) -> None:
        if self._strict:
            raise RecordError(text)
        self._add("log", (tick, "warning", text))
        if rule not in self._warned:
            self._warned.add(rule)
            warnings.warn(f"{text} (recorded as it is; more of this kind is only in the capture's log)", RecordWarning,
                          stacklevel=_callers())

    # Caches.

    def _take(self, owner: str, slot: int, node: int, tick: int) -> None:
        if slot < 0 or self._holder[owner].get(slot) == node:
            return
        action = "reuse" if slot in self._used[owner] else "alloc"
        self._used[owner].add(slot)
        self._put(owner, slot, node)
        self._add("slot", (tick, action, slot, node, -1, owner))

    def _put(self, owner: str, slot: int, node: int) -> None:
        before = self._holder[owner].get(slot)
        if before is not None and self._slot_of[owner].get(before) == slot:
            del self._slot_of[owner][before]
        self._holder[owner][slot] = node
        self._slot_of[owner][node] = slot
        self._garbage[owner].discard(slot)

    def _free(self, owner: str, slot: int, tick: int, node: Optional[int] = None) -> None:
        holder = self._holder[owner].pop(slot, None)
        self._garbage[owner].discard(slot)
        if holder is not None and self._slot_of[owner].get(holder) == slot:
            del self._slot_of[owner][holder]
        node = holder if node is None else node
        self._add("slot", (tick, "free", slot, 0 if node is None else node, -1, owner))

    def _text_slots(self, owner: str, node: int) -> Tuple[Dict[int, int], bool]:
        """Occupant → slot of the text up to `node`, and whether all of them are known."""
        places = self._slot_of[owner]
        wanted = [-2 - i for i in range(len(self._prompt or ()))] + self._path(node)
        known = {one: places[one] for one in wanted if one in places}
        return known, len(known) == len(wanted)

    # Writing.

    def _close_prompt(self, first: Optional["Round"] = None) -> None:
        """Step 0, once it is known where the prompt's KV lies and what was made of its logits."""
        if self._step > 0 or self._prompt is None:
            return
        count = len(self._prompt)
        alone = count - (len(first._prompt_rows) if first is not None else 0)
        if self._prompt_rows is not None:
            self._candidates(0, self._prompt_rows, FORWARD, "target")
        is_choice = first is not None and first._is_choice
        if first is not None and is_choice:
            first._decide(0)
        else:
            self._add("frontier", (0, 0, 0, 0.0))
            self._add("step", (0, alone, 0, 0, 0, 1))
        end = first._begun if first is not None and not is_choice else self._now()
        self._phases(0, self._prompt_begun, {"forward": self._prompt_length} if not is_choice or first is None else first._times,
                     end)
        self._step = 1

    def _prompt_places(self, of: Optional["Round"]) -> Optional[List[int]]:
        """Slots of the prompt's tokens, as far as they are told or follow from a round's rows; None: not known."""
        if self._prompt_slots is not None:
            return self._prompt_slots
        count = len(self._prompt or ())
        if self._is_dense or (of is not None and of._begins_behind(count)):
            return list(range(count))
        return None

    def _prompt_inputs(self, of: Optional["Round"]) -> None:
        """The prompt's rows of step 0, all but those that the first forward of the rounds computed itself."""
        if not self._is_late or self._prompt is None:
            return
        self._is_late = False
        slots = self._prompt_places(of)
        later = of._prompt_rows if of is not None else set()
        row = 0
        for i in range(len(self._prompt)):
            if -2 - i in later:
                continue
            slot = -1 if slots is None else slots[i]
            self._add("input", (0, row, -2 - i, i, slot, i, "target", 0))
            self._take("target", slot, -2 - i, FORWARD)
            row += 1
        if slots is not None and not self._has_memory:
            self._memory(0, NOTHING_TOLD, row)

    def _memory(self, step: int, kv: Dict[str, Any], only: Optional[int] = None) -> None:
        owner = kv["owner"]
        self._has_memory = True
        garbage = len(self._garbage[owner])
        live = kv["live"] if kv["live"] is not None else len(self._holder[owner]) - garbage
        if only is not None:  # of step 0, written late
            live, garbage = only, 0
        depth = 0 if only is not None else max((self._depth[node] for node in self._frontier), default=0)
        greedy = kv["greedy"] if kv["greedy"] is not None else len(self._prompt or ()) + max(0, depth - 1)
        batch_beam = kv["batch_beam"] if kv["batch_beam"] is not None else greedy * (self._width if self.kind == "beams" else 1)
        self._add("memory", (step, live, garbage, kv["reserved"] or 0, greedy, batch_beam, kv["moved_bytes"], *kv["device"],
                            owner))
        if kv["bytes"] and kv["bytes"] != self._run.get("kv_bytes_per_token"):
            self._run["kv_bytes_per_token"] = int(kv["bytes"])
            self._write({"kv_bytes_per_token": int(kv["bytes"])})

    def _candidates(self, node: int, row: values.Row, tick: int, owner: str, chosen: Sequence[int] = ()) -> None:
        for rank, (token, logprob) in enumerate(row[0]):
            self._know(token)
            self._add("candidate", (tick, node, rank, token, logprob, int(token in chosen), owner))

    def _phases(self, step: int, begun: int, times: Dict[str, float], end: int) -> None:
        at = begun
        for phase, name in enumerate(("draft", "forward", "accept", "commit", "observe")):
            length = round(times.get(name, 0.0) * 1000)
            self._add("phase", (5 * step + phase, at, length))
            at += length

    def _write(self, run: Optional[Dict[str, Any]] = None) -> None:
        if self._is_off:
            for rows in self._rows.values():
                rows.clear()
            return
        try:
            self._file.write(self._rows, run)
        except (sqlite3.Error, OSError) as error:
            self._is_off = True
            if self._strict:
                raise RecordError(f"{self.path}: cannot be written: {error}") from error
            warnings.warn(f"{self.path}: cannot be written any more: {error}; the run goes on unrecorded. "
                          "What was written stays readable", RecordWarning, stacklevel=_callers())
        finally:
            for rows in self._rows.values():
                rows.clear()

    def _end(self, status: str, message: str = "") -> None:
        if getattr(self, "_is_finished", True):
            return
        self._is_finished = True
        _open_recorders.discard(self)
        if not self._is_off:
            self._write({"status": status, "message": message})
        self._file.close()

    def _left_behind(self) -> None:
        """In a forked child: the run is the parent's to record."""
        self._is_off = True
        self._lock = threading.RLock()
        self._file.close()


NOTHING_TOLD: Dict[str, Any] = {"owner": "target", "live": None, "reserved": None, "bytes": None, "moved_bytes": 0,
                                "greedy": None, "batch_beam": None, "device": (-1, -1)}


class Round:
    """One draft, verify, commit. Made by Recorder.round(), used in a `with`."""

    def __init__(self, recorder: Recorder):
        self._cap = recorder
        self._step = max(1, recorder._step)
        self._tip = recorder._frontier[0] if recorder._frontier else 0
        self._frontier = list(recorder._frontier)
        self._begun = recorder._now()
        self._first_node = len(recorder._parent)
        self._drafts: List[int] = []  # nodes, by index
        self._q: List[Optional[float]] = []
        self._sent: List[bool] = []
        self._is_probe: List[bool] = []
        self._scores: Dict[int, float] = {}
        self._tokens_drafted: List[Tuple[int, int]] = []
        self._batches: List[Dict[str, Any]] = []  # rows() calls
        self._outputs: List[Tuple[str, List[int], List[values.Row]]] = []  # target() calls
        self._committed: Optional[Dict[str, Any]] = None
        self._levels: List[Dict[str, Any]] = []
        self._kv: List[Dict[str, Any]] = []
        self._times: Dict[str, float] = {}
        self._stages: List[Tuple[Any, ...]] = []
        self._more: List[Tuple[str, Tuple[Any, ...]]] = []
        self._counts: Optional[Tuple[int, int, int, int]] = None

    def __enter__(self) -> "Round":
        cap = self._cap
        cap._lock.acquire()
        cap._round = self
        self._mark = {table: len(rows) for table, rows in cap._rows.items()}
        cap._new_pieces.clear()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        cap = self._cap
        try:
            cap._round = None
            if error is not None:
                self._undo()
                return
            self._close()
        finally:
            cap._lock.release()

    # What a caller says.

    def draft(self, tokens: Any, parents: Any = None, q: Any = None, scores: Any = None, drafter: Any = None,
              sent: Any = True, *, probe: bool = False) -> List[int]:
        """Drafted tokens; may be called level by level. parents: of each the index among this round's drafts, -1 the
        end of the text; None: a chain. q: the probability each was drawn with (None: chosen, not drawn). scores: the
        drafter's cumulative log-probabilities. sent: whether the target gets them (one for all, or one each).
        Returns their indices."""
        cap = self._cap
        found = values.ids(tokens, "draft(tokens)")
        first = len(self._drafts)
        if parents is None:
            above = [first - 1 if i == 0 else first + i - 1 for i in range(len(found))]
        else:
            if isinstance(parents, Node):
                parents = [parents]
            above = [one if isinstance(one, Node) else None for one in parents] if isinstance(parents, (list, tuple)) else []
            plain = values.ids(parents, "draft(parents)", "indices")
            above = [a if a is not None else p for a, p in zip(above, plain)] if above else plain
            if len(above) != len(found):
                raise TypeError(f"draft(parents): expected {len(found)} indices, one for each token, found {len(above)}; "
                                "-1 stands for the end of the text")
        qs = values.numbers(q, len(found), "draft(q=…)")
        known = values.numbers(scores, len(found), "draft(scores=…)")
        if isinstance(sent, bool):
            sents = [sent] * len(found)
        else:
            sents = [bool(one) for one in values.plain(sent)]
            if len(sents) != len(found):
                raise TypeError(f"draft(sent=…): expected {len(found)} truth values, found {len(sents)}")
        by = cap._drafter(drafter)
        tick = 5 * self._step + DRAFT
        total = first + len(found)
        done: Dict[int, int] = {}

        def hang(i: int, above_it: Set[int]) -> int:
            if i in done:
                return done[i]
            parent = above[i]
            if isinstance(parent, Node):
                if not 0 <= parent < len(cap._parent):
                    cap._remark("parent", f"step {self._step}: draft {first + i} hangs below node {int(parent)}, which "
                                          "is not there; it is shown at the end of the text", tick)
                    parent = self._tip
                at = int(parent)
            elif parent == -1:
                at = self._tip
            elif 0 <= parent < first:
                at = self._drafts[parent]
            elif first <= parent < total and parent - first not in above_it and parent != first + i:
                at = hang(parent - first, above_it | {i})
            else:
                cap._remark("parent", f"step {self._step}: draft {first + i} hangs below draft {parent}, which is not "
                                      "there; it is shown at the end of the text", tick)
                at = self._tip
            token = found[i]
            is_twice = (at, token) in self._tokens_drafted
            if is_twice:
                cap._remark("twice", f"step {self._step}: draft {first + i}{cap._piece_text(token)} is drafted twice "
                                     f"below {cap._name(at)}", tick)
            self._tokens_drafted.append((at, token))
            node = cap._hang(at, token, "draft", tick, q=qs[i], drafter=by, again=not is_twice and not probe,
                             role="probe" if probe else "candidate")
            done[i] = node
            return node

        for i in range(len(found)):
            hang(i, set())
        for i in range(len(found)):
            self._drafts.append(done[i])
            self._q.append(qs[i])
            self._sent.append(sents[i])
            self._is_probe.append(probe)
            score = known[i]
            if score is not None:
                self._scores[first + i] = score
        if q is not None:
            self._check_q(tick)
        return list(range(first, total))

    def rows(self, nodes: Any, positions: Any = None, slots: Any = None, mask: Any = None, owner: str = "target", *,
             naive_positions: Any = None) -> None:
        """A forward's rows, in the order of the batch. nodes: an index among this round's drafts, -1 the end of the
        text, -2 - i prompt token i (beams: the beam's rank). mask: bool [rows, slots or rows], additive float, or
        a list of slots for each row."""
        cap = self._cap
        _choice("rows(owner=…)", owner, OWNERS)
        found = [self._resolve(one, "rows(nodes)") for one in (nodes if isinstance(nodes, (list, tuple)) else
                                                               values.ids(nodes, "rows(nodes)", "indices"))]
        count = len(found)
        batch: Dict[str, Any] = {"owner": owner, "nodes": found,
                                 "forward": sum(one["owner"] == owner for one in self._batches)}
        tick = 5 * self._step + (FORWARD if owner == "target" else DRAFT)
        batch["tick"] = tick
        if positions is not None:
            batch["positions"] = values.ids(positions, "rows(positions=…)", "positions")
        if naive_positions is not None:
            batch["naive"] = values.ids(naive_positions, "rows(naive_positions=…)", "positions")
        if slots is not None:
            batch["slots"] = values.ids(slots, "rows(slots=…)", "slots")
        for name in ("positions", "slots", "naive"):
            if name in batch and len(batch[name]) != count:
                raise TypeError(f"rows({name}=…): expected {count}, one for each row, found {len(batch[name])}")
        if mask is not None:
            batch["mask"], batch["columns"] = values.mask_rows(mask, count, "rows(mask=…)")
        self._batches.append(batch)
        self._place(batch)
        if owner == "target":
            self._check_positions(batch)

    def target(self, logits: Any, owner: str = "target") -> None:
        """What the rows of the newest rows() say: logits [rows, vocabulary] (or log-probabilities), or
        [(token, log p), …] a row; fewer than rows() has are those of the last rows. Without rows(): the end of the
        text, then the drafts that were sent."""
        found = values.rows_of(logits, self._cap._best, "target(logits)")
        expected = self._output_nodes(owner)
        if len(found) > len(expected):
            raise TypeError(f"target(logits): expected {len(expected)} rows, as many as rows() has (without it: the end "
                            f"of the text and the drafts sent), found {len(found)}; pass logits[0, -{len(expected)}:]")
        # Fewer: those of the last rows, as engines compute them.
        nothing: values.Row = ([], lambda token: None, lambda token: None)
        found = [nothing] * (len(expected) - len(found)) + found
        self._outputs.append((owner, list(expected), found))

    def commit(self, accepted: Any = (), token: Any = None, p: Any = None, u: Any = None, why: Any = None, *,
               ends: Optional[str] = None, source: Optional[str] = None) -> None:
        """What became text: `accepted`, a path of drafts, then `token`, the target's own (None at the end of the text).
        p, u and why are of the token, or a dict {draft: value, "token": value}. why: words of your own, or a dict of a
        verdict's columns (reason, threshold, …). ends: "eos" or "length" where the text ends here."""
        cap = self._cap
        if cap.kind == "beams":
            raise RuntimeError('commit(): expected level() in a recorder of kind "beams"')
        if self._committed is not None:
            raise RuntimeError("commit(): expected one commit a round, found a second; begin another round")
        path = values.ids(accepted, "commit(accepted)", "indices of drafts")
        own = None if token is None else values.an_id(token, "commit(token)")
        if own is not None and own < 0:
            raise TypeError(f"commit(token): expected a token id, found {own}; None stands for no token")
        tick = 5 * self._step + ACCEPT
        known: List[int] = []
        whys: Dict[Any, Any] = self._each(why, "why")
        at = self._tip
        for index in path:
            if not 0 <= index < len(self._drafts):
                cap._remark("accepted", f"step {self._step}: accepted names draft {index}, which is not there", tick)
                continue
            node = self._drafts[index]
            if cap._parent[node] != at:
                text = (f"step {self._step}: accepted is not a path: draft {index} hangs below "
                        f"{cap._name(cap._parent[node])}, not below {cap._name(at)}")
                cap._remark("path", text, tick)
                whys.setdefault(index, text)
            known.append(index)
            at = node
        self._committed = {"accepted": known, "token": own, "p": self._each(p, "p"), "u": self._each(u, "u"), "why": whys,
                           "ends": ends, "source": source, "last": at}

    def level(self, tokens: Any, parents: Any, scores: Any, kept: Any = (), finished: Any = (), gaps: Any = None, *,
              why: Any = None) -> None:
        """A level of a beam search: its continuations. parents: the rank of the beam each goes on from (-1: the
        prompt). scores: Σ log p. kept: the indices that go on, best first. finished: those that ended a text, or
        (index, score after the length penalty). gaps: the distance of each to the cut. why: {index: …} as in
        commit(), and {("beam", rank): …} of beams that nothing goes on from."""
        cap = self._cap
        if cap.kind != "beams":
            raise RuntimeError(f'level(): expected a recorder of kind "beams", found "{cap.kind}"; call commit()')
        found = values.ids(tokens, "level(tokens)")
        above = values.ids(parents, "level(parents)", "ranks of beams")
        if len(above) != len(found):
            raise TypeError(f"level(parents): expected {len(found)}, one for each token, found {len(above)}")
        if scores is None:
            raise values.wrong("level(scores)", "Σ log p of each", scores, "pass a list of numbers")
        ends: List[Tuple[int, Optional[float]]] = []
        for one in (finished if isinstance(finished, (list, tuple)) else values.plain(finished)):
            if isinstance(one, (list, tuple)):
                ends.append((int(one[0]), values.number(one[1], "level(finished)")))
            else:
                ends.append((values.an_id(one, "level(finished)"), None))
        goes_on = values.ids(kept, "level(kept)", "indices")
        for index in goes_on + [one for one, _ in ends]:
            if not 0 <= index < len(found):
                raise TypeError(f"level(): expected indices from 0 to {len(found) - 1}, found {index} in kept or finished")
        self._levels.append({"tokens": found, "parents": above, "kept": goes_on, "finished": ends,
                             "scores": values.numbers(scores, len(found), "level(scores)"),
                             "gaps": values.numbers(gaps, len(found), "level(gaps)") if gaps is not None else None,
                             "why": self._each(why, "why")})

    def kv(self, taken: Any = (), moved: Any = (), freed: Any = (), garbage: Any = (), live: Optional[int] = None,
           reserved: Optional[int] = None, bytes_per_token: Optional[int] = None, *, owner: str = "target",
           moved_bytes: int = 0, greedy: Optional[int] = None, batch_beam: Optional[int] = None,
           device: Tuple[int, int] = (-1, -1), phase: str = "commit") -> None:
        """What happened to KV slots: taken [(slot, node)], moved [(from, to)], freed and garbage [slot]; live and
        reserved: tokens at the end of the step. phase: when slots were moved, freed or marked as garbage: at the
        "commit", or with the owner's "forward"s, between the calls of rows() where this call stands."""
        _choice("kv(owner=…)", owner, OWNERS)
        _choice("kv(phase=…)", phase, KV_PHASES)

        def pairs(value: Any, name: str) -> List[Tuple[Any, Any]]:
            result = []
            for one in value if isinstance(value, (list, tuple)) else values.plain(value):
                if not isinstance(one, (list, tuple)) or len(one) != 2:
                    raise TypeError(f"kv({name}=…): expected pairs, found {one!r}; pass [(slot, …), …]")
                result.append((one[0], one[1]))
            return result

        self._kv.append({"owner": owner, "taken": [(values.an_id(slot, "kv(taken=…)"), self._resolve(node, "kv(taken=…)"))
                                                   for slot, node in pairs(taken, "taken")],
                         "moved": [(values.an_id(a, "kv(moved=…)"), values.an_id(b, "kv(moved=…)"))
                                   for a, b in pairs(moved, "moved")],
                         "freed": values.ids(freed, "kv(freed=…)", "slots"),
                         "garbage": values.ids(garbage, "kv(garbage=…)", "slots"), "live": live, "reserved": reserved,
                         "bytes": bytes_per_token, "moved_bytes": moved_bytes, "greedy": greedy,
                         "batch_beam": batch_beam, "device": device, "phase": phase,
                         "forward": sum(one["owner"] == owner for one in self._batches)})

    def time(self, draft: float = 0.0, forward: float = 0.0, accept: float = 0.0, commit: float = 0.0,
             observe: float = 0.0) -> None:
        """Milliseconds of each phase."""
        for name, value in (("draft", draft), ("forward", forward), ("accept", accept), ("commit", commit), ("observe", observe)):
            if value:
                self._times[name] = self._times.get(name, 0.0) + values.number(value, f"time({name}=…)")

    def metric(self, name: str, value: Any, node: Optional[NodeIndex] = None) -> None:
        """A number of your own, about the step or a node (an index as in rows())."""
        if not isinstance(name, str):
            raise values.wrong("metric(name)", "a str", name, 'pass metric("entropy", 2.3)')
        at = None if node is None else self._resolve(node, "metric(node=…)")
        self._more.append(("metric", (-1 if at is None or at < 0 else at, name, values.number(value, "metric(value)"))))

    def log(self, text: str, level: str = "info") -> None:
        self._more.append(("log", (_choice("log(level=…)", level, ("debug", "info", "warning", "error")), str(text))))

    def counts(self, drafted: int = 0, accepted: int = 0, emitted: int = 1, rows: int = 0) -> None:
        """The step's figures alone, where no tokens are known (level "steps")."""
        self._counts = (int(rows), int(drafted), int(accepted), int(emitted))

    # How it becomes rows.

    @property
    def _prompt_rows(self) -> Set[int]:
        return {node for batch in self._batches if batch["owner"] == "target" for node in batch["nodes"] if node <= -2}

    @property
    def _is_choice(self) -> bool:
        """Nothing but a decision: what the prompt's logits were good for, which belongs to step 0."""
        return not self._drafts and not self._batches and not self._outputs and self._counts is None

    def _begins_behind(self, count: int) -> bool:
        slots = [slot for batch in self._batches if batch["owner"] == "target" for slot in batch.get("slots", ())]
        return bool(slots) and min(slots) == count

    def _each(self, value: Any, name: str) -> Dict[Any, Any]:
        if isinstance(value, dict) and any(key in VERDICT_COLUMNS for key in value):
            return {"token": value}
        if isinstance(value, dict):
            return dict(value)
        if isinstance(value, (list, tuple)):
            raise values.wrong(f"commit({name}=…)", "a value of the token, or {draft: value}", value,
                               f'pass {name}={{0: …, "token": …}}')
        return {} if value is None else {"token": value}

    def _resolve(self, node: Any, where: str) -> int:
        """The capture's number of what a caller means."""
        cap = self._cap
        if isinstance(node, Node):
            return int(node)
        index = values.an_id(node, where)
        prompt = len(cap._prompt or ())
        if index <= -2:
            if -2 - index >= prompt:
                raise TypeError(f"{where}: expected prompt tokens as -2 to {-1 - prompt}, found {index}")
            return index
        of = self._frontier if cap.kind == "beams" else self._drafts
        if index == -1 or (cap.kind == "beams" and of == [0] and index == 0):
            return self._tip if self._tip > 0 else -1 - prompt  # the prompt's end is its last token's row
        if index >= len(of):
            raise TypeError(f"{where}: expected indices from -1 to {len(of) - 1}, found {index}; drafts come before rows")
        return of[index]

    def _output_nodes(self, owner: str) -> List[int]:
        for batch in reversed(self._batches):
            if batch["owner"] == owner:
                return batch["nodes"]
        if self._cap.kind == "beams":
            return list(self._frontier)
        return [self._tip] + [node for node, sent in zip(self._drafts, self._sent) if sent]

    def _row_node(self, node: int) -> Optional[int]:
        """Whose next token a row is about; None: a prompt token before the last."""
        if node > 0:
            return node
        return 0 if node in (0, -1 - len(self._cap._prompt or ())) else None

    def _check_q(self, tick: int) -> None:
        cap = self._cap
        sums: Dict[int, float] = {}
        for node, q in zip(self._drafts, self._q):
            if q is not None and q < 1:
                sums[cap._parent[node]] = sums.get(cap._parent[node], 0.0) + q
        for parent, total in sums.items():
            if total > 1 + 1e-3:
                cap._remark("q", f"step {self._step}: the drafts below {cap._name(parent)} have Σ q = {total:.4g}, which is "
                                 "above 1", tick)

    def _check_positions(self, batch: Dict[str, Any]) -> None:
        cap = self._cap
        for row, (node, position) in enumerate(zip(batch["nodes"], batch.get("positions", ()))):
            right = cap._position(node)
            if position != right:
                cap._remark("position", f"step {self._step}, row {row}: {cap._name(node)} has position {position}; prompt + "
                                        f"depth - 1 is {right}", batch["tick"])
                return

    def _place(self, batch: Dict[str, Any]) -> None:
        """Slots, and the mask in slots."""
        cap, owner, nodes = self._cap, batch["owner"], batch["nodes"]
        tick = batch["tick"]
        count = len(nodes)
        mask, columns = batch.get("mask"), batch.get("columns")
        slots = batch.get("slots")
        if slots is None and mask is not None and owner == "target" and cap.kind != "beams":
            if not cap._is_dense:
                cap._is_dense = True
                cap._dense_length = len(cap._prompt or ()) - len(self._prompt_rows) + max(0, cap._depth[self._tip] - 1)
            base = cap._dense_length if columns in (None, count) else columns - count
            if base != cap._dense_length:
                cap._remark("columns", f"step {self._step}: the mask has {columns} columns; the text and {count} rows have "
                                       f"{cap._dense_length + count}, the rows alone {count}", tick)
                base = max(base, 0)
            slots = list(range(base, base + count))
            batch["slots"] = slots
        if cap._is_late and owner == "target":
            batch["prompt"] = cap._prompt_places(self)
        if slots is not None:
            seen: Dict[int, int] = {}
            live = set(cap._path(self._tip)) if owner == "target" else set()
            for row, slot in enumerate(slots):
                if slot < 0:
                    continue
                if slot in seen:
                    cap._remark("slot twice", f"step {self._step}: rows {seen[slot]} and {row} both write slot {slot}", tick)
                holder = cap._holder[owner].get(slot)
                if holder is not None and holder != nodes[row] and slot not in cap._garbage[owner] and (
                        holder in live or (holder <= -2 and owner == "target")):
                    cap._remark("slot live", f"step {self._step}, row {row}: slot {slot} holds {cap._name(holder)}, which is "
                                             "part of the text, and is written", tick)
                seen.setdefault(slot, row)
        if mask is None:
            return
        if columns is None:
            batch["seen"] = mask
        elif slots is None:
            cap._remark("mask", f"step {self._step}: a mask of columns needs slots=… here; it is not recorded", tick)
            return
        elif columns == count and not (slots == list(range(count))):
            # Rows alone: all of the text is seen.
            prefix = self._prefix(batch)
            batch["seen"] = [sorted(prefix | {slots[c] for c in line if slots[c] >= 0}) for line in mask]
        else:
            batch["seen"] = mask
        self._check_mask(batch)

    def _prefix(self, batch: Dict[str, Any]) -> Set[int]:
        cap = self._cap
        known, _ = cap._text_slots(batch["owner"], cap._parent[self._tip] if self._tip > 0 else 0)
        prefix = set(known.values())
        if cap._is_dense and batch["owner"] == "target":
            prefix |= set(range(cap._dense_length))
        else:
            prefix |= set(batch.get("prompt") or ())
        if self._tip > 0 and self._tip not in batch["nodes"]:
            at = cap._slot_of[batch["owner"]].get(self._tip)
            if at is not None:
                prefix.add(at)
        return prefix

    def _check_mask(self, batch: Dict[str, Any]) -> None:
        """Every row sees the text, its ancestors and itself, as far as it is known where they lie."""
        cap, owner = self._cap, batch["owner"]
        nodes = batch["nodes"]
        places = dict(cap._slot_of[owner])
        for i, slot in enumerate(batch.get("prompt") or ()):
            places.setdefault(-2 - i, slot)
        for node, slot in zip(nodes, batch.get("slots") or ()):
            places[node] = slot
        holder = {slot: node for node, slot in places.items()}
        prompt = len(cap._prompt or ())
        window = cap._window if owner == "target" else 0
        told: Set[str] = set()
        for row, (node, line) in enumerate(zip(nodes, batch["seen"])):
            own = cap._position(node)
            if node <= -2:
                wanted = [-2 - i for i in range(-1 - node)]
            else:
                wanted = [-2 - i for i in range(prompt)] + cap._path(node)
            expected = {places[one] for one in wanted if one in places and not (
                window and own - cap._position(one) >= window)}
            found = set(line)
            if found == expected:
                continue
            where = f"step {self._step}, row {row} ({cap._name(node)})"
            extra = sorted(slot for slot in found - expected if slot in holder)
            missing = sorted(expected - found)
            if extra and "extra" not in told:
                told.add("extra")
                cap._remark("mask extra", f"{where} sees slot {extra[0]}, which holds {cap._name(holder[extra[0]])}: not its "
                                          "own text", batch["tick"])
            if missing and "missing" not in told:
                told.add("missing")
                cap._remark("mask missing", f"{where} does not see slot {missing[0]}, which holds "
                                            f"{cap._name(holder[missing[0]])} of its text", batch["tick"])

    def _undo(self) -> None:
        """The round failed in the caller's code: nothing of it is recorded."""
        cap = self._cap
        for node in range(self._first_node, len(cap._parent)):
            key = (cap._parent[node], cap._token[node])
            if cap._children.get(key) == node:
                del cap._children[key]
        for of_nodes in (cap._parent, cap._token, cap._depth, cap._score, cap._logprob):
            del of_nodes[self._first_node:]  # type: ignore[attr-defined]
        for table, rows in cap._rows.items():
            if table != "drafter":
                del rows[self._mark.get(table, 0):]
        cap._pieces.difference_update(cap._new_pieces)

    def _close(self) -> None:
        cap = self._cap
        if cap.kind == "beams":
            if not self._levels and self._counts is None:
                cap._remark("level", f"step {self._step}: the round has no level(); its beams stay", 5 * self._step + ACCEPT)
        elif self._committed is None and self._counts is None:
            cap._remark("commit", f"step {self._step}: the round has no commit(); nothing became text", 5 * self._step + ACCEPT)
            self.commit([], None)
        if cap._step == 0:
            is_choice = self._is_choice
            cap._close_prompt(self)
            if is_choice:
                self._write_more(0)
                cap._write()
                return
        cap._prompt_inputs(self)
        self._decide(self._step)
        self._write_more(self._step)
        cap._phases(self._step, self._begun, self._times, cap._now())
        cap._step = self._step + 1
        cap._write()

    def _write_more(self, step: int) -> None:
        cap = self._cap
        for table, row in self._more:
            cap._add(table, (5 * step + ACCEPT, *row))

    def _decide(self, step: int) -> None:
        cap = self._cap
        draft, forward, accept, commit = (5 * step + phase for phase in (DRAFT, FORWARD, ACCEPT, COMMIT))
        if self._counts is not None:
            rows, drafted, accepted, emitted = self._counts
            cap._add("step", (step, rows, drafted, accepted, emitted, 1))
            return
        # Draft.
        for index, node in enumerate(self._drafts):
            if not self._sent[index] and not self._is_probe[index]:
                self._verdict(draft, node, "withdrawn", {"score": self._scores.get(index)})
        for batch in [one for one in self._batches if one["owner"] != "target"]:
            self._between(batch["owner"], batch["forward"], draft)
            self._batch(step, batch, draft)
        for owner in OWNERS[1:]:
            self._between(owner, None, draft)
        for owner, nodes, rows in self._outputs:
            if owner != "target":
                self._rows_said(owner, nodes, rows, draft)
        for kv in self._kv:
            if kv["owner"] != "target":
                for slot, node in kv["taken"]:
                    cap._take(kv["owner"], slot, node, draft)
        # Forward.
        for batch in [one for one in self._batches if one["owner"] == "target"]:
            self._between("target", batch["forward"], forward)
            self._batch(step, batch, forward)
        self._between("target", None, forward)
        for kv in self._kv:
            if kv["owner"] == "target":
                for slot, node in kv["taken"]:
                    cap._take("target", slot, node, forward)
        said: Dict[int, values.Row] = {}
        for owner, nodes, rows in self._outputs:
            if owner == "target":
                said.update(self._rows_said(owner, nodes, rows, forward))
        if cap._prompt_rows is not None:
            said.setdefault(0, cap._prompt_rows)
        # Accept.
        if cap.kind == "beams":
            self._decide_beams(step, said, accept, commit)
        else:
            self._decide_text(step, said, accept, commit)
        cap._prompt_rows = None

    def _batch(self, step: int, batch: Dict[str, Any], tick: int) -> None:
        cap, owner, forward = self._cap, batch["owner"], batch["forward"]
        slots = batch.get("slots")
        positions = batch.get("positions")
        taken = {node: slot for kv in self._kv if kv["owner"] == owner for slot, node in kv["taken"]}
        before = cap._position(self._tip) if self._tip > 0 else len(cap._prompt or ()) - len(self._prompt_rows)
        for row, node in enumerate(batch["nodes"]):
            slot = slots[row] if slots is not None else taken.get(node, -1)
            position = positions[row] if positions is not None else cap._position(node)
            naive = batch["naive"][row] if "naive" in batch else before + row if owner == "target" else position
            cap._add("input", (step, row, node, position, slot, naive, owner, forward))
            if slots is not None:
                cap._take(owner, slot, node, tick)
        for row, line in enumerate(batch.get("seen", ())):
            cap._add("seen", (step, row, owner, forward, values.runs(line)))

    def _rows_said(self, owner: str, nodes: List[int], rows: List[values.Row], tick: int) -> Dict[int, values.Row]:
        cap = self._cap
        said: Dict[int, values.Row] = {}
        drafted: Dict[int, List[int]] = {}
        if owner != "target":
            for node in self._drafts:
                drafted.setdefault(cap._parent[node], []).append(cap._token[node])
        for node, row in zip(nodes, rows):
            about = self._row_node(node)
            if about is None:
                continue
            said[about] = row
            cap._candidates(about, row, tick, owner, drafted.get(about, ()))
        return said

    def _verdict(self, tick: int, node: int, verdict: str, numbers: Dict[str, Any], why: Any = None) -> None:
        row: Dict[str, Any] = {name: numbers.get(name) for name in VERDICT_COLUMNS}
        if isinstance(why, dict):
            row.update(why)
        elif why is not None:
            row["why"] = str(why)
        given = tuple(row[name] for name in VERDICT_COLUMNS)
        # NULL is what a column is without a value.
        self._cap._add("verdict", (tick, node, verdict) + given)
        if row["replacement"] is not None:
            self._cap._know(row["replacement"])

    def _learn(self, node: int, said: Dict[int, values.Row], tick: int) -> Optional[float]:
        """log p of a draft, out of the row above it."""
        cap = self._cap
        row = said.get(cap._parent[node])
        logprob = row[1](cap._token[node]) if row is not None else None
        if logprob is not None and cap._logprob[node] is None:
            above = cap._score[cap._parent[node]]
            cap._logprob[node] = logprob
            cap._score[node] = None if above is None else above + logprob
            cap._add("node_score", (node, logprob, cap._score[node], tick))
        return logprob

    def _decide_text(self, step: int, said: Dict[int, values.Row], accept: int, commit: int) -> None:
        cap = self._cap
        assert self._committed is not None
        what = self._committed
        accepted: List[int] = what["accepted"]
        on_path = {self._drafts[i] for i in accepted}
        last: int = what["last"]
        ps, us, whys = what["p"], what["u"], what["why"]
        is_greedy = _is_greedy(cap._settings)
        sent = [i for i, is_sent in enumerate(self._sent) if is_sent and not self._is_probe[i]]
        for i in sent:
            self._learn(self._drafts[i], said, accept)
        refused = False
        token = what["token"]
        refused = any(cap._parent[self._drafts[i]] == last and self._drafts[i] not in on_path for i in sent)
        own = None
        if token is not None:
            if what["source"]:
                source = what["source"]
            elif refused:
                source = "corrected"
            elif accepted:
                source = "bonus"
            else:
                source = "sampled" if "token" in us or is_greedy is False else "greedy"
            row = said.get(last)
            own = cap._hang(last, token, source, accept, logprob=row[1](token) if row is not None else None)
            self._learn(own, said, accept)  # a withdrawn draft that the target chose
        decided: Dict[int, str] = {}
        for i in accepted + [i for i in sent if i not in accepted]:
            node = self._drafts[i]
            passed = i in accepted
            row = said.get(cap._parent[node])
            logprob = row[1](cap._token[node]) if row is not None else cap._logprob[node]
            numbers: Dict[str, Any] = {"p": ps.get(i, None if logprob is None else math.exp(logprob)), "u": us.get(i),
                                       "q": self._q[i]}
            if decided.get(cap._parent[node]) == "rejected":
                numbers.update(reason="parent_refused", q=None)
            elif is_greedy and row is not None and row[0]:
                best, best_logprob = row[0][0]
                if passed and logprob is not None and logprob >= best_logprob:
                    numbers.update(reason="is_argmax", q=None)
                elif not passed and best != cap._token[node]:
                    rank = row[2](cap._token[node])
                    numbers.update(q=None, value=math.exp(best_logprob), replacement=best, rank=rank,
                                   reason=None if rank is None else "not_argmax")
            elif not passed and token is not None and cap._parent[node] == last:
                numbers["replacement"] = token
            decided[node] = "accepted" if passed else "rejected"
            self._verdict(accept, node, decided[node], numbers, whys.get(i))
        if own is not None:
            row = said.get(last)
            rank = row[2](token) if row is not None else None
            logprob = row[1](token) if row is not None else None
            verdict = {"corrected": "corrected", "bonus": "bonus"}.get(
                "corrected" if refused else "bonus" if accepted else "", "emitted")
            numbers = {"p": ps.get("token", None if logprob is None else math.exp(logprob)), "u": us.get("token"),
                       "rank": rank, "score": cap._score[own]}
            if is_greedy and rank == 0:
                numbers["reason"] = "argmax"
            elif "token" in us:
                numbers["reason"] = "drawn" if not refused else None
            self._verdict(accept, own, verdict, numbers, whys.get("token"))
        tip = own if own is not None else last
        ends = what["ends"]
        if ends:
            reason = {"eos": "eos", "length": "max_tokens"}.get(ends)
            self._verdict(accept, tip, "finished", {"score": cap._score[tip], "reason": reason})
            tokens = [cap._token[one] for one in cap._path(tip)]
            cap._add("sequence", (accept, tip or None, -1, None, ends, json.dumps(tokens)))
        else:
            cap._add("frontier", (step, 0, tip, cap._score[tip]))
        target_rows = sum(len(batch["nodes"]) for batch in self._batches if batch["owner"] == "target")
        if step == 0:
            target_rows = len(cap._prompt or ())
        elif not target_rows:
            target_rows = 1 + len(sent)
        cap._add("step", (step, target_rows, len(sent), len(accepted), len(accepted) + (own is not None), 0 if ends else 1))
        cap._frontier = [tip]
        self._commit_kv(step, commit, on_path)

    def _decide_beams(self, step: int, said: Dict[int, values.Row], accept: int, commit: int) -> None:
        cap = self._cap
        frontier = list(self._frontier)
        dead: List[int] = []
        emitted = 0
        for level in self._levels:
            tokens, parents, scores = level["tokens"], level["parents"], level["scores"]
            ended = dict(level["finished"])
            above: List[int] = []
            for i, parent in enumerate(parents):
                if parent == -1 and frontier == [0]:
                    parent = 0
                if not 0 <= parent < len(frontier):
                    cap._remark("parent", f"step {step}: continuation {i} goes on from beam {parent}, which is not there; "
                                          "it is shown below the best", accept)
                    parent = 0
                above.append(frontier[parent])
            kept: List[int] = level["kept"]
            rest = [i for i in range(len(tokens)) if i not in kept and i not in ended]
            left_out = [scores[i] for i in rest if scores[i] is not None]
            cut = max(left_out) if left_out else None
            worst = min((scores[i] for i in kept if scores[i] is not None), default=None)
            nodes: Dict[int, int] = {}
            order = list(ended) + kept + rest
            for i in order:
                score = scores[i]
                before = cap._score[above[i]]
                logprob = score - before if score is not None and before is not None else None
                nodes[i] = cap._hang(above[i], tokens[i], "beam", accept, logprob=logprob, score=score)
            if kept or ended:
                emitted += 1
            parents_gone_on = {above[i] for i in kept} | {above[i] for i in ended}
            for i in order:
                node, score = nodes[i], scores[i]
                logprob = cap._logprob[node]
                numbers: Dict[str, Any] = {"p": None if logprob is None else math.exp(logprob), "score": score}
                gap = level["gaps"][i] if level["gaps"] is not None else None
                if i in ended:
                    tokens_of = [cap._token[one] for one in cap._path(node)]
                    end = cap._end_of(tokens_of, "done")
                    value = ended[i] if ended[i] is not None else score
                    numbers.update(value=score, count=len(tokens_of), score=value,
                                   reason="beam_max_tokens" if end == "length" else "beam_eos" if end == "eos" else None)
                    self._verdict(accept, node, "finished", numbers, level["why"].get(i))
                    cap._add("sequence", (accept, node, -1, value, end, json.dumps(tokens_of)))
                    for one in cap._path(node):
                        cap._ended.add(one)
                elif i in kept:
                    if gap is None and cut is not None and score is not None:
                        gap = max(0.0, score - cut)
                    numbers.update(rank=kept.index(i), gap=gap, count=cap._width, threshold=cut,
                                   reason="beam_kept" if cut is not None else "beam_kept_of_all")
                    self._verdict(accept, node, "kept", numbers, level["why"].get(i))
                else:
                    if gap is None and worst is not None and score is not None:
                        gap = max(0.0, worst - score)
                    numbers.update(gap=gap)
                    self._verdict(accept, node, "pruned", numbers, level["why"].get(i))
                    dead.append(node)
            for place, beam in enumerate(frontier):
                if beam in parents_gone_on or beam == 0:
                    continue
                best = max((scores[i] for i in rest if above[i] == beam and scores[i] is not None), default=None)
                row, score = said.get(beam), cap._score[beam]
                if row is not None and row[0] and score is not None:
                    best = score + row[0][0][1]
                numbers = {"score": score}
                if best is not None and worst is not None:
                    numbers.update(reason="beam_outdone", value=best, count=len(kept), threshold=worst,
                                   gap=max(0.0, worst - best))
                self._verdict(accept, beam, "pruned", numbers, level["why"].get(("beam", place)))
                dead.append(beam)
            frontier = [nodes[i] for i in kept]
        for rank, node in enumerate(frontier):
            cap._add("frontier", (step, rank, node, cap._score[node]))
        rows = sum(len(batch["nodes"]) for batch in self._batches if batch["owner"] == "target")
        if step == 0:
            rows = len(cap._prompt or ())
        elif not rows:
            rows = len(self._frontier)
        cap._add("step", (step, rows, 0, 0, emitted, len(frontier)))
        # Nodes that no live text goes through any more.
        live: Set[int] = set()
        for node in frontier:
            while node > 0 and node not in live:
                live.add(node)
                node = cap._parent[node]
        for node in list(dead) + ([] if not self._levels else list(self._frontier)):
            node = cap._parent[node] if node in dead else node
            while node > 0 and node not in live and node not in cap._ended and node not in dead:
                dead.append(node)
                self._verdict(commit, node, "pruned", {"score": cap._score[node], "reason": "no_live_text"})
                node = cap._parent[node]
        if self._levels:
            cap._frontier = frontier
        self._commit_kv(step, commit, live | {0})

    def _between(self, owner: str, forward: Optional[int], tick: int) -> None:
        """What happened to an owner's slots between its forwards, up to this one (None: all that is left)."""
        for kv in self._kv:
            if kv["owner"] == owner and kv["phase"] == "forward" and not kv.get("is_done") and (
                    forward is None or kv["forward"] <= forward):
                kv["is_done"] = True
                self._change_slots(kv, tick)

    def _change_slots(self, kv: Dict[str, Any], tick: int) -> None:
        cap, owner = self._cap, kv["owner"]
        before = dict(cap._holder[owner])
        for source, to in kv["moved"]:
            node = before.get(source)
            if node is None:
                cap._remark("moved", f"step {self._step}: slot {source} is moved to {to}, but nothing is known to lie there", tick)
                continue
            cap._used[owner].add(to)
            cap._put(owner, to, node)
            cap._add("slot", (tick, "move", to, node, source, owner))
        for slot in kv["garbage"]:
            if slot in cap._holder[owner]:
                cap._garbage[owner].add(slot)
                cap._add("slot", (tick, "garbage", slot, cap._holder[owner][slot], -1, owner))
        for slot in kv["freed"]:
            cap._free(owner, slot, tick, before.get(slot))

    def _commit_kv(self, step: int, tick: int, on_path: Set[int]) -> None:
        cap = self._cap
        told = [kv for kv in self._kv if kv["moved"] or kv["freed"] or kv["garbage"]]
        for kv in told:
            if kv["phase"] == "commit":
                self._change_slots(kv, tick)
        if not any(kv["owner"] == "target" for kv in told) and cap._holder["target"]:
            self._settle(tick, on_path)
        for owner in OWNERS:
            mine = [kv for kv in self._kv if kv["owner"] == owner]
            figures = [kv for kv in mine if kv["live"] is not None or kv["reserved"] is not None]
            if figures or any(kv in told or kv["taken"] for kv in mine):
                self._memory(step, {**(figures or mine)[-1], "moved_bytes": sum(kv["moved_bytes"] for kv in mine)})
        if not self._kv and cap._holder["target"]:
            self._memory(step, NOTHING_TOLD)

    def _settle(self, tick: int, on_path: Set[int]) -> None:
        """KV of this round where nothing was said of it: that of refused drafts is garbage; in a cache without gaps
        the accepted ones move next to the text and the rest is freed."""
        cap = self._cap
        written = [(slot, node) for batch in self._batches if batch["owner"] == "target"
                   for node, slot in zip(batch["nodes"], batch.get("slots") or ()) if slot >= 0]
        if cap.kind == "beams":
            live = on_path
            for slot, node in list(cap._holder["target"].items()):
                if node > 0 and node not in live and slot not in cap._garbage["target"]:
                    cap._garbage["target"].add(slot)
                    cap._add("slot", (tick, "garbage", slot, node, -1, "target"))
            return
        stays = [(slot, node) for slot, node in written if node in on_path or node == self._tip or node <= -2]
        if not cap._is_dense:
            for slot, node in written:
                if (slot, node) not in stays and cap._holder["target"].get(slot) == node:
                    cap._garbage["target"].add(slot)
                    cap._add("slot", (tick, "garbage", slot, node, -1, "target"))
            return
        stays.sort(key=lambda one: cap._position(one[1]))
        at = cap._dense_length
        before = dict(cap._holder["target"])
        for slot, node in stays:
            if slot != at:
                cap._used["target"].add(at)
                cap._put("target", at, node)
                cap._add("slot", (tick, "move", at, node, slot, "target"))
            at += 1
        for slot, node in written:
            if slot >= at and slot in cap._holder["target"]:
                cap._free("target", slot, tick, before.get(slot))
        cap._dense_length = at

    def _memory(self, step: int, kv: Dict[str, Any]) -> None:
        self._cap._memory(step, kv)


class OffRecorder:
    """Takes every call and does nothing."""

    path = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._nothing

    def _nothing(self, *args: Any, **more: Any) -> Any:
        return None

    def round(self) -> "OffRecorder":
        return self

    def tokens(self) -> List[int]:
        return []

    def __enter__(self) -> "OffRecorder":
        return self

    def __exit__(self, *error: Any) -> None:
        return None


def _is_greedy(settings: Dict[str, Any]) -> Optional[bool]:
    """What the settings say of how tokens are chosen; None: nothing."""
    verify = settings.get("verify")
    if verify is not None:
        return verify == "greedy"
    if settings.get("do_sample") is not None:
        return not settings["do_sample"]
    temperature = settings.get("temperature")
    return None if temperature is None else temperature == 0


def _version() -> str:
    from . import __version__

    return __version__


def _versions() -> Dict[str, str]:
    found = {"python": sys.version.split()[0], "triescope for Python": _version()}
    for name in ("torch", "transformers", "numpy", "vllm", "llama_cpp"):
        module = sys.modules.get(name)
        version = getattr(module, "__version__", None) if module is not None else None
        if version:
            found[name] = str(version)
    return found
