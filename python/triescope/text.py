"""A step as plain text, for a bug report: tree, mask, positions, slots, decisions."""

from __future__ import annotations

from typing import Any, Dict, List, Set

from .reader import Run, text_of


def _number(value: Any) -> str:
    return f"{value:.4g}"


def _runs(text: str) -> Set[int]:
    found: Set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def step_text(run: Run, step: int) -> str:
    """What the capture holds about one step."""
    nodes = run.rows("node")
    pieces = run.pieces
    about = run.run
    known = sorted({row["step"] for row in run.rows("step")})
    if step not in known:
        raise ValueError(f"--step: expected a step from {known[0]} to {known[-1]}, found {step}" if known else
                         f"{run.path}: expected a capture with steps, found none")
    names: Dict[int, str] = {}

    def name(node: int) -> str:
        if node not in names:
            if node <= -2:
                tokens = about.get("prompt_tokens") or []
                token = tokens[-2 - node] if -2 - node < len(tokens) else -1
                names[node] = f"prompt {-2 - node} {text_of(pieces.get(token), token)}"
            elif node <= 0:
                names[node] = "the prompt"
            else:
                names[node] = f"node {node} {text_of(pieces.get(nodes[node]['token']), nodes[node]['token'])}"
        return names[node]

    def of_step(table: str) -> List[Dict[str, Any]]:
        return [row for row in run.rows(table) if row.get("step", (row.get("tick") or 0) // 5) == step]

    figures = next(row for row in run.rows("step") if row["step"] == step)
    out = [f"{run.path}: {about.get('method_title') or about.get('method')}, step {step}",
           f"rows {figures['forward_rows']}, drafted {figures['drafted']}, accepted {figures['accepted']}, emitted "
           f"{figures['emitted']}", ""]
    # The tree.
    decided: Dict[int, List[Dict[str, Any]]] = {}
    for row in of_step("verdict"):
        decided.setdefault(row["node"], []).append(row)
    inputs = of_step("input")
    shown = {i for i, row in enumerate(nodes) if row["tick"] // 5 == step} | set(decided) | {
        row["node"] for row in inputs if row["node"] > 0}
    shown.discard(0)
    below: Dict[int, List[int]] = {}
    for node in sorted(shown):
        below.setdefault(nodes[node]["parent"], []).append(node)
    out.append("tree")

    def branch(node: int, indent: int) -> None:
        row = nodes[node]
        line = "  " + "  " * indent + name(node) + f"  {row['source']}"
        if row.get("q") is not None and row["q"] != 1:
            line += f"  q {_number(row['q'])}"
        for verdict in decided.get(node, ()):
            line += "  " + verdict["verdict"]
            for column in ("p", "u"):
                if verdict.get(column) is not None and verdict[column] >= 0:
                    line += f" {column} {_number(verdict[column])}"
            why = verdict.get("why") or verdict.get("reason")
            if why and why != "none":
                line += f" ({why})"
        out.append(line)

    waiting = [(node, 0) for parent in sorted(below) if parent not in shown for node in below[parent]][::-1]
    while waiting:
        node, indent = waiting.pop()
        branch(node, indent)
        waiting.extend((child, indent + 1) for child in reversed(below.get(node, [])))
    # Rows.
    seen = {(row.get("whose") or "target", row.get("forward") or 0, row["row"]): _runs(row["slots"]) for row in of_step("seen")}
    forwards: Dict[Any, List[Dict[str, Any]]] = {}
    for row in inputs:
        forwards.setdefault((row.get("whose") or "target", row.get("forward") or 0), []).append(row)
    for (whose, forward), rows in forwards.items():
        out += ["", f"rows of the {whose}'s forward {forward}: row, position, slot, node, slots seen"]
        slots = [row["slot"] for row in rows]
        for row in rows:
            sees = seen.get((whose, forward, row["row"]))
            slot = "-" if row["slot"] is None or row["slot"] < 0 else str(row["slot"])
            line = f"  {row['row']:>3} {row['position']:>5} {slot:>5}  {name(row['node'])}"
            if sees is not None:
                line += "  " + "".join("x" if one in sees else "." for one in slots if one >= 0)
                behind = len(sees - set(slots))
                line += f"  and {behind} slots before"
            out.append(line)
    events = of_step("slot")
    if events and step > 0:
        out += ["", "slots"]
        for row in events:
            line = f"  {row['action']} {row['slot']}  {name(row['node'])}"
            if row["action"] == "move":
                line += f" from {row['from_slot']}"
            out.append(line + (f"  ({row['whose']})" if (row.get("whose") or "target") != "target" else ""))
    metrics = of_step("metric")
    for row in metrics:
        about_node = f" of {name(row['node'])}" if row.get("node") is not None and row["node"] > 0 else ""
        out.append(f"{row['name']}{about_node} = {_number(row['value'])}" if row["value"] is not None else row["name"])
    for row in of_step("log"):
        out.append(f"{row.get('level') or 'info'}: {row['text']}")
    return "\n".join(out) + "\n"
