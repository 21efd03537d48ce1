# The turns of a chat stand in the run bar, with the template and tools that were opened: added, moved, deleted and taken out by clicks.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
cat >"$work/talk.json" <<'JSON'
[{"role": "user", "content": "What is 1 + 1?"}, {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "add"}}]},
 {"role": "tool", "name": "add", "content": "2"}]
JSON
echo '{"tools": [{"type": "function", "function": {"name": "add", "description": "a + b"}}, {"name": "weather"}]}' >"$work/tools.json"
printf '{%% for m in messages %%}{{ m.role }}: {{ m.content }}{{ m.tool_calls | tojson if m.tool_calls }}\n{%% endfor %%}{{ tools | tojson }}' >"$work/own.jinja"
{
  echo "size 1280x1100"
  echo "open-file $work/talk.json"
  echo "open-file $work/tools.json"
  echo "open-file $work/own.jinja"
  echo "wait idle"
  echo "screenshot $work/turns.png"
  by_hand 1 2 3 4 5 6 7
} >"$work/turns.script"
window --model "$model" --script "$work/turns.script" & pid=$!
at 1 press 1 "add turn"
at 2 press 2 "turn 1 delete"
at 3 press 3 "tools delete"
at 4 press 4 "chat template delete"
at 5 press 5 "turn 3 up"
at 6 press 6 "turn 1 more delete"
at 7 true
wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/1.json" 'd["problems"] == [] and d["run"]["chat"] and d["run"]["prompt"] == ""'
check_json "$work/1.json" '[t["role"] for t in d["run"]["turns"]] == ["user", "assistant", "tool"] and d["run"]["turns"][1]["tool_calls"]'
check_json "$work/1.json" 'd["run"]["prompt_tokens"] > 10 and d["run"]["tools"][0]["function"]["name"] == "add" and d["run"]["chat_template_file"].endswith("own.jinja")'
check_json "$work/2.json" '[t["role"] for t in d["run"]["turns"]] == ["user", "assistant", "tool", "user"]'
check_json "$work/3.json" '[t["role"] for t in d["run"]["turns"]] == ["assistant", "tool", "user"]'
check_json "$work/4.json" 'd["run"]["tools"] is None and d["run"]["chat_template_file"].endswith("own.jinja")'
check_json "$work/5.json" 'd["run"]["chat_template_file"] == "" and d["run"]["turns"][0]["tool_calls"]'
check_json "$work/6.json" '[t["role"] for t in d["run"]["turns"]] == ["assistant", "user", "tool"]'
check_json "$work/7.json" '"tool_calls" not in d["run"]["turns"][0] and d["run"]["turns"][0]["content"] == ""'

# By keys: the focus stays with a turn that moves, so that the next key moves it on.
{
  echo "size 1280x1100"
  echo "open-file $work/talk.json"
  echo "wait idle"
  by_hand $(seq 101 200)
} >"$work/keys.script"
window --model "$model" --script "$work/keys.script" & pid=$!
n=101
appears "$work/101.json" 2400
find_window
walk turn\ 3\ up
press_key space
holds 'd["walk"] == "turn 2 up" and [t["role"] for t in d["run"]["turns"]] == ["user", "tool", "assistant"]' 'Space moves a turn up'
press_key space
holds '[t["role"] for t in d["run"]["turns"]] == ["tool", "user", "assistant"]' 'and again'
walk turn\ 1\ delete
press_key space
holds 'd["walk"] == "turn 1 delete" and [t["role"] for t in d["run"]["turns"]] == ["user", "assistant"]' 'the turn below a deleted one has the focus'
walked
finish
