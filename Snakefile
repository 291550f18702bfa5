# macroscope: does a language model's long text have the structure of real text?
#
#   data/                                  raw downloads, kept between runs
#   results/<run>/corpora/<corpus>/        documents.parquet
#   results/<run>/systems/<corpus>/<system>/samples.parquet
#   results/<run>/critics/<critic>/<corpus>/{inference,prior,latents,scores,evidence,attributions}/
#   results/<run>/statistics/<critic>/<corpus>/<system>.csv
#   results/<run>/{tables,figures,reader}/  report.html

from pathlib import Path

from snakemake.utils import min_version

min_version("9.19")


# False if another workflow imports this one (`module macroscope: ...`).
IS_MAIN = workflow.modifier.is_main_snakefile()

if IS_MAIN and {"{", "}", ":"} & set(workflow.basedir):
    from snakemake.exceptions import WorkflowError

    raise WorkflowError(
        f"the workflow is in {workflow.basedir!r}: Snakemake reads braces as wildcards, and Python reads a colon as the"
        " separator of two folders; rename the folder"
    )


# An experiment's config stands alone: the default one is read only if no other is given.
if "corpora" not in config:

    configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/retrieval.smk"
include: "workflow/rules/stages.smk"
include: "workflow/rules/coreference.smk"


rule write_config:
    """Write the config with all its defaults, and what the run judges and makes: inputs of tables, figures and pages."""
    output:
        list(plan.descriptions()),
    log:
        "logs/<run>/write_config.log",
    benchmark:
        "logs/<run>/write_config.tsv"
    localrule: True
    conda:
        "envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        # A function, since Snakemake takes braces in a parameter, as in `mentions: mine/{system}.parquet`, for wildcards.
        descriptions=lambda wildcards: list(plan.descriptions().values()),
    script:
        "workflow/scripts/write_config.py"


rule all:
    default_target: True
    input:
        plan.targets(),
    localrule: True


if IS_MAIN:

    include: "workflow/rules/main.smk"
