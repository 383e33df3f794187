#ifdef GX_FLOAT
#define GX_IS_FLOAT 1
#define GX_TOLERANCE @float_tolerance@
#define GX_INSIDE (GX_INVALID - 1) /* single precision may move computed positions, velocities out of narrow ranges */
#else
#define GX_IS_FLOAT 0
#define GX_TOLERANCE @tolerance@
#define GX_INSIDE GX_OK
#endif

static void gx_test(void)
{
    double forward = 0, inverse = 0, jacobian = 0;
    int wrong = 0; /* return values that are not the expected ones: all vectors are in the range of the data */
/*@if dynamics*/
    double torque = 0, friction = 0, gravity = 0, mass = 0;
/*@end*/
/*@if effects*/
    double switched = 0;
/*@end*/
/*@if pose_efforts*/
    double of_pose = 0;
/*@end*/
/*@if bounds*/
    double lower = 0, upper = 0;
/*@end*/
    for (int k = 0; k < GX_VECTORS; ++k) {
        gx_state state;
        gx_real q[GX_ACTUATORS], dq[GX_ACTUATORS], x[GX_POSE], J[GX_POSE * GX_ACTUATORS], result[GX_ACTUATORS];
/*@if dynamics*/
        gx_real ddq[GX_ACTUATORS], M[GX_ACTUATORS * GX_ACTUATORS];
/*@end*/
        for (int i = 0; i < GX_ACTUATORS; ++i) {
            q[i] = (gx_real)gx_v_q[k][i];
            dq[i] = (gx_real)gx_v_dq[k][i];
/*@if dynamics*/
            ddq[i] = (gx_real)gx_v_ddq[k][i];
/*@end*/
            x[i] = (gx_real)gx_v_x[k][i];
        }
        gx_start(&state);
        wrong += gx_inverse(&gx_identified, x, &state, result, 0) > GX_INSIDE;
        compare(result, GX_IS_FLOAT, gx_v_q[k], GX_ACTUATORS, gx_scale_q, &inverse);
/*@if pose_efforts*/
        {
            gx_real dx[GX_POSE], ddx[GX_POSE];
            for (int i = 0; i < GX_POSE; ++i) {
                dx[i] = (gx_real)gx_v_dx[k][i];
                ddx[i] = (gx_real)gx_v_ddx[k][i];
            }
            gx_start(&state);
            wrong += gx_torque_of_pose(&gx_identified, x, dx, ddx, GX_WITH_ALL, &state, result) > GX_INSIDE;
            compare(result, GX_IS_FLOAT, gx_v_tau[k], GX_ACTUATORS, gx_scale_tau, &of_pose);
        }
/*@end*/
        gx_start(&state);
        wrong += gx_forward(&gx_identified, q, &state, x, 0) != GX_OK;
        compare(x, GX_IS_FLOAT, gx_v_x[k], GX_POSE, gx_scale_x, &forward);
        wrong += gx_jacobian(&state, J) != GX_OK;
        for (int i = 0; i < GX_POSE; ++i) {
            result[i] = 0;
            for (int j = 0; j < GX_ACTUATORS; ++j)
                result[i] += J[i * GX_ACTUATORS + j] * dq[j];
        }
        compare(result, GX_IS_FLOAT, gx_v_dx[k], GX_POSE, gx_scale_dx, &jacobian);
/*@if dynamics*/
        wrong += gx_gravity(&gx_identified, &state, result) != GX_OK;
        compare(result, GX_IS_FLOAT, gx_v_gravity[k], GX_ACTUATORS, gx_scale_gravity, &gravity);
        wrong += gx_friction(&gx_identified, &state, dq, result) != GX_OK;
        compare(result, GX_IS_FLOAT, gx_v_friction[k], GX_ACTUATORS, gx_scale_friction, &friction);
        wrong += gx_mass_matrix(&gx_identified, &state, M) != GX_OK;
        for (int i = 0; i < GX_ACTUATORS; ++i) {
            result[i] = 0;
            for (int j = 0; j < GX_ACTUATORS; ++j)
                result[i] += M[i * GX_ACTUATORS + j] * ddq[j];
        }
        compare(result, GX_IS_FLOAT, gx_v_inertial[k], GX_ACTUATORS, gx_scale_inertial, &mass);
        { /* outside the range by more than its width: one position, velocity, acceleration */
            const int i = k % GX_ACTUATORS;
            const gx_real speed = dq[i], acceleration = ddq[i];
            gx_model moved = gx_identified;
            gx_state other = state;
            moved.positions[0][i] = gx_identified.positions[1][i];
            wrong += gx_torque(&moved, q, dq, ddq, GX_WITH_ALL, &other, result) != GX_OUTSIDE_POSITIONS;
            dq[i] += (gx_identified.speeds[1][i] - gx_identified.speeds[0][i]) * (gx_real)1.1 + 1;
            wrong += gx_torque(&gx_identified, q, dq, ddq, GX_WITH_ALL, &other, result) != GX_OUTSIDE_SPEEDS;
            dq[i] = speed;
            ddq[i] += (gx_identified.accelerations[1][i] - gx_identified.accelerations[0][i]) * (gx_real)1.1 + 1;
            wrong += gx_torque(&gx_identified, q, dq, ddq, GX_WITH_ALL, &other, result) != GX_OUTSIDE_ACCELERATIONS;
            ddq[i] = (gx_real)NAN;
            wrong += gx_torque(&gx_identified, q, dq, ddq, GX_WITH_ALL, &other, result) != GX_INVALID;
            ddq[i] = acceleration;
        }
/*@if bounds*/
        {
            gx_real other[GX_ACTUATORS];
            wrong += gx_torque_bounds(&state, dq, ddq, GX_WITH_ALL, result, other) != GX_OK;
            compare(result, GX_IS_FLOAT, gx_v_lower[k], GX_ACTUATORS, gx_scale_tau, &lower);
            compare(other, GX_IS_FLOAT, gx_v_upper[k], GX_ACTUATORS, gx_scale_tau, &upper);
        }
/*@end*/
        gx_start(&state);
        wrong += gx_torque(&gx_identified, q, dq, ddq, GX_WITH_ALL, &state, result) != GX_OK;
        compare(result, GX_IS_FLOAT, gx_v_tau[k], GX_ACTUATORS, gx_scale_tau, &torque);
/*@if effects*/
        for (int e = 0; e < GX_SWITCHES; ++e) { /* each switch by itself */
            wrong += gx_torque(&gx_identified, q, dq, ddq, 1 << e, &state, result) != GX_OK;
            compare(result, GX_IS_FLOAT, gx_v_switched[k] + e * GX_ACTUATORS, GX_ACTUATORS, gx_scale_tau, &switched);
        }
/*@end*/
/*@end*/
    }
    tell("gx_statuses", wrong, 0); /* their number */
    tell("gx_inverse", inverse, GX_TOLERANCE);
    tell("gx_forward", forward, GX_TOLERANCE);
    tell("gx_jacobian", jacobian, GX_TOLERANCE);
/*@if dynamics*/
    tell("gx_torque", torque, GX_TOLERANCE);
/*@if pose_efforts*/
    tell("gx_torque_of_pose", of_pose, GX_TOLERANCE);
/*@end*/
/*@if effects*/
    tell("gx_torque_switched", switched, GX_TOLERANCE);
/*@end*/
    tell("gx_mass_matrix", mass, GX_TOLERANCE);
    tell("gx_gravity", gravity, GX_TOLERANCE);
    tell("gx_friction", friction, GX_TOLERANCE);
/*@if bounds*/
    tell("gx_torque_bounds", lower > upper ? lower : upper, GX_TOLERANCE);
/*@end*/
/*@end*/
}
