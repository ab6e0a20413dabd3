# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make help` tells what there is.

VERSION := 0.1.0
BUILD   ?= build
PREFIX  ?= /usr/local
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
MPICC   ?= $(shell command -v mpicc)

CPPFLAGS := -D_GNU_SOURCE -DFABRICBED_VERSION='"$(VERSION)"' -Ibpf -Iuserspace -Iorchestrator -I$(BUILD)/bpf -I$(BUILD)/data -Itests
WARN     := -Wall -Wextra -Werror
CFLAGS   ?= -O3 -g
# gcc's alone: clang's wants an archiver and a linker of its own. Fat, so that any archiver can read the objects
ifeq ($(origin LTO),undefined)
LTO      := $(if $(shell $(CC) --version 2>/dev/null | grep -i clang),,-flto=auto -ffat-lto-objects)
endif
Q        := $(if $(V),,@)
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) -MMD -MP
CLI_LIBS := -lncurses -ltinfo
LIBS     := -lbpf -lmnl -lyaml -ljansson -lsqlite3 -lpthread -lm
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g
FUZZ_SANITIZE := -O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined

# Debian packages: what to build and run takes, and what the checks take beyond it
PACKAGES := build-essential clang bpftool libbpf-dev libelf-dev libmnl-dev \
            libyaml-dev libjansson-dev libsqlite3-dev libncurses-dev linux-libc-dev iproute2
CHECK_PACKAGES := $(PACKAGES) libcmocka-dev libclang-rt-dev llvm tshark python3 man-db lldpd libxml2-utils tmux openvswitch-switch ethtool iputils-ping iperf3 tcpdump curl libxdp-dev xdp-tools gnuplot-nox openmpi-bin libopenmpi-dev

KERNEL_PACKAGES := $(PACKAGES) qemu-system-x86 debootstrap cpio kmod

LIB_SRC  := $(wildcard userspace/*/*.c userspace/transport/*/*.c orchestrator/scenario/*.c orchestrator/topology/*.c \
              orchestrator/bringup/*.c orchestrator/session/*.c orchestrator/daemon/*.c \
              orchestrator/policy/*.c orchestrator/report/*.c orchestrator/sweep/*.c)
CLI_SRC  := $(wildcard orchestrator/cli/*.c)
# what the fuzz programs reach: what reads bytes and text, and nothing that runs a fabric
FUZZ_SRC := $(wildcard userspace/base/*.c userspace/control/*.c userspace/dataplane/inline.c \
              userspace/engine/*.c userspace/faults/*.c userspace/dataplane/table_list.c userspace/transport/*.c userspace/transport/*/*.c userspace/workload/*.c \
              orchestrator/scenario/*.c orchestrator/topology/*.c orchestrator/daemon/*.c)
BPF_HDR  := $(wildcard bpf/*.h bpf/*/*.h bpf/*/*/*.h)
TEST_SRC := $(wildcard tests/lib/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/obj/%.o)
ASAN_OBJ := $(LIB_SRC:%.c=$(BUILD)/asan/%.o)
CLI_ASAN_OBJ := $(CLI_SRC:%.c=$(BUILD)/asan/%.o)
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(BUILD)/fuzz/%.o)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/obj/%.o)
TEST_ASAN_OBJ := $(TEST_SRC:%.c=$(BUILD)/asan/%.o)
SKEL     := $(BUILD)/bpf/fabricbed.skel.h
SIZES    := $(BUILD)/data/workload/flow_sizes.inc
HEADERS  := $(BUILD)/data/policy/headers.inc
COMMIT   := $(BUILD)/data/cli/commit.inc

UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
BPF_TESTS  := $(patsubst tests/bpf/%.c,$(BUILD)/tests/bpf/%,$(wildcard tests/bpf/test_*.c))
SYS_TESTS  := $(patsubst tests/system/%.c,$(BUILD)/tests/system/%,$(wildcard tests/system/test_*.c))
FUZZERS    := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES    := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(wildcard tests/bench/bench_*.c))
TEST_SCRIPTS := $(wildcard tests/style/*.sh tests/system/*.sh)
FUZZ_SECONDS ?= 3

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all help demo check check-long figures figures-check check-container check-kernels golden bench deps check-deps install uninstall clean format

# what speaks MPI, where that is installed
PLUGIN := $(if $(MPICC),$(BUILD)/fabricbed-mpi.so)

all: $(BUILD)/fabricbed $(PLUGIN) ## build the command
	@$(if $(PLUGIN),:,echo "  no mpicc: sweeps on one host alone (libopenmpi-dev has it)") # ':', else make says that there was nothing to do

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' Makefile

# ---- what must be installed -------------------------------------------------------------------

define install_missing
missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
if [ -n "$$missing" ]; then \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "missing Debian packages:" $$missing >&2; \
		echo "install them as root: apt-get install" $$missing >&2; exit 3; \
	fi; \
	echo "installing" $$missing; \
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; } >$(BUILD)/apt.log 2>&1 \
		|| { grep '^E:' $(BUILD)/apt.log | tail -n 3 >&2; \
		     echo "apt-get could not install these packages; is the network there?" >&2; \
		     echo "all that it said is in $(BUILD)/apt.log" >&2; exit 3; }; \
fi
endef

deps: ## install what building and running takes (root, Debian)
	@mkdir -p $(BUILD)
	@$(call install_missing,$(PACKAGES))

check-deps:
	@mkdir -p $(BUILD)
	@$(call install_missing,$(CHECK_PACKAGES))

demo: deps ## build, and see a link die under a permutation
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(BUILD)/fabricbed run scenarios/link-failure.yaml --output $(BUILD)/demo

# What a compile error would not say: which package has the tool. In front of the command that needs it.
need = command -v $(1) >/dev/null || { echo "there is no $(1): 'make deps', as root on Debian, installs what building takes" >&2; exit 3; }

# ---- programs ---------------------------------------------------------------------------------

# where Debian keeps <asm/types.h>, which clang looks for only when it compiles for this machine
MULTIARCH = $(subst -pc-,-,$(subst -unknown-,-,$(shell $(CLANG) -dumpmachine 2>/dev/null)))

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(BPF_HDR)
	@mkdir -p $(@D)
	@echo "  BPF    $<"
	@$(call need,$(CLANG))
	$(Q)$(CLANG) -std=gnu11 -O2 -g $(WARN) -target bpf -mcpu=v3 -I/usr/include/$(MULTIARCH) -Ibpf -c $< -o $@

$(BUILD)/bpf/fabricbed.bpf.o: $(BUILD)/bpf/switch.bpf.o $(BUILD)/bpf/host.bpf.o $(BUILD)/bpf/egress.bpf.o
	@$(call need,$(BPFTOOL))
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(BUILD)/bpf/fabricbed.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name fabricbed_bpf > $@

$(LIB_OBJ) $(CLI_OBJ) $(ASAN_OBJ) $(CLI_ASAN_OBJ) $(FUZZ_OBJ) $(TEST_OBJ) $(TEST_ASAN_OBJ): | $(SKEL) $(SIZES) $(HEADERS) $(COMMIT)

# the shipped distributions, each a name and its text
$(SIZES): $(wildcard scenarios/flow-sizes/*.cdf)
	@mkdir -p $(@D)
	$(Q)for f in $^; do \
		printf '{"%s", ""\n' $$(basename $$f .cdf); sed 's/.*/"&\\n"/' $$f; printf '},\n'; \
	done > $@

# The headers that a policy file needs, the system's with them, each a name and its text: policies are compiled where no
# sources and no other packages are. BPF takes all that the process takes, and more.
$(HEADERS): $(BPF_HDR) Makefile
	@mkdir -p $(@D)
	@$(call need,$(CLANG))
	$(Q)files=$$($(CLANG) -target bpf -I/usr/include/$(MULTIARCH) -Ibpf -DFABRICBED_POLICY_FILE -M -x c bpf/fabricbed/policy.h) && \
	for f in $$(echo "$$files" | tr -s ' \\' '\n' | grep '\.h$$'); do \
		printf '{"%s", ""\n' "$$(echo "$$f" | sed 's,^bpf/,,; s,^/usr/include/\($(MULTIARCH)/\)\?,,')"; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$$f"; printf '},\n'; \
	done > $@

# The commit, as C has it: "0123456789ab", with "+89abcdef" of a hash of what was changed in what the command is made of; NULL
# where git does not know this Makefile. Written anew only if that is another text: what is built from it is then built again.
# Whose tree it is does not matter: make runs what is in it anyway.
COMMIT_OF := bpf userspace orchestrator scenarios/flow-sizes Makefile
$(COMMIT): FORCE
	@mkdir -p $(@D)
	@commit=NULL; \
	git() { command git -c safe.directory="*" "$$@"; }; \
	if git ls-files --error-unmatch Makefile >/dev/null 2>&1 && head=$$(git rev-parse --verify --short=12 HEAD 2>/dev/null); then \
		changes=$$(git diff --no-ext-diff --no-textconv --no-color --binary HEAD -- $(COMMIT_OF); \
			git ls-files --others --exclude-standard -- $(COMMIT_OF); \
			git ls-files -z --others --exclude-standard -- $(COMMIT_OF) | xargs -0r git hash-object --); \
		[ -z "$$changes" ] || head=$$head+$$(printf %s "$$changes" | git hash-object --stdin | cut -c 1-8); \
		commit=\"$$head\"; \
	fi; \
	[ "$$commit" = "$$(cat $@ 2>/dev/null)" ] || echo "$$commit" >$@

