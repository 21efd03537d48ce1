# A prompt of thousands of words is drawn, in the prompt field and in every panel: no limit of 16-bit indices ends the program.
source "$(dirname "$0")/lib.sh"
need_model
python3 -c 'print(" ".join(f"word{i}" for i in range(4110)))' >"$work/long.txt"
python3 -c 'print("word " * 1200)' >"$work/shorter.txt"
"$TRIESCOPE" decode --quiet --model "$model" --method greedy --prompt-file "$work/shorter.txt" --max-new-tokens 2 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
{
  echo "write-state $work/state.json"
  echo "screenshot $work/prompt.png"
  for panel in text trie mask inspector; do echo "maximise-panel $panel"; echo "screenshot $work/$panel.png"; done
  echo "size 3800x2100"
  echo "screenshot $work/large.png"
} >"$work/long.script"
window "$work/run.tscap" --prompt-file "$work/long.txt" --scale 0.5 --script "$work/long.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/state.json" 'd["problems"] == [] and d["run"]["prompt"].split()[-1] == "word4109"'
# The sample does not replace an empty prompt that was asked for.
echo "write-state $work/empty.json" >"$work/empty.script"
window --prompt "" --script "$work/empty.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/empty.json" 'd["run"]["prompt"] == ""'
echo "write-state $work/none.json" >"$work/none.script"
window --script "$work/none.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/none.json" 'd["run"]["prompt"].startswith("Once upon a time")'
finish
