# The runs that the lessons are about, decoded again from a set-up checkout: every model and head they draft with is there, and every
# answer is what the lesson says.
source "$(dirname "$0")/lib.sh"
need_model
export XDG_CACHE_HOME=$work/cache
unset TRIESCOPE_MODELS
for file in "$TRIESCOPE_SOURCE"/assets/lessons/*.md; do
  expect 0 ": holds; " "$TRIESCOPE" lesson check --decode --quiet "$file"
done
# The draft model that set-up makes drafts unnamed.
"$TRIESCOPE" decode --quiet --model "$model" --prompt "One, two, three, four," --max-new-tokens 12 --method draft_model --json >"$work/draft.json" || failures=$((failures + 1))
"$TRIESCOPE" decode --quiet --model "$model" --prompt "One, two, three, four," --max-new-tokens 12 --method greedy --json >"$work/greedy.json" || failures=$((failures + 1))
check_json "$work/draft.json" "d['sequences'] == json.load(open('$work/greedy.json'))['sequences'] and d['target_forwards'] < d['emitted_tokens'] and d['draft']['kind'] == 'model'"
finish
