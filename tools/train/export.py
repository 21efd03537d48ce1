#!/usr/bin/env python3
"""Writes a trained head as its published format has it: safetensors in fp16, config.json, a card (README.md) and the training curve.

    export.py CHECKPOINT --out FOLDER [--figures FILE.json]     (best.pt or checkpoint.pt of train.py; figures: from measure.py --json)
"""

import argparse
import json
import pathlib
import shutil

import torch

CARD = """# {title} for {target}

{what}

- **Target:** {target}, as the weights of `{model_file}` dequantise. Other quantisations of it lose a little acceptance.
- **Data:** {dialogues} dialogues, {tokens} tokens, {written} of them written by the target itself: user's turns sampled from the bare chat prefix, and answers, mostly greedy.
  {passages}No benchmark prompt and no held-out text was used.
- **Recipe:** `tools/train/train.py {kind}`, {steps} steps, seed {seed}; {options}
- **Size:** {parameters} parameters, fp16.
- **Licence:** Apache-2.0, as the target.{licence}

## Figures

{figures}

The card is written by `tools/train/export.py`; see docs/training.md. `curve.csv`, where it is there, is the training curve: loss, and on held-out
dialogues the tokens per forward of a chain and the acceptance by depth.
"""
TITLES = {"medusa": "Medusa heads", "hydra": "Hydra heads", "eagle1": "An EAGLE-1/EAGLE-2 head", "eagle3": "An EAGLE-3 head", "draft": "A small draft model",
          "space": "SPACE masks"}
WHAT = {
    "medusa": "Medusa-1, version \"2\": residual blocks only; the target's output head serves all heads. Head h at t predicts token t + 2 + h.",
    "hydra": "Hydra, prefix-mlp, sequentially dependent. Not in the file, and the target's own: `input_embed_fn`, `hydra_lm_head.*` and the prefix layer's unused embedding.",
    "eagle1": "One decoder layer over the target's final-normed state and the next token's embedding. Not in the file: `embed_tokens.weight`, which is the target's.",
    "eagle3": "One decoder layer over three of the target's raw states (entering layers {layers}) and the next token's embedding; draft vocabulary {vd}. d2t holds offsets.",
    "draft": "A plain llama with the target's vocabulary, distilled from it.",
    "space": "BiTA's way to SPACE: the target is frozen; {masks} mask embeddings and, in each layer, keys and values of {prefix} positions that the masks alone see."
             " Mask j = 1 … {masks} stands at its root's position + j and guesses the token after it; the root's own row gives the token between. `prefix_keys` are as they are"
             " after rope (they have no position), in the order of Hugging Face's halves.",
}


def llama_config(c, **more):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": c["d"], "intermediate_size": c["ff"],
            "num_attention_heads": c["heads"], "num_key_value_heads": c["kv_heads"], "head_dim": c["head_dim"], "num_hidden_layers": 1,
            "max_position_embeddings": c["context"], "rms_norm_eps": c["eps"], "rope_theta": c["theta"], "vocab_size": c["vocab"],
            "bos_token_id": 1, "eos_token_id": c["eos"], "torch_dtype": "float16", "attention_bias": False, **more}


def content(kind, state, c, options, base_name, layers=()):
    """-> (file name, tensors, config). state: the head's state_dict; c: the target's config."""
    tensors = {k: (v if v.dtype in (torch.int64, torch.bool) else v.half()).contiguous().clone() for k, v in state.items()}
    if kind == "medusa":
        return "medusa_lm_head.safetensors", tensors, {
            "base_model_name_or_path": base_name, "medusa_num_heads": options["heads"], "medusa_num_layers": 1, "version": "2"}
    if kind == "hydra":
        return "hydra_lm_head.safetensors", tensors, {
            "base_model_name_or_path": base_name, "grounded_heads": True, "hidden_state_offset": 0, "hydra_head_arch": "prefix-mlp",
            "hydra_num_heads": options["heads"], "hydra_num_layers": options["layers"],
            "rms_norm_eps": c["eps"], "rope_theta": c["theta"], "num_attention_heads": c["heads"], "num_key_value_heads": c["kv_heads"],
            "head_dim": c["head_dim"], "hidden_size": c["d"], "intermediate_size": c["ff"]}
    if kind == "eagle1":
        return "model.safetensors", tensors, llama_config(c, bias=True, base_model_name_or_path=base_name)
    if kind == "eagle3":
        return "model.safetensors", tensors, llama_config(
            c, architectures=["LlamaForCausalLMEagle3"], draft_vocab_size=len(state["d2t"]), tie_word_embeddings=False,
            base_model_name_or_path=base_name, eagle_config={"eagle_aux_hidden_state_layer_ids": list(layers), "use_aux_hidden_state": True})
    if kind == "space":
        masks, (layers, kv_heads, prefix, head_dim) = len(state["mask_embeddings"]), state["prefix_keys"].shape
        return "model.safetensors", tensors, {
            "model_type": "space", "base_model_name_or_path": base_name, "space_num_masks": masks, "space_prefix_length": prefix,
            "hidden_size": c["d"], "num_hidden_layers": layers, "num_attention_heads": c["heads"], "num_key_value_heads": kv_heads, "head_dim": head_dim,
            "rope_theta": c["theta"], "vocab_size": c["vocab"], "torch_dtype": "float16"}
    width, heads = options["width"], options["width"] // options["head_dim"]
    own = dict(c, d=width, ff=options["ff"], heads=heads, kv_heads=heads, head_dim=options["head_dim"])
    return "model.safetensors", tensors, llama_config(own, num_hidden_layers=options["layers"], tie_word_embeddings=True)


