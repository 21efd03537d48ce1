"""A small model in the layout of EAGLE's published code, written for these tests: the names and arguments of its functions, a random
Llama as the target, and a head that knows half of what the target knows."""

from types import SimpleNamespace

import torch
import transformers

TREE = [(-1, 0), (-1, 1), (0, 0), (0, 1), (2, 0)]  # of each draft the one above it, and which of its best tokens it is


def small_llama(seed=1):
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(vocab_size=48, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.3, bos_token_id=1, eos_token_id=47)
    return transformers.LlamaForCausalLM(config).eval()


class Target:
    """base_model: its rows over the text so far and a tree, whose mask is model.tree_mask. No cache: all is computed again."""

    def __init__(self, llama):
        self.llama, self.config, self.dtype = llama, llama.config, llama.dtype
        self.model = SimpleNamespace(tree_mask=None)

    def rows(self, text, tree, positions):
        count, first = len(text) + len(tree), len(text)
        sees = torch.tril(torch.ones(count, count, dtype=torch.bool))
        if tree:
            sees[first:, first:] = self.model.tree_mask[0, 0].bool()
        mask = torch.zeros(1, 1, count, count).masked_fill(~sees, torch.finfo(torch.float32).min)
        at = torch.cat([torch.arange(first), positions]) if tree else torch.arange(first)
        with torch.no_grad():
            return self.llama(input_ids=torch.tensor([text + tree]), attention_mask=mask, position_ids=at[None]).logits


class EaModel:
    def __init__(self, llama, eos=()):
        self.base_model = Target(llama)
        self.ea_layer = SimpleNamespace(total_tokens=len(TREE), depth=3)
        self.eos = eos

    def eagenerate(self, input_ids, temperature=0.0, top_p=0.0, top_k=0.0, max_new_tokens=24):
        for text in self.ea_generate(input_ids, temperature, top_p, top_k, max_new_tokens):
            pass
        return text

    def ea_generate(self, input_ids, temperature=0.0, top_p=0.0, top_k=0.0, max_new_tokens=24):
        logits_processor = None if temperature <= 1e-5 else (lambda ids, scores: scores / temperature)
        begin = input_ids.shape[1]
        draft_tokens, retrieve_indices, tree_mask, tree_position_ids, _, _, _ = initialize_tree(input_ids, self, None, logits_processor)
        new_token = 0
        while new_token <= max_new_tokens:
            self.base_model.model.tree_mask = tree_mask
            logits, hidden, _ = tree_decoding(self, draft_tokens, None, tree_position_ids, input_ids, retrieve_indices)
            padded = torch.cat([draft_tokens, torch.full((1, 1), -1)], 1)
            candidates = padded[0, retrieve_indices]
            best_candidate, accept_length, sample_p = evaluate_posterior(logits, candidates, logits_processor)
            (input_ids, draft_tokens, retrieve_indices, tree_mask, tree_position_ids, new_token, _, _) = update_inference_inputs(
                input_ids, candidates, best_candidate, accept_length, retrieve_indices, logits_processor, new_token, None, None, self, hidden,
                sample_p)
            yield input_ids
            if set(self.eos) & set(input_ids[0, begin:].tolist()):
                break

    def naivegenerate(self, input_ids):
        return input_ids


def pick(row, logits_processor):
    if logits_processor is None:
        return row.argmax()
    return torch.multinomial(logits_processor(None, row[None])[0].softmax(-1), 1)[0]


def grown(model, text, token):
    """The head's tree below `token`: tokens, paths, mask, positions."""
    tokens, parents = [token], []
    for parent, rank in TREE:
        path, at = [], parent + 1
        while at > 0:
            path.insert(0, tokens[at])
            at = parents[at - 1]
        row = model.base_model.rows(text + [token] + path, [], None)[0, -1]
        noise = torch.Generator().manual_seed(sum(text + path) + 100 * len(path))
        tokens.append(int((row + torch.randn(row.shape, generator=noise)).topk(2).indices[rank]))
        parents.append(parent + 1)
    count = len(tokens)
    mask, depth, paths = torch.eye(count), [0] * count, []
    for node in range(1, count):
        mask[node] = mask[parents[node - 1]]
        mask[node, node] = 1
        depth[node] = depth[parents[node - 1]] + 1
    for leaf in [node for node in range(count) if node not in parents]:
        path = []
        while leaf > 0:
            path.insert(0, leaf)
            leaf = parents[leaf - 1]
        paths.append([0] + path)
    longest = max(map(len, paths))
    retrieve = torch.tensor([path + [-1] * (longest - len(path)) for path in paths])
    return torch.tensor([tokens]), retrieve, mask[None, None], torch.tensor(depth)


def initialize_tree(input_ids, model, past_key_values, logits_processor):
    text = input_ids[0].tolist()
    orig = model.base_model.rows(text, [], None)
    token = pick(orig[0, -1], logits_processor)
    return (*grown(model, text, int(token)), orig, torch.zeros(1, len(text), 32), token[None, None])


def tree_decoding(model, tree_candidates, past_key_values, tree_position_ids, input_ids, retrieve_indices):
    text, tree = input_ids[0].tolist(), tree_candidates[0].tolist()
    rows = model.base_model.rows(text, tree, tree_position_ids + input_ids.shape[1])[0, len(text):]
    return rows[retrieve_indices], torch.zeros(1, len(tree), 32), None


def evaluate_posterior(logits, candidates, logits_processor):
    if logits_processor is None:
        right = (candidates[:, 1:] == logits[:, :-1].argmax(-1)).int().cumprod(1).sum(1)
        best = right.argmax() if right.max() > 0 else torch.tensor(0)
        return best, right.max(), logits[best, right.max()]
    best, length = 0, 0  # a drawn token is followed where a draft is it
    while True:
        p = logits_processor(None, logits[best, length][None])[0].softmax(-1)
        token = torch.multinomial(p, 1)[0]
        same = [i for i in range(len(candidates)) if (candidates[i, :length + 1] == candidates[best, :length + 1]).all()
                and length + 1 < candidates.shape[1] and candidates[i, length + 1] == token]
        if not same:
            return torch.tensor(best), length, torch.nn.functional.one_hot(token, len(p)).float()
        best, length = same[0], length + 1


def update_inference_inputs(input_ids, candidates, best_candidate, accept_length, retrieve_indices, logits_processor, new_token,
                            past_key_values_data_list, current_length_data, model, hidden_state_new, sample_p):
    input_ids = torch.cat([input_ids, candidates[None, best_candidate, : accept_length + 1]], 1)
    token = sample_p.argmax() if logits_processor is None else torch.multinomial(sample_p, 1)[0]
    return (input_ids, *grown(model, input_ids[0].tolist(), int(token)), new_token + int(accept_length) + 1, None, token[None, None])
