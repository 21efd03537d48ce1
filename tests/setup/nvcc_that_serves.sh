# The build takes an nvcc that compiles what the kernels need: one that does not is passed over by name and reason, CUDACXX may be the
# program or its folder, and where none serves the kernels are left out, or asked for by name refused.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() { echo "FAILED: $1"; echo "--- output:"; cat "$work/output"; exit 1; }
mkdir -p "$work"/{old,new,bare}/{bin,lib64} "$work/project/scripts"
printf '#!/bin/sh\necho "nvcc fatal   : Value '"'c++20'"' is not defined for option '"'std'"'" >&2\nexit 1\n' >"$work/old/bin/nvcc"
# Makes what -o names.
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: >"$2"\necho tried >>"%s"\n' "$work/tries" >"$work/new/bin/nvcc"
cp "$work/new/bin/nvcc" "$work/bare/bin/nvcc"
chmod +x "$work"/*/bin/nvcc
touch "$work"/{old,new}/lib64/libcudart_static.a "$work/tries" "$work/project/scripts/nvcc_check.cu"
cat >"$work/project/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(nvcc_choice LANGUAGES CXX)
include("$TRIESCOPE_SOURCE/cmake/TriescopeCuda.cmake")
message(STATUS "TAKEN \${TRIESCOPE_NVCC}")
CMAKE
configure() { cmake -S "$work/project" -B "$work/build" "$@" >"$work/output" 2>&1; }
taken() { grep -qxF -- "-- TAKEN $1" "$work/output" || die "expected TAKEN $1"; }

cmake=$(dirname "$(command -v cmake)")
PATH=$work/old/bin:$PATH CUDACXX=$work/new/bin/nvcc configure -DTRIESCOPE_CUDA=ON || die "expected exit 0"
taken "$work/new/bin/nvcc"
PATH=$work/old/bin:$PATH CUDACXX=$work/new/bin/nvcc configure -DTRIESCOPE_CUDA=ON || die "expected exit 0"
taken "$work/new/bin/nvcc"
[[ $(wc -l <"$work/tries") == 1 ]] || die "expected one try, found $(wc -l <"$work/tries")"

rm -rf "$work/build"
PATH=$work/old/bin:$PATH CUDACXX=$work/new/bin configure -DTRIESCOPE_CUDA=ON || die "expected exit 0"
taken "$work/new/bin/nvcc"

rm -rf "$work/build"
PATH=$work/new/bin:$PATH CUDACXX=$work/old/bin/nvcc configure -DTRIESCOPE_CUDA=AUTO || die "expected exit 0"
taken "$work/new/bin/nvcc"
grep -qF "$work/old/bin/nvcc is passed over: nvcc fatal   : Value 'c++20'" "$work/output" || die "expected to read why the old one is passed over"

rm -rf "$work/build"
PATH=$work/new/bin:$PATH CUDACXX=$work/bare/bin/nvcc configure -DTRIESCOPE_CUDA=AUTO || die "expected exit 0"
grep -qF "bare/bin/nvcc is passed over: no libcudart_static.a in $work/bare/lib64 or lib" "$work/output" || die "expected to read of the runtime"
