# Every test is named "topic: what holds" (scripts/check_test_names). The check can fail, and what it mends keeps to the rule.
set -euo pipefail
check="$TRIESCOPE_SOURCE/scripts/check_test_names"
"$check"

tests=$(mktemp -d)
trap 'rm -rf "$tests"' EXIT
fails_with() {
  local output
  output=$("$check" "$tests") && { echo "FAILED: expected exit 1, found 0: $output"; exit 1; }
  grep -qF -- "$1" <<<"$output" || { echo "FAILED: expected '$1' in: $output"; exit 1; }
}
has() { grep -qF -- "$1" "$tests"/*.cpp || { echo "FAILED: expected '$1' in:"; cat "$tests"/*.cpp; exit 1; }; }

echo 'TEST_CASE("a request is read") {}' >"$tests/test_request.cpp"
fails_with 'test_request.cpp: "a request is read": expected "topic: what holds", with a topic of at most six words'
echo 'TEST_CASE("a topic that goes on for seven words: no") {}' >"$tests/test_request.cpp"
fails_with '"a topic that goes on for seven words: no"'
printf 'TEST_CASE("mask: one") {}\n' | tee "$tests/test_request.cpp" >"$tests/test_mask.cpp"
fails_with 'test_request.cpp: "mask: one" is a test of test_mask.cpp too'

cat >"$tests/test_kv_request.cpp" <<'CASES'
TEST_CASE("slots are freed") {}
TEST_CASE("a KV request is read") {}
TEST_CASE("a KV request that is empty is refused, in "
          "words") {}
CASES
printf 'TEST_CASE("rows: a") {}\nTEST_CASE("rows: b") {}\nTEST_CASE("rows have ends") {}\n' >"$tests/test_mask.cpp"
rm "$tests/test_request.cpp"
"$check" --fix "$tests" >/dev/null
"$check" "$tests"
has '"KV request: slots are freed"'
has '"KV request: it is read"'
has '"KV request: a KV request that is empty is refused, in words"'
has '"rows: they have ends"'
