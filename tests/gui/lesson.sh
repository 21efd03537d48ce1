# A lesson with real clicks and keys: the start screen offers it, pieces behind a question are hidden until it is answered, a link selects a
# node, doing a task meets it, leaving restores the panels, and the next start marks finished lessons.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }
{
  echo "layout memory"
  by_hand $(seq 0 13)
  echo "write-state $work/14.json"
} >"$work/lesson.script"
window --script "$work/lesson.script" &
pid=$!
at 0 press 0 07-guessing-from-the-prompt  # opens from its own capture
at 1 press 1 next
at 2 press 2 "choice 1"                   # wrong, and it counts
at 3 key ctrl+Next                        # Ctrl+Page Down
at 4 key alt+3
at 5 press 5 "step 1"
at 6 press 6 "link 0"                     # selects the node
at 7 press 7 "step 6"
at 8 key Home F10 F10 F10 F10 F10         # the task: steps by hand from the start
at 9 press 9 leave
at 10 key F3                              # the list as a dialog
at 11 press 11 06-why-a-beam-falls-out
at 12 press 12 "step 4"
at 13 key alt+s
wait $pid || fail "the window ended with $?"
check_json "$work/0.json" 'd["lesson"] is None and d["documents"] == 0 and len(d["targets"]) >= 8'
check_json "$work/1.json" 'd["lesson"]["name"] == "07-guessing-from-the-prompt" and d["lesson"]["ready"] and d["lesson"]["step"] == 0'
check_json "$work/1.json" '"/triescope/lessons/" in d["capture"] and d["capture"].endswith("/lookup.tscap") and d["cursor"]["step"] == 1 and d["panels"] == ["text", "trie"]'
check_json "$work/2.json" 'd["lesson"]["step"] == 1 and d["lesson"]["question_open"] and d["lesson"]["shown_pieces"] < d["lesson"]["pieces"]'
check_json "$work/2.json" 'd["cursor"] == {"tick": 5, "step": 1, "phase": "draft"}'
check_json "$work/3.json" 'not d["lesson"]["question_open"] and d["lesson"]["shown_pieces"] == d["lesson"]["pieces"] and d["lesson"]["answered"] == 1'
check_json "$work/3.json" 'd["cursor"]["phase"] == "forward" and "choice 1" in d["targets"]'
check_json "$work/4.json" 'd["lesson"]["step"] == 2 and d["lesson"]["question_open"] and d["panels"] == ["trie", "mask"]'
check_json "$work/5.json" 'd["lesson"]["answered"] == 2 and d["cursor"]["step"] == 2'
check_json "$work/6.json" 'd["lesson"]["step"] == 0 and d["focus"]["locked"] == -1'
check_json "$work/7.json" 'd["focus"]["locked"] == 1'
check_json "$work/8.json" 'd["lesson"]["step"] == 5 and d["lesson"]["task_open"] and d["lesson"]["met"] == 0'
check_json "$work/9.json" 'd["lesson"]["met"] == 1 and not d["lesson"]["task_open"] and d["cursor"]["step"] == 5'
check_json "$work/9.json" 'd["finished_lessons"] == ["07-guessing-from-the-prompt"]'
check_json "$work/10.json" 'd["lesson"] is None and d["documents"] == 1 and d["panes"] == json.load(open("'"$work"'/0.json"))["panes"]'
check_json "$work/11.json" 'd["dialog"]'
check_json "$work/12.json" 'not d["dialog"] and d["lesson"]["name"] == "06-why-a-beam-falls-out" and d["documents"] == 2'
check_json "$work/13.json" 'd["lesson"]["question_open"] and d["finished_lessons"] == ["07-guessing-from-the-prompt"]'
check_json "$work/14.json" 'd["finished_lessons"] == ["06-why-a-beam-falls-out", "07-guessing-from-the-prompt"] and d["problems"] == []'
# A lesson opens by its file, and finished ones are remembered: preferences are written when a window is closed by hand.
timeout 60 "$TRIESCOPE" --size 1280x720 "$TRIESCOPE_SOURCE/assets/lessons/06-why-a-beam-falls-out.md" &
pid=$!
find_drawn_window
key ctrl+Next ctrl+Next ctrl+Next alt+1; sleep 0.3
key ctrl+q
wait $pid || fail "the window ended with $?"
check_json "$XDG_CONFIG_HOME/triescope/window.json" 'd["finished_lessons"] == ["06-why-a-beam-falls-out"] and d["layout_name"] == "debug"'
check_json "$XDG_CONFIG_HOME/triescope/window.json" 'd["recent_captures"] == []'
finish
