# The table of a study in the window: opened from the command line, sorted by a click on a head, filtered, grouped, a group's runs, two rows compared, saved.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
small_study 12 "" "The three primary colours are red, green and blue. The three primary colours are" colours "Once upon a time" story
"$TRIESCOPE" study "$work/small.toml" --quiet >/dev/null || failures=$((failures + 1))
cat >"$work/runs.script" <<SCRIPT
wait idle
run-bar
$(by_hand table sorted)
runs-sort
runs-where category = "story"
$(by_hand story)
runs-where
runs-by name
$(by_hand groups)
runs-by
runs-where speeedup > 1
$(by_hand wrong)
runs-where
runs-choose 1
runs-choose 2
runs-save $work/table.csv
write-state $work/chosen.json
$(by_hand ready)
wait idle
write-state $work/compared.json
runs-table
write-state $work/again.json
runs-open 1
write-state $work/opened.json
SCRIPT
window "$work/small" --script "$work/runs.script" &
pid=$!
at table press table "column tokens_per_forward"
at sorted press sorted "column tokens_per_forward"
at story true
at groups true
at wrong true
at ready press ready "compare runs"
wait $pid || say "the window ended with $?"
check_json "$work/table.json" 'len(d["runs"]["rows"]) == 4 and d["problems"] == []'
check_json "$work/sorted.json" '[r["tokens_per_forward"] for r in d["runs"]["rows"]] == sorted((r["tokens_per_forward"] for r in d["runs"]["rows"]), reverse=True)'
check_json "$work/story.json" '[r["category"] for r in d["runs"]["rows"]] == ["story", "story"]'
check_json "$work/groups.json" 'sorted(r["runs"] for r in d["runs"]["rows"]) == [2, 2]'
check_json "$work/wrong.json" '"did you mean speedup?" in d["runs"]["problem"]'
check_json "$work/chosen.json" 'd["runs"]["chosen"] == 2'
check_json "$work/compared.json" '"runs" not in d and d["compare"]["capture"] != d["capture"] and "/captures/" in d["capture"]'
check_json "$work/again.json" 'd["runs"]["chosen"] == 2'
check_json "$work/opened.json" '"runs" not in d'
[[ $(wc -l <"$work/table.csv") == 5 ]] || say "the saved table has $(wc -l <"$work/table.csv") lines"
finish
