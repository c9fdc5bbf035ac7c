"""Follow-up questions that make sense only after the first one. The last answer is judged."""

from __future__ import annotations

from collections.abc import Sequence

import nbformat

from benchmarks.agent.checks import (
    adds_no_cell,
    all_of,
    draws,
    says,
    says_numbers,
    says_or_shows,
    shows_in_order,
    shows_numbers,
    task,
)
from benchmarks.agent.example_data import PENGUINS, WELCOME, customers, penguins


def _contracts_by_tenure() -> Sequence[str]:
    return list(customers().groupby("contract")["tenure_months"].mean().sort_values(ascending=False).index)


def _gentoo_correlation() -> list[float]:
    gentoo = penguins().query("species == 'Gentoo'")
    return [gentoo["bill_length_mm"].corr(gentoo["body_mass_g"])]


def _with_one_more() -> int:
    return len(nbformat.read(WELCOME, as_version=4).cells) + 1


TASKS = [
    task(
        "now_by_contract",
        WELCOME,
        "What share of the customers left?",
        "And now by contract.",
        check=says_or_shows(lambda: customers().groupby("contract")["churned"].mean(), share=True),
    ),
    task(
        "as_a_bar_chart",
        WELCOME,
        "Add a cell with the churn rate by contract type.",
        "Now as a bar chart.",
        check=draws(
            names=["monthly", "one year", "two years"],
            heights=lambda: customers().groupby("contract")["churned"].mean(),
        ),
    ),
    task(
        "and_two_years",
        WELCOME,
        "How many customers have a contract of one year?",
        "And of two years?",
        check=says_numbers(lambda: [(customers()["contract"] == "two years").sum()]),
    ),
    task(
        "and_who_stayed",
        WELCOME,
        "What is the mean number of support calls of the customers who left?",
        "And of those who stayed?",
        check=says_numbers(lambda: [customers().query("not churned")["support_calls"].mean()]),
    ),
    task(
        "sort_the_same_cell",
        WELCOME,
        "Add a cell that shows the mean tenure by contract type.",
        "Sort it in that cell, the longest first.",
        check=all_of(shows_in_order(_contracts_by_tenure), lambda turn: adds_no_cell(_with_one_more())(turn)),
    ),
    task(
        "and_in_2008",
        PENGUINS,
        "How many penguins were measured in 2007?",
        "And in 2008?",
        check=says_numbers(lambda: [(penguins()["year"] == 2008).sum()]),
    ),
    task(
        "split_by_sex",
        PENGUINS,
        "Add a cell with the mean flipper length by species.",
        "Split that by sex, too.",
        check=shows_numbers(lambda: penguins().groupby(["species", "sex"])["flipper_length_mm"].mean()),
    ),
    task(
        "colour_by_species",
        PENGUINS,
        "Plot flipper length against body mass.",
        "Colour the points by species.",
        check=draws("flipper", "mass", points=300, colours=3),
    ),
    task(
        "and_the_shortest",
        PENGUINS,
        "Which species has the longest flippers on average?",
        "And the shortest?",
        check=says("ad[eé]lie"),
    ),
    task(
        "only_gentoo",
        PENGUINS,
        "What is the correlation of bill length and body mass?",
        "Only for Gentoo.",
        check=says_numbers(_gentoo_correlation),
    ),
]
