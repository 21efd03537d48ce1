# The doctor finds nothing in recorded runs of transformers.
source "$(dirname "$0")/_lib.sh"
run_tests tests.test_doctor_of_transformers
