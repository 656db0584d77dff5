"""A vLLM plugin that starts the engine on a CPU without importing it twice.

The engine is two processes: the server, and the core that computes. On its CPU platform vLLM starts the core as a new
interpreter (``spawn``), which imports torch, transformers and vLLM once more; measured on two cores, that is 16 of the
28 seconds of processor time that the core needs until it is ready. Started as a copy of the server (``fork``, vLLM's
own default elsewhere) it has them already. The server has computed nothing at that point, so no compute threads exist
whose loss in the copy could block it.

Entry point: group ``vllm.general_plugins``, name ``interviewer_cpu_start``. As :mod:`serving.cpu_lora`, it leaves an
engine alone that is not on a CPU or was not tested; ``INTERVIEWER_CPU_FORK=0`` turns it off.
"""

from __future__ import annotations

import os
from typing import Any

from serving._watch import die_with_parent
from serving.cpu_lora import engine_version, logger, obstacle

SWITCH = "INTERVIEWER_CPU_FORK"
"""Environment variable; ``0`` leaves the stock way of starting in place."""

METHOD = "VLLM_WORKER_MULTIPROC_METHOD"
"""vLLM's own variable; its CPU platform overwrites what the operator set."""


def register() -> None:
    """Let the core be forked, or say why not. Called by vLLM, more than once is harmless."""
    from vllm.platforms import current_platform

    if os.environ.get(SWITCH) == "0":
        logger.warning("Forking the core is off: %s=0.", SWITCH)
        return
    reason = obstacle(bool(current_platform.is_cpu()), engine_version(), None)
    if reason is not None:
        logger.warning("Forking the core is off: %s.", reason)
        return

    from vllm.platforms.cpu import CpuPlatform

    platform: Any = CpuPlatform
    if getattr(platform, "interviewer_forks", False):
        return
    stock = platform.check_and_update_config.__func__

    def check_and_update_config(cls: Any, vllm_config: Any) -> None:
        """Do what stock does, then choose how the core is started."""
        stock(cls, vllm_config)
        os.environ[METHOD] = "fork"

    platform.check_and_update_config = classmethod(check_and_update_config)
    platform.interviewer_forks = True
    # The core does not notice when the server is killed with SIGKILL, and would keep its memory for good.
    os.register_at_fork(after_in_child=die_with_parent)
