# The front door. CMake does the work; see CMakeLists.txt and CONTRIBUTING.md.
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
BUILD = build
NINJA = cmake --build $(BUILD) -j $(JOBS)

.PHONY: all build demo test check test-long bench install format lint clean asan tsan fuzz clang setup

all: build

setup:
	@scripts/setup build

# AUTO: the tests are configured when their libraries are there, but built by `make test` only.
build: setup
	@cmake --preset default -DHOB_TESTS=AUTO >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@$(NINJA) --target ship

clean:
	rm -rf build build-asan build-tsan build-fuzz build-clang
