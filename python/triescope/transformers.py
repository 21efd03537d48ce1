"""Records generate() of Hugging Face's transformers (5.17 to 5.24): greedy, sampling, beam search, prompt lookup and
assistant models. The texts are the same with and without it: it looks at what passes by and changes nothing.

    with triescope.transformers.record(model, "run.tscap", tokenizer=tok):
        model.generate(**inputs)

Refused by name, before anything runs: a batch of several prompts, encoder-decoder models, several returned sequences
without beams, MTP and DFlash drafts, early exit, assistants with another tokenizer, custom_generate, a text streamer's
own generation loop. Not seen, and shown as absent: the draw u of sampling, an assistant's own rows.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .recorder import Drafter, Recorder


class _Refused(NotImplementedError):
    pass


def _refuse(what: str) -> None:
    raise _Refused(f"triescope.transformers.record: {what} is not recorded; leave the `with`, or generate without it")


class _Generation:
    """One call of generate()."""

    def __init__(self, model: Any, path: str, tokenizer: Any, arguments: Tuple[Any, ...], options: Dict[str, Any], level: str,
                 strict: bool):
        config = options.get("generation_config") or model.generation_config

        def option(name: str, default: Any = None) -> Any:
            value = options.get(name)
            if value is None:
                value = getattr(config, name, None)
            return default if value is None else value

        ids = options.get("input_ids", options.get("inputs", arguments[0] if arguments else None))
        if getattr(model.config, "is_encoder_decoder", False):
            _refuse("an encoder-decoder model")
        if ids is None:
            _refuse("a prompt given as embeddings")
        if ids.shape[0] != 1:
            _refuse(f"a batch of {ids.shape[0]} prompts")
        beams = int(option("num_beams", 1))
        if beams == 1 and int(option("num_return_sequences", 1)) > 1:
            _refuse("num_return_sequences above 1 without beams")
        for name in ("custom_generate", "use_mtp", "assistant_early_exit", "speculation_type", "assistant_tokenizer", "penalty_alpha",
                     "dola_layers", "constraints", "force_words_ids"):
            if option(name):
                _refuse(name)
        if int(option("num_beam_groups", 1)) > 1:
            _refuse("num_beam_groups")
        self.assistant = option("assistant_model")
        lookup = option("prompt_lookup_num_tokens")
        self.kind = "beams" if beams > 1 else "drafts" if self.assistant is not None or lookup else "text"
        self.samples = bool(option("do_sample", False))
        if beams > 1 and self.samples:
            _refuse("beam search with do_sample")
        ends = option("eos_token_id", [])
        self.ends = [int(one) for one in (ends if isinstance(ends, (list, tuple)) else [ends])]
        self.prompt = [int(one) for one in ids[0].tolist()]
        most = option("max_new_tokens") or max(0, int(option("max_length", 20)) - len(self.prompt))
        self.most = int(most)
        text_config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
        heads = getattr(text_config, "num_attention_heads", None)
        hidden = getattr(text_config, "hidden_size", None)
        about = {"name": getattr(model.config, "name_or_path", "") or type(model).__name__, "family": text_config.model_type,
                 "dtype": str(getattr(model, "dtype", "")).replace("torch.", ""), "device": str(getattr(model, "device", "")),
                 "layers": getattr(text_config, "num_hidden_layers", None), "hidden": hidden, "heads": heads,
                 "kv_heads": getattr(text_config, "num_key_value_heads", heads),
                 "head_dim": getattr(text_config, "head_dim", None) or (hidden // heads if hidden and heads else None),
                 "vocab_size": text_config.vocab_size, "eos_token_ids": self.ends}
        window = getattr(text_config, "sliding_window", None)
        if window and getattr(text_config, "use_sliding_window", True):
            about["sliding_window"] = int(window)
        names = ["do_sample", "temperature", "top_k", "top_p", "repetition_penalty"] if self.samples else ["do_sample", "repetition_penalty"]
        names += ["num_beams", "length_penalty", "early_stopping"] if beams > 1 else []
        names += ["prompt_lookup_num_tokens"] if lookup else ["num_assistant_tokens"] if self.assistant is not None else []
        settings = {name: option(name) for name in names if option(name) is not None}
        settings.setdefault("do_sample", False)
        if self.kind == "drafts" and not self.samples:
            settings["verify"] = "greedy"
        method = {"beams": "beam_search", "text": "sample" if self.samples else "greedy_search",
                  "drafts": "prompt_lookup" if lookup else "assisted_decoding"}[self.kind]
        self.drafter = Drafter("prompt lookup", "text", "Prompt lookup") if lookup else Drafter("assistant", "model", "The assistant")
        self.penalty = float(option("length_penalty", 1.0))
        self.beams = beams
        self.cap = Recorder(path, tokenizer=tokenizer, method=method, title=method.replace("_", " ").capitalize(), kind=self.kind,
                            model={k: v for k, v in about.items() if v is not None}, settings=settings, level=level, width=beams,
                            max_new_tokens=self.most, kv_policy="keep", strict=strict)
        self.has_prompt = False
        self.is_over = False
        self.written: List[int] = []
        self.forward: Optional[Dict[str, Any]] = None
        self.draft: Optional[Dict[str, Any]] = None
        self.begun = time.perf_counter()

    # What passes by.

    def before_forward(self, given: Dict[str, Any]) -> None:
        ids = given.get("input_ids")
        cache = given.get("past_key_values", given.get("cache"))
        if ids is None:
            return
        if self.kind == "text" and self.has_prompt:
            self.chosen(int(ids[0, -1]))
        length = 0
        with contextlib.suppress(Exception):
            length = int(cache.get_seq_length()) if cache is not None else 0
        positions = given.get("position_ids")
        self.forward = {"count": int(ids.shape[1]), "cached": length, "begun": time.perf_counter(),
                        "positions": None if positions is None else [int(one) for one in positions.reshape(-1, positions.shape[-1])[0].tolist()]}

    def after_forward(self, logits: Any) -> None:
        if self.forward is None:
            return
        self.forward["ms"] = (time.perf_counter() - self.forward["begun"]) * 1000
        self.forward["logits"] = logits
        if not self.has_prompt and self.kind != "drafts":
            self.has_prompt = True
            self.cap.prompt(self.prompt, logits=logits[0, -1])
            self.is_first = True

    def rows(self, r: Any, nodes: List[int]) -> None:
        assert self.forward is not None
        count = len(nodes)
        positions = self.forward["positions"]
        cached = self.forward["cached"]
        slots = list(range(cached, cached + count))
        r.rows(nodes, positions=None if positions is None or len(positions) < count else positions[-count:], slots=slots)
        r.time(forward=self.forward["ms"])

    def chosen(self, token: int) -> None:
        """Text: the token that the newest forward led to."""
        if self.is_over or self.forward is None:
            return
        ends = self.end_after([token])
        with self.cap.round() as r:
            if not self.is_first:
                self.rows(r, [-1])
                r.target(self.forward["logits"][0, -1:])
            r.commit([], token=token, ends=ends, source="sampled" if self.samples else "greedy")
        self.is_first = False
        self.forward = None

    def end_after(self, tokens: List[int]) -> Optional[str]:
        self.written += tokens
        if self.written and self.written[-1] in self.ends:
            self.is_over = True
            return "eos"
        if len(self.written) >= self.most:
            self.is_over = True
            return "length"
        return None

    def drafted(self, ids: Any, logits: Any, length: int, took: float) -> None:
        tokens = [int(one) for one in ids[0, length:].tolist()]
        q = None
        if logits is not None and self.samples and tokens:
            q = [float(logits[0, i].float().softmax(-1)[token]) for i, token in enumerate(tokens)]
        self.draft = {"tokens": tokens, "q": q, "length": length, "ms": took}

    def verified(self, ids: Any, matches: int) -> None:
        if self.draft is None or self.forward is None or self.is_over:
            return
        tokens = [int(one) for one in ids[0, self.draft["length"]:].tolist()]
        drafts = self.draft["tokens"]
        if not self.has_prompt:
            self.has_prompt = True
            self.cap.prompt(self.prompt)
        # Where the text ends inside the drafts the library counts the last match as the target's own token.
        accepted = 0
        while accepted < min(len(tokens), len(drafts)) and tokens[accepted] == drafts[accepted]:
            accepted += 1
        accepted = max(accepted if accepted == len(tokens) else 0, min(matches, accepted))
        with self.cap.round() as r:
            r.time(draft=self.draft["ms"])
            if drafts:
                r.draft(drafts, q=self.draft["q"], drafter=self.drafter)
            nodes = [-1] + list(range(len(drafts)))
            before = self.forward["count"] - len(nodes)
            if before > 0:  # the first forward reads the prompt too
                nodes = [-2 - i for i in range(before)] + nodes
            self.rows(r, nodes)
            r.target(self.forward["logits"][0, -(len(drafts) + 1):])
            ends = self.end_after(tokens)
            r.commit(list(range(accepted)), token=tokens[accepted] if accepted < len(tokens) else None, ends=ends,
                     source=None)
        self.draft = self.forward = None

    def next_beams(self, scores: Any, sequences: Any, indices: Any, hits: Any) -> None:
        assert self.forward is not None
        sums = [float(one) for one in scores[0].tolist()]
        at = len(self.written)  # levels so far
        column = len(self.prompt) + at
        tokens = [int(one) for one in sequences[0, :, column].tolist()]
        parents = [int(one) % self.beams for one in indices[0, :, at].tolist()]
        stops = [bool(one) for one in hits[0].tolist()]
        real = [i for i, one in enumerate(sums) if one > -1e8]  # copies of the first beam start with -1e9
        order = sorted((i for i in real if not stops[i]), key=lambda i: -sums[i])[: self.beams]
        # Of equal scores the library's own choice stands.
        ended = [i for i in real if stops[i] and i < self.beams]
        place = {i: k for k, i in enumerate(real)}
        self.written.append(tokens[0])
        with self.cap.round() as r:
            if not self.is_first:
                self.rows_of_beams(r)
            r.level([tokens[i] for i in real], [-1 if self.is_first else parents[i] for i in real], [sums[i] for i in real],
                    kept=[place[i] for i in order],
                    finished=[(place[i], sums[i] / (at + 1) ** self.penalty) for i in ended])
        self.is_first = False
        self.forward = None

    def rows_of_beams(self, r: Any) -> None:
        assert self.forward is not None
        count = self.cap.live_beams
        positions = self.forward["positions"]
        r.rows(list(range(count)), positions=[positions[-1]] * count if positions else None)
        r.target(self.forward["logits"][:count, -1])
        r.time(forward=self.forward["ms"])

    def finish(self, result: Any) -> None:
        sequences = getattr(result, "sequences", result)
        scores = getattr(result, "sequences_scores", None)
        texts = [[int(one) for one in row] for row in sequences[:, len(self.prompt):].tolist()]
        if self.kind == "text" and not self.is_over and len(texts[0]) > len(self.written):
            self.chosen(texts[0][len(self.written)])
        returned: List[Dict[str, Any]] = []
        for i, text in enumerate(texts):
            end = next((k + 1 for k, token in enumerate(text) if token in self.ends), len(text))
            returned.append({"tokens": text[:end], "score": None if scores is None else float(scores[i])})
        self.cap.finish(sequences=returned)


@contextlib.contextmanager
def record(model: Any, path: Any, tokenizer: Any = None, *, level: str = "full", strict: bool = False) -> Iterator[List[str]]:
    """Every generate() of `model` inside the `with` is recorded: the first into `path`, more into run-2.tscap, …
    Gives the list of the captures made."""
    for name in ("generate", "register_forward_hook", "generation_config"):
        if not hasattr(model, name):
            raise TypeError(f"triescope.transformers.record(model): expected a transformers model with generate(), found a "
                            f"{type(model).__name__}; pass AutoModelForCausalLM's")
    path = os.fspath(path)
    made: List[str] = []
    now: List[Optional[_Generation]] = [None]
    generate = model.generate
    generator_of = model._get_candidate_generator
    running = model._get_running_beams_for_next_iteration

    def before(module: Any, arguments: Any, given: Dict[str, Any]) -> None:
        if now[0] is not None:
            now[0].before_forward(given if "input_ids" in given or not arguments else {**given, "input_ids": arguments[0]})

    def after(module: Any, arguments: Any, given: Any, output: Any) -> None:
        if now[0] is not None and getattr(output, "logits", None) is not None:
            now[0].after_forward(output.logits.detach())

    def recorded_generate(*arguments: Any, **options: Any) -> Any:
        if now[0] is not None:  # an assistant that is the model itself
            return generate(*arguments, **options)
        stem, end = os.path.splitext(path)
        name = path if not made else f"{stem}-{len(made) + 1}{end}"
        one = _Generation(model, name, tokenizer, arguments, options, level, strict)
        made.append(name)
        now[0] = one
        try:
            result = generate(*arguments, **options)
        except BaseException as error:
            now[0] = None
            one.cap.finish("stopped" if isinstance(error, KeyboardInterrupt) else "failed", message=f"{type(error).__name__}: {error}")
            raise
        now[0] = None
        one.finish(result)
        return result

    def recorded_generator(*arguments: Any, **options: Any) -> Any:
        found = generator_of(*arguments, **options)
        one = now[0]
        if one is None or one.kind != "drafts":
            return found
        get, update = found.get_candidates, found.update_candidate_strategy

        def get_candidates(ids: Any, *more: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            kept, now[0] = now[0], None  # an assistant's own generate() is not a run
            try:
                candidates, logits = get(ids, *more, **named)
            finally:
                now[0] = kept
            one.drafted(candidates, logits, ids.shape[1], (time.perf_counter() - begun) * 1000)
            return candidates, logits

        def update_candidate_strategy(ids: Any, scores: Any, matches: Any) -> Any:
            one.verified(ids, int(matches))
            return update(ids, scores, matches)

        found.get_candidates = get_candidates
        found.update_candidate_strategy = update_candidate_strategy
        return found

    def recorded_running(topk_log_probs: Any, topk_running_sequences: Any, topk_running_beam_indices: Any,
                         next_token_hits_stopping_criteria: Any, *more: Any, **named: Any) -> Any:
        result = running(topk_log_probs, topk_running_sequences, topk_running_beam_indices, next_token_hits_stopping_criteria, *more,
                         **named)
        if now[0] is not None and now[0].kind == "beams":
            now[0].next_beams(topk_log_probs, topk_running_sequences, topk_running_beam_indices, next_token_hits_stopping_criteria)
        return result

    hooks = [model.register_forward_pre_hook(before, with_kwargs=True), model.register_forward_hook(after, with_kwargs=True)]
    model.generate = recorded_generate
    model._get_candidate_generator = recorded_generator
    model._get_running_beams_for_next_iteration = recorded_running
    try:
        yield made
    finally:
        for hook in hooks:
            hook.remove()
        for name in ("generate", "_get_candidate_generator", "_get_running_beams_for_next_iteration"):
            model.__dict__.pop(name, None)
