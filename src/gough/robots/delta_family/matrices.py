"""Small matrices of expressions, inverted by cofactors: no pivot can vanish by chance, and intervals go through."""

from collections.abc import Callable

from gough.kernels import expression as ex
from gough.kernels.expression import Expression


def cofactors(A: Expression) -> tuple[Expression, Expression]:
    """The adjugate of a 3 × 3 or 4 × 4 matrix, and its determinant: A⁻¹ = adjugate / determinant [GVL13, §1.1]."""
    adjugate = _adjugate_3(A) if A.shape[0] == 3 else _adjugate_4(A)
    return adjugate, ex.dot(A[0, :].T, adjugate[:, 0])


def inverse_matrix(A: Expression) -> Expression:
    """A⁻¹ of a 3 × 3 or 4 × 4 matrix."""
    adjugate, determinant = cofactors(A)
    return adjugate / determinant


def closeness(A: Expression) -> Expression:
    """1 / ‖A⁻¹‖ with the sign of det A, ‖·‖ the root of the sum of squares: how far a matrix is from a singular one.

    The distance to the nearest singular matrix is the smallest singular value σ [GVL13, §2.4]; this number lies
    between σ/√n and σ, is zero with it, and needs no iteration. Of a matrix with more rows than columns it is
    1 / ‖A⁺‖, from AᵀA.
    """
    if A.shape[0] > A.shape[1]:
        adjugate, determinant = cofactors(A.T @ A)
        trace = adjugate[0, 0] + adjugate[1, 1] + adjugate[2, 2]
        return ex.sqrt(ex.maximum(determinant, 0.0) / trace)
    adjugate, determinant = cofactors(A)
    return determinant / ex.sqrt(sum(ex.dot(adjugate[:, k], adjugate[:, k]) for k in range(A.shape[1])))


def _adjugate_3(A: Expression) -> Expression:
    """By columns: the vector products of the rows."""
    a, b, c = (A[i, :].T for i in range(3))
    return ex.matrix(ex.cross(b, c), ex.cross(c, a), ex.cross(a, b))


def _adjugate_4(A: Expression) -> Expression:
    """Each cofactor expanded along the row that shares a half with the one left out, by 2 × 2 minors of the other."""
    top, bottom = _minors(A, 0, 1), _minors(A, 2, 3)

    def cofactor(i: int, j: int) -> Expression:
        minor, row = (bottom, A[1 - i, :]) if i < 2 else (top, A[5 - i, :])
        k, m, n = (column for column in range(4) if column != j)
        return (-1) ** (i + j) * (row[k] * minor(m, n) - row[m] * minor(k, n) + row[n] * minor(k, m))

    return ex.matrix(*(ex.vector(*(cofactor(i, j) for j in range(4))) for i in range(4)))


def _minors(A: Expression, i: int, j: int) -> Callable[[int, int], Expression]:
    """The 2 × 2 minors of rows i and j, each written once, by their columns."""
    table = {(k, m): A[i, k] * A[j, m] - A[i, m] * A[j, k] for k in range(4) for m in range(k + 1, 4)}
    return lambda k, m: table[k, m]
