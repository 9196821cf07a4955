# The front door. CMake does the work: see CMakeLists.txt and CMakePresets.json.
#
#   make            build hob, libhob and the examples      make install PREFIX=… [DESTDIR=…]
#   make demo       see it work, offline                    make bench
#   make test       everything that must hold               make test-long   and what takes longer
#   make check      the tests alone, for the inner loop     make asan | tsan | clang | fuzz
#   make format     rewrite the sources                     make lint        only look
#   make docs       rewrite the pages made from the sources    make conformance   beside the npm ADK
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)

# Configuring talks only when something is wrong.
CONFIGURE = cmake --log-level=WARNING --preset
CTEST = ctest --test-dir build --output-on-failure --no-label-summary -j $(JOBS)
SOURCES = $(shell find $(wildcard src include tests bench examples cmake) -name '*.[ch]')

.PHONY: all build demo test check test-long test-build conformance bench install format docs lint clean \
	asan tsan clang fuzz

all: build

# AUTO: the tests are configured when their libraries are there, but built by `make test` only.
build:
	@scripts/setup build
	@$(CONFIGURE) default -DHOB_TESTS=AUTO >/dev/null
	@cmake --build build -j $(JOBS) --target ship

demo: build
	@build/hob demo

test-build:
	@scripts/setup test
	@$(CONFIGURE) default -DHOB_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)

# One ctest run holds everything, so that its closing line speaks for all: the tests of the gcc
# build, and as tests of their own the clang build, the sanitizer builds with their tests, the
# fuzz targets and the checks of the sources (cmake/stages.cmake).
test: test-build
	@$(CTEST) -LE long

test-long: test-build
	@HOB_LONG=1 HOB_FUZZ_SECONDS=$${HOB_FUZZ_SECONDS:-300} $(CTEST)

check: test-build
	@$(CTEST) -LE 'long|stage'

# The cases that another implementation can run, too (tests/conformance/*/README.md).
conformance: test-build
	@HOB_BINARY_DIR=$(CURDIR)/build tests/conformance/adk/run || test $$? = 77

bench:
	@scripts/setup test
	@$(CONFIGURE) default -DHOB_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS) --target bench
	@scripts/bench build $(BENCH_FLAGS)

install: build
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)" --strip
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig || :; fi # new in its folders

format:
	@scripts/setup test
	@clang-format -i $(SOURCES)

# The pages that are made from the sources.
docs: test-build
	@for page in build/tests/gen/*; do "$$page" >"docs/$${page##*/}.md"; done

lint: test-build
	@$(CTEST) -L lint

asan tsan:
	@scripts/setup test
	@tests/checks/stage $@ unit

clang:
	@scripts/setup test
	@tests/checks/stage clang

fuzz:
	@scripts/setup test
	@tests/checks/stage fuzz
	@for target in build-fuzz/fuzz/*; do tests/checks/fuzz $${target##*/} || exit 1; done

clean:
	rm -rf build build-clang build-asan build-tsan build-fuzz
