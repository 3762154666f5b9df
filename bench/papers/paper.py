"""Figures that papers state, in NAME.json beside this file. Only numbers in a table or in the text: none is read off a curve.

{"papers": [full references], "hardware": "…", "tables": {TABLE: {"where": "table or section", "columns": [names with units],
"rows": [[…]]}}}; a cell is null if the paper does not state it.
"""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def read(name):
    return json.loads((HERE / f"{name}.json").read_text())


def rows(paper, table):
    """The rows of a table, each as {column: cell}."""
    return [dict(zip(paper["tables"][table]["columns"], row)) for row in paper["tables"][table]["rows"]]


def cite(paper, *tables):
    """Print where the figures of these tables are from, and on what they were measured."""
    print("\nThe papers' figures: " + "; ".join(paper["papers"]) + ".")
    for table in tables:
        print(f"{paper['tables'][table]['where']}.")
    print(f"Measured on: {paper['hardware']}.")
