"""Typical first questions about the example notebooks, with expected answers. The notebooks have been executed."""

from __future__ import annotations

from benchmarks.agent.checks import (
    all_of,
    draws,
    says,
    says_numbers,
    says_or_shows,
    shows_numbers,
    task,
)
from benchmarks.agent.example_data import MAGICS, PENGUINS, WELCOME, customers, penguins

_MASS_BY_SEX = ["species", "sex"]


def _heaviest_difference() -> str:
    mass = penguins().groupby(_MASS_BY_SEX)["body_mass_g"].mean().unstack()
    return str((mass["male"] - mass["female"]).idxmax())


def _incomplete() -> list[float]:
    frame = penguins()
    return [float(row) for row in frame.index[frame.isna().any(axis=1)]]


TASKS = [
    task(
        "what",
        WELCOME,
        "What does this notebook do?",
        check=says("customer", "churn|leav|left", "tele(phone|com)|phone", never="penguin"),
    ),
    task(
        "rate_by_contract",
        WELCOME,
        "Add a cell that shows the churn rate by contract type.",
        check=shows_numbers(lambda: customers().groupby("contract")["churned"].mean(), share=True),
    ),
    task(
        "who_leaves",
        WELCOME,
        "Which customers leave most often, and why do you think so?",
        check=says("monthly|first year|up to (1|one)|new customers|(short|low|few).{0,20}(tenure|months)"),
    ),
    task(
        "fee_of_leavers",
        WELCOME,
        "What is the average monthly fee of the customers who left, and of those who stayed?",
        check=says_numbers(lambda: customers().groupby("churned")["monthly_fee"].mean()),
    ),
    task(
        "plot_by_calls",
        WELCOME,
        "Plot the churn rate by number of support calls.",
        check=draws(
            "call",
            "churn|rate|share|left",
            heights=lambda: customers().groupby("support_calls")["churned"].mean(),
        ),
    ),
    task(
        "missing_values",
        PENGUINS,
        "Which penguins have missing values? Add a cell that lists them.",
        check=shows_numbers(_incomplete),
    ),
    task(
        "mass_by_sex",
        PENGUINS,
        "Plot body mass by species and sex, and tell me where the sexes differ most.",
        check=all_of(
            draws("mass", names=["Adelie", "Chinstrap", "Gentoo", r"\bmale", "female"]),
            lambda turn: says(_heaviest_difference())(turn),
        ),
    ),
    task(
        "mass_by_species",
        PENGUINS,
        "What is the mean body mass of each species?",
        check=says_or_shows(lambda: penguins().groupby("species")["body_mass_g"].mean()),
    ),
    task(
        "fullest_island",
        PENGUINS,
        "Which island has the most penguins, and how many?",
        check=all_of(
            lambda turn: says(penguins()["island"].mode()[0])(turn),
            says_numbers(lambda: [penguins()["island"].value_counts().max()]),
        ),
    ),
    task(
        "longest_bill",
        MAGICS,
        "Which species has the longest bill on average, and how long is it?",
        check=all_of(
            lambda turn: says(penguins().groupby("species")["bill_length_mm"].mean().idxmax())(turn),
            says_numbers(lambda: [penguins().groupby("species")["bill_length_mm"].mean().max()]),
        ),
    ),
]
