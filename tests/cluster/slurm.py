"""A real Slurm of several nodes on this machine: munged, slurmctld and a slurmd for every node, as our children.

As on clusters without accounting there is no slurmdbd. Nodes claim the processors, memory and GPUs that they are told
to.
`python -m tests.cluster.slurm` keeps one up until it is ended (Ctrl-C, SIGTERM), for a look by hand.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

PACKAGES = {"slurmctld": "slurmctld", "slurmd": "slurmd", "squeue": "slurm-client", "munged": "munge"}
"""Program -> Debian's package that has it; slurm-wlm has the first three."""
DEFAULT_CONFIG = Path("/etc/slurm/slurm.conf")
"""Where programs look that do not know our file: the plugin's job step takes SLURM_CONF out of its environment."""
GRES_CONFIG = DEFAULT_CONFIG.with_name("gres.conf")
FIRST_PORT = 16817
UP_SECONDS = 30
DOWN_SECONDS = 4
"""From when a node no longer answers until it counts as dead."""
CONFIG = """\
ClusterName=macroscope
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,sched_min_interval=200000,bf_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
GresTypes=gpu
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=2
SlurmdTimeout={down_seconds}
"""


@dataclass(frozen=True)
class Node:
    """The resources that a node declares: processors, megabytes, GPUs."""

    name: str
    cpus: int
    mem_mb: int
    gpus: int = 0


NODES = (Node("north", 2, 16000), Node("east", 2, 16000), Node("south", 2, 16000, gpus=2))
PARTITIONS = {
    "main": "Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
    "short": "Nodes=north,east MaxTime=20 State=UP",
}


def why_not() -> str | None:
    """Return why no Slurm can be started here, None where it can."""
    missing = sorted({package for program, package in PACKAGES.items() if shutil.which(program, path=_path()) is None})
    if missing:
        return f"no Slurm on this machine: apt install {' '.join(missing)}"
    for path in (DEFAULT_CONFIG, GRES_CONFIG):
        if path.is_symlink() and not path.exists():
            path.unlink()  # left by a session of ours that was killed
    if DEFAULT_CONFIG.exists():
        return f"this machine belongs to a Slurm already: {DEFAULT_CONFIG}"
    if os.geteuid() != 0:
        return f"not root: {DEFAULT_CONFIG} cannot be written"
    return None


