# A lesson and lecture mode over a decoder in another process: a lesson without a capture decodes its run there, its step decodes another
# one there, and lecture mode follows both.
source "$(dirname "$0")/lib.sh"
need_model
export TRIESCOPE_MODELS=$TRIESCOPE_SOURCE/.deps/models
mkdir "$work/lesson"
cat >"$work/lesson/far.md" <<'LESSON'
---
title: A run that is decoded elsewhere
summary: Its run has no capture, so the other machine decodes it.
minutes: 2
model: smollm2-135m-instruct
method: greedy
prompt: The capital of France is
max_new_tokens: 8
---

## The text

```do
cursor 2 commit
panels text trie
```

The third token is [the one that was kept](ts:step/2/commit).

```predict
How many tokens does one step write?
- One := true
- Two := false
answer: emitted(2) = 1
expect: true
```

## Further

```do
cursor 0
panels trie text
run max_new_tokens=12
```

More tokens, decoded there as well.

## By hand

```do
cursor 0
panels text trie
```

```check
Step through the run to step 3.
when: cursor >= 3
show: cursor 3 draft
```
LESSON
cat >"$work/lesson.script" <<SCRIPT
lesson $work/lesson/far.md
wait idle
wait ms 400
write-state $work/first.json
screenshot $work/first.png
lesson-step 2
wait ms 300
wait idle
wait drawn
write-state $work/beam.json
screenshot $work/beam.png
lesson-step 3
wait drawn
cursor 0 draft
wait drawn
write-state $work/before.json
cursor 3 draft
wait drawn
write-state $work/task.json
lecture
wait ms 300
write-state $work/lecture.json
screenshot $work/lecture.png
lecture
lesson-close
method greedy
prompt A trie is
max-new-tokens 12
start
wait idle
lecture
step
wait idle
step
wait idle
wait drawn
write-state $work/live.json
screenshot $work/live.png
SCRIPT
window --remote-command "env FAR=1" --remote-program "$TRIESCOPE" --script "$work/lesson.script" || { echo "FAILED: the window ended with an error"; failures=$((failures + 1)); }
for n in first beam before task lecture live; do
  check_json "$work/$n.json" 'd["host"] == "env FAR=1" and d["lost"] == "" and d["problems"] == []'
done
check_json "$work/first.json" 'd["lesson"]["ready"] and d["lesson"]["question_open"] and d["documents"] == 1 and d["cursor"]["step"] == 2'
check_json "$work/beam.json" 'd["documents"] == 2 and d["end"]["step"] >= 10'
check_json "$work/before.json" 'd["lesson"]["task_open"] and d["lesson"]["met"] == 0'
check_json "$work/task.json" 'd["lesson"]["met"] == 1'
check_json "$work/lecture.json" 'd["lecture"] is not None'
check_json "$work/live.json" 'd["lecture"] is not None and d["lesson"] is None and d["state"] == "paused" and d["end"]["step"] == 2 and d["cursor"] == d["end"]'
expect 0 "no session runs here" "$TRIESCOPE" serve --list
[[ -z ${TRIESCOPE_KEEP_PICTURES:-} ]] || cp "$work"/*.png "$TRIESCOPE_KEEP_PICTURES"
finish
