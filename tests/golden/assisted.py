"""What transformers' assisted generation drafts at each state of a text, for mtp.py and dflash.py."""
import torch


def beginnings(rng, count, vocabulary):
    return [[1, *(rng.randrange(3, vocabulary) for _ in range(rng.randrange(3, 12)))] for _ in range(count)]


def greedy(model, begin, tokens, **settings):
    return model.generate(torch.tensor([begin]), max_new_tokens=tokens, do_sample=False, pad_token_id=0, **settings)[0].tolist()


def assisted(model, generator, begin, tokens, **settings):
    """The text of generate(**settings), and of each state with a draft [tokens before it, [drafts], logits of the drafts]. `generator`:
    the class that drafts."""
    states, whole = [], generator.get_candidates

    def seen(self, input_ids, *args, **kwargs):
        ids, logits = whole(self, input_ids, *args, **kwargs)
        drafts = ids[0, input_ids.shape[1]:].tolist()
        if drafts:
            states.append((input_ids.shape[1], drafts, logits[0].detach().float()))
        return ids, logits

    generator.get_candidates = seen
    try:
        text = model.generate(torch.tensor([begin]), max_new_tokens=tokens, do_sample=False, pad_token_id=0, **settings)[0].tolist()
    finally:
        generator.get_candidates = whole
    return text, states


def accepted(text, state):
    """How many of a state's drafts the text has."""
    count = 0
    for draft, token in zip(state[1], text[state[0]:]):
        if draft != token:
            break
        count += 1
    return count
