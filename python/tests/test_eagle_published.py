"""The adapter and our own heads against EAGLE's published code, on small random models: texts as without recording, nothing for the
doctor, and the trees that our own run of the same head drafts.

Skipped unless TRIESCOPE_EAGLE names a checkout of github.com/SafeAILab/EAGLE (tried: cb7e084) and TRIESCOPE_EAGLE_SITE a folder into
which the transformers that it was written for is installed: pip install --target FOLDER "transformers==4.53.1" (with tokenizers and
huggingface-hub of its time)."""

import json
import os
import random
import subprocess
import sys
import types
import unittest

from tests.support import Case, run_program

CHECKOUT, SITE = os.environ.get("TRIESCOPE_EAGLE"), os.environ.get("TRIESCOPE_EAGLE_SITE")
PROMPT = [1, 5, 17, 3, 42, 9, 77]
VOCABULARY, HIDDEN, CHOSEN = 128, 64, 64
TREE = {"total_token": 20, "depth": 4, "top_k": 4}  # of which ours is draft_tokens 19, draft_levels 5, draft_top_k 4
# Of each head: its config.json beside the common part.
HEADS = {
    "eagle3": {"draft_vocab_size": CHOSEN},
    "eagle3, whole vocabulary": {"draft_vocab_size": VOCABULARY},
    "eagle3, narrower than its target": {"draft_vocab_size": CHOSEN, "hidden_size": 32, "target_hidden_size": HIDDEN,
                                         "num_attention_heads": 2, "num_key_value_heads": 1},
    "eagle3, another rope base": {"draft_vocab_size": CHOSEN, "rope_theta": 500000.0},
    "eagle2": {},
    "eagle2, no bias": {"bias": False},
    "eagle2, biases of q, k and v": {"qkv_bias": True},
}
COMMON = {"architectures": ["LlamaForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": HIDDEN,
          "intermediate_size": 128, "max_position_embeddings": 512, "model_type": "llama", "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 1, "pad_token_id": 0, "rms_norm_eps": 1e-5, "vocab_size": VOCABULARY}


def write_target(folder, torch, transformers):
    torch.manual_seed(3)
    config = transformers.LlamaConfig(**{**COMMON, "num_hidden_layers": 8, "initializer_range": 0.12, "torch_dtype": "float32"})
    model = transformers.LlamaForCausalLM(config).eval()
    model.save_pretrained(folder, max_shard_size="100KB")  # the published code reads the embedding through the index
    return model


def write_head(folder, said, target, torch):
    """A head of the published class, random but for what lets it guess the target now and then."""
    from eagle.model import cnets, cnets1
    from eagle.model.configs import EConfig

    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({**COMMON, **said}, file)
    config = EConfig.from_pretrained(os.path.join(folder, "config.json"))
    chosen = said.get("draft_vocab_size")
    torch.manual_seed(103)
    head = cnets.Model(config) if chosen else cnets1.Model(config, bias=said.get("bias", True))
    state = {name: torch.randn_like(value) * 0.06 if value.dtype.is_floating_point and "norm" not in name else value
             for name, value in head.state_dict().items()}
    eye = torch.eye(HIDDEN)
    if chosen:
        ids = torch.sort(torch.randperm(VOCABULARY)[:chosen]).values
        state["lm_head.weight"] = target.lm_head.weight.data[ids][:, :config.hidden_size].clone()
        if chosen < VOCABULARY:
            state["d2t"] = ids - torch.arange(chosen)
            state["t2d"] = torch.zeros(VOCABULARY, dtype=torch.bool).scatter(0, ids, True)
        else:
            del state["d2t"], state["t2d"]
        if config.hidden_size == HIDDEN:
            del state["embed_tokens.weight"]
            state["fc.weight"][:, 2 * HIDDEN:] += eye
    else:
        state["embed_tokens.weight"] = target.model.embed_tokens.weight.data.clone()
        state["fc.weight"] += torch.cat([0.2 * eye, 0.4 * eye], 1)  # larger ones: probabilities of 1, whose sums tie
    torch.save(state, os.path.join(folder, "pytorch_model.bin"))


def judged(path):
    """(by step the paths of its verdicts, the text)."""
    import triescope

    with triescope.open(path) as run:
        nodes, paths, found = run.rows("node"), [()], {}
        for row in nodes[1:]:
            paths.append(paths[row["parent"]] + (row["token"],))
        for row in run.rows("verdict"):
            if row["verdict"] != "withdrawn":
                found.setdefault(row["tick"] // 5, set()).add((paths[row["node"]], row["verdict"]))
        return found, run.tokens


@unittest.skipUnless(CHECKOUT and SITE, "TRIESCOPE_EAGLE and TRIESCOPE_EAGLE_SITE name no checkout")
class Published(Case):
    def test_every_head_drafts_what_the_published_code_drafts(self):
        """In a process of its own: it has another transformers."""
        self.need_program()
        done = subprocess.run([sys.executable, "-W", "ignore", "-m", "tests.test_eagle_published", self.folder], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join([SITE, CHECKOUT, os.environ.get("PYTHONPATH", "")])})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        for name, said in HEADS.items():
            folder = self.path(name)
            for run in ("greedy", "sampled"):
                found = json.loads(run_program("doctor", os.path.join(folder, run + ".tscap"), "--model", self.path("target"), "--json",
                                               check=False).stdout)["findings"]
                # Its eagenerate() leaves what stands behind the end of the text.
                self.assertEqual([one for one in found if one["code"] != "text.eos"], [], (name, run))
            theirs, text = judged(os.path.join(folder, "greedy.tscap"))
            drafted = {token for rows in theirs.values() for path, _ in rows for token in path}
            end = next(token for token in range(VOCABULARY) if token not in drafted)  # behind an end we draft nothing
            own = os.path.join(folder, "own.tscap")
            run_program("decode", "--model", self.path("target"), "--method", name.split(",")[0], "--draft", folder, "--dtype", "f32",
                        "--prompt-ids", ",".join(map(str, PROMPT)), "--max-new-tokens", str(len(text) + 20), "--quiet", "--capture", own,
                        *(word for pair in ("draft_top_k=4", "draft_levels=5", "draft_tokens=19", f"eos_token_id={end}")
                          for word in ("--set", pair)))
            ours, our_text = judged(own)
            self.assertEqual(our_text[:len(text)], text, name)
            for step, rows in theirs.items():
                self.assertEqual(ours[step], rows, (name, step))
            print(f"{name}: {len(theirs)} steps, {sum(map(len, theirs.values()))} verdicts the same")


def record_all(folder):
    import torch
    import transformers

    import eagle.model.ea_model as published
    import triescope

    published.AutoTokenizer = types.SimpleNamespace(from_pretrained=lambda *arguments, **options: types.SimpleNamespace(eos_token_id=2))
    base = os.path.join(folder, "target")
    target = write_target(base, torch, transformers)
    for name, said in HEADS.items():
        where = os.path.join(folder, name)
        write_head(where, said, target, torch)
        model = published.EaModel.from_pretrained(use_eagle3="draft_vocab_size" in said, base_model_path=base, ea_model_path=where,
                                                  torch_dtype=torch.float32, **TREE).eval()
        for run, options in (("greedy", {}), ("sampled", {"temperature": 0.9, "top_k": 20})):
            def generate():
                torch.manual_seed(3)
                random.seed(3)
                return model.eagenerate(torch.tensor([PROMPT]), max_new_tokens=40, **options)[0].tolist()

            plain = generate()
            with triescope.eagle.record(model, os.path.join(where, run + ".tscap"), tokenizer=lambda token: f" w{token}") as made:
                recorded = generate()
            assert plain == recorded, f"{name}, {run}: another text with recording"
            with triescope.open(made[0]) as kept:
                warnings = [row["text"] for row in kept.rows("log") if row["level"] == "warning"]
                assert kept.tokens == recorded[len(PROMPT):] and kept.run["status"] == "done", f"{name}, {run}: another text in the capture"
                assert not warnings, f"{name}, {run}: {warnings}"


if __name__ == "__main__":
    record_all(sys.argv[1])
