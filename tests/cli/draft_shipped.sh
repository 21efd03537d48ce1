# The draft heads that come with the program draft for the model of make run without being named, under their short names too, and write
# greedy decoding's text.
source "$(dirname "$0")/lib.sh"
need_model
run() { "$TRIESCOPE" decode --quiet --model "$model" --chat --prompt "What is the capital of France?" --max-new-tokens 24 --json "$@"; }
run --method greedy >"$work/greedy.json" || failures=$((failures + 1))
for folder in "$TRIESCOPE_SOURCE"/assets/draft/*/; do
  name=$(basename "$folder")
  method=$name
  [[ -s $folder/README.md ]] || { echo "FAILED: $name has no card"; failures=$((failures + 1)); }
  run --method "$method" >"$work/$name.json" || failures=$((failures + 1))
  check_json "$work/$name.json" "d['sequences'] == json.load(open('$work/greedy.json'))['sequences'] and d['draft']['path'].endswith('assets/draft/$name')"
  check_json "$work/$name.json" "d['target_forwards'] < d['emitted_tokens']"
  run --method "$method" --draft "$name" >"$work/named.json" || failures=$((failures + 1))
  check_json "$work/named.json" "d['draft']['path'] == json.load(open('$work/$name.json'))['draft']['path']"
done
finish