def figures_text(figures):
    if not figures:
        return "Not measured."
    lines = [f"Expected tokens per forward, greedy, chat prompts of {figures['prompts_file']} ({figures['prompts']} prompts, {figures['tokens']} tokens"
             " each at most; simulated on the target's own greedy text):", "", "| drafts | tokens per forward | accepted by depth |", "|---|---|---|"]
    for row in figures["rows"]:
        lines.append(f"| {row['shape']} | {row['tokens_per_forward']:.2f} | {' '.join(f'{x:.2f}' for x in row['by_depth'])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, help="GGUF of the target")
    parser.add_argument("--data", type=pathlib.Path, help="the dialogues, to count them for the card")
    parser.add_argument("--figures", type=pathlib.Path)
    parser.add_argument("--target-name", default="HuggingFaceTB/SmolLM2-135M-Instruct")
    parser.add_argument("--corpus", default="TinyStories (CDLA-Sharing-1.0), African Storybook and Pratham Books (CC-BY), public-domain classics", help="where passages in the user's turns come from; '' for none")
    parser.add_argument("--licence-note", default="")
    args = parser.parse_args()

    import safetensors.torch

    import data
    from target import default_model, load_gguf
    from train import layers_of

    model = args.model or default_model()
    target = load_gguf(model)
    found = torch.load(args.checkpoint, map_location="cpu", weights_only=False)
    kind, options, state = found["kind"], found["options"], found["head"]
    name, tensors, config = content(kind, state, target.config, options, args.target_name, layers_of(target))
    figures = json.loads(args.figures.read_text(encoding="utf-8")) if args.figures else None
    if kind in ("medusa", "hydra", "eagle1") and figures and figures.get("static_tree"):
        config["draft_tree"] = ";".join(",".join(map(str, path)) for path in figures["static_tree"])
    args.out.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(tensors, str(args.out / name), metadata={"format": "pt"})
    (args.out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    dialogues = [d for d in (data.read(args.data, options["max_tokens"]) if args.data else []) if d.line < options["lines"].get(d.part, 0) and not d.held_out]
    shown = {k: v for k, v in options.items() if k not in ("frequent", "lines", "seed")}
    card = CARD.format(
        title=TITLES[kind], target=args.target_name, kind=kind, model_file=pathlib.Path(model).name, steps=found["step"], seed=options["seed"],
        what=WHAT[kind].format(layers=list(layers_of(target)), vd=len(state["d2t"]) if "d2t" in state else "", masks=options.get("masks"), prefix=options.get("prefix")),
        dialogues=f"{len(dialogues):,}", tokens=f"{sum(len(d.ids) for d in dialogues):,}", written=f"{sum(int((d.kinds > 0).sum()) for d in dialogues):,}",
        passages=f"Passages in part of the user's turns come from {args.corpus}. " if args.corpus else "", options=", ".join(f"{k} {v}" for k, v in shown.items()), parameters=f"{sum(t.numel() for t in tensors.values() if t.is_floating_point()):,}",
        licence=f" {args.licence_note}" if args.licence_note else "", figures=figures_text(figures))
    (args.out / "README.md").write_text(card, encoding="utf-8")
    curve = args.checkpoint.parent / "curve.csv"
    if curve.exists():
        shutil.copyfile(curve, args.out / "curve.csv")
    size = sum(p.stat().st_size for p in args.out.iterdir())
    print(f"{args.out}: {name}, {len(tensors)} tensors, {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
