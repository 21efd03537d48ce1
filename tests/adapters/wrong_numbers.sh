# Decoders in torch with one mistake each that shows in their numbers alone: the doctor names it.
source "$(dirname "$0")/_lib.sh"
run_tests tests.test_wrong_numbers
