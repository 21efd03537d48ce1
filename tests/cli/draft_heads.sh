# Draft heads from files: every kind writes greedy decoding's text, its kind is detected, the wrong method is told the right one.
# The heads and their target are small random ones (tests/fixtures/draft_heads).
source "$(dirname "$0")/lib.sh"
heads=$TRIESCOPE_SOURCE/tests/fixtures/draft_heads
run() { "$TRIESCOPE" decode --model "$heads/target" --max-new-tokens 40 --set eos_token_id=-1 --prompt-ids 1,17,42,5 "$@"; }
run --quiet --method greedy --json >"$work/greedy.json" || failures=$((failures + 1))
for pair in medusa:medusa medusa:medusa-v2 hydra:hydra hydra:hydra-mlp eagle:eagle eagle2:eagle-no-bias eagle3:eagle3 eagle3:eagle3-fc-norm; do
  method=${pair%%:*} head=${pair#*:}
  run --quiet --method "$method" --draft "$heads/$head" --json --capture "$work/$head.tscap" >"$work/$head.json" ||
    { echo "FAILED: $pair"; failures=$((failures + 1)); continue; }
  check_json "$work/$head.json" "d['sequences'] == json.load(open('$work/greedy.json'))['sequences'] and d['lossless'] and d['draft']['kind'] == '${method%2}' and d['draft']['path'] == '$heads/$head' and d['emitted_tokens'] == 40"
  check_json "$work/$head.json" "(d['draft']['forwards'] > 0) == ('$method' != 'medusa' and '$head' != 'hydra-mlp')"
  "$TRIESCOPE" export --quiet "$work/$head.tscap" --panel trie --format svg -o "$work/$head.svg" || failures=$((failures + 1))
done
# A model's own MTP layer, and a DFlash head as a chain and as a tree.
fixtures=$TRIESCOPE_SOURCE/tests/fixtures
for pair in mtp_qwen3:mtp: draft_heads/target:dflash:dflash draft_heads/target:dflash:dflash_encoder; do
  IFS=: read -r model method head <<<"$pair"
  ahead() { "$TRIESCOPE" decode --model "$fixtures/$model" --max-new-tokens 40 --set eos_token_id=-1 --prompt-ids 1,17,42,5 --quiet --json "$@"; }
  ahead --method greedy >"$work/plain.json" || failures=$((failures + 1))
  for budget in "" ${head:+tree_budget=12}; do
    ahead --method "$method" ${head:+--draft "$fixtures/$head"} ${budget:+--set "$budget"} --capture "$work/ahead.tscap" >"$work/ahead.json" ||
      { echo "FAILED: $pair $budget"; failures=$((failures + 1)); continue; }
    check_json "$work/ahead.json" "d['sequences'] == json.load(open('$work/plain.json'))['sequences'] and d['lossless'] and d['draft']['kind'] == '$method' and d['draft']['forwards'] > 0"
    expect 0 'nothing' "$TRIESCOPE" doctor "$work/ahead.tscap"
    "$TRIESCOPE" export --quiet "$work/ahead.tscap" --panel trie --format svg -o "$work/ahead.svg" || failures=$((failures + 1))
  done
done
expect 0 'draft head: .*EAGLE' run --method eagle2 --draft "$heads/eagle"
expect 0 'verify=typical is lossy' run --method medusa --draft "$heads/medusa" --set verify=typical
expect 2 'which --method eagle or eagle2 takes' run --method medusa --draft "$heads/eagle"
expect 2 'which --method eagle3 takes' run --method eagle2 --draft "$heads/eagle3"
expect 2 'expects a draft head, found a draft model, which --method draft_model or universal_draft takes' run --method hydra --draft "$heads/target"
expect 2 'expects a draft model, found a draft head, which --method medusa, hydra, eagle, eagle2, eagle3, mtp, dflash, space take' run --method draft_model --draft "$heads/medusa"
expect 2 'expected a draft head, trained for the model; found none' run --method eagle3
expect 2 'layers: expected 3 as the head reads' run --method eagle3 --draft "$heads/eagle3" --set layers=1,2
expect 2 'tree: expected paths of ranks' run --method medusa --draft "$heads/medusa" --set "tree=0;1,0"
expect 2 'verify=chain: min' run --method eagle --draft "$heads/eagle" --set verify=chain
finish
