# `make run` compiles the CPU kernels of this machine's processor alone. A folder keeps what it has, and everything but `make run` has all.
source "$(dirname "$0")/_lib.sh"
sets_of() {  # VENDOR FLAGS
  printf 'vendor_id\t: %s\nflags\t\t: fpu %s sse\n\nvendor_id\t: %s\nflags\t\t: fpu %s sse\n' "$1" "$2" "$1" "$2" >"$work/cpuinfo"
  "$work/scripts/own_cpu_kernels" "$work/cpuinfo" | paste -sd ' '
}
is() { [[ $2 == "$3" ]] || die "$1: expected '$3', found '$2'"; }
wide="fma avx2 avx512f avx512bw avx512vl avx512dq"
is Zen4 "$(sets_of AuthenticAMD "$wide")" avx512
is Xeon "$(sets_of GenuineIntel "$wide")" "avx512 avx512-intel"
is laptop "$(sets_of GenuineIntel "fma avx2")" avx2
is "without avx512dq" "$(sets_of GenuineIntel "fma avx2 avx512f avx512bw avx512vl")" avx2
is old "$(sets_of GenuineIntel "avx")" ""
[[ $(uname -m) != x86_64 ]] || [[ -n $("$work/scripts/own_cpu_kernels") ]] || ! grep -qw avx2 /proc/cpuinfo || die "this processor's kernels were not found"

# A CMake that only remembers what it was configured with.
mkdir "$work/bin"
cat >"$work/bin/cmake" <<'CMAKE'
#!/usr/bin/env bash
[[ $1 == --preset ]] || exit 0
mkdir -p build
{ echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD"; for one in "$@"; do sed -n 's/^-D\([A-Z_]*\)=/\1:STRING=/p' <<<"$one"; done; } >build/CMakeCache.txt
touch build/build.ninja
CMAKE
printf '#!/bin/sh\n' >"$work/bin/ninja"
chmod +x "$work/bin"/*
built() {  # KERNELS OWN...: what the folder has after scripts/build with KERNELS on a processor that runs OWN
  printf '#!/bin/sh\nprintf "%%s\\n" %s\n' "${*:2}" >"$work/scripts/own_cpu_kernels"
  (cd "$work" && PATH=$work/bin:$PATH KERNELS=$1 scripts/build release triescope) >"$work/output" 2>&1 || die "scripts/build $1"
  sed -n 's/^TRIESCOPE_CPU_KERNELS:STRING=//p' "$work/build/CMakeCache.txt"
}
is "new folder" "$(built own avx2)" avx2
is "again" "$(built own avx2)" avx2
is "another processor" "$(built own avx512 avx512-intel)" "avx2;avx512;avx512-intel"
is "the first again" "$(built own avx2)" "avx2;avx512;avx512-intel"
is "make test" "$(built "")" all
is "make run after it" "$(built own avx2)" all
rm -r "$work/build"
is "a processor without any" "$(built own)" ""
