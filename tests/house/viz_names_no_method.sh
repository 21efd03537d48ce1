# viz draws any recorder's run: it knows no method and no drafter by name, but by what the capture says of them. Words that are also plain
# English (beam, rest, space), columns (batch_beam) and kinds of drafters (draft_model) are not names.
set -euo pipefail
cd "$TRIESCOPE_SOURCE"
names_in() { sed -nE 's/^ *info\.(name|drafter_name) = "([^"]+)";$/\2/p' "$@" | sort -u; }
english='^(beam|greedy|sample|rest|space|batch_beam|draft_model|draft model|datastore)$'
names=$(names_in core/methods/*.cpp | grep -vE "$english")
[ "$(wc -l <<<"$names")" -ge 8 ] || { echo "FAILED: expected the methods' names, found: $names"; exit 1; }
# Whole words only: with an underscore before or after it is another name.
named() { grep -rnwiF "$@" --include='*.cpp' --include='*.h' || true; }
found=$(named -e "$(paste -sd '\n' <<<"$names")" viz)
[ -z "$found" ] || { echo "FAILED: viz names a method:"; echo "$found"; exit 1; }
# Nor does it ask which one it is.
found=$(grep -rnE '(\.|->)method(_title)? *[!=]=|[!=]= *[a-z_().>-]*(\.|->)method\b|"num_beams"' viz --include='*.cpp' --include='*.h' || true)
[ -z "$found" ] || { echo "FAILED: viz asks for a method:"; echo "$found"; exit 1; }

# The check can fail.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'if (drafter == "ngram_trie") return;  // EAGLE-2' >"$folder/a.cpp"
[ -n "$(named -e "$(paste -sd '\n' <<<"$names")" "$folder")" ] || { echo "FAILED: a method's name was not found"; exit 1; }
