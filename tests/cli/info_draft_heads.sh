# What `info` says of a draft head: the small ones of tests/fixtures/draft_heads.
source "$(dirname "$0")/lib.sh"
heads=$TRIESCOPE_SOURCE/tests/fixtures/draft_heads
info() { "$TRIESCOPE" info --json "$heads/$1" >"$work/info.json" || failures=$((failures + 1)); }
info eagle3
check_json "$work/info.json" 'd["draft_head"] == "eagle3" and d["layers"] == 1 and d["draft_vocab_size"] == 24 and d["parameters"] == 3648'
check_json "$work/info.json" 'd["target"] == {"name": None, "hidden_size": 16, "vocab_size": 64, "min_layers": 3} and d["notes"] == []'
check_json "$work/info.json" 'd["feature_layers"] == [] and d["layer_convention"] == "absent" and d["own_lm_head"] and not d["own_embedding"]'
info eagle3-specforge
check_json "$work/info.json" 'd["feature_layers"] == [2, 4, 5] and d["stored_layers"] == [1, 3, 4] and d["layer_convention"] == "output"'
check_json "$work/info.json" 'd["layers_from"] == "config.json: eagle_config.eagle_aux_hidden_state_layer_ids" and d["target"]["min_layers"] == 5'
info medusa/medusa_lm_head.pt
check_json "$work/info.json" 'd["draft_head"] == "medusa" and d["heads"] == 5 and d["layers_per_head"] == 1 and len(d["notes"]) == 1'
check_json "$work/info.json" 'd["target"]["name"] == "tiny/target" and d["file_bytes"] > 2 * d["parameters"]'
info hydra
check_json "$work/info.json" 'd["draft_head"] == "hydra" and d["heads"] == 4 and d["layers_per_head"] == 4 and d["feature_layers"] == [-1]'
expect 0 '^draft_head +eagle$' "$TRIESCOPE" info "$heads/eagle"
expect 0 '^what +An EAGLE-1/2 head, reads the output of the target.s final norm' "$TRIESCOPE" info "$heads/eagle"
"$TRIESCOPE" info --json "$TRIESCOPE_SOURCE/assets/draft/space" >"$work/info.json" || failures=$((failures + 1))
check_json "$work/info.json" 'd["draft_head"] == "space" and d["masks"] == 3 and d["mask_prefix"] == 16 and d["parameters"] == 186048 and d["target"]["min_layers"] == 30'
info target
check_json "$work/info.json" 'd["family"] == "llama" and "draft_head" not in d'
# A pickle that asks for more than tensors: named, never run.
printf '\x80\x02cos\nsystem\n(X\x0c\x00\x00\x00touch /tmp/xtR.' >"$work/data.pkl"
python3 - "$work" <<'PY'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/bad.bin", "w") as archive:
    archive.writestr("bad/data.pkl", open(sys.argv[1] + "/data.pkl", "rb").read())
PY
expect 3 "byte 2 asks for 'os system'; only tensors in a dictionary are read from a pickle and nothing of it is executed" "$TRIESCOPE" info "$work/bad.bin"
finish