.PHONY: FORCE
FORCE:

$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC     $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LTO) -c $< -o $@

$(BUILD)/asan/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  ASAN   $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(BUILD)/fuzz/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  FUZZ   $<"
	$(Q)$(CLANG) $(CPPFLAGS) $(ALL_CFLAGS) $(FUZZ_SANITIZE),fuzzer-no-link -c $< -o $@

$(BUILD)/libfabricbed.a: $(LIB_OBJ)
$(BUILD)/libfabricbed-asan.a: $(ASAN_OBJ)
$(BUILD)/libfabricbed-fuzz.a: $(FUZZ_OBJ)
$(BUILD)/libtests.a: $(TEST_OBJ)
$(BUILD)/libtests-asan.a: $(TEST_ASAN_OBJ)
$(BUILD)/%.a:
	@rm -f $@
	@echo "  AR     $@"
	$(Q)$(AR) rcs $@ $^

$(BUILD)/fabricbed: $(CLI_OBJ) $(BUILD)/libfabricbed.a
	@echo "  LINK   $@"
	$(Q)$(CC) $(CFLAGS) $(LTO) $(LDFLAGS) -o $@ $^ $(LIBS) $(CLI_LIBS)

$(BUILD)/fabricbed-mpi.so: orchestrator/sweep/mpi/ranks_mpi.c orchestrator/sweep/ranks_ops.h Makefile
	@mkdir -p $(@D)
	@echo "  MPI    $@"
	$(Q)$(MPICC) $(CPPFLAGS) -std=gnu11 $(WARN) $(CFLAGS) $(LDFLAGS) -shared -fPIC -o $@ $<

# the whole command under the sanitizers: random scenarios run on it too
$(BUILD)/fabricbed-asan: $(CLI_ASAN_OBJ) $(BUILD)/libfabricbed-asan.a
	@echo "  LINK   $@"
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LIBS) $(CLI_LIBS)

# ---- tests ------------------------------------------------------------------------------------

# a test program: its own source, the fixtures of tests/lib and the library
define link_test
	@mkdir -p $(@D)
	@echo "  TEST   $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(1) -o $@ $< $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LIBS)
endef

# of the command line, what needs neither a terminal nor a fabric
$(BUILD)/tests/unit/test_top_model: $(addprefix $(BUILD)/asan/orchestrator/cli/,top_model.o top_columns.o top_table.o top_header.o)

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/libtests-asan.a $(BUILD)/libfabricbed-asan.a
	$(call link_test,$(SANITIZE))

# instructions differ from one compiler to the next
$(BUILD)/tests/bpf/test_budget_bpf: private ALL_CFLAGS += -DCLANG_MAJOR=$(firstword $(subst ., ,$(shell $(CLANG) -dumpversion)))

$(BUILD)/tests/bpf/%: tests/bpf/%.c $(BUILD)/libtests.a $(BUILD)/libfabricbed.a
	$(call link_test,-fno-lto)

$(BUILD)/tests/system/%: tests/system/%.c $(BUILD)/libtests.a $(BUILD)/libfabricbed.a
	$(call link_test,-fno-lto)

