# The decision panel under a real mouse: before the accept phase it shows what is about to be chosen; a click on a row locks the node
# that the candidate became, or its parent, in every panel.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
"$TRIESCOPE" decode --quiet --model "$model" --method beam --set num_beams=3 --prompt "Once upon a time" --max-new-tokens 8 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
{
  echo "cursor 4 accept"
  echo "maximise-panel verdict"
  for i in 0 1 2 3; do
    echo "screenshot $work/$i.png"
    echo "write-state $work/$i.json"
    [[ $i == 1 ]] && echo "cursor 5 draft"
    echo "wait ms 1600"
  done
} >"$work/decision.script"
window "$work/run.tscap" --script "$work/decision.script" &
pid=$!
appears() { for _ in $(seq 600); do [[ -s $1 ]] && return; sleep 0.05; done; }
click() { xdotool mousemove --window "$id" "$1" "$2"; sleep 0.15; xdotool click 1; sleep 0.15; }
appears "$work/0.json"
sleep 0.3
id=$(xdotool search --pid $pid --name triescope | tail -1)
xdotool windowfocus "$id" 2>/dev/null
click 700 "${first_row:-165}"                       # about to be chosen: not a node yet, its parent is
appears "$work/1.json"
sleep 0.3
appears "$work/2.json"
sleep 0.3
click 700 "${first_row:-165}"                       # chosen by now
wait $pid || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
node() { python3 - "$work/run.tscap" "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
chosen = db.execute("select node from frontier where step = 4 and rank = 0").fetchone()[0]
print(chosen if sys.argv[2] == "chosen" else db.execute("select parent from node where node = ?", (chosen,)).fetchone()[0])
PY
}
check_json "$work/0.json" 'd["maximised"] == "verdict" and d["focus"]["locked"] == -1'
check_json "$work/1.json" "d['focus']['locked'] == $(node parent)"
check_json "$work/3.json" "d['focus']['locked'] == $(node chosen)"
finish
