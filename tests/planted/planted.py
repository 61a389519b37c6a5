"""All planted outputs: importing this registers every generator."""

from __future__ import annotations

import planted_applications
import planted_clusters
import planted_hosts
import planted_network
import planted_services
import planted_storage
import planted_system
from planted_parts import OUTPUTS, Decisive, Output, make, seen

__all__ = ["OUTPUTS", "PARTS", "Decisive", "Output", "make", "seen"]

PARTS = (
    planted_applications,
    planted_clusters,
    planted_hosts,
    planted_network,
    planted_services,
    planted_storage,
    planted_system,
)
