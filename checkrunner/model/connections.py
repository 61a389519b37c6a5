"""Which settings of a host count for the way in which it is reached: the words that `load`, `link` and `app` share."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXEC_OPTIONS", "SETTINGS_OF"]

SETTINGS_OF: Mapping[str, frozenset[str]] = {
    "local": frozenset(),
    "exec": frozenset({"checkrunner_exec"}),
    "docker": frozenset({"address", "user", "docker_extra_args", "docker_host", "docker_user"}),
    "podman": frozenset({"address", "user", "podman_executable", "podman_extra_args"}),
    "kubectl": frozenset(
        {
            "address",
            "kubectl_ca_cert",
            "kubectl_cert_file",
            "kubectl_client_cert",
            "kubectl_client_key",
            "kubectl_config",
            "kubectl_container",
            "kubectl_context",
            "kubectl_extra_args",
            "kubectl_host",
            "kubectl_key_file",
            "kubectl_kubeconfig",
            "kubectl_namespace",
            "kubectl_pod",
            "kubectl_server",
            "kubectl_ssl_ca_cert",
            "kubectl_user",
            "kubectl_username",
            "kubectl_validate_certs",
            "kubectl_verify_ssl",
        }
    ),
    "nsenter": frozenset({"checkrunner_nsenter_target", "nsenter_pid"}),
}
"""Fields and options of a host by transport, for all that are not ``ssh``: that one reads every field."""

EXEC_OPTIONS: frozenset[str] = frozenset.union(*SETTINGS_OF.values()) - {"address", "user"}
"""The options among them. They become arguments of a program, which every user of this machine can see. A name that
begins with ``checkrunner_`` is that of the variable itself; the others are variables with the prefix ``ansible_``."""
