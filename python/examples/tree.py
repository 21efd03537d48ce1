"""A drafted tree: two drafts below the end of the text, one below the first; greedy verification."""
import triescope


def row(best):  # your model: [(token, log p), …], or a row of logits
    return [(best, -0.1), (99, -3.0)]


with triescope.Recorder("tree.tscap", tokenizer=lambda token: f" w{token}", method="my_tree", title="My tree decoder",
                        kind="drafts", settings={"verify": "greedy"}) as cap:
    cap.prompt([1, 2, 3])
    for step in range(10):
        first = 10 * step + 10
        with cap.round() as r:
            r.draft([first, first + 1, first + 2], parents=[-1, -1, 0], drafter="my head")
            r.rows([-1, 0, 1, 2], mask=[[1.0 * (seen - 1) * 1e9 for seen in line] for line in
                                        ([1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1])])
            r.target([row(first), row(first + 2), row(5), row(first + 3)])
            r.commit(accepted=[0, 2], token=first + 3)
            r.time(draft=0.8, forward=12.1, accept=0.2)
            r.metric("entropy", 1 / (step + 1))
for level in triescope.open("tree.tscap").acceptance_by_depth():
    print(level.depth, level.rate)