$(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/libtests.a $(BUILD)/libfabricbed.a
	$(call link_test,-fno-lto)

$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(BUILD)/libfabricbed-fuzz.a
	@mkdir -p $(@D)
	@echo "  FUZZ   $@"
	$(Q)$(CLANG) $(CPPFLAGS) $(ALL_CFLAGS) $(FUZZ_SANITIZE),fuzzer -o $@ $< $(BUILD)/libfabricbed-fuzz.a $(LIBS)

check: check-deps ## install what is missing, build, and pass the tests (some minutes; it says how many)
	@$(MAKE) --no-print-directory -j$(shell nproc) all test-programs
	@BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run.sh $(UNIT_TESTS) $(BPF_TESTS) $(SYS_TESTS) $(FUZZERS) $(TEST_SCRIPTS)

.PHONY: test-programs
test-programs: $(BUILD)/fabricbed-asan $(UNIT_TESTS) $(BPF_TESTS) $(SYS_TESTS) $(FUZZERS)
	@:

check-long: ## the long forms: 100 seeds, minutes of fuzzing, 100 crashes
	@FABRICBED_LONG=1 $(MAKE) --no-print-directory check FUZZ_SECONDS=120

check-container: ## build the Containerfile's image and use it (root; podman, debootstrap)
	@BUILD=$(BUILD) tests/container/check.sh

check-kernels: ## boot Debian's kernels in qemu and try them (root; downloads 0.4 GB)
	@mkdir -p $(BUILD)
	@$(call install_missing,$(KERNEL_PACKAGES))
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@BUILD=$(BUILD) tests/kernels/check.sh

golden: all ## write the shipped scenarios' traces anew (tests/golden)
	@for f in scenarios/*.yaml tests/golden/*.yaml; do \
		$(BUILD)/fabricbed run $$f --dataplane inline --set clock=stepped --output $(BUILD)/golden --json | \
			awk -v n=$$(basename $$f .yaml) -F'"' \
				'/^  "[^"]*": {/ { v = "/" $$2 } /^  (  )?"trace_hash"/ { print n v, $$4 }'; \
	done > tests/golden/traces.txt && cat tests/golden/traces.txt

FIGURES ?= sweeps/papers

figures: all ## every figure of the papers at its own size, into sweeps/ (a night; once interrupted it goes on)
	@for paper in scenarios/papers/*/; do \
		$(BUILD)/fabricbed sweep $$paper --output $(FIGURES)/$$(basename $$paper) || status=$$?; \
	done; exit $${status:-0}

figures-check: all ## every claim of the papers at a small scale (15 minutes)
	@for paper in scenarios/papers/*/; do \
		$(BUILD)/fabricbed sweep $$paper --scale check --output $(BUILD)/figures/$$(basename $$paper) || status=$$?; \
	done; exit $${status:-0}

bench: check-deps ## figures of this machine: bring-up, hops a second, memory
	@$(MAKE) --no-print-directory -j$(shell nproc) all $(BENCHES)
	@BUILD=$(BUILD) tests/bench/run.sh $(BENCHES)

# ---- the rest ---------------------------------------------------------------------------------

$(BUILD)/fabricbed.8: $(BUILD)/fabricbed
	$(Q)$< help --man > $@

$(BUILD)/fabricbed-scenario.5: $(BUILD)/fabricbed
	$(Q)$< help --man scenario > $@

install: all $(BUILD)/fabricbed.8 $(BUILD)/fabricbed-scenario.5 ## install command, man pages, completion, scenarios and Wireshark's dissector under PREFIX
	install -D -m 755 $(BUILD)/fabricbed $(DESTDIR)$(PREFIX)/bin/fabricbed
	$(if $(PLUGIN),install -D -m 644 $(PLUGIN) $(DESTDIR)$(PREFIX)/lib/fabricbed/fabricbed-mpi.so)
	install -D -m 644 $(BUILD)/fabricbed.8 $(DESTDIR)$(PREFIX)/share/man/man8/fabricbed.8
	install -D -m 644 $(BUILD)/fabricbed-scenario.5 $(DESTDIR)$(PREFIX)/share/man/man5/fabricbed-scenario.5
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(BUILD)/fabricbed help --completion > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fabricbed
	install -d $(DESTDIR)$(PREFIX)/share/fabricbed/scenarios
	install -m 644 scenarios/*.yaml $(wildcard scenarios/*.csv scenarios/*.goal) $(DESTDIR)$(PREFIX)/share/fabricbed/scenarios
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/fabricbed/scenarios/flow-sizes scenarios/flow-sizes/*.cdf
	install -D -m 644 wireshark/fabricbed.lua $(DESTDIR)$(PREFIX)/share/fabricbed/wireshark/fabricbed.lua

uninstall: ## take it away again
	rm -f $(DESTDIR)$(PREFIX)/bin/fabricbed $(DESTDIR)$(PREFIX)/share/man/man8/fabricbed.8
	rm -f $(DESTDIR)$(PREFIX)/share/man/man5/fabricbed-scenario.5
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fabricbed
	rm -rf $(DESTDIR)$(PREFIX)/share/fabricbed $(DESTDIR)$(PREFIX)/lib/fabricbed

format: ## clang-format over the tree
	clang-format -i $(shell git ls-files '*.c' '*.h')

clean: ## remove what was built
	rm -rf $(BUILD)

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CLI_OBJ) $(ASAN_OBJ) $(CLI_ASAN_OBJ) $(FUZZ_OBJ) $(TEST_OBJ) $(TEST_ASAN_OBJ))
