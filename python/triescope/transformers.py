"""Records generate() of Hugging Face's transformers (5.17 to 5.24): greedy, sampling, beam search, prompt lookup and
assistant models. The texts are the same with and without it: it looks at what passes by and changes nothing.

    with triescope.transformers.record(model, "run.tscap", tokenizer=tok):
        model.generate(**inputs)

Refused by name, before anything runs: a batch of several prompts, encoder-decoder models, several returned sequences
without beams, drawn beams, MTP and DFlash drafts, early exit, assistants with another tokenizer or a weight in the
verification, custom_generate, constraints. Not seen, and shown as absent: the draw u of sampling, an assistant's own rows.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Dict, Iterator, List, Optional

from ._adapter import numbered
from ._generate_call import Call
from ._generation import Generation


class _Watch:
    """A logits processor that changes nothing: it stands last and looks at what the others made of a row."""

    def __init__(self, of: "_Hooks"):
        self.of = of

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self.of.now is not None and not self.of.is_aside:
            self.of.now.processed(scores)
        return scores


class _Hooks:
    """The model's methods and what stands in their place. `now`: the generate() that is recorded. `is_aside`: its
    assistant is at work, whose own generate() is not a run."""

    def __init__(self, model: Any, path: str, tokenizer: Any, level: str, strict: bool):
        self.model, self.path, self.tokenizer, self.level, self.strict = model, path, tokenizer, level, strict
        self.made: List[str] = []
        self.now: Optional[Generation] = None
        self.is_aside = False
        self.names = ("generate", "_get_candidate_generator", "_get_running_beams_for_next_iteration", "_get_logits_processor")
        self.of = {name: getattr(model, name) for name in self.names}
        self.handles = [model.register_forward_pre_hook(self.before, with_kwargs=True),
                        model.register_forward_hook(self.after, with_kwargs=True)]
        for name, hook in zip(self.names, (self.generate, self.candidate_generator, self.running_beams, self.processors)):
            setattr(model, name, hook)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()
        for name in self.names:
            self.model.__dict__.pop(name, None)

    def before(self, module: Any, arguments: Any, given: Dict[str, Any]) -> None:
        if self.now is not None and not self.is_aside:
            self.now.before_forward(given if "input_ids" in given or not arguments else {**given, "input_ids": arguments[0]})

    def after(self, module: Any, arguments: Any, given: Any, output: Any) -> None:
        if self.now is not None and not self.is_aside and getattr(output, "logits", None) is not None:
            self.now.after_forward(output.logits.detach())

    def generate(self, *arguments: Any, **options: Any) -> Any:
        generate = self.of["generate"]
        if self.now is not None:  # an assistant that is the model itself
            return generate(*arguments, **options)
        name = numbered(self.path, self.made)
        one = Generation(self.model, name, self.tokenizer, Call(self.model, arguments, options), self.level, self.strict)
        self.made.append(name)
        self.now = one
        try:
            result = generate(*arguments, **options)
        except BaseException as error:
            one.cap.finish("stopped" if isinstance(error, KeyboardInterrupt) else "failed", message=f"{type(error).__name__}: {error}")
            raise
        finally:
            self.now = None
        one.finish(result)
        return result

    def candidate_generator(self, *arguments: Any, **options: Any) -> Any:
        found = self.of["_get_candidate_generator"](*arguments, **options)
        one = self.now
        if one is None or one.kind != "drafts" or self.is_aside:
            return found
        get, update = found.get_candidates, found.update_candidate_strategy

        def get_candidates(ids: Any, *more: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            self.is_aside = True
            try:
                candidates, logits = get(ids, *more, **named)
            finally:
                self.is_aside = False
            one.drafted(candidates, logits, ids.shape[1], (time.perf_counter() - begun) * 1000)
            return candidates, logits

        def update_candidate_strategy(ids: Any, scores: Any, matches: Any) -> Any:
            one.verified(ids, int(matches))
            return update(ids, scores, matches)

        found.get_candidates = get_candidates
        found.update_candidate_strategy = update_candidate_strategy
        return found

    def running_beams(self, topk_log_probs: Any, topk_running_sequences: Any, topk_running_beam_indices: Any,
                      next_token_hits_stopping_criteria: Any, *more: Any, **named: Any) -> Any:
        told = (topk_log_probs, topk_running_sequences, topk_running_beam_indices, next_token_hits_stopping_criteria)
        result = self.of["_get_running_beams_for_next_iteration"](*told, *more, **named)
        if self.now is not None and self.now.kind == "beams":
            self.now.next_beams(*told)
        return result

    def processors(self, *arguments: Any, **options: Any) -> Any:
        found = self.of["_get_logits_processor"](*arguments, **options)
        if self.now is not None and self.now.samples and not self.is_aside:
            found.append(_Watch(self))
        return found


@contextlib.contextmanager
def record(model: Any, path: Any, tokenizer: Any = None, *, level: str = "full", strict: bool = False) -> Iterator[List[str]]:
    """Every generate() of `model` inside the `with` is recorded: the first into `path`, more into run-2.tscap, …
    Gives the list of the captures made."""
    for name in ("generate", "register_forward_hook", "generation_config"):
        if not hasattr(model, name):
            raise TypeError(f"triescope.transformers.record(model): expected a transformers model with generate(), found a "
                            f"{type(model).__name__}; pass AutoModelForCausalLM's")
    hooks = _Hooks(model, os.fspath(path), tokenizer, level, strict)
    try:
        yield hooks.made
    finally:
        hooks.remove()
