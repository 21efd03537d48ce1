# Usage and bad input: exit codes and messages that say what was expected.
source "$(dirname "$0")/lib.sh"
expect 0 'decode' "$TRIESCOPE" --help
expect 0 'prompt-ids' "$TRIESCOPE" decode --help
expect 0 'triescope [0-9]' "$TRIESCOPE" --version
expect 0 'libtorch' "$TRIESCOPE" --version
expect 2 'no-such-option' "$TRIESCOPE" decode --no-such-option
expect 2 '.' "$TRIESCOPE" no-such-subcommand-or-file --no-such-option
# A name that is not one is a usage error, with the nearest one; a path that is not there is bad input.
expect 2 "'foo' is neither a subcommand nor a file; subcommands are decode, methods, info, tokenize, export, explain, acceptance, find, rejudge, cost, doctor, lesson, datastore, study, bench, check, serve, capture$" "$TRIESCOPE" foo
# The format of captures: SQL that makes an empty one, and a capture that has little says what panels miss.
sql=$("$TRIESCOPE" capture schema --sql)
python3 - "$work/own.tscap" "$sql" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.argv[2] + "insert into run (method) values ('mine'); insert into node (parent, tick) values (-1, 0);")
PY
"$TRIESCOPE" info "$work/own.tscap" --json >"$work/own.json"
check_json "$work/own.json" 'd["method"] == "mine" and d["kind"] == "text" and d["missing_rows"]["kv"] == ["slot"] and "trie" not in d["missing_rows"]'
expect 0 '^### `verdict`$' "$TRIESCOPE" capture schema
expect 2 'excludes' "$TRIESCOPE" capture schema --sql --markdown
expect 2 "'decod' is neither .*; did you mean decode\?$" "$TRIESCOPE" decod --prompt hi
expect 2 "'exprot' is neither .*; did you mean export\?$" "$TRIESCOPE" --quiet exprot
expect 3 'foo.tscap: no such file' "$TRIESCOPE" foo.tscap
expect 3 './foo: no such file' "$TRIESCOPE" ./foo
expect 2 'found "bean"; did you mean beam\?$' "$TRIESCOPE" decode --prompt hi --method bean
expect 2 'no parameter "num_beam"; .*; did you mean num_beams\?$' "$TRIESCOPE" decode --prompt hi --set num_beam=3
expect 2 "panel 'tree' is not one of: .*; did you mean trie\?$" "$TRIESCOPE" export "$work/no.tscap" --panel tree --format svg -o "$work/x.svg"
for scale in nan inf -1 0 9 much; do
  expect 2 "scale: expected a number from 0.25 to 8; found $scale" "$TRIESCOPE" export "$work/own.tscap" --panel trie --format png -o "$work/x.png" --scale $scale
  expect 2 "scale: expected a number from 0.5 to 4; found $scale" "$TRIESCOPE" "$work/own.tscap" --scale $scale
done
# A picture is never written under the name of another format.
for name in x.png x.SVG; do
  expect 2 "$name: expected a name that ends in .pdf, for the format pdf; found .*Take the format" "$TRIESCOPE" export "$work/own.tscap" --panel trie --format pdf -o "$work/$name"
  [[ -e $work/$name ]] && { echo "FAILED: $name was written"; failures=$((failures + 1)); }
done
expect 2 'ends in .jsonl, for the format jsonl; found .html. Take the format html, or the name' "$TRIESCOPE" export "$work/own.tscap" --format jsonl -o "$work/x.html"
mkdir -p "$work/models" && : >"$work/models/Some-Model.gguf"
for name in some-modle SomeModel; do
  TRIESCOPE_MODELS=$work/models expect 2 "model '$name' is neither .*; did you mean some-model\?$" "$TRIESCOPE" decode --prompt hi --model $name
done
expect 2 'max-new-tokens' "$TRIESCOPE" decode --prompt hi --max-new-tokens 0
# A seed or a setting that would be another than it seems.
for seed in -1 18446744073709551616 99999999999999999999 1e3 1.5 ' 7' 0x; do
  expect 2 "seed: expected a whole number from 0 to 18446744073709551615" "$TRIESCOPE" decode --prompt hi "--seed=$seed"
