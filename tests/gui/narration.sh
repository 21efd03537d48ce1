# Real clicks on the narration's links: a token and its number lock the node that `explain` names, and a count opens its panel. They need a
# capture but no model.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
run=$TRIESCOPE_SOURCE/assets/lessons/beam.tscap
{
  printf '%s\n' "layout-debug" "cursor 8 commit" "maximise-panel narration"
  by_hand 0 1 2 3 4
  echo "write-state $work/5.json"
} >"$work/links.script"
window "$run" --script "$work/links.script" &
pid=$!
# The cursor is behind accept of step 8, in a maximised panel; the lines' places are fixed.
at 0 click 284 209         # the first beam's token
at 1 click 430 210         # its Σ log p: the same node
at 2 click 139 276         # the token at which a beam dies out
at 3 click 221 176         # how many continuations there are: the candidates
at 4 click 1256 102        # back to the panes
wait $pid || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
"$TRIESCOPE" explain "$run" --step 8 --phase accept --format markdown --quiet >"$work/told.md" || failures=$((failures + 1))
python3 - "$work" <<'PY' || failures=$((failures + 1))
import json, re, sys
work = sys.argv[1]
told = open(f"{work}/told.md").read()
node = lambda token: int(re.search(r"\[[^\]]*" + token + r"[^\]]*\]\(ts:node/(\d+)\)", told).group(1))
state = [json.load(open(f"{work}/{i}.json")) for i in range(6)]
locked = [d["focus"]["locked"] for d in state]
# A second click on a link to the locked node unlocks it.
assert locked == [-1, node("bustling"), -1, node("The"), node("The"), node("The")], (locked, told)
assert "[49,152](ts:panel/candidates)" in told, told
panels = [d["panels"] for d in state]
assert panels[:5] == [["narration"]] * 4 + [["candidates"]] and len(panels[5]) > 3, panels
PY
finish
