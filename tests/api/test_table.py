"""A table gives other libraries what it holds, and says what it does not."""

import pandas
import pyarrow
import pytest

from onechange import Table

ROWS = [
    {"arm": "a", "seed": 0, "nats": 1.25, "verdict": None},
    {"arm": "b", "seed": 1, "nats": None, "verdict": "better"},
    {"arm": "b", "seed": 2, "nats": 0.5, "verdict": "<b>"},
]
TABLE = Table(("arm", "seed", "nats", "verdict"), ROWS)


def test_it_is_a_sequence_of_its_rows():
    assert list(TABLE) == ROWS
    assert TABLE[-1] == ROWS[-1] and len(TABLE) == 3
    assert TABLE["seed"] == [0, 1, 2]
    assert TABLE[1:] == Table(TABLE.columns, ROWS[1:])
    assert TABLE[1:] != TABLE[:2]


def test_what_is_taken_out_of_it_changes_nothing_in_it():
    TABLE[0]["arm"] = "other"
    next(iter(TABLE))["arm"] = "other"
    assert TABLE["arm"] == ["a", "b", "b"]


def test_where_keeps_the_rows_that_have_all_values():
    assert TABLE.where(arm="b", seed=2)["nats"] == [0.5]
    assert len(TABLE.where(arm="a", seed=2)) == 0
    with pytest.raises(KeyError, match="no column 'arms'; there is arm, seed"):
        TABLE.where(arms="b")


def test_a_column_that_there_is_not_is_named():
    with pytest.raises(KeyError, match="no column 'nat'; there is arm, seed, nats, verdict"):
        TABLE["nat"]
    with pytest.raises(ValueError, match=r"row 0 has the columns \['b'\], the table \['a'\]"):
        Table(("a",), [{"b": 1}])


def test_pandas_and_arrow_take_it():
    frame = TABLE.to_pandas()
    assert [*frame.columns] == [*TABLE.columns]
    assert frame["nats"].isna().tolist() == [False, True, False] and frame["nats"].sum() == 1.75
    assert TABLE.to_arrow().to_pylist() == ROWS
    # Without a method of ours: as a sequence of dictionaries, and as a stream of Arrow's.
    assert pandas.DataFrame(TABLE)["seed"].tolist() == [0, 1, 2]
    assert pyarrow.table(TABLE).to_pylist() == ROWS
    assert Table(("a",), []).to_pandas().shape == (0, 1)


def test_a_library_that_is_not_there_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pandas is missing: pip install 'onechange\[notebooks\]'"):
        TABLE.to_pandas()


def test_a_notebook_shows_it_escaped_and_with_a_dash_for_what_is_not_known():
    html = TABLE._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert html.count(">–<") == 2
    assert ">1.2500<" in html and ">0.5000<" in html


def test_numbers_have_the_decimals_that_their_column_has_use_for():
    html = Table(("whole", "large", "fine"), [{"whole": 32.0, "large": 1234567.8, "fine": 0.1}])._repr_html_()
    assert ">32<" in html and ">1,234,568<" in html and ">0.1000<" in html
    assert ">nan<" in Table(("a",), [{"a": float("nan")}])._repr_html_()


def test_a_long_table_says_how_much_of_it_is_shown_and_a_wide_one_is_turned():
    long = Table(("n",), [{"n": number} for number in range(1000)])
    assert ">39<" in long._repr_html_() and ">40<" not in long._repr_html_()
    assert "the first 40 of 1,000 rows" in long._repr_html_()
    names = [f"column{number}" for number in range(12)]
    wide = Table(names, [dict.fromkeys(names, "x")])._repr_html_()
    assert wide.count("<tr>") == 12
