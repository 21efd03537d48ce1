# The draft heads and the draft model that come with the program draft for the model of make run without being named, under their short names
# too, and write greedy decoding's text.
source "$(dirname "$0")/lib.sh"
need_model
run() { "$TRIESCOPE" decode --quiet --model "$model" --chat --prompt "What is the capital of France?" --max-new-tokens 24 --json "$@"; }
run --method greedy >"$work/greedy.json" || failures=$((failures + 1))
total=0
for folder in "$TRIESCOPE_SOURCE"/assets/draft/*/; do
  name=$(basename "$folder")
  case $name in
    eagle) methods="eagle eagle2" ;;
    draft) methods=draft_model ;;
    *) methods=$name ;;
  esac
  [[ -s $folder/README.md ]] || { echo "FAILED: $name has no card"; failures=$((failures + 1)); }
  total=$((total + $(cat "$folder"/* | wc -c)))
  for method in $methods; do
    run --method "$method" >"$work/$method.json" || failures=$((failures + 1))
    check_json "$work/$method.json" "d['sequences'] == json.load(open('$work/greedy.json'))['sequences'] and d['draft']['path'].endswith('assets/draft/$name')"
    check_json "$work/$method.json" "d['target_forwards'] < d['emitted_tokens']"
    run --method "$method" --draft "$name" >"$work/named.json" || failures=$((failures + 1))
    check_json "$work/named.json" "d['draft']['path'] == json.load(open('$work/$method.json'))['draft']['path']"
  done
done
((total <= 64 << 20)) || { echo "FAILED: assets/draft holds $total bytes, expected at most 64 MiB"; failures=$((failures + 1)); }
finish
