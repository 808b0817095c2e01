# The only commands to remember. Each is a script in scripts/, which says what it does and why.
.PHONY: up test test-fast check bench chaos terraform-test terraform-docs package package-test
.DEFAULT_GOAL := test

SERVICES := scripts/with-services --postgres --rabbitmq --redis --

# Build and start Berth on a private Postgres, and stay; ARGS="..." goes to `berth up`.
up:
	@scripts/up $(ARGS)

# Every test of the workspace, on private engines.
test:
	@scripts/test

# The part of it that waits for nothing: domain, api, store, bus, egress, resource manager and the executor's units. For each change.
test-fast:
	@scripts/test fast

# Formatting, lints, docs, walls, licences, unused dependencies, query data.
check:
	@scripts/check

# Measurements; ARGS="..." goes to the bench program.
bench:
	@scripts/bench $(ARGS)

# Attacks a whole Berth, and says which promises held: SCENARIO=... DURATION_S=... SEED=... REPORT=path, or ROW=n|all.
chaos:
	@scripts/chaos $(ARGS)

# The Terraform provider alone: its tests with the real Terraform, ARGS="..." names some; and its pages in terraform/docs.
terraform-test:
	@scripts/terraform test $(ARGS)
terraform-docs:
	@scripts/terraform docs

# Packages: ARGS=deb, image, sbom or units; and their proofs in empty systems, as root.
package:
	@scripts/package $(ARGS)
package-test:
	@scripts/package test $(ARGS)
