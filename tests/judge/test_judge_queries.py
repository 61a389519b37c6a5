"""Queries are bounded: a short one can ask for more than any machine has."""

from __future__ import annotations

import time

import pytest

from checkrunner.queries import QueryError, search

ROWS = [{"name": f"n{at}", "used": at, "tags": ["a", "b"]} for at in range(5000)]
TWICE = "[[@,@,@,@],[@,@,@,@]]"


@pytest.mark.parametrize(
    "query",
    [
        "length([?used > `10` && contains(tags, 'a')])",
        "max_by(@, &used).name",
        "[].tags[] | length(@)",
        "sort_by(@, &used)[].{n: name, u: used} | [0].n",
        "to_string(@) | length(@)",
    ],
)
def test_queries_of_large_outputs_are_answered(query: str) -> None:
    assert search(query, ROWS)


@pytest.mark.parametrize(
    "query",
    [
        " | ".join([TWICE] * 12) + " | to_string(@)",
        " | ".join([TWICE] * 12) + " | contains(@, `1`)",
        " | ".join(["[@, @, @][]"] * 20),
        " | ".join(["join('', [@, @, @, @])"] * 15),
        " | ".join(["{a: @, b: @, c: @}"] * 20),
    ],
)
def test_a_query_that_makes_too_much_is_given_up(query: str) -> None:
    began = time.process_time()
    with pytest.raises(QueryError, match="makes too much"):
        search(query, "xyz" if "join" in query else [1, 2, 3])
    assert time.process_time() - began < 5


def test_a_query_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(QueryError, match="steps"):
        search("[?[?[?@ > `1`]]]", [[[0] * 200] * 200] * 200)
