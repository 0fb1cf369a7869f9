# The manual page needs asciidoctor; without it, it is neither built nor installed.
# All else keeps its place beside machines and scenarios, so that the pages' links and examples hold where it is installed.
nobase_dist_pkgdata_DATA += README.md HACKING.md $(call found,doc/*.md doc/howto/*.md doc/*.svg) doc/blog_totals.yaml
EXTRA_DIST += doc/pictures.txt doc/examples.awk doc/results.awk doc/insert.awk doc/needleman.awk doc/transfers.awk doc/way.awk doc/lockstep.1.adoc
if HAVE_ASCIIDOCTOR
man1_MANS = doc/lockstep.1
CLEANFILES += doc/lockstep.1
doc/lockstep.1: doc/lockstep.1.adoc
	$(AM_V_GEN)$(MKDIR_P) doc && $(ASCIIDOCTOR) -b manpage -a reproducible \
	  -a release='$(PACKAGE_VERSION)' -o $@ $(srcdir)/doc/lockstep.1.adoc
endif

# Generated pages, and the output of examples, live in the source tree; tests/script/docs.sh compares them with what the
# program says.
.PHONY: update-docs update-results
update-docs: lockstep$(EXEEXT)
	for page in isa ptx-forms machine counters findings; do ./lockstep$(EXEEXT) doc $$page >$(srcdir)/doc/$$page.md; done
	cd $(srcdir) && for page in README.md doc/*.md doc/howto/*.md; do \
	  PATH=$(abs_builddir):$$PATH awk -f doc/examples.awk $$page >$(abs_builddir)/page.md || exit 1; \
	  cmp -s $(abs_builddir)/page.md $$page || cp $(abs_builddir)/page.md $$page; \
	done; rm -f $(abs_builddir)/page.md
	for what in load atomic; do \
	  ./lockstep$(EXEEXT) run $(srcdir)/traces/steps/$$what.yaml --timeline way.json >/dev/null && \
	  awk -f $(srcdir)/doc/way.awk way.json >$(srcdir)/doc/memory_$$what.svg || exit 1; \
	done; rm -f way.json
	sed '/^#/d' $(srcdir)/doc/pictures.txt | while read -r name arguments; do \
	  (cd $(srcdir) && $(abs_builddir)/lockstep$(EXEEXT) draw $$arguments -o doc/$$name.svg) || exit 1; \
	done

# The tables of Stuart and Owens, and whole scenarios beside an H200, in doc/results.md. Apart, since it takes some minutes.
update-results: lockstep$(EXEEXT)
	./lockstep$(EXEEXT) validate stuart2011_table1 stuart2011_table2 stuart2011_table3 --format csv >validation.csv
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/cycles.md \
	  $(SHELL) $(srcdir)/tests/script/cycles.sh
	awk -f $(srcdir)/doc/results.awk validation.csv $(srcdir)/doc/results.md >tables.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/locks.md \
	  $(SHELL) $(srcdir)/tests/script/word_locks.sh
	awk -v name=h200_cycles -v file=cycles.md -f $(srcdir)/doc/insert.awk tables.md >page.md
	awk -v name=h200_word_locks -v file=locks.md -f $(srcdir)/doc/insert.awk page.md >tables.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/merge.md \
	  $(SHELL) $(srcdir)/tests/script/merge.sh
	awk -v name=h200_merge -v file=merge.md -f $(srcdir)/doc/insert.awk tables.md >page.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/primitives.md \
	  $(SHELL) $(srcdir)/tests/script/primitives_h200.sh
	awk -v name=h200_primitives -v file=primitives.md -f $(srcdir)/doc/insert.awk page.md >tables.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/wild.md \
	  $(SHELL) $(srcdir)/tests/script/wild.sh
	awk -v name=h200_wild -v file=wild.md -f $(srcdir)/doc/insert.awk tables.md >page.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/wild2.md \
	  $(SHELL) $(srcdir)/tests/script/wild2.sh
	awk -v name=h200_wild2 -v file=wild2.md -f $(srcdir)/doc/insert.awk page.md >tables.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/wild3.md \
	  $(SHELL) $(srcdir)/tests/script/wild3.sh
	awk -v name=h100_wild3 -v file=wild3.md -f $(srcdir)/doc/insert.awk tables.md >page.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/wild4.md \
	  $(SHELL) $(srcdir)/tests/script/wild4.sh
	awk -v name=h200_wild4 -v file=wild4.md -f $(srcdir)/doc/insert.awk page.md >tables.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/wild5.md \
	  $(SHELL) $(srcdir)/tests/script/wild5.sh
	awk -v name=h200_wild5 -v file=wild5.md -f $(srcdir)/doc/insert.awk tables.md >page.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/kernels.md \
	  $(SHELL) $(srcdir)/tests/script/kernel_cycles.sh
	awk -v name=h200_kernels -v file=kernels.md -f $(srcdir)/doc/insert.awk page.md >tables.md
	SRCDIR=$(abs_srcdir) LOCKSTEP=$(abs_builddir)/lockstep$(EXEEXT) TABLE=$(abs_builddir)/mix.md \
	  $(SHELL) $(srcdir)/tests/script/mix.sh
	awk -v name=h200_mix -v file=mix.md -f $(srcdir)/doc/insert.awk tables.md >page.md
	cp page.md $(srcdir)/doc/results.md
	rm -f kernels.md mix.md tables.md page.md validation.csv cycles.md locks.md merge.md primitives.md wild.md wild2.md wild3.md wild4.md wild5.md

# Lock transfers of Wang et al.'s Table 3, in doc/irregular.md. Apart, since it takes a quarter of an hour of a core.
.PHONY: update-irregular
update-irregular: lockstep$(EXEEXT)
	./lockstep$(EXEEXT) validate wang2019_table3 --format csv >validation.csv
	awk -F, -f $(srcdir)/doc/transfers.awk validation.csv >transfers.md
	awk -v name=wang2019_table3 -v file=transfers.md -f $(srcdir)/doc/insert.awk $(srcdir)/doc/irregular.md >page.md
	cp page.md $(srcdir)/doc/irregular.md
	rm -f validation.csv transfers.md page.md

# The papers' figures, and Li et al.'s Table 3 at all sizes, from the plans in validation/figures. Apart, since it takes half
# an hour of a core; _figures keeps the tables.
.PHONY: update-figures
update-figures: lockstep$(EXEEXT)
	$(MKDIR_P) _figures
	for n in 1 2 3; do \
	  ./lockstep$(EXEEXT) sweep $(srcdir)/validation/figures/stuart2011_figure$$n.yaml -o _figures/figure$$n.csv || exit 1; \
	done
	./lockstep$(EXEEXT) plot _figures/figure1.csv --log y -o $(srcdir)/doc/figure1.svg
	./lockstep$(EXEEXT) plot _figures/figure2.csv --log y -o $(srcdir)/doc/figure2.svg
	for m in gtx295 gtx580; do \
	  ./lockstep$(EXEEXT) plot _figures/figure3.csv --log y --where machine=$$m --panels initial \
	    -o $(srcdir)/doc/figure3_$$m.svg || exit 1; \
	done
	for n in 1 2 3; do \
	  panels=; test $$n != 3 || panels="--panels initial"; \
	  ./lockstep$(EXEEXT) sweep $(srcdir)/validation/figures/newer_figure$$n.yaml -o _figures/newer$$n.csv && \
	  ./lockstep$(EXEEXT) plot _figures/newer$$n.csv --x blocks --log y $$panels -o $(srcdir)/doc/newer_figure$$n.svg || exit 1; \
	done
	./lockstep$(EXEEXT) sweep $(srcdir)/validation/figures/whatif_bits.yaml --seeds 4 -o _figures/whatif_bits.csv
	./lockstep$(EXEEXT) plot _figures/whatif_bits.csv --x first --y microseconds --panels tiles --curves scenario,machine \
	  --title "Diagonals of Needleman-Wunsch, 1984 x 1984" -o $(srcdir)/doc/whatif_bits.svg
	for what in atomics hostage channels syncblocks queues; do \
	  ./lockstep$(EXEEXT) sweep $(srcdir)/validation/figures/whatif_$$what.yaml -o _figures/whatif_$$what.csv && \
	  ./lockstep$(EXEEXT) plot _figures/whatif_$$what.csv -o $(srcdir)/doc/whatif_$$what.svg || exit 1; \
	done
	./lockstep$(EXEEXT) sweep $(srcdir)/validation/figures/li2015_table3.yaml -o _figures/table3.csv
	awk -F, -f $(srcdir)/doc/needleman.awk $(srcdir)/validation/published/li2015_table3_sum.csv _figures/table3.csv >_figures/table3.md
	awk -v name=li2015_table3 -v file=_figures/table3.md -f $(srcdir)/doc/insert.awk $(srcdir)/doc/results.md >_figures/results.md
	cp _figures/results.md $(srcdir)/doc/results.md
