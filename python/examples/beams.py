"""Beam search with two beams: all continuations that were looked at, and which of them went on."""
import math

import triescope

with triescope.Recorder("beams.tscap", tokenizer=lambda token: f" w{token}", method="my_beams", kind="beams", width=2,
                        settings={"num_beams": 2}) as cap:
    cap.prompt([1, 2])
    beams = [0.0]  # Σ log p of the live beams, best first
    for step in range(6):
        with cap.round() as r:
            rows = [[(token, math.log((7 - (token * (beam + 2) + step) % 7) / 28)) for token in range(3, 10)] for beam in range(len(beams))]
            if step > 0:
                r.rows(list(range(len(beams))))
                r.target(rows)
            found = sorted(((beams[beam] + logprob, beam, token) for beam, row in enumerate(rows) for token, logprob in row),
                           reverse=True)[:4]
            r.level([token for _, _, token in found], parents=[beam if step > 0 else -1 for _, beam, _ in found],
                    scores=[score for score, _, _ in found], kept=[0, 1])
            beams = [score for score, _, _ in found[:2]]
print(triescope.open("beams.tscap").text)
