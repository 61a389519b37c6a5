"""How much of what matters is shown, on labelled logs that lie beside the repository where they are to be had."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import ModuleType

import pytest

from checkrunner.findings.salience import Row, fit, rank, seen_text
from checkrunner.findings.tokens import TokenEstimate

SHARED = Path(__file__).parents[3] / "shared"
DATA = SHARED / "data" / "loghub"
BUDGETS = (250, 500, 1000, 2000, 4000)

pytestmark = pytest.mark.skipif(
    not (SHARED / "slices" / "baselines.py").is_file() or not DATA.is_dir(), reason="the labelled logs are not here"
)


def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("baselines", SHARED / "slices" / "baselines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def recalls() -> dict[str, tuple[list[float], list[float]]]:
    """Of each log the recalls of ours and of the best of the rules of thumb, by budget. Rows are charged by the
    scorer's own estimate."""
    module = scorer()
    rule = dict(module.STRONG)["compact: severity, frequent"]
    found = {}
    for name, texts, labels, templates in module.tasks(str(DATA)):
        types = {label for label in labels if label}
        if not types:
            continue
        ranking = rank([Row(n, t) for n, t in enumerate(texts, 1)], total_lines=len(texts), most=len(texts))
        ours = []
        for budget in BUDGETS:
            chosen = fit(ranking, int(budget * 0.95), TokenEstimate()).shown
            rows = [(one.entry.number - 1, seen_text(one.entry, one.text)) for one in chosen]
            paid = module.fill(rows, budget)
            ours.append(module.recall(paid, labels, templates, len(types)))
        theirs = [module.recall(rule(texts, budget), labels, templates, len(types)) for budget in BUDGETS]
        found[name] = (ours, theirs)
    return found


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_the_mean_over_all_logs(recalls: dict[str, tuple[list[float], list[float]]]) -> None:
    assert mean([mean(ours) for ours, _ in recalls.values()]) >= 0.86


def test_no_log_is_left_to_a_rule_of_thumb(recalls: dict[str, tuple[list[float], list[float]]]) -> None:
    behind = {
        name: (mean(ours), mean(theirs)) for name, (ours, theirs) in recalls.items() if mean(ours) < mean(theirs) - 0.02
    }

    assert behind == {}


def test_alerts_of_a_supercomputer(recalls: dict[str, tuple[list[float], list[float]]]) -> None:
    ours, _ = recalls["BGL"]

    assert ours[BUDGETS.index(1000)] >= 0.83
    assert ours[BUDGETS.index(2000)] == 1.0


def test_choosing_takes_little_time() -> None:
    texts = (DATA / "BGL_2k.log").read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [Row(number, text) for number, text in enumerate(texts, 1)]
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        fit(rank(rows, total_lines=len(rows)), 1000, TokenEstimate())
        best = min(best, time.process_time() - start)

    assert best < 0.5  # about 0.05 s on an idle machine
