"""Other programs' counts as captures: lines of {step, n_draft, n_accepted, pos: [{tok, p, acc, top}]}, and vLLM's
per-request per_step_accepted and per_step_drafted."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Dict, List, Optional

from .recorder import Drafter, Recorder


class _Vocabulary:
    """Ids as they are; texts get ids of their own."""

    def __init__(self) -> None:
        self.texts: Dict[int, str] = {}
        self._ids: Dict[str, int] = {}

    def id_of(self, token: Any) -> int:
        if isinstance(token, int):
            return token
        text = str(token)
        if text not in self._ids:
            self._ids[text] = 1_000_000 + len(self._ids)
            self.texts[self._ids[text]] = text
        return self._ids[text]


def _bad(path: str, line: int, expected: str, found: Any) -> ValueError:
    return ValueError(f"{path}:{line}: expected {expected}, found {json.dumps(found)[:80]}")


def _count(path: str, line: int, record: Dict[str, Any], name: str) -> int:
    value = record.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _bad(path, line, f"{name} to be a count", value)
    return value


def _steps(path: str) -> List[Any]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        whole = json.loads(text)
        records = whole if isinstance(whole, list) else [whole]
        numbered = list(enumerate(records, 1))
    except ValueError:
        numbered = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                numbered.append((number, json.loads(line)))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: expected a JSON object a line, found {line[:60]!r} ({error})") from None
    for number, record in numbered:
        if not isinstance(record, dict):
            raise _bad(path, number, "an object", record)
    if not numbered:
        raise ValueError(f"{path}: expected JSON lines, found an empty file")
    return numbered


def import_file(path: str, out: Optional[str] = None) -> List[str]:
    """Writes a capture, or one a request, beside the file; returns their names."""
    numbered = _steps(path)
    stem = out or os.path.splitext(path)[0] + ".tscap"
    requests = [(n, r) for n, r in numbered if "per_step_accepted" in r]
    if requests:
        made = []
        for k, (number, record) in enumerate(requests):
            name = stem if len(requests) == 1 else f"{os.path.splitext(stem)[0]}-{k}.tscap"
            _vllm(path, number, record, name)
            made.append(name)
        return made
    if not any("n_draft" in record or "pos" in record for _, record in numbered):
        raise ValueError(f"{path}: expected lines of {{step, n_draft, n_accepted, pos}} or of {{per_step_accepted, "
                         f"per_step_drafted}}, found the keys {', '.join(numbered[0][1]) or 'none'}")
    _lines(path, numbered, stem)
    return [stem]


def _vllm(path: str, number: int, record: Dict[str, Any], out: str) -> None:
    accepted, drafted = record["per_step_accepted"], record.get("per_step_drafted")
    if drafted is None:
        drafted = [None] * len(accepted)
    if not isinstance(accepted, list) or not isinstance(drafted, list) or len(accepted) != len(drafted):
        raise _bad(path, number, "per_step_accepted and per_step_drafted to be lists of one length", [accepted, drafted])
    ids = record.get("prompt_token_ids") or []
    with Recorder(out, method="vllm", title="vLLM", kind="drafts", level="steps", program=("vLLM", "")) as cap:
        cap.prompt(ids)
        for took, sent in zip(accepted, drafted):
            if isinstance(took, bool) or not isinstance(took, int) or took < 0:
                raise _bad(path, number, "counts in per_step_accepted", took)
            sent = took if sent is None else sent
            with cap.round() as r:
                r.counts(drafted=sent, accepted=took, emitted=took + 1, rows=sent + 1)


def _lines(path: str, numbered: List[Any], out: str) -> None:
    names = _Vocabulary()
    has_tokens = all(record.get("pos") or not record.get("n_draft") for _, record in numbered)
    unknown = names.id_of("\u2026")  # a token that the file does not name
    with Recorder(out, tokenizer=names.texts.get, method="imported", title="Imported", kind="drafts",
                  level="full" if has_tokens else "steps", program=("import", os.path.basename(path))) as cap:
        cap.prompt([])
        for number, record in numbered:
            drafted, took = _count(path, number, record, "n_draft"), _count(path, number, record, "n_accepted")
            with cap.round() as r:
                if not has_tokens:
                    r.counts(drafted=drafted, accepted=took, emitted=took + 1, rows=drafted + 1)
                    continue
                places = record.get("pos") or []
                for place in places:
                    if not isinstance(place, dict) or "tok" not in place:
                        raise _bad(path, number, "pos to be a list of {tok, p, acc, top}", place)
                tokens = [names.id_of(place["tok"]) for place in places]
                r.draft(tokens, drafter=Drafter("imported", "other"))
                rows: List[Any] = []
                ps: Dict[Any, float] = {}
                accepted: List[int] = []
                for i, place in enumerate(places):
                    known: Dict[int, float] = {}
                    top = place.get("top")
                    for one in top if isinstance(top, list) else [] if top is None else [top]:
                        if isinstance(one, (list, tuple)) and len(one) == 2:
                            known[names.id_of(one[0])] = math.log(one[1]) if one[1] > 0 else -math.inf
                    if isinstance(place.get("p"), (int, float)):
                        ps[i] = float(place["p"])
                        if place["p"] > 0:
                            known.setdefault(tokens[i], math.log(place["p"]))
                    rows.append(sorted(known.items(), key=lambda one: -one[1]))
                    is_in = place.get("acc", i < took)
                    if is_in and accepted == list(range(i)):
                        accepted.append(i)
                if any(rows):
                    r.target(rows + [[]])
                own = unknown
                if len(accepted) < len(places):
                    top = places[len(accepted)].get("top")
                    best = top[0] if isinstance(top, list) and top else top
                    best = best[0] if isinstance(best, (list, tuple)) and best else best
                    own = unknown if best is None else names.id_of(best)
                r.commit(accepted, token=own, p=ps)
                if took != len(accepted):
                    r.log(f"line {number} says n_accepted {took}, its positions say {len(accepted)}", "warning")
