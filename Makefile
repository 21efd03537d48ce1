# make run    sets up, builds, opens the window on SmolLM2 (without a display: records the same run and exports its pictures)
# make test   sets up, builds and runs all tests
# make cuda   builds the program with its CUDA kernels where no NVIDIA driver is installed (with one, every build has them)
# make package  a tarball and a .deb in build/package, for Debian 12 and Ubuntu 24.04
# The rest: build, core (headless, no window packages), bench, asan, tsan, fuzz, format, clean. Variables: WERROR=ON|OFF, JOBS=n.
# make tidy   runs clang-tidy with the checks that the code passes
# make fuzz   builds the fuzz targets with clang and runs each: TARGET=name, SECONDS=60 or RUNS=n, SEED=n (docs/security.md)

.PHONY: run test build cuda package core bench asan tsan fuzz format tidy setup clean help
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# //p' Makefile

setup:
	@scripts/setup

build: setup
	@scripts/build release triescope

run:
	@scripts/run --plan
	@$(MAKE) --no-print-directory setup
	@KERNELS=own scripts/build release triescope
	@scripts/run

cuda:
	@scripts/setup --cuda
	@CUDA=ON scripts/build release triescope

package: setup
	@scripts/package

test:
	@scripts/setup --cuda --tests
	@CUDA=ON scripts/build release
	@scripts/test release

core:
	@scripts/setup --core
	@scripts/build core
	@scripts/test core

bench: setup
	@scripts/build release
	@scripts/bench

asan: setup
	@scripts/build asan
	@scripts/test asan

tsan: setup
	@scripts/build tsan
	@scripts/test tsan

fuzz:
	@scripts/setup --fuzz
	@TARGET="$(TARGET)" SECONDS_EACH="$(SECONDS)" RUNS="$(RUNS)" SEED="$(SEED)" scripts/fuzz

tidy:
	@scripts/tidy

format:
	clang-format -i $$(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')

# Build folders and pictures. What set-up fetched stays in .deps.
clean:
	rm -rf build build-debug build-core build-asan build-tsan build-fuzz out
