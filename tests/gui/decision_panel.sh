# Real clicks on rows of the decision panel lock the node that the panel's own table names, for beams, a draw and drafts.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
decode() { "$TRIESCOPE" decode --quiet --model "$model" --max-new-tokens 8 --capture "$work/$1.tscap" "${@:2}" >/dev/null || failures=$((failures + 1)); }
decode beam --method beam --set num_beams=3 --prompt "Once upon a time"
decode sample --method sample --set temperature=0.8 --set top_k=20 --prompt "Once upon a time"
decode drafts --method ngram_trie --prompt "one two three one two three one two four one two three one"
{
  echo "size 1280x1100"  # in which four rows of beams have room: where not all have, the last line says how many are left out
  echo "layout-debug"
  echo "panel verdict"
  for run in sample drafts; do echo "open-file $work/$run.tscap"; echo "panel verdict"; done
  i=0
  for document in 0 1 2; do
    echo "document $document"
    echo "cursor 3"
    echo "wait ms 300"
    echo "export-panel verdict csv $work/$document.csv"
    echo "wait idle"
    for click in 1 2 3; do
      by_hand before$i
      echo "write-state $work/$i.json"
      echo "release-focus"
      i=$((i + 1))
    done
  done
} >"$work/clicks.script"
window "$work/beam.tscap" --script "$work/clicks.script" &
pid=$!
# The table's rows are 22.5 px high; the first is around y = 170.
press_row() {
  click 1005 $((170 + $1 * 45 / 2))
  xdotool mousemove --window "$id" 1005 660; sleep 0.1
}
for i in 0 1 2 3 4 5 6 7 8; do
  # The fourth of the beams lies below the cut.
  row=$((i % 3 == 2 ? 3 : i % 3))
  [[ $i -ge 6 ]] && row=$((i - 6))
  at before$i press_row $row
done
wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
python3 - "$work" <<'PY' || failures=$((failures + 1))
import csv, json, sys
work = sys.argv[1]
def rows(n):
    return list(csv.DictReader(line for line in open(f"{work}/{n}.csv") if not line.startswith("#")))
def locked(i):
    return json.load(open(f"{work}/{i}.json"))["focus"]["locked"]
def means(row):
    return int(row["node"] or row["parent"])
beams, draw, drafts = rows(0), rows(1), rows(2)
assert [r["table"] for r in beams[:4]] == ["candidates"] * 4 and beams[3]["verdict"] == "below the cut", beams[:4]
assert [r["verdict"] for r in beams[:3]] == ["goes on"] * 3
assert [locked(i) for i in (0, 1, 2)] == [means(beams[k]) for k in (0, 1, 3)], ([locked(i) for i in (0, 1, 2)], beams[:4])
assert {r["table"] for r in draw[:4]} == {"draw"} and sum(r["verdict"] == "chosen" for r in draw) <= 1
assert [locked(i) for i in (3, 4, 5)] == [means(draw[k]) for k in (0, 1, 3)], ([locked(i) for i in (3, 4, 5)], draw[:4])
assert drafts[0]["table"] == "drafts"
assert [locked(i) for i in (6, 7)] == [means(drafts[k]) for k in (0, 1)], ([locked(i) for i in (6, 7)], drafts[:3])
PY
finish
