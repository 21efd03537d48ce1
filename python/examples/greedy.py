"""Greedy decoding, a token a round."""
import triescope

WORDS = {0: " the", 1: " cat", 2: " sat", 3: " on", 4: " mat", 5: "."}


def logits_of(tokens):  # your model: a row of logits for the next token
    return [1.0 if token == (tokens[-1] + 1) % 6 else 0.0 for token in range(6)]


with triescope.Recorder("greedy.tscap", tokenizer=WORDS, method="my_greedy", kind="text", settings={"do_sample": False}) as cap:
    tokens = [0, 1]
    logits = logits_of(tokens)
    cap.prompt(tokens, logits=logits)
    for step in range(8):
        token = max(range(6), key=lambda t: logits[t])
        with cap.round() as r:
            if step > 0:  # the first token comes from the prompt's own row
                r.rows([-1])
                r.target([logits])
            r.commit([], token=token)
        tokens.append(token)
        logits = logits_of(tokens)
print(triescope.open("greedy.tscap").text)