done
expect 2 'num_beams is given twice: 2 and 3' "$TRIESCOPE" decode --prompt hi --set num_beams=2 --set num_beams=3
expect 2 'num_beams' "$TRIESCOPE" decode --prompt hi --set num_beams=0
expect 2 'num_beams' "$TRIESCOPE" decode --prompt hi --set num_beams=many
expect 2 'no_such_parameter' "$TRIESCOPE" decode --prompt hi --set no_such_parameter=1
# Without what set-up makes beside the build folder nothing drafts unnamed.
mkdir "$work/alone" && cp "$TRIESCOPE" "$work/alone/triescope"
expect 2 'expected a draft model' "$work/alone/triescope" decode --model "$model" --prompt hi --method draft_model
expect 3 'neither a file' "$TRIESCOPE" decode --prompt hi --method draft_model --draft /no/such/model
expect 2 'beam does not take a draft model' "$TRIESCOPE" decode --prompt hi --draft anything
expect 2 "draft-device: expected cpu, cuda or cuda:N, found 'gpu'" "$TRIESCOPE" decode --prompt hi --method draft_model --draft-device gpu
expect 2 'draft-device: method beam has no draft model' "$TRIESCOPE" decode --prompt hi --draft-device cpu
expect 2 'draft-device: method eagle3 has no draft model \(a draft head runs on its model.s device\)' "$TRIESCOPE" decode --prompt hi --method eagle3 --draft-device cpu
# What transformers knows and triescope does not is refused, not passed over.
for name in sequence_bias suppress_tokens exponential_decay_length_penalty renormalize_logits; do
  expect 2 "$name" "$TRIESCOPE" decode --method sample --prompt hi --set $name=1
done
expect 2 'name=value' "$TRIESCOPE" decode --prompt hi --set num_beams
expect 2 'dtype|f32' "$TRIESCOPE" decode --prompt hi --dtype f64
expect 2 'beam' "$TRIESCOPE" decode --prompt hi --method no-such-method
expect 3 'no such|nor a known|neither' "$TRIESCOPE" decode --prompt hi --model /no/such/model
echo "not a model" >"$work/text.gguf"
expect 3 'text.gguf' "$TRIESCOPE" decode --prompt hi --model "$work/text.gguf"
mkdir "$work/folder"
expect 3 'config.json' "$TRIESCOPE" info "$work/folder"
echo '{"model_type": "mamba", "architectures": ["MambaForCausalLM"]}' >"$work/folder/config.json"
expect 3 'mamba' "$TRIESCOPE" info "$work/folder"
expect 3 'no.tscap' "$TRIESCOPE" export "$work/no.tscap" --panel trie --format svg -o "$work/x.svg"
expect 3 'text.gguf' "$TRIESCOPE" export "$work/text.gguf" --panel trie --format svg -o "$work/x.svg"
# Whose rows a panel shows.
one_model=$TRIESCOPE_SOURCE/tests/fixtures/captures/beam.tscap
whose() { "$TRIESCOPE" export "$1" --panel "$2" --whose "$3" --format csv -o "$work/whose.csv"; }
expect 2 "--whose: expected one of target, draft, head; found 'darft'; did you mean draft\?$" whose "$work/no.tscap" kv darft
expect 2 '--whose: the panel trie shows no model.s own rows; panels that do are mask, positions, kv, memory, candidates$' whose "$work/no.tscap" trie draft
expect 2 "--whose: .*tscap has rows of target; found 'draft'$" whose "$one_model" kv draft
expect 0 'whose.csv written' whose "$one_model" kv target
expect 2 'models, rows' "$TRIESCOPE" bench --only no-such-table
# Names are checked before anything is loaded: these models cannot be.
bench() { "$TRIESCOPE" bench --quiet --model "$work/text.gguf" "$@"; }
expect 2 'did you mean prompt_lookup\?$' bench --methods promt_lookup
expect 2 'no parameter "num_drafts"; .*; did you mean num_draft\?$' bench --methods ngram_trie:num_drafts=3
expect 2 "expected METHOD:parameter=value, found 'num_draft'" bench --methods ngram_trie:num_draft
expect 2 'method eagle2: expected a draft head that it takes, found none; name one with --draft' bench --methods eagle2
expect 2 'method draft_model: expected a draft model' bench --methods draft_model --draft eagle3
expect 3 "neither a file" bench --draft /no/such/head
expect 3 'text.gguf' bench --methods prompt_lookup
expect 2 'exactly one' "$TRIESCOPE" tokenize
expect 0 'Beams: num_beams = 3  \(1 to 256\)' "$TRIESCOPE" methods beam
expect 2 'beam' "$TRIESCOPE" methods no-such-method
"$TRIESCOPE" methods --json >"$work/methods.json" || failures=$((failures + 1))
check_json "$work/methods.json" '{"greedy", "sample", "batch_beam", "beam", "ngram_trie", "prompt_lookup"} <= {m["name"] for m in d["methods"]}'
check_json "$work/methods.json" 'all(p["title"] and p["help"] for m in d["methods"] for p in m["parameters"] + d["common_parameters"])'
# Where 0 stands for a word, the word is shown.
expect 0 'num_draft = auto ' "$TRIESCOPE" methods ngram_trie
"$TRIESCOPE" methods --json ngram_trie >"$work/methods.json" || failures=$((failures + 1))
check_json "$work/methods.json" '[(p["default"], p["zero_is"]) for m in d["methods"] for p in m["parameters"] if p["name"] == "num_draft"] == [(0, "auto")]'
finish
