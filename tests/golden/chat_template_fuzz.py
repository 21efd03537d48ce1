#!/usr/bin/env python3
"""Changes the templates and pieces of chat_templates.py at random and compares what
chat_template_dump makes of them with transformers: where both render, the texts must be equal.

    python chat_template_fuzz.py BUILD/tests/bin/chat_template_dump [--seed 1] [--count 5000]
    python chat_template_fuzz.py BUILD/tests/bin/chat_template_dump --folder FOLDER

--folder: every template there (*.jinja) as it is, with every conversation; real_tokenizers.py fetches some.
Prints every difference and what we render though Jinja refuses it; exit status 1 at a difference.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import warnings

import chat_templates

TOKEN = re.compile(r"\{[{%#][-+]?|[-+]?[}%#]\}|\s+|\w+|'[^']*'|\"[^\"]*\"|[^\w\s]")
# Printed as a Python class by Jinja; we know no such names.
NOT_OURS = re.compile(r"<class '|<Namespace| at 0x")


def mutate(text, others):
    parts = TOKEN.findall(text)
    for _ in range(random.choice([1, 1, 2, 3])):
        if not parts:
            break
        i, kind = random.randrange(len(parts)), random.random()
        if kind < 0.3:
            parts[i] = random.choice(others)
        elif kind < 0.5:
            parts.insert(i, random.choice(others))
        elif kind < 0.7:
            del parts[i]
        elif kind < 0.85:
            j = random.randrange(len(parts))
            parts[i], parts[j] = parts[j], parts[i]
        else:
            parts[i:i] = parts[i : i + random.randrange(1, 8)]
    return "".join(parts)


def expected(template, conversation):
    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 2)  # a mutated loop may be long
    try:
        return chat_templates.render(template, conversation, True, chat_templates.TEXTS)
    except TimeoutError:
        return {"error": "timeout"}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def dump(program, conversation, templates):
    with tempfile.TemporaryDirectory() as work:
        given, made = pathlib.Path(work, "in.json"), pathlib.Path(work, "out.json")
        given.write_text(json.dumps({"messages": conversation, "texts": chat_templates.TEXTS, "templates": templates}))
        subprocess.run([program, given, made], check=True)
        return json.loads(made.read_text())


def compare_folder(program, folder):
    """Every template with every conversation: equal, refused by both, or a difference; a line a template."""
    paths = sorted(pathlib.Path(folder).glob("*.jinja"))
    templates = [path.read_bytes().decode() for path in paths]
    counts = [collections.Counter() for _ in paths]
    why = [set() for _ in paths]
    for conversation in chat_templates.CONVERSATIONS:
        for at, ours in enumerate(dump(program, conversation, templates)):
            theirs = expected(templates[at], conversation)
            if "text" in theirs and "text" in ours:
                counts[at]["equal" if theirs["text"] == ours["text"] else "DIFFERENT"] += 1
            elif "text" in ours:
                counts[at]["ONLY TRIESCOPE RENDERS"] += 1
                why[at].add(theirs["error"])
            elif "text" in theirs:
                counts[at]["only transformers renders"] += 1
                why[at].add(ours["error"])
            else:
                counts[at]["both refuse"] += 1
    for path, count, reasons in zip(paths, counts, why):
        print(f"{path.stem}: {dict(count)} {'; '.join(sorted(reasons))[:200]}")
    total = sum(counts, collections.Counter())
    print(f"{len(paths)} templates, {sum('only transformers renders' not in c for c in counts)} without a refusal of ours: {dict(total)}")
    return 1 if total["DIFFERENT"] or total["ONLY TRIESCOPE RENDERS"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dump", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--folder", type=pathlib.Path)
    args = parser.parse_args()
    random.seed(args.seed)
    warnings.simplefilter("ignore")
    if args.folder:
        return compare_folder(args.dump, args.folder)
    folder = chat_templates.HERE / "chat_templates"
    whole = [path.read_bytes().decode() for path in sorted(folder.glob("*.jinja"))]
    pieces = list(chat_templates.SNIPPETS)
    pieces += 2 * [tag for piece in pieces for tag in re.findall(r"\{\{.*?\}\}", piece)]
    tokens = [token for text in whole + pieces for token in TOKEN.findall(text)]
    templates = [mutate(random.choice(pieces if random.random() < 0.75 else whole), tokens) for _ in range(args.count)]
    conversation = chat_templates.CONVERSATIONS[random.choice([2, 3, 4, 5])]
    results = dump(args.dump, conversation, templates)
    counts = collections.Counter()
    for template, ours in zip(templates, results, strict=True):
        theirs = expected(template, conversation)
        if "text" in theirs and "text" in ours:
            same = theirs["text"] == ours["text"] or NOT_OURS.search(theirs["text"])
            counts["equal" if same else "DIFFERENT"] += 1
            if not same:
                print(f"DIFFERENT {template!r}\n  transformers {theirs['text']!r}\n  triescope {ours['text']!r}")
        elif "text" in ours:
            counts["only triescope renders"] += 1
            print(f"LENIENT {template[:200]!r}: {theirs['error']}")
        else:
            counts["only transformers renders" if "text" in theirs else "both refuse"] += 1
    print(dict(counts))
    return 1 if counts["DIFFERENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
