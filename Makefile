# Thin on purpose: the work is in scripts/, which people, make and CI call the same way.
.DEFAULT_GOAL := help
.PHONY: help demo test check

help:   ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

demo:   ## set everything up, then check this machine: report on screen and in report.json
	@scripts/demo

test:   ## set everything up, then run the test suite (ARGS="-k word" goes to pytest)
	@scripts/test $(ARGS)

check:  ## ruff, formatting, mypy
	@scripts/check
