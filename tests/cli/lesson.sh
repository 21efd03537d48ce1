# Lessons without a window: list, check, new, record, and what is refused.
source "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work/cache
lessons=$TRIESCOPE_SOURCE/assets/lessons
expect 0 'lessons: what there is' "$TRIESCOPE" --help
expect 0 '^03-beam-search-is-a-trie$' "$TRIESCOPE" lesson list
expect 0 '^    Beam search is a trie \(9 min\)$' "$TRIESCOPE" lesson list
"$TRIESCOPE" lesson list --json >"$work/list.json"
check_json "$work/list.json" 'len(d) >= 17 and [l["name"] for l in d] == sorted(l["name"] for l in d)'
check_json "$work/list.json" 'all(l["title"] and l["summary"] and 1 <= l["minutes"] <= 20 and l["steps"] > 2 for l in d)'
# Every lesson of the program holds, built in and as a file; the chain of `next` leads to lessons there are.
for file in "$lessons"/*.md; do
  name=$(basename "$file" .md)
  expect 0 "^$name: holds; [0-9]+ steps, [0-9]+ questions, [0-9]+ tasks?(, [0-9]+ experiments?)?$" "$TRIESCOPE" lesson check "$name"
  expect 0 ': holds; ' "$TRIESCOPE" lesson check "$file"
done
for capture in "$lessons"/*.tscap; do
  [[ $(stat -c %s "$capture") -le 300000 ]] || { echo "FAILED: $capture is larger than 300 KB"; failures=$((failures + 1)); }
  grep -qF "$(basename "$capture")" "$lessons"/*.md || { echo "FAILED: no lesson is about $capture"; failures=$((failures + 1)); }
done
# A lesson of one's own, and every kind of fault with its line.
cp "$lessons/greedy.tscap" "$work/"
head -9 "$lessons/01-one-token-at-a-time.md" >"$work/head"
cat "$work/head" - >"$work/good.md" <<'EOF'
---
## One
```do
cursor 1
```
`= prompt_tokens` [a](ts:node/1)
EOF

expect 0 'good.md: holds; 1 step, 0 questions, 0 tasks$' "$TRIESCOPE" lesson check "$work/good.md"
sed 's/cursor 1/cursor 99/; s/prompt_tokens/prompt_token/; s#node/1#node/99#' "$work/good.md" >"$work/bad.md"
line=$(grep -n 'cursor 99' "$work/bad.md" | cut -d: -f1)
expect 3 "bad.md:$((line + 2)): column 2: expected prompt_token\(I\); found 0 arguments$" "$TRIESCOPE" lesson check "$work/bad.md"
sed 's/prompt_token`/prompt_tokens`/' "$work/bad.md" >"$work/bad2.md"
expect 3 "bad2.md:$line: there is no step 99; the run has steps 0 to 9$" "$TRIESCOPE" lesson check "$work/bad2.md"
expect 3 "bad2.md:$((line + 2)): there is no node 99; the run has nodes 0 to 10" "$TRIESCOPE" lesson check "$work/bad2.md"
expect 3 'good.md: holds' "$TRIESCOPE" lesson check "$work/bad2.md" "$work/good.md"  # the others are checked too
expect 3 'none.md: no such file' "$TRIESCOPE" lesson check "$work/none.md"
expect 2 "there is no lesson '03-beam-search-is-a-tree'; .*; did you mean 03-beam-search-is-a-trie\?$" "$TRIESCOPE" lesson check 03-beam-search-is-a-tree
sed 's/^method: .*/method: greedi/' "$work/good.md" >"$work/method.md"
expect 3 "method.md:1: .*greedi" "$TRIESCOPE" lesson check "$work/method.md"
sed 's/^seed: .*//; s/^method: /seed: 5\nmethod: /' "$work/good.md" >"$work/seed.md"
expect 3 'seed.md:1: the front matter has seed 5; the run has 0: record it again$' "$TRIESCOPE" lesson check "$work/seed.md"
# Experiments are drawn, pictures looked for, runs that a step starts refused where the method refuses them.
{ cat "$work/good.md"; printf '![x](gone.png)\n```experiment\nMany\n- a := 0.5 | 0.2\n- b := 0.5 | 0.8\nrule: redraw\nexpect: agrees\n```\n```do\nrun kv=keeep\n```\n'; } >"$work/more.md"
line=$(grep -n '^!' "$work/more.md" | cut -d: -f1)
expect 3 "more.md:$line: .*gone.png: no such file beside the lesson$" "$TRIESCOPE" lesson check "$work/more.md"
expect 3 "more.md:$((line + 2)): the experiment was expected to agree; it differs \(chi-square" "$TRIESCOPE" lesson check "$work/more.md"
expect 3 "more.md:$((line + 9)): .*kv.*keeep" "$TRIESCOPE" lesson check "$work/more.md"
sed '/gone.png/d; s/expect: agrees/expect: differs/; s/keeep/keep/' "$work/more.md" >"$work/mended.md"
expect 0 'mended.md: holds; 1 step, 0 questions, 0 tasks, 1 experiment$' "$TRIESCOPE" lesson check "$work/mended.md"
# No path out of the folder, no link.
sed 's#^capture: .*#capture: ../greedy.tscap#' "$work/good.md" >"$work/out.md"
expect 3 "out.md:[0-9]+: capture: expected the name of a .tscap file in the lesson's own folder" "$TRIESCOPE" lesson check "$work/out.md"
mkdir "$work/linked"; ln -s "$work/greedy.tscap" "$work/linked/greedy.tscap"; cp "$work/good.md" "$work/linked/"
expect 3 'linked/greedy.tscap: expected a file of the lesson.s own folder; found a link' "$TRIESCOPE" lesson check "$work/linked/good.md"
expect 3 'linked/greedy.tscap: expected a file of the lesson.s own folder; found a link' "$TRIESCOPE" lesson record "$work/linked/good.md"
rm "$work/linked/greedy.tscap"
expect 3 'linked/greedy.tscap: no such file; `triescope lesson record .*good.md` makes it$' "$TRIESCOPE" lesson check "$work/linked/good.md"
# A new lesson: written once, and it holds once its run is recorded.
expect 0 'mine.md: written' "$TRIESCOPE" lesson new "$work/mine.md"
expect 2 'mine.md: is there already' "$TRIESCOPE" lesson new "$work/mine.md"
expect 2 'lesson new: expected a file name' "$TRIESCOPE" lesson new "$work/mine.txt"
grep -q '^capture: mine.tscap$' "$work/mine.md" || { echo "FAILED: the new lesson has no capture of its own"; failures=$((failures + 1)); }
expect 2 'a lesson of the program is recorded in its source folder' "$TRIESCOPE" lesson record 01-one-token-at-a-time
expect 2 'A subcommand is required' "$TRIESCOPE" lesson
# A page: of a lesson there is, of a file; nothing is left of one that fails.
expect 0 'trie.html written$' "$TRIESCOPE" lesson export 03-beam-search-is-a-trie -o "$work/trie.html"
expect 0 '^$' "$TRIESCOPE" lesson export --quiet "$work/good.md" -o "$work/good.html"
grep -q '<body class="lesson">' "$work/good.html" || { echo "FAILED: good.html is not a lesson"; failures=$((failures + 1)); }
"$TRIESCOPE" lesson export "$work/good.md" -o - 2>/dev/null | cmp - "$work/good.html" || { echo "FAILED: a page on standard output"; failures=$((failures + 1)); }
expect 2 'output' "$TRIESCOPE" lesson export "$work/good.md"
expect 2 'trie' "$TRIESCOPE" lesson export 03-beam-search-is-a-tree -o "$work/x.html"
expect 4 'nowhere/x.html' "$TRIESCOPE" lesson export "$work/good.md" -o "$work/nowhere/x.html"
[[ -z $(cd "$work" && ls | grep -E '^x\.|\.part') ]] || { echo "FAILED: something was left: $(ls "$work")"; failures=$((failures + 1)); }
# One's own lessons are listed with the program's.
mkdir -p "$work/own/assets/lessons"; cp "$work/good.md" "$work/own/assets/lessons/00-mine.md"; cp "$work/greedy.tscap" "$work/own/assets/lessons/"
TRIESCOPE_ASSETS=$work/own expect 0 '^00-mine$' "$TRIESCOPE" lesson list
TRIESCOPE_ASSETS=$work/own expect 0 '^00-mine: holds' "$TRIESCOPE" lesson check 00-mine
if [[ -e $model ]]; then
  expect 0 'mine.tscap: [0-9]+ bytes$' "$TRIESCOPE" lesson record --quiet "$work/mine.md"
  expect 0 'mine.md: holds; 3 steps, 1 question, 1 task$' "$TRIESCOPE" lesson check "$work/mine.md"
  expect 0 'mine.md: holds' "$TRIESCOPE" lesson check --decode --quiet "$work/mine.md"
else
  echo "the model is not installed: recording was not tried"
fi
finish
