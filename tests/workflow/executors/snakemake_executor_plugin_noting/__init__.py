"""An executor of jobs on other machines: it writes down the environment that a job gets, and the job fails."""

import json
import os
from pathlib import Path

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True, implies_no_shared_fs=False, job_deploy_sources=False, init_seconds_before_status_checks=0
)


class Executor(RemoteExecutor):
    def run_job(self, job):
        Path("environment.json").write_text(json.dumps(dict(os.environ)))
        self.report_job_submission(SubmittedJobInfo(job=job))

    async def check_active_jobs(self, active_jobs):
        for job in active_jobs:
            self.report_job_error(job)
        for none in ():
            yield none

    def cancel_jobs(self, active_jobs):
        pass
