"""Records what llama-cpp-python (0.3.36) generates, greedy and sampling. The texts are the same with and without it.

    with triescope.llama_cpp.record(llama, "run.tscap"):
        llama("The capital of France is", max_tokens=16)

Every generate() inside is a run, also below create_completion() and create_chat_completion(). Refused by name: a draft model,
tokens that are sent into generate(), reset=False, grammars, logits processors (logit_bias among them), mirostat. Not seen, and
shown as absent: the draws of sampling and their probabilities after the samplers, the cells of the KV cache.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import time
from typing import Any, Callable, Dict, Iterator, List, Optional

from ._adapter import numbered, refuse
from .recorder import Recorder

_SAMPLING = {"temp": "temperature", "top_k": "top_k", "top_p": "top_p", "min_p": "min_p", "typical_p": "typical_p"}
_PENALTIES = {"repeat_penalty": ("repetition_penalty", 1.0), "frequency_penalty": ("frequency_penalty", 0.0),
              "presence_penalty": ("presence_penalty", 0.0)}


def _check(llama: Any, given: Dict[str, Any]) -> None:
    """Refuses what a generate() of these arguments would not show."""
    if getattr(llama, "draft_model", None) is not None:
        refuse("llama_cpp", "a draft model")
    for name, words in (("grammar", "a grammar"), ("logits_processor", "a logits processor"), ("mirostat_mode", "mirostat")):
        if given.get(name):
            refuse("llama_cpp", words)
    if not given.get("reset", True):
        refuse("llama_cpp", "reset=False")


class _Generated:
    """One generate(): forwards and tokens in the order in which they happen."""

    def __init__(self, llama: Any, path: str, given: Dict[str, Any], level: str, strict: bool):
        self.llama = llama
        self.samples = given.get("temp", 0.8) != 0
        settings: Dict[str, Any] = {"do_sample": self.samples}
        if self.samples:
            settings.update({ours: given[theirs] for theirs, ours in _SAMPLING.items() if theirs in given})
        settings.update({ours: given[theirs] for theirs, (ours, off) in _PENALTIES.items() if given.get(theirs, off) != off})
        if any(name in settings for name in ("frequency_penalty", "presence_penalty")):
            settings.setdefault("repetition_penalty", given["repeat_penalty"])
        self.ends = _end_tokens(llama)
        self.prompt = [int(token) for token in given["tokens"]]
        self.cap = Recorder(path, tokenizer=lambda token: llama.detokenize([token], special=True),
                            method="sample" if self.samples else "greedy_search", title="Sampling" if self.samples else "Greedy search",
                            kind="text", model={**_about(llama), "eos_token_ids": sorted(self.ends)}, settings=settings,
                            seed=int(getattr(llama, "_seed", 0)) & 0x7FFFFFFF, level=level, strict=strict)
        self.has_prompt = False
        self.position: Optional[int] = None  # of the newest forward's last row
        self.logits: Any = None
        self.took = 0.0
        self.chosen: Optional[int] = None

    def forward(self, position: int, logits: Any, took: float) -> None:
        if not self.has_prompt:
            self.has_prompt = True
            self.cap.prompt(self.prompt, logits=logits)
            self.position = None
            return
        self.write(None)
        self.position, self.logits, self.took = position, logits, took

    def token(self, token: int) -> None:
        if not self.has_prompt:  # a prompt that was in the cache
            self.has_prompt = True
            self.cap.prompt(self.prompt)
        self.write(None)
        self.chosen = token

    def write(self, ends: Optional[str]) -> None:
        """The token chosen last, with the forward that led to it."""
        if self.chosen is None:
            return
        with self.cap.round() as r:
            if self.position is not None:
                r.rows([-1], positions=[self.position])
                r.target(self.logits[None])
                r.time(forward=self.took)
            # The probability that a token was drawn with is known to the samplers alone.
            r.commit([], token=self.chosen, p={"token": None} if self.samples else None, ends=ends,
                     source="sampled" if self.samples else "greedy")
        self.chosen = None
        self.position = None

    def finish(self, status: str, message: str) -> None:
        if not self.has_prompt:
            self.has_prompt = True
            self.cap.prompt(self.prompt)
        self.write("eos" if self.chosen in self.ends else None)
        self.cap.finish(status, message=message)


def _end_tokens(llama: Any) -> "set[int]":
    from llama_cpp import llama_vocab_is_eog

    vocab = llama._model.vocab
    return {token for token in range(llama.n_vocab()) if llama_vocab_is_eog(vocab, token)}


def _about(llama: Any) -> Dict[str, Any]:
    """What Recorder(model=…) takes, out of the file's keys."""
    said = dict(getattr(llama, "metadata", None) or {})
    family = said.get("general.architecture", "")

    def number(name: str) -> Optional[int]:
        with contextlib.suppress(KeyError, ValueError):
            return int(said[f"{family}.{name}"])
        return None

    heads, hidden = number("attention.head_count"), number("embedding_length")
    about = {"name": said.get("general.name") or os.path.basename(str(llama.model_path)), "path": str(llama.model_path),
             "family": family, "format": "gguf", "layers": number("block_count"), "hidden": hidden, "heads": heads,
             "kv_heads": number("attention.head_count_kv") or heads,
             "head_dim": number("attention.key_length") or (hidden // heads if hidden and heads else None),
             "vocab_size": llama.n_vocab(), "context": number("context_length"), "sliding_window": number("attention.sliding_window")}
    return {name: value for name, value in about.items() if value is not None}


def _newest_logits(llama: Any) -> Any:
    """A copy of the last row of the newest forward."""
    import numpy

    return numpy.array(numpy.ctypeslib.as_array(llama._ctx.get_logits_ith(-1), shape=(llama.n_vocab(),)))


@contextlib.contextmanager
def record(llama: Any, path: Any, *, level: str = "full", strict: bool = False) -> Iterator[List[str]]:
    """Every generate() of `llama` inside the `with` is recorded: the first into `path`, more into run-2.tscap, …
    A generator is recorded if its first token is asked for inside the `with`. Gives the list of the captures made."""
    for name in ("generate", "eval", "sample", "detokenize"):
        if not hasattr(llama, name):
            raise TypeError(f"triescope.llama_cpp.record(llama): expected a llama_cpp.Llama, found a {type(llama).__name__}")
    path = os.fspath(path)
    made: List[str] = []
    now: List[Optional[_Generated]] = [None]
    is_over = False
    generate, evaluate, sample = llama.generate, llama.eval, llama.sample
    signature = inspect.signature(generate)

    def recorded_eval(tokens: Any) -> None:
        begun = time.perf_counter()
        evaluate(tokens)
        if now[0] is not None and len(tokens) > 0:
            now[0].forward(llama.n_tokens - 1, _newest_logits(llama), (time.perf_counter() - begun) * 1000)

    def recorded_sample(*arguments: Any, **options: Any) -> int:
        token = int(sample(*arguments, **options))
        if now[0] is not None:
            now[0].token(token)
        return token

    def recorded_generate(*arguments: Any, **options: Any) -> Iterator[int]:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        _check(llama, bound.arguments)

        def begin() -> Optional[_Generated]:
            if is_over:
                return None
            one = _Generated(llama, numbered(path, made), bound.arguments, level, strict)
            made.append(one.cap.path)
            return one

        return _tokens(generate(*arguments, **options), begin, now)

    hooks = {"generate": recorded_generate, "eval": recorded_eval, "sample": recorded_sample}
    for name, hook in hooks.items():
        setattr(llama, name, hook)
    try:
        yield made
    finally:
        is_over = True
        for name in hooks:
            llama.__dict__.pop(name, None)


def _tokens(inner: Any, begin: Callable[[], Optional[_Generated]], now: List[Optional[_Generated]]) -> Iterator[int]:
    """What `inner` yields; its forwards and choices belong to one run while it goes on. The run begins with the first token that is
    asked for: a generator that nobody iterates leaves no capture."""
    one = begin()
    if one is None:  # the recording is over
        yield from inner
        return
    status, message = "done", ""
    try:
        while True:
            kept, now[0] = now[0], one
            try:
                token = next(inner)
            except StopIteration:
                return
            finally:
                now[0] = kept
            if (yield token) is not None:
                refuse("llama_cpp", "a token that is sent into generate()")
    except GeneratorExit:  # the caller has what it wanted
        raise
    except BaseException as error:
        status, message = "stopped" if isinstance(error, KeyboardInterrupt) else "failed", f"{type(error).__name__}: {error}"
        raise
    finally:
        inner.close()
        one.finish(status, message)
