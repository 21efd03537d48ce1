"""Reads a head that export.py wrote: its tensors, its kind, and the head itself."""

import json
import pathlib
import sys

import torch

import heads

# What a tensor's name begins with in each kind's file and in no other's.
BEGINNINGS = {"medusa": "0.0.linear", "hydra": "hydra_mlp.", "eagle1": "fc.bias", "eagle3": "midlayer.", "draft": "model.embed_tokens",
              "space": "mask_embeddings"}


def tensors_of(folder):
    """{name: tensor} of the folder's one .safetensors file."""
    import safetensors.torch

    files = sorted(pathlib.Path(folder).glob("*.safetensors"))
    if len(files) != 1:
        sys.exit(f"{folder}: expected a folder of export.py's with one .safetensors file, found {len(files)}")
    return safetensors.torch.load_file(files[0])


def begin_with(folder, kind):
    """Its tensors. Refuses another kind's."""
    tensors = tensors_of(folder)
    if not any(name.startswith(BEGINNINGS[kind]) for name in tensors):
        sys.exit(f"{folder}: expected a {kind} head, with a tensor {BEGINNINGS[kind]}…; found {', '.join(sorted(tensors)[:3])}, …")
    return tensors


def fill(head, tensors):
    """Puts a file's fp16 tensors into a head of fp32."""
    head.load_state_dict({name: x.float() if x.is_floating_point() else x for name, x in tensors.items()})


def open_exported(folder, target):
    """-> head in fp32, its kind."""
    tensors = tensors_of(folder)
    kind = next((k for k, begin in BEGINNINGS.items() if any(name.startswith(begin) for name in tensors)), None)
    if kind is None:
        sys.exit(f"{folder}: expected a head that export.py wrote ({', '.join(BEGINNINGS)}); found tensors {', '.join(sorted(tensors)[:3])}, …")
    config = json.loads((pathlib.Path(folder) / "config.json").read_text(encoding="utf-8"))
    options = {"heads": config.get(f"{kind}_num_heads"), "layers": config.get("hydra_num_layers"), "vocabulary": []}
    if kind == "eagle3":
        options["vocabulary"] = (tensors["d2t"] + torch.arange(len(tensors["d2t"]))).tolist()
    if kind == "draft":
        options.update(width=config["hidden_size"], layers=config["num_hidden_layers"], ff=config["intermediate_size"], head_dim=config["head_dim"])
    if kind == "space":
        options.update(masks=config["space_num_masks"], prefix=config["space_prefix_length"])
    head = heads.make(kind, heads.Base(target), options).to(target.device)
    fill(head, tensors)
    return head, kind
