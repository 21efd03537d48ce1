# Options, build type and the flags every target gets.

option(TRIESCOPE_GUI "Build the window (Dear ImGui, GLFW, OpenGL). OFF: core, viz and the command line only" ON)
option(TRIESCOPE_TESTS "Build the tests" ON)
option(TRIESCOPE_FUZZ "Build the fuzz targets alone (needs clang; docs/security.md)" OFF)
option(TRIESCOPE_WERROR "Warnings are errors" OFF)
option(TRIESCOPE_UNITY "Compile the sources of a target in groups: a quarter of the compiler's time" ON)
set(TRIESCOPE_CUDA "AUTO" CACHE STRING "Compile the CUDA kernels: ON, OFF, or AUTO (where an NVIDIA driver is installed or CUDACXX names an nvcc)")
set_property(CACHE TRIESCOPE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TRIESCOPE_CPU_KERNELS "all" CACHE STRING "Instruction sets of the CPU kernels beside the portable ones, named as in $TRIESCOPE_CPU: all, or a list")
set(TRIESCOPE_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")
set(TRIESCOPE_IMGUI_DIR "" CACHE PATH "Dear ImGui's sources, docking branch; empty = .deps/imgui")
set(TRIESCOPE_KIT "" CACHE PATH "Core and its tests alone, from a folder that `scripts/gpu_check pack` made instead of system packages")
set(TRIESCOPE_TORCH_DIR "" CACHE PATH "libtorch: the folder with include/ and lib/; empty = the project's venv in .deps")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")

if(TRIESCOPE_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  # A .cpp's own types may have members of its anonymous namespace; g++ takes the sources of a group for headers.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()

# Pango's own flags have it, and a precompiled header fits only who has the same.
add_compile_options(-pthread)

add_compile_options(-Wall -Wextra -Wpedantic)
if(TRIESCOPE_WERROR)
  add_compile_options(-Werror)
endif()
# A node's logits are promised bit for bit, whichever function the compiler inlines a sum into: a fused
# multiply-add happens only where a kernel asks for one by name.
add_compile_options(-ffp-contract=off)

# g++ collects its garbage once it holds 512 MiB: 5 to 22 % less time a file, and up to 1 GB of memory where it took 0.75.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)

if(TRIESCOPE_SANITIZE)
  add_compile_options(-fsanitize=${TRIESCOPE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRIESCOPE_SANITIZE})
  if(TRIESCOPE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

if(TRIESCOPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TRIESCOPE_FUZZ: libFuzzer comes with clang, and the compiler is ${CMAKE_CXX_COMPILER}. "
        "Use `make fuzz`, or configure a new folder with CXX=clang++")
  endif()
  set(fuzz_flags -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${fuzz_flags} -fsanitize=fuzzer-no-link -gline-tables-only)
  add_link_options(${fuzz_flags})
endif()

find_program(TRIESCOPE_CCACHE ccache)
mark_as_advanced(TRIESCOPE_CCACHE)
if(TRIESCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache needs to cache files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_NOHASHDIR=1 ${TRIESCOPE_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