class Slurm:
    """A cluster that runs.

    Attributes
    ----------
    folder
        Its configuration, state and logs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all daemons and wait until every node takes jobs."""
        (self.folder / "state").mkdir(parents=True)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        (self.folder / "slurm.conf").write_text(self._config())
        # Any device will do: nobody opens it.
        gpus = [f"NodeName={node.name} Name=gpu File=/dev/tty[1-{node.gpus}]" for node in NODES if node.gpus]
        (self.folder / "gres.conf").write_text("\n".join(gpus) + "\n")
        DEFAULT_CONFIG.parent.mkdir(exist_ok=True)
        DEFAULT_CONFIG.symlink_to(self.folder / "slurm.conf")
        GRES_CONFIG.symlink_to(self.folder / "gres.conf")
        files = {"key-file": "key", "pid-file": "pid", "socket": "sock", "seed-file": "seed", "log-file": "log"}
        places = [f"--{option}={self.folder}/munge.{ending}" for option, ending in files.items()]
        self._daemon("munged", "--foreground", "--force", *places)
        _wait(lambda: (self.folder / "munge.sock").exists(), "munged does not come up", self.folder)
        self._daemon("slurmctld", "-D", "-c")
        for node in NODES:
            self.start_node(node.name)
        _wait(lambda: self.states() == {node.name: "idle" for node in NODES}, "nodes do not come up", self.folder)

    def start_node(self, name: str) -> None:
        """Have a node answer."""
        self._daemon(name, "-D", "-N", name, program="slurmd")

    def states(self) -> dict[str, str]:
        """Node -> its state, as sinfo has it."""
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %t"], capture_output=True, text=True, check=False)
        return dict(line.split() for line in done.stdout.splitlines())

    def job(self, number: str) -> dict[str, str]:
        """Return Slurm's record of a job: JobState, TimeLimit, NodeList, ..."""
        done = subprocess.run(["scontrol", "show", "job", number], capture_output=True, text=True, check=True)
        return dict(word.split("=", 1) for word in done.stdout.split() if "=" in word)

    def finished(self) -> list[tuple[str, str, str]]:
        """Node, comment and working directory of all jobs that have ended, in the order of their numbers."""
        command = ["squeue", "-h", "-t", "COMPLETED", "--sort=i", "-o", "%N|%k|%Z"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [(node, what, place) for node, what, place in (line.split("|", 2) for line in done.stdout.splitlines())]

    def kill_node(self, name: str) -> None:
        """Take a node's power away: its daemon and all that runs on it."""
        daemon = self._daemons.pop(name)
        daemon.kill()
        daemon.wait()
        for process in psutil.process_iter():
            try:
                if process.environ().get("SLURMD_NODENAME") == name:
                    steps = [parent for parent in process.parents() if parent.name() == "slurmstepd"]
                    for part in (*steps, process):  # the step first: it reports that its job has ended
                        part.kill()
            except psutil.Error:
                continue

    def stop(self) -> None:
        """End jobs and daemons."""
        subprocess.run(["scancel", "--user", str(os.geteuid())], capture_output=True, check=False)
        try:
            # The jobs of a node whose daemon ends before them go on, and it waits for them for minutes.
            _wait(lambda: not self._jobs(), "jobs do not end", self.folder)
        finally:
            for daemon in reversed(self._daemons.values()):
                daemon.send_signal(signal.SIGTERM)
            for daemon in self._daemons.values():
                daemon.wait()
            for path in (DEFAULT_CONFIG, GRES_CONFIG):
                path.unlink(missing_ok=True)

    def _jobs(self) -> str:
        """List all jobs that have not ended."""
        return subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=False).stdout

    def _daemon(self, name: str, *arguments: str, program: str | None = None) -> None:
        command = [str(shutil.which(program or name, path=_path())), *arguments]
        with (self.folder / f"{name}.out").open("ab") as out:
            self._daemons[name] = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)

    def _config(self) -> str:
        host = socket.gethostname().split(".")[0]
        user = psutil.Process().username()
        lines = [CONFIG.format(host=host, user=user, folder=self.folder, port=FIRST_PORT, down_seconds=DOWN_SECONDS)]
        for number, node in enumerate(NODES, start=1):
            gres = f" Gres=gpu:{node.gpus}" if node.gpus else ""
            lines.append(
                f"NodeName={node.name} NodeHostname={host} NodeAddr=127.0.0.1 Port={FIRST_PORT + number} "
                f"CPUs={node.cpus} RealMemory={node.mem_mb}{gres} State=UNKNOWN\n"
            )
        lines += [f"PartitionName={name} {what}\n" for name, what in PARTITIONS.items()]
        return "".join(lines)


@contextmanager
def running_slurm():
    """Have a cluster for as long as the context lasts."""
    slurm = Slurm(Path(tempfile.mkdtemp(prefix="slurm-")))
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
        shutil.rmtree(slurm.folder)


def _path() -> str:
    """Search path of programs: daemons are not on everybody's."""
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def _wait(until, message: str, folder: Path) -> None:
    end = time.monotonic() + UP_SECONDS
    while not until():
        if time.monotonic() > end:
            written = [*folder.glob("*.log"), *folder.glob("*.out")]
            logs = [f"== {path.name}\n{path.read_text()[-2000:]}" for path in written]
            raise RuntimeError("\n".join([f"Slurm: {message}", *logs]))
        time.sleep(0.2)


if __name__ == "__main__":
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: sys.exit())
    with running_slurm() as up:
        print(f"Slurm is up in {up.folder}; Ctrl-C ends it", flush=True)
        signal.pause()
