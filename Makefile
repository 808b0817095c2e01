# The only commands to remember. Each is a script in scripts/, which says what it does and why.
.PHONY: up test check bench chaos
.DEFAULT_GOAL := test

SERVICES := scripts/with-services --postgres --rabbitmq --redis --

# Build and start Berth on a private Postgres, and stay; ARGS="..." goes to `berth up`.
up:
	@scripts/up $(ARGS)

# Every test of the workspace, on private engines.
test:
	@scripts/test

# Formatting, lints, docs, walls, licences, unused dependencies, query data.
check:
	@scripts/check

# Measurements; ARGS="..." goes to the bench program.
bench:
	@scripts/bench $(ARGS)

# Real processes on real engines, with faults. The whole workspace, of which it takes some: a build of one crate alone would
# compile what it shares with the others with features of its own.
chaos:
	@scripts/setup
	@cargo build --workspace --bins
	@BERTH_TEST_BIN_DIR=$${CARGO_TARGET_DIR:-$$PWD/target}/debug $(SERVICES) cargo nextest run --workspace --profile chaos $(ARGS)
