# What a run did in words: formats, one step, one phase, and what is refused.
source "$(dirname "$0")/lib.sh"
run=$TRIESCOPE_SOURCE/tests/fixtures/captures/beam.tscap
cp "$run" "$work/beam.tscap"
run=$work/beam.tscap
expect 0 'explain' "$TRIESCOPE" --help
expect 0 'default: all five' "$TRIESCOPE" explain --help
expect 0 '^Before the first step$' "$TRIESCOPE" explain "$run"
expect 0 '^Step 2, observe$' "$TRIESCOPE" explain "$run"
expect 0 '^  Step 2 is done, and [a-z]+ beams go on\.$' "$TRIESCOPE" explain "$run" --step 2 --phase observe
expect 0 '^## Step 0, forward$' "$TRIESCOPE" explain "$run" --phase forward --format markdown
expect 0 '\(ts:slot/[0-9]+\)' "$TRIESCOPE" explain "$run" --step 0 --phase forward --format markdown
expect 2 "--step: .*beam.tscap has the steps 0 to [0-9]+; found 999$" "$TRIESCOPE" explain "$run" --step 999
expect 2 "--phase: expected one of draft, forward, accept, commit, observe; found 'acept'; did you mean accept\?$" "$TRIESCOPE" explain "$run" --phase acept
expect 2 "--format: expected one of text, markdown, json; found 'markdwon'; did you mean markdown\?$" "$TRIESCOPE" explain "$run" --format markdwon
expect 2 'CAPTURE is required' "$TRIESCOPE" explain
expect 3 'no.tscap' "$TRIESCOPE" explain "$work/no.tscap"
[[ $("$TRIESCOPE" explain "$run" --step 2 | grep -c '^Step 2, ') == 5 ]] || { echo "FAILED: not five phases"; failures=$((failures + 1)); }
[[ $("$TRIESCOPE" explain "$run" --phase accept | grep -c '^Step') == $("$TRIESCOPE" explain "$run" --phase commit | grep -c '^Step') ]] || { echo "FAILED: phases are missing"; failures=$((failures + 1)); }
"$TRIESCOPE" explain "$run" --step 1 --format json >"$work/step.json"
check_json "$work/step.json" '[n["phase"] for n in d] == ["draft", "forward", "accept", "commit", "observe"]'
check_json "$work/step.json" 'all(2 <= len(n["sentences"]) <= 5 for n in d)'
check_json "$work/step.json" 'all("".join(p["text"] for p in s["parts"]) == s["text"] for n in d for s in n["sentences"])'
# One's own sentences, and what is wrong with them.
mkdir -p "$work/own/assets/narration"
own=$work/own/assets/narration/observe.txt
printf '[observe.beams]\nSo ends step {step}, with {beams} beams.\n' >"$own"
TRIESCOPE_ASSETS=$work/own expect 0 '^  So ends step 2, with [a-z]+ beams\.$' "$TRIESCOPE" explain "$run" --step 2 --phase observe
printf '# mine\n[observe.beams]\nSo ends step {stop}.\n' >"$own"
TRIESCOPE_ASSETS=$work/own expect 3 "observe.txt:3: this sentence has no value 'stop'; it has step, beams; did you mean step\?$" "$TRIESCOPE" explain "$run" --step 2
TRIESCOPE_ASSETS=$work/none expect 4 "TRIESCOPE_ASSETS: expected a folder; found '.*none'$" "$TRIESCOPE" explain "$run" --step 2
finish
