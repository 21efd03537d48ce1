#!/usr/bin/env python3
"""Makes chat_tools.json: what transformers' apply_chat_template makes of the templates in chat_templates/ for conversations with
tools: their schemas, the model's calls and the tools' answers. test_chat_tools.cpp reads it.

    python chat_tools.py
    python chat_tools.py --dump BUILD/tests/bin/chat_template_dump --folder FOLDER    compares every template of a folder
"""

import argparse
import collections
import json
import pathlib
import subprocess
import tempfile

import jinja2
import transformers

from chat_templates import HERE, TEXTS, render, system, user

TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "The weather of a place, \u00e9t\u00e9 <b> & 'quotes'.", "parameters": {
        "type": "object", "properties": {"place": {"type": "string", "description": "A town"}, "unit": {"type": "string", "enum": ["c", "f"]},
                                         "days": {"type": ["integer", "null"], "default": 3}}, "required": ["place"]}}},
    {"type": "function", "function": {"name": "add", "description": "a + b", "parameters": {
        "type": "object", "properties": {"b": {"type": "number"}, "a": {"type": "number"}}, "required": ["b", "a"]}, "return": {"type": "number"}}}]


def calls(*given, content=""):
    found = [{"id": f"call{i:05}", "type": "function", "function": {"name": n, "arguments": a}} for i, (n, a) in enumerate(given)]
    return {"role": "assistant", "content": content, "tool_calls": found}


def answer(text, name="get_weather", at=0):
    return {"role": "tool", "content": text, "name": name, "tool_call_id": f"call{at:05}"}


ONE = calls(("get_weather", {"place": "Z\u00fcrich", "days": 2}))
CONVERSATIONS = [
    ([user("Hello")], TOOLS),
    ([system("Be brief."), user("Weather?")], TOOLS[:1]),
    ([user("Weather?"), ONE, answer("{\"sky\": \"grey\"}")], TOOLS),
    ([user("Weather?"), ONE, answer("grey"), {"role": "assistant", "content": "Grey."}, user("And 1.5 + 1e3?")], TOOLS),
    ([user("Sum"), calls(("add", {"b": 1.5, "a": -1000000000000}), content="I add."), answer("3", "add")], TOOLS),
    ([user("Both"), calls(("add", {"b": 1, "a": 2}), ("get_weather", {"place": "x", "unit": None})), answer("3", "add"), answer("wet", at=1)], TOOLS),
    ([user("Null"), {**ONE, "content": None}, answer("dry")], TOOLS),
    ([user("Text"), calls(("add", "{\"b\": 1, \"a\": 2}")), answer("3", "add")], TOOLS),
    ([user("Think"), {"role": "assistant", "content": "4", "reasoning_content": "2 and 2"}, user("Sure?")], None),
]


def rendered(template, messages, tools, generation):
    return render(template, messages, generation, {**TEXTS, "tools": tools} if tools else TEXTS)


def dump(program, messages, tools, templates):
    with tempfile.TemporaryDirectory() as work:
        given, made = pathlib.Path(work, "in.json"), pathlib.Path(work, "out.json")
        given.write_text(json.dumps({"messages": messages, "texts": TEXTS, "templates": templates, **({"tools": tools} if tools else {})}))
        subprocess.run([program, given, made], check=True)
        return json.loads(made.read_text())


def compare(program, folder):
    paths = sorted(pathlib.Path(folder).glob("*.jinja"))
    templates = [p.read_bytes().decode() for p in paths]
    counts = [collections.Counter() for _ in paths]
    for messages, tools in CONVERSATIONS:
        for at, ours in enumerate(dump(program, messages, tools, templates)):
            theirs = rendered(templates[at], messages, tools, True)
            if "text" in theirs and "text" in ours:
                counts[at]["equal" if theirs["text"] == ours["text"] else "DIFFERENT"] += 1
                if theirs["text"] != ours["text"]:
                    print(f"{paths[at].stem}:\n  transformers {theirs['text']!r:.1500}\n  triescope    {ours['text']!r:.1500}")
            else:
                kind = "ONLY TRIESCOPE" if "text" in ours else "only transformers" if "text" in theirs else "both refuse"
                counts[at][kind] += 1
                if kind != "both refuse":
                    print(f"{paths[at].stem}: {kind}: {theirs.get('error', ours.get('error'))}")
    for path, count in zip(paths, counts):
        print(f"{path.stem}: {dict(count)}")
    total = sum(counts, collections.Counter())
    print(f"{len(paths)} templates, {len(CONVERSATIONS)} conversations: {dict(total)}")
    return 1 if total["DIFFERENT"] or total["ONLY TRIESCOPE"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dump")
    parser.add_argument("--folder", default=HERE / "chat_templates")
    arguments = parser.parse_args()
    if arguments.dump:
        return compare(arguments.dump, arguments.folder)
    found = {"versions": {"transformers": transformers.__version__, "jinja2": jinja2.__version__}, "texts": TEXTS,
             "conversations": [{"messages": m, **({"tools": t} if t else {})} for m, t in CONVERSATIONS], "templates": []}
    for path in sorted((HERE / "chat_templates").glob("*.jinja")):
        text = path.read_bytes().decode()
        found["templates"].append({"name": path.stem, "results": [rendered(text, m, t, True) for m, t in CONVERSATIONS]})
    (HERE / "chat_tools.json").write_text(json.dumps(found, indent=1) + "\n")
    print(sum("text" in r for t in found["templates"] for r in t["results"]), "texts")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
