"""What a call of transformers' generate() asks for: its method, its settings, its model. Refuses what cannot be recorded."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from ._adapter import refuse
from ._words import Drafter

_REFUSED = ("custom_generate", "use_mtp", "assistant_early_exit", "speculation_type", "assistant_tokenizer", "assistant_ensemble_weight",
            "penalty_alpha", "dola_layers", "constraints", "force_words_ids")


class Call:
    """`arguments` and `options` are those of model.generate()."""

    def __init__(self, model: Any, arguments: Tuple[Any, ...], options: Dict[str, Any]):
        self._options = options
        self._config = options.get("generation_config") or model.generation_config
        option = self.option
        ids = options.get("input_ids", options.get("inputs", arguments[0] if arguments else None))
        if getattr(model.config, "is_encoder_decoder", False):
            refuse("transformers", "an encoder-decoder model")
        if ids is None:
            refuse("transformers", "a prompt given as embeddings")
        if ids.shape[0] != 1:
            refuse("transformers", f"a batch of {ids.shape[0]} prompts")
        self.beams = int(option("num_beams", 1))
        if self.beams == 1 and int(option("num_return_sequences", 1)) > 1:
            refuse("transformers", "num_return_sequences above 1 without beams")
        for name in _REFUSED:
            if option(name):
                refuse("transformers", name)
        if int(option("num_beam_groups", 1)) > 1:
            refuse("transformers", "num_beam_groups")
        self.has_assistant = option("assistant_model") is not None
        self.looks_up = bool(option("prompt_lookup_num_tokens"))
        self.kind = "beams" if self.beams > 1 else "drafts" if self.has_assistant or self.looks_up else "text"
        self.samples = bool(option("do_sample", False))
        if self.beams > 1 and self.samples:
            refuse("transformers", "beam search with do_sample")
        ends = option("eos_token_id", [])
        self.ends = [int(one) for one in (ends if isinstance(ends, (list, tuple)) else [ends])]
        self.prompt: List[int] = [int(one) for one in ids[0].tolist()]
        self.most = int(option("max_new_tokens") or max(0, int(option("max_length", 20)) - len(self.prompt)))
        self.penalty = float(option("length_penalty", 1.0))
        self.method = {"beams": "beam_search", "text": "sample" if self.samples else "greedy_search",
                       "drafts": "prompt_lookup" if self.looks_up else "assisted_decoding"}[self.kind]
        self.drafter = (Drafter("prompt lookup", "text", "Prompt lookup") if self.looks_up
                        else Drafter("assistant", "model", "The assistant"))

    def option(self, name: str, default: Any = None) -> Any:
        value = self._options.get(name)
        if value is None:
            value = getattr(self._config, name, None)
        return default if value is None else value

    def settings(self) -> Dict[str, Any]:
        names = ["do_sample", "repetition_penalty", "no_repeat_ngram_size"]
        names += ["temperature", "top_k", "top_p", "min_p", "typical_p"] if self.samples else []
        names += ["num_beams", "length_penalty", "early_stopping"] if self.beams > 1 else []
        names += ["prompt_lookup_num_tokens"] if self.looks_up else ["num_assistant_tokens"] if self.has_assistant else []
        settings = {name: self.option(name) for name in names if self.option(name) is not None}
        settings.setdefault("do_sample", False)
        if self.kind == "drafts" and not self.samples:
            settings["verify"] = "greedy"
        return settings

    def model(self, model: Any) -> Dict[str, Any]:
        """What Recorder(model=…) takes."""
        config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
        heads = getattr(config, "num_attention_heads", None)
        hidden = getattr(config, "hidden_size", None)
        about = {"name": getattr(model.config, "name_or_path", "") or type(model).__name__, "family": config.model_type,
                 "dtype": str(getattr(model, "dtype", "")).replace("torch.", ""), "device": str(getattr(model, "device", "")),
                 "layers": getattr(config, "num_hidden_layers", None), "hidden": hidden, "heads": heads,
                 "kv_heads": getattr(config, "num_key_value_heads", heads),
                 "head_dim": getattr(config, "head_dim", None) or (hidden // heads if hidden and heads else None),
                 "vocab_size": config.vocab_size, "eos_token_ids": self.ends}
        window = getattr(config, "sliding_window", None)
        if window and getattr(config, "use_sliding_window", True):
            about["sliding_window"] = int(window)
        return {name: value for name, value in about.items() if value is not None}
