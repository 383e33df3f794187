"""The regressor of PaLiDA as one would write it by hand in NumPy: all samples and struts at once, Lagrange's equations.

With e the direction of a strut, s and c sine and cosine of β, and indices as in [AHG, table I], a strut has energies

    T = (p_1 + p_2 s²) α̇²/2 + p_3 β̇²/2 + p_5 q (α̇² s² + β̇²),    V = g (p_4 + p_5) e_z,

and the platform, with the sliders' mass at its joints, those of a rigid body. The columns are p_1 … p_10, r_α, r_β,
r_1 … r_6, v_1 … v_6.
"""

import numpy as np

from gough.core.arrays import Array
from gough.robots import Palida


class ByHand:
    """All that depends on the geometry alone."""

    def __init__(self, robot: Palida) -> None:
        self.A, self.B = robot.geometry.points()
        frames = [robot.mechanism.joint_of(f"ring{k}").placement for k in range(1, 7)]
        self.R0 = np.array([frame.matrix for frame in frames])
        self.g = robot.gravity

    def __call__(self, x: Array, dx: Array, ddx: Array) -> Array:
        """The regressor (N, 6, 24) of poses and their derivatives (N, 6)."""
        R, w, dw = self._turning(x, dx, ddx)
        r = np.einsum("nij,kj->nki", R, self.B)
        w_, dw_ = w[:, None], dw[:, None]
        wr = np.cross(w_, r)
        u, du, ddu = (
            np.einsum("kij,nki->nkj", self.R0, part)
            for part in (
                x[:, None, :3] + r - self.A,
                dx[:, None, :3] + wr,
                ddx[:, None, :3] + np.cross(dw_, r) + np.cross(w_, wr),
            )
        )
        by, dq, tau = self._strut(u, du, ddu)
        grad = np.einsum("kij,nkaj->nkai", self.R0, by)  # of α, β, q by the joint's position, in base axes
        twist = np.concatenate([grad, np.cross(r[:, :, None], grad)], axis=-1)  # by the platform's twist
        H = np.einsum("nkat,nkac->ntc", twist, tau)
        columns = np.concatenate([H[:, :, :5], self._platform(R, w, dw, ddx), H[:, :, 5:]], axis=2)
        J = twist[:, :, 2]
        W = np.zeros((len(x), 6, 24))
        W[:, :, :12] = np.linalg.solve(np.swapaxes(J, 1, 2), columns)
        k = np.arange(6)
        W[:, k, 12 + k], W[:, k, 18 + k] = np.sign(dq), dq
        return W

    @staticmethod
    def _turning(x: Array, dx: Array, ddx: Array) -> tuple[Array, Array, Array]:
        """Rotation R_z R_y R_x, angular velocity and acceleration."""
        (cr, cp, cy), (sr, sp, sy) = np.cos(x[:, 3:]).T, np.sin(x[:, 3:]).T
        R = np.empty((len(x), 3, 3))
        R[:, 0] = np.stack([cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr], axis=1)
        R[:, 1] = np.stack([sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], axis=1)
        R[:, 2] = np.stack([-sp, cp * sr, cp * cr], axis=1)
        (a, b, g), (da, db, dg) = dx[:, 3:].T, ddx[:, 3:].T
        w = np.stack([cy * cp * a - sy * b, sy * cp * a + cy * b, g - sp * a], axis=1)
        first = -(sy * cp * g + cy * sp * b) * a - cy * g * b
        second = (cy * cp * g - sy * sp * b) * a - sy * g * b
        dw = np.stack(
            [cy * cp * da - sy * db + first, sy * cp * da + cy * db + second, dg - sp * da - cp * b * a], axis=1
        )
        return R, w, dw

    def _strut(self, u: Array, du: Array, ddu: Array) -> tuple[Array, Array, Array]:
        """Gradients of (α, β, q) by u, the rate of q, and generalized forces per parameter (…, 3, 7)."""
        rho = np.hypot(u[..., 0], u[..., 1])
        q = np.hypot(rho, u[..., 2])
        s, c, ca, sa = rho / q, u[..., 2] / q, -u[..., 0] / rho, -u[..., 1] / rho
        zero = np.zeros_like(q)
        e = np.stack([-s * ca, -s * sa, c], axis=-1)
        by_alpha, by_beta = np.stack([sa, -ca, zero], axis=-1), np.stack([-c * ca, -c * sa, -s], axis=-1)  # ∂e/∂α / s
        by = np.stack([by_alpha / (q * s)[..., None], by_beta / q[..., None], e], axis=-2)
        da, db, dq = np.einsum("nkai,nki->ank", by, du)
        bias = (
            2 * dq[..., None] * (by_alpha * (s * da)[..., None] + by_beta * db[..., None])
            + by_alpha * (2 * q * c * da * db)[..., None]
            + np.stack([ca, sa, zero], axis=-1) * (q * s * da**2)[..., None]
            - e * (q * db**2)[..., None]
        )
        dda, ddb, _ = np.einsum("nkai,nki->ank", by, ddu - bias)
        tau = np.zeros((*q.shape, 3, 7))
        lift_a = self.g * s * np.einsum("ki,nki->nk", self.R0[:, 2], by_alpha)
        lift_b = self.g * np.einsum("ki,nki->nk", self.R0[:, 2], by_beta)
        tau[..., 0, 0] = dda
        tau[..., 0, 1], tau[..., 1, 1] = dda * s**2 + 2 * da * db * s * c, -(da**2) * s * c
        tau[..., 1, 2] = ddb
        tau[..., 0, 3], tau[..., 1, 3] = lift_a, lift_b
        tau[..., 0, 4] = 2 * (dq * da * s**2 + q * dda * s**2 + 2 * q * da * db * s * c) + lift_a
        tau[..., 1, 4] = 2 * (dq * db + q * ddb - q * da**2 * s * c) + lift_b
        tau[..., 2, 4] = -(da**2 * s**2 + db**2)
        tau[..., 0, 5], tau[..., 1, 6] = np.sign(da), np.sign(db)
        return by, dq, tau

    def _platform(self, R: Array, w: Array, dw: Array, ddx: Array) -> Array:
        """Forces and moments about the tool center point (N, 6, 5): Ixx, Iyy, Izz, sz, m, in base axes."""
        lifted = ddx[:, :3] + [0.0, 0.0, self.g]
        wb, dwb = np.einsum("nji,nj->ni", R, w), np.einsum("nji,nj->ni", R, dw)
        found = np.zeros((len(R), 6, 5))
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            moment = np.zeros((len(R), 3))
            moment[:, k] = dwb[:, k]
            moment[:, i], moment[:, j] = wb[:, j] * wb[:, k], -wb[:, i] * wb[:, k]
            found[:, 3:, k] = np.einsum("nij,nj->ni", R, moment)
        z = R[:, :, 2]
        found[:, :3, 3] = np.cross(dw, z) + np.cross(w, np.cross(w, z))
        found[:, 3:, 3] = np.cross(z, lifted)
        found[:, :3, 4] = lifted
        return found


COLUMNS = (
    "Izz_1", "Ixx_2", "Izz_2", "sy_2", "sz_3", "Ixx_E", "Iyy_E", "Izz_E", "sz_E", "m_E",
    "r_α", "r_β", *(f"r_{k}" for k in range(1, 7)), *(f"v_{k}" for k in range(1, 7)),
)  # fmt: skip
"""The first of the parameters that make up each of p_1 … p_10, and friction."""
