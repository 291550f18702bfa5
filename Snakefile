# macroscope: does a language model's long text have the structure of real text?
#
#   data/                                  raw downloads, kept between runs
#   results/<run>/corpora/<corpus>/        documents.parquet
#   results/<run>/systems/<corpus>/<system>/samples.parquet
#   results/<run>/critics/<critic>/<corpus>/{inference,prior,latents,scores,evidence,blame}/
#   results/<run>/statistics/<critic>/<corpus>/<system>.csv
#   results/<run>/{tables,figures,reader}/  report.html

from snakemake.utils import min_version

min_version("9.19")


if {"{", "}", ":"} & set(workflow.basedir):
    from snakemake.exceptions import WorkflowError

    raise WorkflowError(
        f"the checkout is in {workflow.basedir!r}: Snakemake takes names in braces for wildcards, and Python what is before"
        " and behind a colon for two folders; rename the folder"
    )


# An experiment's config stands alone: the default one is read only where no other is given.
if "corpora" not in config:

    configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/systems.smk"
include: "workflow/rules/critics.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/reporting.smk"


# What is unusual about a kind of system or a critic, found by itself.
for unusual in sorted(Path(workflow.basedir, "workflow", "rules").glob("*/*.smk")):

    include: str(unusual)


check_accepted()
cluster_jobs.ask_by_attempt()
cluster_jobs.group()


localrules:
    all,


rule all:
    default_target: True
    input:
        plan.targets(),


onstart:
    for check in CHECKS:
        check()
    turn_only_when_needed(workflow)
    write_effective_config()


onsuccess:
    print_where_to_look()
    print_times()


onerror:
    print_reasons()
