#!/usr/bin/env python3
"""Writes tests/fixtures/mtp_qwen3 and mtp.json beside this file: a small dense model with one MTP layer in Qwen's and Mellum's layout, and
what transformers' generate(use_mtp=True) drafts with it, state by state.

  python tests/golden/mtp.py        two minutes; needs torch==2.11.0, transformers==5.24.0, safetensors==0.8.0

A dense Mellum is a Qwen 3. The model has random weights; its MTP layer was trained for a moment on texts that the model wrote, so that some
of its drafts come true. A state of a text: [tokens before it, drafts]."""
import json
import pathlib
import random
import tempfile

import safetensors.torch
import torch
import torch.nn.functional as F
import transformers
from transformers import MellumConfig, MellumForCausalLM
from transformers.generation import candidate_generator as cg
from transformers.modeling_layers import MtpModel

import assisted

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "fixtures" / "mtp_qwen3"
VOCABULARY, TOKENS, PROMPTS = 96, 40, 16
SIZES = dict(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, head_dim=8, max_position_embeddings=256, rms_norm_eps=1e-6, tie_word_embeddings=False)
THETA = 10000.0
# MtpModel's names -> Mellum's and Qwen's.
NAMES = (("layers.0.enorm.", "mtp.pre_fc_norm_embedding."), ("layers.0.hnorm.", "mtp.pre_fc_norm_hidden."), ("layers.0.eh_proj.", "mtp.fc."),
         ("layers.0.post_norm.", "mtp.norm."), ("layers.0.mtp_block.", "mtp.layers.0."))

torch.manual_seed(3)
torch.set_num_threads(1)


def config():
    return MellumConfig(**SIZES, mlp_layer_types=["dense"] * 2, num_mtp_layers=1, mtp_layer_types=["full_attention"],
                        mtp_mlp_layer_types=["dense"], rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": THETA}},
                        bos_token_id=1, eos_token_id=None, pad_token_id=0)


def rounded(model):
    for parameter in model.parameters():
        parameter.data = parameter.data.to(torch.bfloat16).float()


def train(model, mtp, texts):
    """Cross entropy of the MTP layer's row at t + 1 against the text's token at t + 2."""
    own = [p for name, p in mtp.named_parameters() if name.startswith("layers.")]
    optimiser = torch.optim.Adam(own, lr=3e-3)
    ids = torch.tensor(texts)
    with torch.no_grad():
        states = model(ids, output_hidden_states=True).hidden_states[-1]
    positions = torch.arange(1, ids.shape[1])[None]
    for _ in range(150):
        cache = None
        h = mtp.forward_layer(0, states[:, :-1], positions, cache, input_ids=ids[:, 1:])
        logits = mtp._project_to_logits(h)
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, VOCABULARY), ids[:, 2:].reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item()


def main():
    rng = random.Random(5)
    model = MellumForCausalLM(config()).eval()
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            parameter.data = torch.randn_like(parameter) * (0.9 / parameter.shape[1] ** 0.5)
        else:
            parameter.data = 1 + 0.2 * torch.randn_like(parameter)
    rounded(model)
    prompts = assisted.beginnings(rng, PROMPTS, VOCABULARY)
    seen = assisted.beginnings(rng, 160, VOCABULARY)
    texts = [assisted.greedy(model, begin, 60)[:60] for begin in seen]
    mtp = MtpModel(model, 1)
    for name, parameter in mtp.named_parameters():
        if parameter.ndim == 2 and name.startswith("layers."):
            parameter.data = torch.randn_like(parameter) * (0.6 / parameter.shape[1] ** 0.5)
    loss = train(model, mtp, texts)
    rounded(mtp)

    weights = {name: tensor.to(torch.bfloat16) for name, tensor in model.state_dict().items()}
    for name, tensor in mtp.state_dict().items():
        for there, here in NAMES:
            if name.startswith(there):
                weights[here + name.removeprefix(there)] = tensor.to(torch.bfloat16)
    FOLDER.mkdir(exist_ok=True)
    safetensors.torch.save_file(weights, FOLDER / "model.safetensors", metadata={"format": "pt"})
    qwen = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_act": "silu", "attention_bias": False, **SIZES,
            "rope_theta": THETA, "bos_token_id": 1, "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16"}
    (FOLDER / "config.json").write_text(json.dumps(qwen, indent=1) + "\n")

    with tempfile.TemporaryDirectory() as folder:
        config().save_pretrained(folder)
        (pathlib.Path(folder) / "model.safetensors").write_bytes((FOLDER / "model.safetensors").read_bytes())
        model = MellumForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        cases, states, true = [], 0, 0
        for begin in prompts:
            text, found = assisted.assisted(model, cg.MTPCandidateGenerator, begin, TOKENS, use_mtp=True)
            assert text == assisted.greedy(model, begin, TOKENS)
            states += len(found)
            true += sum(assisted.accepted(text, state) for state in found)
            cases.append({"prompt": len(begin), "ids": text, "states": [[at, drafts] for at, drafts, _ in found]})
    print(f"loss {loss:.3f}; {states} states, {true} drafts came true; tokens in the texts: {len({t for c in cases for t in c['ids']})}")
    out = {"versions": {"transformers": transformers.__version__, "torch": torch.__version__}, "texts": cases}
    (HERE / "mtp.json").write_text(json.dumps(out, separators=(",", ":")).replace('{"prompt"', '\n{"prompt"') + "\n")


if __name__ == "__main__":
    main()
