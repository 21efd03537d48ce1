# Files that are folders, have no name, or a name that SQLite takes for something else.
source "$(dirname "$0")/lib.sh"
mkdir "$work/folder" && cd "$work"
is_folder='folder: cannot be read \(Is a directory\); expected'
expect 3 "$is_folder a text file" "$TRIESCOPE" decode --prompt-file folder
expect 3 "no-such-file: cannot be read \(No such file or directory\)" "$TRIESCOPE" decode --prompt-file no-such-file
expect 3 'folder: ' "$TRIESCOPE" explain folder
expect 3 'folder: ' "$TRIESCOPE" export folder --format jsonl -o x.jsonl
expect 3 'folder' "$TRIESCOPE" lesson check ./folder
for arguments in "decode --prompt-file" "decode --capture" "tokenize --file" explain "export" "export x.tscap --format csv -o" "lesson export 03-beam-search-is-a-trie -o" "bench --prompts" \
  --script --screenshot --state; do
  expect 2 "expected a file's name, found an empty text" "$TRIESCOPE" $arguments ""
done
# Names of SQLite's own, of captures that are opened: they are files, and not there.
for name in :memory: 'file:x?mode=memory' 'file::memory:'; do
  expect 3 "no such file; expected a .tscap capture" "$TRIESCOPE" explain "$name"
  cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/beam.tscap" "$name"
  expect 0 '.' "$TRIESCOPE" explain "$name" --step 1
  expect 0 'written' "$TRIESCOPE" export "$name" --format jsonl -o x.jsonl
  rm -f -- "$name"*
done
# A picture, a table or a page never takes the place of a capture or a model, least of all of the one it is made of.
cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/beam.tscap" own.tscap && chmod u+w own.tscap
printf 'GGUF\3\0\0\0' >some.gguf
python3 -c 'import json, struct; head = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode(); open("some.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + b"\0" * 4)'
sha256sum own.tscap some.gguf some.safetensors >kept
for format in "--panel log --format csv" "--panel trie --format svg" "--panel trie --format png" "--panel trie --format gif" "--format jsonl" "--format html"; do
  expect 2 'own.tscap: exists and is a capture, which would be lost; expected another name' "$TRIESCOPE" export own.tscap $format -o own.tscap
  for other in some.gguf some.safetensors; do
    expect 2 "$other: exists and is a model, which would be lost" "$TRIESCOPE" export own.tscap $format -o $other
  done
done
sha256sum --quiet -c kept || { echo "FAILED: a capture or a model was replaced"; failures=$((failures + 1)); }
ln -s own.tscap link.svg
expect 2 'link.svg: exists and is a capture' "$TRIESCOPE" export own.tscap --panel trie --format svg -o link.svg
echo old >old.svg
expect 0 'written' "$TRIESCOPE" export own.tscap --panel trie --format svg -o old.svg
if [[ -e $model ]]; then
  decode() { "$TRIESCOPE" decode --model "$model" --prompt-ids 1,2,3 --method greedy --max-new-tokens 3 "$@"; }
  expect 3 "$is_folder a text file" "$TRIESCOPE" tokenize --model "$model" --file folder
  expect 3 "$is_folder a .jsonl file" "$TRIESCOPE" bench --model "$model" --only drafts --prompts folder
  expect 3 "datastore: $is_folder" "$TRIESCOPE" decode --model "$model" --prompt hi --method rest --set datastore=folder
  expect 2 'folder: exists and is not a capture' decode --capture folder
  # A byte order mark is no text.
  printf '\xef\xbb\xbfHello there' >marked.txt && printf 'Hello there' >plain.txt
  for file in marked plain; do
    "$TRIESCOPE" tokenize --model "$model" --file $file.txt >$file.ids
    "$TRIESCOPE" decode --model "$model" --prompt-file $file.txt --method greedy --max-new-tokens 2 --quiet >$file.text
  done
  cmp -s marked.ids plain.ids && cmp -s marked.text plain.text || { echo "FAILED: a byte order mark became text"; failures=$((failures + 1)); }
  echo "Hello there" >prompt.txt
  expect 0 'tokens' "$TRIESCOPE" decode --model "$model" --prompt-file prompt.txt --method greedy --max-new-tokens 1
  expect 0 'tokens' bash -c '"$1" decode --model "$2" --prompt-file <(echo Hello) --method greedy --max-new-tokens 1' _ "$TRIESCOPE" "$model"
  for name in :memory: ' ' 'file:x?mode=memory' 'file::memory:' 'file:y.tscap' 'a?b#c%41.tscap'; do
    expect 0 'recorded in' decode --capture "$name"
    [[ -f $name ]] || { echo "FAILED: recorded in '$name', and it is not there"; failures=$((failures + 1)); }
    expect 0 '"done"|done' "$TRIESCOPE" info "$name" --json
  done
  expect 0 'recorded in' decode --capture "//$work/slashes.tscap"
  [[ -f $work/slashes.tscap ]] || { echo "FAILED: not recorded under a path with two slashes"; failures=$((failures + 1)); }
fi
finish
