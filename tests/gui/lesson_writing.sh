# A lesson is written, with real clicks. The window shows the file as last saved, a mistake with its line above the last good version, and a
# picture beside the text, or its words where it is missing. Actions become do lines on the clipboard.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }
cp "$TRIESCOPE_SOURCE/assets/lessons/greedy.tscap" "$work/"
cp "$TRIESCOPE_SOURCE/docs/images/trie.png" "$work/"
head -9 "$TRIESCOPE_SOURCE/assets/lessons/01-one-token-at-a-time.md" >"$work/head"
# lesson BODY: saves as an editor does, to a file beside it that is then renamed.
lesson() { { cat "$work/head"; printf -- '---\n%b' "$1"; } >"$work/new"; mv "$work/new" "$work/mine.md"; }
first='## One\n```do\ncursor 1\npanels trie text\n```\n'
second='## Two\n```do\ncursor 2\npanels trie kv\n```\n'
lesson "$first$second"
{
  echo "lesson $work/mine.md"
  echo "lesson-step 2"
  echo "wait ms 300"
  for i in $(seq 0 5); do by_hand "$i"; echo "wait ms 1200"; done  # a while, until the file is looked at again
  echo "write-state $work/6.json"
} >"$work/writing.script"
window --script "$work/writing.script" &
pid=$!
at 0 lesson "## Before\n\`\`\`do\ncursor 3\n\`\`\`\n$first$second![the trie](trie.png)\n\n![what was seen](gone.png)\n"
at 1 lesson "$first## Two\n\`\`\`do\ncurser 2\n\`\`\`\n"
at 2 lesson "$first$second"
at 3 press 3 record
at 4 key Home F10 F10 F10 F11
at 5 press 5 record
wait $pid || fail "the window ended with $?"
check_json "$work/0.json" 'd["lesson"]["step"] == 1 and d["lesson"]["steps"] == 2 and d["cursor"]["step"] == 2 and d["lesson"]["mistake"] == ""'
check_json "$work/1.json" 'd["lesson"]["step"] == 2 and d["lesson"]["steps"] == 3 and d["lesson"]["title"] == "Two" and d["cursor"]["step"] == 2'
check_json "$work/1.json" 'd["targets"]["picture trie.png"][3] > 40 and d["targets"]["picture gone.png"][3] > 10'
check_json "$work/2.json" '"mine.md:18: a lesson cannot do '"'curser'"'" in d["lesson"]["mistake"] and d["lesson"]["steps"] == 3 and "mistake" in d["targets"]'
check_json "$work/3.json" 'd["lesson"]["mistake"] == "" and d["lesson"]["steps"] == 2 and d["lesson"]["recorded"] is None'
check_json "$work/4.json" 'd["lesson"]["recorded"] == ["cursor 2"]'
check_json "$work/5.json" 'd["lesson"]["recorded"] == ["cursor 3 forward"]'
check_json "$work/6.json" 'd["lesson"]["recorded"] is None and d["problems"] == []'
finish
