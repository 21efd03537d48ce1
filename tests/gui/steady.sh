# Nothing jumps: errors, breakpoints, progress, the locked node and the figures of two compared runs leave every pane where it is,
# through whole runs.
source "$(dirname "$0")/lib.sh"
need_model
echo "no capture" >"$work/bad.tscap"
cat >"$work/steady.script" <<SCRIPT
model $model
method ngram_trie
prompt one two three one two three one two
max-new-tokens 10
wait model
start
wait idle
write-state $work/a0.json
breakpoint rejection
breakpoint step 2
step
wait idle
write-state $work/a1.json
run
wait idle
write-state $work/a2.json
lock 1
write-state $work/a3.json
go-start
write-state $work/a4.json
follow
run
wait idle
write-state $work/a5.json
run
wait idle
write-state $work/a6.json
open-file $work/bad.tscap
write-state $work/a7.json
open-file $work/missing.tscap
write-state $work/a8.json
screenshot $work/steady.png
SCRIPT
window --script "$work/steady.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
for i in 1 2 3 4 5 6 7 8; do
  check_json "$work/a$i.json" 'd["areas"] == json.load(open(sys.argv[1][:-6] + "0.json"))["areas"] and len(d["areas"]) > 3'
done
check_json "$work/a2.json" 'd["pause_reason"] != "" and d["breaks"] > 0'
check_json "$work/a3.json" 'd["focus"]["locked"] == 1'
check_json "$work/a8.json" 'len(d["problems"]) == 2'
check_json "$work/a8.json" 'd["breakpoints"] == 2'

"$TRIESCOPE" decode --quiet --model "$model" --method beam --set num_beams=3 --prompt "Once upon a time" --max-new-tokens 8 --capture "$work/left.tscap" >/dev/null || failures=$((failures + 1))
"$TRIESCOPE" decode --quiet --model "$model" --method ngram_trie --prompt "Once upon a time" --max-new-tokens 8 --capture "$work/right.tscap" >/dev/null || failures=$((failures + 1))
{
  for i in 0 1 2 3 4 5 6 7; do
    echo "cursor $i"
    echo "write-state $work/c$i.json"
  done
} >"$work/compare.script"
window "$work/left.tscap" "$work/right.tscap" --script "$work/compare.script" || { echo "FAILED: the comparison ended with $?"; failures=$((failures + 1)); }
for i in 1 2 3 4 5 6 7; do
  check_json "$work/c$i.json" 'd["areas"] == json.load(open(sys.argv[1][:-6] + "0.json"))["areas"] and len(d["areas"]) > 1'
done
finish
