#!/usr/bin/env python3
"""Writes tests/fixtures/dflash, tests/fixtures/dflash_encoder and dflash.json beside this file: a small DFlash head for
tests/fixtures/draft_heads/target, under the published names and under transformers', and what transformers' generate(speculation_type="dflash")
drafts with it, state by state.

  python tests/golden/dflash.py        three minutes; needs torch==2.11.0, transformers==5.24.0, safetensors==0.8.0

It reads outputs of layers before the last: transformers has the last one's only after the final norm. The head was trained for a moment on texts that the model wrote, so that some of its drafts come true. A state of a text: [tokens before it,
drafts]; some also have the tree that DDTree's algorithm grows: [[tokens of a node's path], weight] in the order of growth, by a plain list
of open nodes in place of a heap."""
import json
import pathlib
import random

import safetensors.torch
import torch
import torch.nn.functional as F
import transformers
from transformers import LlamaForCausalLM, MuseGlimmerAssistantConfig, MuseGlimmerAssistantModel
from transformers.generation import candidate_generator as cg

import assisted

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
BLOCK, MASK, LAYERS, BUDGET = 6, 63, [1, 4, 6], 12
TOKENS, PROMPTS = 40, 32
SHAPE = dict(hidden_size=16, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
             rms_norm_eps=1e-6, max_position_embeddings=256)

torch.manual_seed(4)
torch.set_num_threads(1)
model = LlamaForCausalLM.from_pretrained(FIXTURES / "draft_heads" / "target", dtype=torch.float32).eval()


def rounded(module):
    for parameter in module.parameters():
        parameter.data = parameter.data.to(torch.bfloat16).float()


def states_of(ids):
    with torch.no_grad():
        hidden = model(ids, output_hidden_states=True).hidden_states
    return torch.cat([hidden[i + 1] for i in LAYERS], -1)


def train(head, texts, steps, rng):
    """Cross entropy of the masks' rows behind a random anchor against the text, nearer ones weighing more."""
    optimiser = torch.optim.Adam(head.parameters(), lr=4e-3)
    ids = torch.tensor(texts)
    context = states_of(ids)
    weight = torch.tensor([0.75 ** i for i in range(BLOCK - 1)])
    for _ in range(steps):
        rows = torch.tensor(rng.sample(range(len(texts)), 64))
        at = rng.randrange(3, ids.shape[1] - BLOCK)
        block = torch.full((64, BLOCK), MASK)
        block[:, 0] = ids[rows, at]
        out = head(noise_embeds=model.model.embed_tokens(block).detach(), context_hidden_states=context[rows, :at]).last_hidden_state
        logits = model.lm_head(out[:, 1:])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[rows, at + 1: at + BLOCK].flatten(), reduction="none").view(64, -1)
        optimiser.zero_grad()
        (loss * weight).mean().backward()
        optimiser.step()
    return loss.mean(0).tolist()


def tree(logits):
    """DDTree: nodes are tuples of ranks; of all open ones the heaviest comes next."""
    logprobs, tokens = torch.log_softmax(logits, -1).sort(dim=-1, descending=True, stable=True)
    weight = lambda ranks: sum(float(logprobs[depth, rank]) for depth, rank in enumerate(ranks))
    open_nodes, grown = [(0,)], []
    while open_nodes and len(grown) < BUDGET:
        best = max(open_nodes, key=weight)
        open_nodes.remove(best)
        grown.append([[int(tokens[depth, rank]) for depth, rank in enumerate(best)], round(weight(best), 4)])
        open_nodes.append(best[:-1] + (best[-1] + 1,))
        if len(best) < len(logits):
            open_nodes.append(best + (0,))
    return grown


def write(head):
    weights = {name: tensor.to(torch.bfloat16) for name, tensor in head.state_dict().items()}
    shape = {**SHAPE, "rope_theta": 10000.0, "vocab_size": model.config.vocab_size, "torch_dtype": "bfloat16"}
    published = {"encoder.fc.weight": "fc.weight", "encoder.output_norm_enc.weight": "hidden_norm.weight"}
    forms = {
        "dflash": ({published.get(name, name): tensor for name, tensor in weights.items()},
                   {"architectures": ["DFlashDraftModel"], "model_type": "qwen3", **shape, "block_size": BLOCK,
                    "dflash_config": {"mask_token_id": MASK, "target_layer_ids": LAYERS}}),
        "dflash_encoder": (weights, {"architectures": ["MuseGlimmerAssistantModel"], "model_type": "muse_glimmer_assistant", **shape,
                                     "layer_types": ["full_attention"] * 2, "block_size": BLOCK, "mask_token_id": MASK,
                                     "target_layer_ids": LAYERS}),
    }
    for name, (tensors, config) in forms.items():
        (FIXTURES / name).mkdir(exist_ok=True)
        (FIXTURES / name / "model.safetensors").write_bytes(safetensors.torch.save(tensors))
        (FIXTURES / name / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def main():
    rng = random.Random(6)
    prompts = assisted.beginnings(rng, PROMPTS, 62)
    seen = assisted.beginnings(rng, 200, 62)
    texts = [assisted.greedy(model, begin, 48, eos_token_id=None)[:48] for begin in seen]
    head = MuseGlimmerAssistantModel(MuseGlimmerAssistantConfig(
        **SHAPE, rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, layer_types=["full_attention"] * 2, block_size=BLOCK,
        mask_token_id=MASK, target_layer_ids=LAYERS)).train()
    for parameter in head.parameters():
        if parameter.ndim == 2:
            parameter.data = torch.randn_like(parameter) * (0.6 / parameter.shape[1] ** 0.5)
    loss = train(head, texts, 700, rng)
    rounded(head)
    head.eval()
    write(head)

    cases, states, true = [], 0, 0
    for begin in prompts:
        text, found = assisted.assisted(model, cg.DFlashTokenCandidateGenerator, begin, TOKENS, assistant_model=head,
                                        speculation_type="dflash")
        assert text == assisted.greedy(model, begin, TOKENS)
        states += len(found)
        true += sum(assisted.accepted(text, state) for state in found)
        trees = {str(at): tree(logits) for at, _, logits in found[::8]}
        cases.append({"prompt": len(begin), "ids": text, "states": [[at, drafts] for at, drafts, _ in found], "trees": trees})
    print(f"loss {loss}; {states} states, {true} drafts came true")
    out = {"versions": {"transformers": transformers.__version__, "torch": torch.__version__}, "budget": BUDGET, "texts": cases}
    (HERE / "dflash.json").write_text(json.dumps(out, separators=(",", ":")).replace('{"prompt"', '\n{"prompt"') + "\n")


if __name__ == "__main__":
    main()
