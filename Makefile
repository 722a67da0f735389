# Everything a person types. `make` alone shows it.
.DEFAULT_GOAL := help
.PHONY: help run test check format models fast-voice bench bench-cloud build package-check test-sam deploy packages clean

BIN := .venv/bin
READY := .venv/.ready
WITH_FAST_VOICE := .venv/.with-fast-voice
TEMPLATES := $(wildcard template.yaml infra/*.yaml)

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | while IFS="$$(printf '\t')" read -r name what; do \
		printf '  make %-13s %s\n' "$$name" "$$what"; done

run: $(READY) ## Start the assistant on http://127.0.0.1:8000 (TERTULIA_PORT changes it); fetches the models first
	@$(BIN)/tertulia serve

test: packages $(WITH_FAST_VOICE) check models package-check ## Prove the project: checks, then all tests with coverage
	$(BIN)/pytest --cov

check: $(READY) ## Format, lint, types, import rules, size rules, template
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/architecture
	$(if $(TEMPLATES),$(BIN)/cfn-lint $(TEMPLATES))

format: $(READY) ## Format the code and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

models: $(READY) ## Fetch the small models that the tests use
	@$(BIN)/tertulia models fetch --small

fast-voice: $(WITH_FAST_VOICE) ## Install the fast local voice, which is licensed under the GPL, and fetch its model
	@echo "Piper: GPL-3.0-or-later. Its voice joe: CC0, but fine-tuned from lessac, whose recordings are for research only."
	@$(BIN)/tertulia models fetch fast-voice

bench: $(READY) ## Measure, side by side with the sequential reading
	$(BIN)/python -m benchmarks

bench-cloud: $(READY) ## Measure what is deployed: cold starts, warm calls, memory
	$(BIN)/python -m benchmarks --only cloud

build: $(READY) ## Build layers and functions for the cloud, for both architectures or ARCH=arm64
	@scripts/build all $(ARCH)

package-check: $(READY) ## Weigh what is deployed against Lambda's limits
	@scripts/build check

test-sam: $(READY) ## Run every function under `sam local` in Docker, which is started when none runs
	@docker version >/dev/null 2>&1 || command -v dockerd >/dev/null || scripts/debian-packages tests/sam/debian-packages.txt
	$(BIN)/pytest -m sam tests/sam

deploy: $(READY) ## Bring the assistant into your AWS account, or up to date there; it asks for what it needs
	@PATH="$(CURDIR)/$(BIN):$(CURDIR)/.uv/bin:$$PATH" $(BIN)/tertulia deploy

packages:
	@scripts/debian-packages debian-packages.txt
	@scripts/node-packages tests/npm

clean: ## Remove the environment and all caches of this checkout; models and data stay
	rm -rf .venv .uv .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .aws-sam
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): uv.lock pyproject.toml scripts/environment
	@scripts/environment
	@touch $@

$(WITH_FAST_VOICE): $(READY)
	@scripts/environment fast-voice
	@touch $@
