#!/usr/bin/env python3
"""Prints how many tiny models of each family the tests compare with transformers by logits ("models", model_families.json), and how many
runs token for token, by the golden file that has them.

  python tests/golden/runs_by_family.py

A test fails at a run that is unequal, except for the ties that test_parity.cpp names with their margins."""
import collections
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def golden(name):
    return json.loads((HERE / name).read_text("utf-8"))


def family_of(models, name):
    return models[name]["config"]["model_type"]


def main():
    models = golden("model_families.json")["cases"]
    counts = collections.defaultdict(collections.Counter)
    for name in models:
        counts[family_of(models, name)]["models"] += 1
    for entry in golden("parity_goldens.json")["models"].values():
        counts[entry["config"]["model_type"]]["parity_goldens"] += len(entry["runs"])
    for name in ("model_tokens", "expert_tokens"):
        for case in golden(f"{name}.json")["cases"]:
            counts[family_of(models, case["model"])][name] += len(case["runs"])
    files = ("models", "parity_goldens", "model_tokens", "expert_tokens")
    print("| family | " + " | ".join(files) + " |\n|---|" + "---|" * len(files))
    for family in sorted(counts):
        print(f"| `{family}` | " + " | ".join(str(counts[family][f] or "") for f in files) + " |")
    totals = [sum(c[f] for c in counts.values()) for f in files]
    print("| all | " + " | ".join(map(str, totals)) + " |")


if __name__ == "__main__":
    main()
