"""Environments of jobs under conda: jobs of what needs PyTorch have one with it, all others a smaller one."""

from macroscope.jobs import Job


def environment(job: Job) -> str:
    """Return the file of the environment that a job needs, relative to the folder of the rules."""
    needs_models = job.stage.model_option or "models" in job.extras
    return f"../../envs/{'models' if needs_models else 'statistics'}.yaml"
