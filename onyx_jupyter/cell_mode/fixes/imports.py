"""Adds the imports that a cell uses but lacks, and removes unused ones of missing packages."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Set

_MODULES = {
    "pd": "import pandas as pd",
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
    "px": "import plotly.express as px",
    "sm": "import statsmodels.api as sm",
    "stats": "from scipy import stats",
    "scipy": "import scipy.stats",
    "math": "import math",
    "re": "import re",
    "json": "import json",
    "datetime": "import datetime",
    "timedelta": "from datetime import timedelta",
    "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict",
}
_NAMES = {
    "scipy.stats": (
        "pearsonr spearmanr kendalltau linregress ttest_ind ttest_rel ttest_1samp mannwhitneyu wilcoxon kruskal "
        "f_oneway chi2_contingency shapiro kstest normaltest anderson levene zscore skew kurtosis iqr"
    ),
    "sklearn.cluster": "KMeans",
    "sklearn.compose": "ColumnTransformer",
    "sklearn.decomposition": "PCA",
    "sklearn.ensemble": "RandomForestClassifier RandomForestRegressor",
    "sklearn.impute": "SimpleImputer",
    "sklearn.linear_model": "LinearRegression LogisticRegression",
    "sklearn.metrics": (
        "accuracy_score classification_report confusion_matrix f1_score mean_absolute_error mean_squared_error "
        "r2_score roc_auc_score"
    ),
    "sklearn.model_selection": "cross_val_score train_test_split",
    "sklearn.pipeline": "make_pipeline Pipeline",
    "sklearn.preprocessing": "LabelEncoder MinMaxScaler OneHotEncoder StandardScaler",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor",
}
_LINES = _MODULES | {name: f"from {module} import {name}" for module, all_ in _NAMES.items() for name in all_.split()}


def missing_imports(source: str, known: Iterable[str]) -> tuple[str, ...]:
    """The lines to add; `known` are the names that the kernel has. Empty if the source is not plain Python."""
    tree = parsed(source)
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return ()
    bound = _bound(tree) | set(known) | set(dir(builtins))
    return tuple(dict.fromkeys(_LINES[name] for name in used_names(tree) if name not in bound and name in _LINES))


def uses_module(source: str, modules: Collection[str]) -> bool:
    """Whether it imports one of these, or uses one under its conventional name (`sns`)."""
    tree = parsed(source)
    lines = [source, *(_MODULES[name] for name in used_names(tree) if name in _MODULES)]
    return any(module.partition(".")[0] in modules for line in lines for module in _imported(parsed(line)))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def bound_names(source: str) -> Set[str]:
    """The names that the source binds; none if it is not plain Python."""
    return _bound(parsed(source))


def is_of_scipy(function: str) -> bool:
    """Whether it is a function of `scipy.stats`."""
    return function in _NAMES["scipy.stats"].split()


def parsed(source: str) -> ast.Module:
    """Its syntax tree; an empty one if it is not plain Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ast.Module([], [])


def used_names(tree: ast.AST) -> Iterator[str]:
    """The names that the tree reads."""
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _bound(tree: ast.AST) -> Set[str]:
    """Every name that the source binds anywhere."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update((one.asname or one.name).split(".")[0] for one in aliases)
    return names


def without_unused_imports(source: str, packages: Collection[str]) -> str:
    """Removes top-level lines that only import unused names from these packages."""
    tree = parsed(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    needless = [one for one in tree.body if _is_of(one, packages) and not _bound(one) & used]
    shared = {one.lineno for one in tree.body if one not in needless}
    gone = {line for one in needless for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)} - shared
    return "\n".join(line for number, line in enumerate(source.split("\n"), 1) if number not in gone)


def _is_of(statement: ast.stmt, packages: Collection[str]) -> bool:
    match statement:
        case ast.Import(names=names):
            return all(one.name.partition(".")[0] in packages for one in names)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return module.partition(".")[0] in packages and names[0].name != "*"
    return False
