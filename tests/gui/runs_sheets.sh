# The sheets beside a study's table: three runs side by side, acceptance by method, a bar's runs, one of them opened at its step.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
small_study 12 "prompt_lookup_num_tokens = [2, 6]" "The three primary colours are red, green and blue. The three primary colours are" colours \
  "One two three four. One two three four. One two" count
"$TRIESCOPE" study "$work/small.toml" --quiet >/dev/null || failures=$((failures + 1))
"$TRIESCOPE" acceptance "$work/small" --by rank --csv >"$work/told.csv" || failures=$((failures + 1))
cat >"$work/sheets.script" <<SCRIPT
wait idle
run-bar
runs-where category = "colours"
runs-choose 1
runs-choose 2
runs-choose 3
$(by_hand chosen)
wait idle
write-state $work/beside.json
runs-save $work/beside.csv
runs-where
runs-acceptance rank
wait idle
write-state $work/acceptance.json
runs-save $work/bars.csv
runs-save $work/bars.svg
$(by_hand bars)
wait idle
$(by_hand behind)
wait idle
write-state $work/opened.json
study-acceptance
runs-sheet table
write-state $work/again.json
SCRIPT
window "$work/small" --script "$work/sheets.script" &
pid=$!
at chosen press chosen "compare runs"
at bars press bars "bar prompt_lookup, prompt_lookup_num_tokens = 2, 1"
at behind press behind "behind 1"
wait $pid || say "the window ended with $?"
check_json "$work/beside.json" 'd["runs"]["sheet"] == "side by side" and any(r["figure"] == "same_text_as_first" for r in d["runs"]["beside"])'
check_json "$work/acceptance.json" 'd["runs"]["sheet"] == "acceptance" and d["runs"]["acceptance"]["by"] == "rank" and d["runs"]["acceptance"]["bars"][0]["method"] == "prompt_lookup, prompt_lookup_num_tokens = 2"'
check_json "$work/behind.json" 'd["runs"]["acceptance"]["chosen"] == "prompt_lookup, prompt_lookup_num_tokens = 2, 1" and d["runs"]["acceptance"]["behind"] == 2'
check_json "$work/opened.json" '"runs" not in d and "/captures/" in d["capture"]'
check_json "$work/again.json" 'd["runs"]["sheet"] == "table" and len(d["runs"]["rows"]) == 6'
diff <(grep -v '^#' "$work/bars.csv") "$work/told.csv" || say "the window's bars are not those of the command"
head -1 "$work/beside.csv" | grep -q '^figure,1 greedy,2 prompt_lookup,' || say "found $(head -1 "$work/beside.csv")"
grep -q "<svg" "$work/bars.svg" || say "no picture of the bars"
finish
