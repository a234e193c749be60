# thetajoin: `make` lists what there is. Needs JDK 17+, Python 3.10+ and a shell; everything else is set up here.
SHELL := /usr/bin/env bash
PYTHON := .venv/bin/python
JAR := target/scala-2.13/thetajoin.jar
EXAMPLE_JAR := target/example-accelerator.jar
PACKAGED_JAR := python/src/thetajoin/jars/thetajoin.jar
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' python/pyproject.toml)
WHEEL := dist/thetajoin-$(VERSION)-py3-none-any.whl
LICENCES := LICENSE NOTICE $(wildcard licenses/*)
OTHER_SPARKS := 4.0.5 4.1.4 4.2.1
# What each of them runs of the fast SQL tests, beside the first case of every file.
SHARE_4.0.5 := 1/6
SHARE_4.1.4 := 3/6
SHARE_4.2.1 := 5/6
SCALA := build.sbt $(LICENCES) $(wildcard project/*.sbt project/*.scala project/build.properties) \
  $(shell find scala/src/main -type f)
PACKAGE := python/pyproject.toml $(shell find python/src -name '*.py' -o -name py.typed)
TYPED := python/src benchmarks demo tools

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-fast test-scala test-scala-fast test-python-fast test-suites link check check-python fmt docs docs-site test-beside wheel publish-local release bench bench-aggregate bench-existence bench-range bench-containment bench-asof bench-scale bench-spatial bench-similar bench-text bench-vector bench-grid bench-tpc bench-python bench-streams clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/.complete ## a .venv in which thetajoin and the newest Spark import
	@echo "ready: .venv/bin/python, jar $$($(PYTHON) -c 'import thetajoin; print(thetajoin.jar_path())')"

demo: .venv/.complete build/demo/data/tables.json ## a question for each pattern, on real data, with the extension off and on
	$(PYTHON) -m demo

build/demo/data/tables.json: demo/data.py demo/addresses.py demo/flights.py demo/names.py demo/places.py | .venv/.complete
	$(PYTHON) -m demo.data

# The parts of `make test`, the long ones first. Two run at a time, and what they need is made beside them.
PARTS := $(addprefix part-,scala python sql-1 sql-2 property-java property-kryo beside $(OTHER_SPARKS) link lint)
PART := tools/part.sh
# Tests spend most of their time compiling code that runs once: one compiler does.
QUICK_JAVA := JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SCALA_CHECKS := scalafmtSbtCheck scalafmtCheckAll Test/compile "scalafixAll --check" api/mimaReportBinaryIssues testkit/mimaReportBinaryIssues

.PHONY: $(PARTS)

test: ## everything that is tested, as CI does it
	@rm -f target/parts; start=$$SECONDS; \
	$(MAKE) --no-print-directory --keep-going -j2 --output-sync=target $(PARTS); status=$$?; \
	cat target/parts; echo "all: $$((SECONDS - start)) s, exit code $$status"; exit $$status

test-all: ## the same with all SQL tests, and with all fast ones on every supported Spark
	@$(MAKE) --no-print-directory test WHOLE=--whole $(OTHER_SPARKS:%=SHARE_%=1/1)

# One sbt at a time, so the tests of what it publishes follow those that it runs.
part-scala: .venv/.complete $(EXAMPLE_JAR)
	@$(PART) $@ tools/sbt $(SCALA_CHECKS) test sparkSuites/run; status=$$?; \
	$(PART) part-maven $(PYTHON) -m pytest tests/python/test_maven.py && exit $$status

part-sql-1 part-sql-2: .venv/.complete
	@$(QUICK_JAVA) $(PART) $@ $(PYTHON) -m pytest tests/sql $(WHOLE) --part $(@:part-sql-%=%)/2

part-property-java part-property-kryo: .venv/.complete
	@$(QUICK_JAVA) $(PART) $@ $(PYTHON) -m pytest tests/property --serializer $(@:part-property-%=%)

part-python: .venv/.complete .venv-4.0.5/.complete $(EXAMPLE_JAR)
	@$(QUICK_JAVA) $(PART) $@ $(PYTHON) -m pytest tests/python tests/shape --ignore tests/python/test_maven.py

# Short ones, which are ready first: they wait for the long ones to begin.
$(OTHER_SPARKS:%=part-%): part-%: .venv-%/.complete $(JAR) | .venv/.complete
	@$(QUICK_JAVA) $(PART) $@ .venv-$*/bin/python -m pytest tests/sql tests/python/test_ui.py -m "not slow" --part $(SHARE_$*)

part-beside: build/beside/.complete $(OTHER_SPARKS:%=.venv-%/.complete) $(JAR)
	@$(QUICK_JAVA) $(PART) $@ $(PYTHON) -m pytest tests/beside

part-link: .venv/.complete $(OTHER_SPARKS:%=.venv-%/.complete)
	@$(PART) $@ $(MAKE) --no-print-directory link

part-lint: .venv/.complete
	@$(PART) $@ $(MAKE) --no-print-directory check-python

test-fast: .venv/.complete $(EXAMPLE_JAR) ## the inner loop: under three minutes
	@$(QUICK_JAVA) $(MAKE) --no-print-directory -j2 --output-sync=target test-scala-fast test-python-fast

test-scala: .venv/.complete
	tools/sbt test

# Every suite of exec/ runs joins of many rows.
test-scala-fast: .venv/.complete
	tools/sbt "testOnly $(patsubst %,thetajoin.%.*,accelerator codegen condition driver functions kit large planner report rowstore)"

test-python-fast: .venv/.complete $(EXAMPLE_JAR)
	$(PYTHON) -m pytest -m "not slow" --part 1/12

test-beside: build/beside/.complete $(OTHER_SPARKS:%=.venv-%/.complete) $(JAR) ## next to Delta, Iceberg and Sedona
	$(QUICK_JAVA) $(PYTHON) -m pytest tests/beside

test-suites: .venv/.complete ## Spark's own join suites with the extension on
	tools/sbt sparkSuites/run

link: .venv/.complete $(OTHER_SPARKS:%=.venv-%/.complete) ## does the jar link against every supported Spark
	@$(PYTHON) tools/link_check.py $(JAR) $(patsubst %,%/lib/python*/site-packages/pyspark/jars,.venv $(OTHER_SPARKS:%=.venv-%))

check: .venv/.complete check-python ## formatting, linters and types
	tools/sbt $(SCALA_CHECKS)

check-python: .venv/.complete
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy $(TYPED)
	$(PYTHON) tools/prose_lint.py

fmt: .venv/.complete ## format and mend what can be mended
	tools/sbt scalafmtSbt scalafixAll scalafmtAll
	$(PYTHON) -m ruff check --fix-only --quiet .
	$(PYTHON) -m ruff format .

docs: .venv/.complete ## regenerate what is generated: settings, accelerators, reasons, figures of the benchmarks
	tools/sbt "runMain thetajoin.report.GenerateDocs ."
	$(PYTHON) -m benchmarks.summary
	$(PYTHON) -m benchmarks.cited
	$(PYTHON) -m ruff format --quiet python/src/thetajoin/_settings.py
	$(PYTHON) tools/python_api.py

# Not quietly: mkdocs would not count its warnings then, and --strict would let them pass.
docs-site: .venv/.complete ## the pages and the scaladoc as a site in build/site; a broken link is an error
	tools/sbt doc
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict

wheel: $(WHEEL) ## the Python package with the jar inside, and its sources, in dist/

publish-local: .venv/.tools ## all Maven artifacts in target/sona-staging, a Maven repository
	rm -rf target/sona-staging
	tools/sbt publish

release: .venv/.complete ## check, build and publish; DRY_RUN=1 publishes nothing
	$(PYTHON) tools/release.py $(if $(DRY_RUN),--dry-run) $(ARGS)

bench: .venv/.complete ## joins without an equality: Spark off and on beside DuckDB, DataFusion and Polars
	$(PYTHON) -m benchmarks nlj $(ARGS)

bench-aggregate: .venv/.complete ## rolling sums, ranks and counts of overlaps by joins; results in benchmarks/results/
	$(PYTHON) -m benchmarks aggregate $(ARGS)

bench-existence: .venv/.complete ## EXISTS and NOT IN in the same way; results in benchmarks/results/
	$(PYTHON) -m benchmarks existence $(ARGS)

bench-range: .venv/.complete ## points in intervals, overlaps, bands and inequalities, with ClickHouse beside
	$(PYTHON) -m benchmarks range $(ARGS)

bench-containment: .venv/.complete ## joins by array elements and ORs, as plain SQL and as best rewritten
	$(PYTHON) -m benchmarks containment $(ARGS)

bench-asof: .venv/.complete ## the row before, and the nearest rows
	$(PYTHON) -m benchmarks asof $(ARGS)

bench-scale: .venv/.complete ## two large sides, in 2 GB for each engine
	$(PYTHON) -m benchmarks scale $(ARGS)

bench-spatial: .venv/.complete ## joins in two dimensions, with SedonaDB and GeoPandas beside
	$(PYTHON) -m benchmarks spatial $(ARGS)

bench-text: .venv/.complete ## texts that match patterns, with automata of others beside
	$(PYTHON) -m benchmarks text $(ARGS)

bench-vector: .venv/.complete ## similar vectors and the nearest ones, with NumPy and faiss beside
	$(PYTHON) -m benchmarks vector $(ARGS)

bench-python: .venv/.complete ## accelerators in Python
	$(PYTHON) -m benchmarks.python_accelerators $(ARGS)

bench-streams: .venv/.complete ## a stream joined with a table
	$(PYTHON) -m benchmarks.streams $(ARGS)

bench-similar: .venv/.complete ## names with typing errors, sets that are alike
	$(PYTHON) -m benchmarks similar $(ARGS)

bench-grid: .venv/.complete ## what each accelerator costs, off and on, in CPU time, by conditions and shapes of data
	$(PYTHON) -m benchmarks grid --runs 3 --seconds 0 --limit 15 $(ARGS)

bench-tpc: .venv/.complete build/tpc/.complete ## all queries of TPC-H and TPC-DS with the extension off and on
	$(PYTHON) -m benchmarks.tpc $(ARGS)

clean: ## remove what was built, but not the environments
	rm -rf target project/target project/project build dist python/src/thetajoin/jars
	rm -rf python/LICENSE python/NOTICE python/licenses

.venv/.tools: requirements/dev.txt requirements/docs.txt requirements/spark.txt project/build.properties tools/setup.sh
	tools/setup.sh
	@touch $@

$(JAR): $(SCALA) | .venv/.tools
	tools/sbt packageBin example/packageBin
	@touch $@ $(EXAMPLE_JAR)

.venv-%/.complete: requirements/spark.txt
	python3 -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check pyspark==$* -r $<
	@touch $@

build/beside/.complete: requirements/beside.txt tools/fetch_jars.sh | .venv/.complete
	tools/fetch_jars.sh $(@D)
	@touch $@

build/tpc/.complete: requirements/tpc.txt
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(EXAMPLE_JAR): $(JAR) $(shell find tests/example-accelerator/src/main -type f)
	tools/sbt example/packageBin
	@touch $@

$(PACKAGED_JAR): $(JAR) $(LICENCES)
	@mkdir -p $(@D)
	cp -R LICENSE NOTICE licenses python
	cp $< $@

.venv/.complete: .venv/.tools $(PACKAGED_JAR) python/pyproject.toml
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e python
	@touch $@

# The wheel is built from the sdist, which thereby is known to have all that it needs.
$(WHEEL): $(PACKAGED_JAR) $(PACKAGE) | .venv/.complete
	$(PYTHON) -m build --no-isolation --outdir dist python
