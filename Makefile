# thetajoin: `make` lists what there is. Needs JDK 17+, Python 3.10+ and a shell; everything else is set up here.
SHELL := /usr/bin/env bash
PYTHON := .venv/bin/python
JAR := target/scala-2.13/thetajoin.jar
EXAMPLE_JAR := tests/example-accelerator/target/example-accelerator.jar
PACKAGED_JAR := python/src/thetajoin/jars/thetajoin.jar
WHEEL := dist/thetajoin-0.1.0-py3-none-any.whl
OTHER_SPARKS := 4.0.5 4.1.4 4.2.1
SCALA := build.sbt $(wildcard project/*.sbt project/build.properties) $(shell find scala/src/main -type f)
PACKAGE := python/pyproject.toml $(shell find python/src -name '*.py' -o -name py.typed)
TYPED := python/src benchmarks demo tools

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-scala test-fast test-python-fast test-sparks test-suites link check fmt docs wheel bench bench-existence bench-range clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/.complete ## a .venv in which thetajoin and the newest Spark import
	@echo "ready: .venv/bin/python, jar $$($(PYTHON) -c 'import thetajoin; print(thetajoin.jar_path())')"

demo: .venv/.complete ## joins on real flights, weather and address ranges, with the extension off and on
	$(PYTHON) -m demo

test: .venv/.complete check $(EXAMPLE_JAR) ## everything that is tested, as CI does it
	$(MAKE) --no-print-directory test-scala
	$(PYTHON) -m pytest
	$(MAKE) --no-print-directory test-sparks test-suites

# Short runs spend most of their time compiling: one compiler does, and two test runs share the cores.
test-fast: export JAVA_TOOL_OPTIONS := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
test-fast: .venv/.complete $(EXAMPLE_JAR) ## the inner loop: under three minutes
	@$(MAKE) --no-print-directory -j2 --output-sync=target test-scala test-python-fast

test-scala: .venv/.complete
	tools/sbt test

test-python-fast: .venv/.complete $(EXAMPLE_JAR)
	$(PYTHON) -m pytest -m "not slow"

test-sparks: .venv/.complete link ## the SQL tests on every other supported Spark
	@for version in $(OTHER_SPARKS); do \
	  echo "Spark $$version"; \
	  $$(tools/other_spark.sh $$version) -m pytest tests/sql -m "not slow" || exit 1; \
	done

test-suites: .venv/.complete ## Spark's own join suites with the extension on
	tools/sbt sparkSuites/run

link: .venv/.complete ## does the jar link against every supported Spark
	@$(PYTHON) tools/link_check.py $(JAR) $$(for python in $(PYTHON) \
	  $$(for version in $(OTHER_SPARKS); do tools/other_spark.sh $$version; done); do \
	  $$python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "jars")'; done)

check: .venv/.complete ## formatting, linters and types
	tools/sbt scalafmtSbtCheck scalafmtCheckAll "scalafixAll --check" Test/compile
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy $(TYPED)

fmt: .venv/.complete ## format and mend what can be mended
	tools/sbt scalafmtSbt scalafixAll scalafmtAll
	$(PYTHON) -m ruff check --fix-only --quiet .
	$(PYTHON) -m ruff format .

docs: .venv/.complete ## regenerate what is generated: settings, accelerators, reasons
	tools/sbt "runMain thetajoin.report.GenerateDocs ."
	$(PYTHON) -m ruff format --quiet python/src/thetajoin/_settings.py

wheel: $(WHEEL) ## the Python package with the jar inside, in dist/

bench: .venv/.complete ## joins without an equality: Spark off and on beside DuckDB, DataFusion and Polars
	$(PYTHON) -m benchmarks nlj $(ARGS)

bench-existence: .venv/.complete ## EXISTS and NOT IN in the same way; results in benchmarks/results/
	$(PYTHON) -m benchmarks existence $(ARGS)

bench-range: .venv/.complete ## points in intervals, overlaps, bands and inequalities, with ClickHouse beside
	$(PYTHON) -m benchmarks range $(ARGS)

clean: ## remove what was built, but not the environments
	rm -rf target project/target project/project build dist python/src/thetajoin/jars

.venv/.tools: requirements/dev.txt requirements/spark.txt project/build.properties tools/setup.sh
	tools/setup.sh
	@touch $@

$(JAR): $(SCALA) | .venv/.tools
	tools/sbt packageBin
	@touch $@

$(EXAMPLE_JAR): $(JAR) $(shell find tests/example-accelerator/src -type f)
	tools/sbt example/packageBin
	@touch $@

$(PACKAGED_JAR): $(JAR)
	@mkdir -p $(@D)
	cp $< $@

.venv/.complete: .venv/.tools $(PACKAGED_JAR) python/pyproject.toml
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e python
	@touch $@

$(WHEEL): $(PACKAGED_JAR) $(PACKAGE) | .venv/.complete
	$(PYTHON) -m build --wheel --no-isolation --outdir dist python
