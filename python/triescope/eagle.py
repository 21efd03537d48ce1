"""Records generation by a model in the layout of EAGLE's published code (EAGLE-1 to -3, eagle/model/ea_model.py and utils.py):
eagenerate() and ea_generate() of an EaModel, greedy and sampling.

    with triescope.eagle.record(ea_model, "run.tscap", tokenizer=tok):
        ea_model.eagenerate(input_ids, temperature=0)

What is wrapped are the functions that both call by name in their module: initialize_tree, tree_decoding and
update_inference_inputs. A step's tree is that of retrieve_indices, its mask base_model.model.tree_mask as it was, its positions
those that tree_decoding() was given. Refused by name: several prompts at once, naive generation, another layout. Not seen, and
shown as absent: the draws of sampling, the head's own rows and probabilities.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import time
from typing import Any, Dict, Iterator, List, Optional

from ._adapter import numbered, refuse
from .recorder import Drafter, Recorder

_FUNCTIONS = ("initialize_tree", "tree_decoding", "update_inference_inputs")
_NAIVE = ("naivegenerate", "naive_generate")
_STREAM = "ea_generate"  # yields the text after every step


def parents_of(paths: List[List[int]], count: int) -> List[int]:
    """Of tree nodes 1 to count - 1 the node above, out of the paths from node 0 down (-1: padding)."""
    above = {node: before for path in paths for before, node in zip(path, path[1:]) if before >= 0 and node >= 0}
    missing = [node for node in range(1, count) if node not in above]
    if missing:
        refuse("eagle", f"a tree whose node {missing[0]} is on no path of retrieve_indices")
    return [above[node] for node in range(1, count)]


class _Generation:
    """One eagenerate(): its tree, its verification, its update, over and over."""

    def __init__(self, model: Any, path: str, tokenizer: Any, given: Dict[str, Any], level: str, strict: bool):
        self.prompt = [int(token) for token in given["input_ids"][0].tolist()]
        temperature = float(given.get("temperature") or 0.0)
        self.samples = temperature > 1e-5
        settings: Dict[str, Any] = {"do_sample": self.samples, "temperature": temperature}
        settings.update({name: given[name] for name in ("top_p", "top_k") if self.samples and given.get(name)})
        settings.update({"verify": "greedy"} if not self.samples else {})
        layer = getattr(model, "ea_layer", None)
        settings.update({name: getattr(layer, name) for name in ("total_tokens", "depth", "top_k") if isinstance(getattr(layer, name, None), int)
                         and name not in settings})
        self.cap = Recorder(path, tokenizer=tokenizer or getattr(model, "tokenizer", None), method="eagle", title="EAGLE", kind="drafts",
                            model=_about(model), settings=settings, level=level, strict=strict)
        self.drafter = Drafter("eagle", "head", "EAGLE's head")
        self.forward: Optional[Dict[str, Any]] = None
        self.drafting = 0.0

    def begun(self, logits: Any, token: int, took: float) -> None:
        """The prompt's forward, the target's first token and the first tree."""
        self.cap.prompt(self.prompt, logits=None if logits is None else logits.reshape(-1, logits.shape[-1])[-1])
        with self.cap.round() as r:
            r.commit([], token=token, source="sampled" if self.samples else "greedy")
        self.drafting = took

    def decoded(self, model: Any, given: Dict[str, Any], logits: Any, took: float) -> None:
        """A forward over the tree; `logits` by path and depth."""
        tokens = [int(token) for token in given["tree_candidates"].reshape(-1).tolist()]
        paths = given["retrieve_indices"].tolist()
        at = {node: (i, depth) for i, path in enumerate(paths) for depth, node in enumerate(path) if node >= 0}
        mask = getattr(model.base_model.model, "tree_mask", None)
        length = int(given["input_ids"].shape[1])
        self.forward = {"tokens": tokens, "parents": parents_of(paths, len(tokens)), "ms": took,
                        "positions": [length + int(one) for one in given["tree_position_ids"].reshape(-1).tolist()],
                        "mask": None if mask is None else mask.reshape(mask.shape[-2:])[-len(tokens):, -len(tokens):] > 0,
                        "logits": [logits[at[node]].detach().clone() for node in range(len(tokens))]}

    def verified(self, given: Dict[str, Any], token: int, took: float) -> None:
        if self.forward is None:
            return
        tree, self.forward = self.forward, None
        path = [int(one) for one in given["retrieve_indices"][int(given["best_candidate"])].tolist()]
        accepted = [node - 1 for node in path[1:int(given["accept_length"]) + 1]]
        said = given.get("sample_p")
        p = float(said.reshape(-1)[token]) if self.samples and said is not None else None
        with self.cap.round() as r:
            r.draft(tree["tokens"][1:], [parent - 1 for parent in tree["parents"]], drafter=self.drafter)
            r.rows(list(range(-1, len(tree["tokens"]) - 1)), positions=tree["positions"], mask=tree["mask"])
            r.target(sys.modules["torch"].stack(tree["logits"]))
            r.commit(accepted, token=token, p=None if p is None else {"token": p})
            r.time(draft=self.drafting, forward=tree["ms"])
        self.drafting = took

    def finish(self, result: Any) -> None:
        """The last token that the target chose is not in the text that comes back."""
        text = [int(token) for token in result[0, len(self.prompt):].tolist()] if hasattr(result, "shape") else None
        self.cap.finish(sequences=None if text is None else [text])


def _about(model: Any) -> Dict[str, Any]:
    """What Recorder(model=…) takes."""
    config = model.base_model.config
    heads, hidden = getattr(config, "num_attention_heads", None), getattr(config, "hidden_size", None)
    ends = getattr(config, "eos_token_id", None)
    about = {"name": getattr(model, "base_model_name_or_path", "") or type(model.base_model).__name__,
             "family": getattr(config, "model_type", ""), "dtype": str(getattr(model.base_model, "dtype", "")).replace("torch.", ""),
             "layers": getattr(config, "num_hidden_layers", None), "hidden": hidden, "heads": heads,
             "kv_heads": getattr(config, "num_key_value_heads", heads), "head_dim": hidden // heads if hidden and heads else None,
             "vocab_size": getattr(config, "vocab_size", None),
             "eos_token_ids": list(ends) if isinstance(ends, (list, tuple)) else [] if ends is None else [ends]}
    return {name: value for name, value in about.items() if value is not None}


class _Hooks:
    """The functions of the model's module and what stands in their place; other models of the module pass through."""

    def __init__(self, model: Any, path: str, tokenizer: Any, level: str, strict: bool):
        self.model, self.path, self.tokenizer, self.level, self.strict = model, path, tokenizer, level, strict
        self.module = sys.modules[type(model).__module__]
        missing = [name for name in _FUNCTIONS if not hasattr(self.module, name)]
        if missing or not hasattr(model, "eagenerate") or not hasattr(model, "base_model"):
            raise TypeError(f"triescope.eagle.record(ea_model): expected a model in the layout of EAGLE's published code, found a "
                            f"{type(model).__name__} whose module has no {', '.join(missing) or 'eagenerate()'}")
        self.made: List[str] = []
        self.now: Optional[_Generation] = None
        self.is_over = False
        self.of = {name: getattr(self.module, name) for name in _FUNCTIONS}
        self.generate, self.stream = model.eagenerate, getattr(model, _STREAM, None)
        for name in _FUNCTIONS:
            setattr(self.module, name, self._wrapped(name))
        model.eagenerate = self.eagenerate
        if self.stream is not None:
            setattr(model, _STREAM, self.ea_generate)
        for name in _NAIVE:
            if hasattr(model, name):
                setattr(model, name, lambda *arguments, _name=name, **options: refuse("eagle", f"{_name}()"))

    def remove(self) -> None:
        self.is_over = True
        for name in _FUNCTIONS:
            setattr(self.module, name, self.of[name])
        for name in ("eagenerate", _STREAM, *_NAIVE):
            self.model.__dict__.pop(name, None)

    def _wrapped(self, name: str) -> Any:
        function = self.of[name]
        signature = inspect.signature(function)

        def hook(*arguments: Any, **options: Any) -> Any:
            given = dict(signature.bind(*arguments, **options).arguments)
            begun = time.perf_counter()
            result = function(*arguments, **options)
            if self.now is not None and given.get("model") is self.model:
                self._told(name, given, result, (time.perf_counter() - begun) * 1000)
            return result

        return hook

    def _told(self, name: str, given: Dict[str, Any], result: Any, took: float) -> None:
        one = self.now
        assert one is not None
        if name == "tree_decoding":
            one.decoded(self.model, given, result[0], took)
            return
        token = int(result[-1].reshape(-1)[0])  # the target's own, the next tree's root
        if name == "initialize_tree":
            # The prompt's logits are the one result as wide as the vocabulary.
            width = self.model.base_model.config.vocab_size
            logits = next((part for part in result if hasattr(part, "shape") and len(part.shape) > 1 and part.shape[-1] == width), None)
            one.begun(logits, token, took)
        else:
            one.verified(given, token, took)

    @staticmethod
    def _given(generate: Any, arguments: Any, options: Any) -> Dict[str, Any]:
        """The arguments by name; those of a run that cannot be shown are refused."""
        bound = inspect.signature(generate).bind(*arguments, **options)
        bound.apply_defaults()
        ids = bound.arguments["input_ids"]
        if ids.shape[0] != 1:
            refuse("eagle", f"a batch of {ids.shape[0]} prompts")
        return bound.arguments

    def _begun(self, given: Dict[str, Any]) -> _Generation:
        one = _Generation(self.model, numbered(self.path, self.made), self.tokenizer, given, self.level, self.strict)
        self.made.append(one.cap.path)
        return one

    @contextlib.contextmanager
    def _recording(self, one: _Generation) -> Iterator[None]:
        """What runs inside belongs to `one`."""
        before, self.now = self.now, one
        try:
            yield
        except BaseException as error:
            one.cap.finish("stopped" if isinstance(error, KeyboardInterrupt) else "failed", message=f"{type(error).__name__}: {error}")
            raise
        finally:
            self.now = before

    def eagenerate(self, *arguments: Any, **options: Any) -> Any:
        one = self._begun(self._given(self.generate, arguments, options))
        with self._recording(one):
            result = self.generate(*arguments, **options)
        one.finish(result[0] if isinstance(result, tuple) else result)
        return result

    def ea_generate(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        if self.now is not None:  # called by the eagenerate() that is recorded
            return self.stream(*arguments, **options)
        return self._steps(self.stream(*arguments, **options), self._given(self.stream, arguments, options))

    def _steps(self, inner: Any, given: Dict[str, Any]) -> Iterator[Any]:
        """What `inner` yields; a caller that wants no more ends the run there. The run begins with the first text that is asked for: a
        generator that nobody iterates leaves no capture."""
        if self.is_over:
            yield from inner
            return
        one, last = self._begun(given), None
        try:
            while True:
                with self._recording(one):
                    text = next(inner, None)
                if text is None:
                    return
                last = text
                yield text
        finally:
            inner.close()
            one.finish(last)


@contextlib.contextmanager
def record(ea_model: Any, path: Any, tokenizer: Any = None, *, level: str = "full", strict: bool = False) -> Iterator[List[str]]:
    """Every eagenerate() and ea_generate() of `ea_model` inside the `with` is recorded: the first into `path`, more into run-2.tscap, …
    A generator is recorded if its first token is asked for inside the `with`. Gives the list of the captures made."""
    hooks = _Hooks(ea_model, os.fspath(path), tokenizer, level, strict)
    try:
        yield hooks.made
    finally:
        hooks.remove()
