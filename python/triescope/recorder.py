"""The recorder: one draft, verify, commit after another, into a capture.

Rows are kept until a round ends and are committed together, so a process that dies leaves all rounds that ended.
What a caller gets wrong about its own run (a mask, a position, a slot) is recorded as it was, with a remark among the
log's rows and one warning: the recorder never breaks the run that it records. Wrong types raise where they are passed.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _prompt, _values as values
from ._book import Book, kv_bytes
from ._file import identity
from ._pieces import pieces_of
from ._schema import LEVELS
from ._words import KINDS, LOG_LEVELS, STATUSES, Drafter, Node, RecordError, RecordWarning, choice, json_of
from .off import OffRecorder
from .round import Round

__all__ = ["Drafter", "Node", "OffRecorder", "RecordError", "Recorder", "RecordWarning", "Round"]


class Recorder:
    """Records one run into `path`, which it replaces if it is a capture.

    kind: "text" (a token a round), "drafts" (a round verifies drafts), "beams". level: "steps", "tree" or "full".
    tokenizer: Hugging Face's, a function id → str or bytes, a dict, or None. candidates: how many of a row's best
    tokens are kept. strict: whatever is wrong raises RecordError. background: a thread writes the file, and a process
    that dies loses the rounds that it had not written yet.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], tokenizer: Any = None, method: str = "recorded", title: str = "",
                 kind: str = "drafts", model: Optional[Dict[str, Any]] = None, settings: Optional[Dict[str, Any]] = None,
                 seed: int = 0, level: str = "full", *, width: Optional[int] = None, max_new_tokens: int = 0,
                 kv_policy: str = "", candidates: int = 5, setting_titles: Optional[Dict[str, str]] = None,
                 setting_words: Optional[Dict[str, str]] = None, versions: Optional[Dict[str, str]] = None, program: Tuple[str, str] = ("", ""),
                 conversation: Optional[List[Dict[str, str]]] = None, strict: bool = False,
                 background: bool = False):
        if not isinstance(path, (str, os.PathLike)):
            raise values.wrong("Recorder(path)", "a file name", path, 'pass "run.tscap"')
        if not isinstance(method, str) or not method:
            raise values.wrong("Recorder(method=…)", "a name", method, 'pass method="mine"')
        self.path = os.fspath(path)
        self.kind = choice("Recorder(kind=…)", kind, KINDS)
        choice("Recorder(level=…)", level, tuple(LEVELS))
        piece = pieces_of(tokenizer)
        about = dict(model or {})
        run: Dict[str, Any] = {
            "created_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "model_json": json_of("Recorder(model=…)", model), "method": method, "method_title": title, "kind": kind,
            "width": int(width or (settings or {}).get("num_beams") or 1),
            "settings_json": json_of("Recorder(settings=…)", settings),
            "setting_titles_json": json_of("Recorder(setting_titles=…)", setting_titles),
            "setting_words_json": json_of("Recorder(setting_words=…)", setting_words), "seed": int(seed),
            "versions_json": json_of("Recorder(versions=…)", versions if versions is not None else _versions()),
            "max_new_tokens": _limit(max_new_tokens, settings), "kv_bytes_per_token": kv_bytes(about),
            "sliding_window": int(about.get("sliding_window") or 0),
            "kv_policy": kv_policy, "conversation_json": json.dumps(conversation) if conversation else "",
            "status": "running", "recorder": identity()}
        command = " ".join(sys.argv) if getattr(sys, "argv", None) else ""
        name, version = program
        self._book = Book(self.path, self.kind, level, piece, run, dict(settings or {}), about,
                          (name or "triescope for Python", version or _version(), command), int(candidates), strict,
                          background)

    @staticmethod
    def off() -> OffRecorder:
        """A recorder that does nothing, for runs that are not recorded."""
        return OffRecorder()

    def prompt(self, ids: Any, text: Optional[str] = None, logits: Any = None, *, slots: Any = None) -> None:
        """Step 0. `logits`: those of the prompt's last row. `slots`: where its KV lies; by default what the first
        round's slots or mask imply."""
        book = self._book
        if book.prompt is not None:
            raise RuntimeError("prompt(): expected one prompt a run, found a second; open another Recorder")
        found = values.tokens(ids, "prompt(ids)", "leave padding out")
        row = values.rows_of(logits, book.best, "prompt(logits=…)")[-1] if logits is not None else None
        book.learn_dtype(logits)
        if text is not None and not isinstance(text, str):
            raise values.wrong("prompt(text=…)", "a str", text, "leave it out, or pass the prompt as typed")
        places = None
        if slots is not None:
            places = values.slots(slots, "prompt(slots=…)")
            if len(places) != len(found):
                raise TypeError(f"prompt(slots=…): expected {len(found)} slots, found {len(places)}")
        with book.lock:
            _prompt.begin(book, found, text, row, places)

    def round(self) -> Round:
        """One draft, verify, commit: `with cap.round() as r:`."""
        book = self._book
        if book.prompt is None:
            raise RuntimeError("round(): expected prompt() before the first round, found none; call cap.prompt(ids)")
        if book.is_finished:
            raise RuntimeError("round(): expected a run that goes on, found finish(); open another Recorder")
        if book.is_in_round:
            raise RuntimeError("round(): expected one round at a time, found one inside another; a recorder is for "
                               "one run, each thread takes its own")
        return Round(book)

    def finish(self, status: str = "done", sequences: Any = None, *, message: str = "") -> None:
        """The end. `sequences`: the texts that are returned, best first: token ids, or {"tokens", "score", "finish"}."""
        choice("finish(status)", status, STATUSES)
        book = self._book
        if book.is_finished:
            return
        with book.lock:
            _prompt.close(book)
            _prompt.inputs(book)
            tick = max(5 * book.step - 1, 0)
            if sequences is None and book.prompt is not None and self.kind != "beams":
                sequences = [self.tokens()]
            for rank, one in enumerate(sequences or []):
                if not isinstance(one, dict):
                    one = {"tokens": one}
                if "tokens" not in one:
                    raise TypeError("finish(sequences=…): expected token ids, or dicts with tokens, score and finish; "
                                    f"found a dict with {', '.join(map(str, one)) or 'nothing'}")
                tokens = values.tokens(one["tokens"], "finish(sequences=…)")
                node = self._end_of_returned(tokens, tick)
                score = one.get("score")
                for token in tokens:
                    book.know(token)
                book.add("sequence", (tick, node if node > 0 else None, rank,
                                      None if score is None else values.number(score, "finish(sequences=…)"),
                                      one.get("finish") or book.end_of(tokens), json.dumps(tokens)))
            book.end(status, message)

    def _end_of_returned(self, tokens: List[int], tick: int) -> int:
        """The last node of a text that is returned; where it is not what was recorded, that of the recorded text."""
        book = self._book
        path = book.tree.path(book.frontier[0]) if book.kind != "beams" and book.frontier else []
        if tokens and [book.tree.token[node] for node in path[:len(tokens)]] == tokens:
            return path[len(tokens) - 1]
        node = book.tree.find(tokens)
        if node >= 0 or book.kind == "beams" or not book.frontier:
            return node
        book.remark("returned", f"a text of {len(tokens)} tokens is returned that is not the one that the rounds wrote, of "
                                f"{len(self.tokens())} tokens", tick)
        return book.frontier[0]

    def log(self, text: str, level: str = "info") -> None:
        """A message beside the run, at the newest step."""
        with self._book.lock:
            self._book.add("log", (max(5 * self._book.step - 1, 0), choice("log(level=…)", level, LOG_LEVELS), str(text)))

    def tokens(self) -> List[int]:
        """What has become text so far (beams: of the best one)."""
        book = self._book
        return book.tree.tokens(book.frontier[0] if book.frontier else 0)

    def node(self, index: int) -> Node:
        """The node of the text's token `index`, 0 the first after the prompt, for rows of text that is older than
        the last token. Prompt token i is -2 - i."""
        return Node(self._book.tree.path(self._book.frontier[0])[index])

    @property
    def live_beams(self) -> int:
        """How many beams go on."""
        return len(self._book.frontier)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._book.is_finished:
            return
        if error is None:
            self.finish()
        else:
            stopped = isinstance(error, (KeyboardInterrupt, GeneratorExit))
            self.finish("stopped" if stopped else "failed", message=f"{kind.__name__}: {error}"[:1000])

    def __del__(self) -> None:
        try:
            self._book.end("stopped", "the recorder was dropped before finish()")
        except Exception:  # noqa: BLE001  (an interpreter that shuts down, or a recorder that never began)
            pass


def _limit(max_new_tokens: int, settings: Optional[Dict[str, Any]]) -> int:
    """How many tokens a text may have; where it is not said, the setting of that name. 0: not known."""
    if max_new_tokens:
        return int(max_new_tokens)
    said = values.plain((settings or {}).get("max_new_tokens"))
    return int(said) if isinstance(said, (int, float)) and 0 < said <= 100000000 else 0


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
