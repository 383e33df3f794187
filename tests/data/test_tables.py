"""Problems from CSV files; whatever is wrong is named by file, line and column."""

import numpy as np
import pytest

from gough import Bounded, Gaussian, InputError
from gough.data import read_table


@pytest.fixture
def table(tmp_path):
    def write(text):
        path = tmp_path / "legs.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_columns_are_unknowns_in_their_order(table):
    problem = read_table(table('fv,y,"mass, kg"\n1,2,3\n\n4,5e-324,0.1\n'))
    assert problem.unknowns.names == ("fv", "mass, kg")
    assert problem.W.tolist() == [[1, 3], [4, 0.1]]
    assert problem.y.tolist() == [2, 5e-324]
    assert problem.noise == Gaussian()


def test_bounds_and_deviations(table):
    assert read_table(table("a,y,e\n1,2,0.1\n")).noise == Bounded([0.1])
    assert read_table(table("a,y,sigma\n1,2,0.5\n")).noise == Gaussian([0.25])


def test_files_from_spreadsheets(table):
    problem = read_table(table("\ufeffa, y\r\n 1 ,2\r\n"))
    assert problem.unknowns.names == ("a",)
    assert np.array_equal(problem.W, [[1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column 'y'"),
        ("a,b\n1,2\n", "line 1: there is no column 'y'"),
        ("y\n1\n", "no column of an unknown"),
        ("a,y\n", "no row"),
        ("a,,y\n1,2,3\n", "line 1: column 2 has no name"),
        ("a,a,y\n1,2,3\n", "'a' stands more than once"),
        ("a,y,e,sigma\n1,2,3,4\n", "not both"),
        ("a,y\n1,2\n1,nan\n", "line 3, column 'y': 'nan' is not a finite"),
        ("a,y\n1,2\n\n-inf,2\n", "line 4, column 'a'"),
        ("a,y\n1,\n", "line 2, column 'y': the cell is empty"),
        ("a,y\n1,x\n", "line 2, column 'y': 'x' is not a number"),
        ("a,y\n1_0,1\n", "'1_0' is not a number"),
        ("a,y\n1,2,3\n", "line 2: there are 3 cells for 2 columns"),
        ("a;y\n1;2\n", "no column 'y'"),
        ("a,y,e\n1,2,-1\n", "error bound"),
        ("a,y,sigma\n1,2,0\n", "'sigma' must be positive"),
        ("a,y,sigma\n1,2,1e-300\n", "variances must be positive"),
        ("a,y,sigma\n1,2,1e300\n", "infinite"),
        ('a,y\n"1,2\n', "not a CSV"),
        (b"a,y\n\xff,1\n", "not a CSV"),
    ],
)
def test_errors_name_the_place(table, text, message):
    path = table(text)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_table(tmp_path / "none.csv")
