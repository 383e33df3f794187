/* Calls of exported C with inputs that no controller should pass; compiled with sanitizers. */
#include "gx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int bad = 0;

static void expect(const char *what, int condition)
{
    if (!condition) {
        printf("%s\n", what);
        ++bad;
    }
}

static int all_nan(const gx_real *v, int n)
{
    for (int i = 0; i < n; ++i)
        if (v[i] == v[i])
            return 0;
    return 1;
}

int main(void)
{
    const gx_real wrong[] = {(gx_real)NAN, (gx_real)INFINITY, -(gx_real)INFINITY};
    gx_state home, state;
    gx_real q[GX_ACTUATORS], x[GX_POSE], zero[GX_ACTUATORS], tau[GX_ACTUATORS], other[GX_ACTUATORS];
    gx_real M[GX_ACTUATORS * GX_ACTUATORS], J[GX_POSE * GX_ACTUATORS];
    gx_report report;
    const gx_real farthest = (gx_real)(sizeof(gx_real) == 4 ? 2e3 : 2e6);
    gx_start(&home);
    memset(zero, 0, sizeof zero);
    for (int i = 0; i < GX_POSE; ++i)
        x[i] = 0;
    state = home;
    expect("jacobian at home", gx_jacobian(&home, J) == GX_OK);
    /* the pose at home, by way of the actuators' positions that stand in the state */
    {
        static const int places[] = {ACTUATED};
        for (int i = 0; i < GX_ACTUATORS; ++i)
            q[i] = home.s[places[i]];
    }
    expect("home", gx_forward(&gx_identified, q, &state, x, &report) < GX_INVALID);
    expect("margin at home", report.margin > 0 && report.residual < 1e-6);
    expect("no report", gx_forward(&gx_identified, q, &state, x, 0) < GX_INVALID);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < GX_ACTUATORS; ++i) {
            gx_real spoiled[GX_ACTUATORS];
            memcpy(spoiled, q, sizeof q);
            spoiled[i] = wrong[k];
            state = home;
            expect("forward", gx_forward(&gx_identified, spoiled, &state, tau, &report) == GX_INVALID);
            expect("forward is NaN", all_nan(tau, GX_POSE));
            expect("state is kept", memcmp(&state, &home, sizeof home) == 0);
            expect("torque q", gx_torque(&gx_identified, spoiled, zero, zero, 1, &state, tau) == GX_INVALID);
            expect("torque dq", gx_torque(&gx_identified, q, spoiled, zero, 1, &state, tau) == GX_INVALID);
            expect("torque ddq", gx_torque(&gx_identified, q, zero, spoiled, 1, &state, tau) == GX_INVALID);
            expect("torque is NaN", all_nan(tau, GX_ACTUATORS));
            expect("friction", gx_friction(&gx_identified, &state, spoiled, tau) == GX_INVALID);
            expect("bounds", gx_torque_bounds(&state, spoiled, zero, 1, tau, other) == GX_INVALID);
            memcpy(spoiled, x, sizeof spoiled);
            spoiled[i] = wrong[k];
            expect("inverse", gx_inverse(&gx_identified, spoiled, &state, tau, &report) == GX_INVALID);
            expect("inverse is NaN", all_nan(tau, GX_ACTUATORS));
            state.s[i] = wrong[k];
            expect("bad state", gx_forward(&gx_identified, q, &state, tau, 0) == GX_INVALID);
            expect("bad state M", gx_mass_matrix(&gx_identified, &state, M) == GX_INVALID);
            expect("bad state g", gx_gravity(&gx_identified, &state, tau) == GX_INVALID);
            expect("bad state J", gx_jacobian(&state, J) == GX_INVALID);
        }
    for (gx_real far = (gx_real)2; far < (gx_real)1e30; far *= (gx_real)1e4) {
        gx_real away[GX_POSE];
        for (int i = 0; i < GX_POSE; ++i)
            away[i] = x[i];
        away[0] += far;
        state = home;
        const int status = gx_inverse(&gx_identified, away, &state, tau, &report);
        expect("out of reach", far > farthest ? status == GX_INVALID : status == GX_UNREACHABLE || status == GX_SINGULAR);
        expect("out of reach is NaN", all_nan(tau, GX_ACTUATORS));
        expect("state is kept out of reach", memcmp(&state, &home, sizeof home) == 0);
        /* any status but a crash: positions of actuators may be whole turns away */
        gx_real turned[GX_ACTUATORS];
        for (int i = 0; i < GX_ACTUATORS; ++i)
            turned[i] = q[i] + (i % 2 ? far : -far);
        expect("absurd angles", gx_forward(&gx_identified, turned, &state, tau, &report) == GX_INVALID
                                    || far < farthest);
        expect("bounded", report.iterations <= 30 * 9);
        gx_torque(&gx_identified, turned, q, q, 1, &state, tau);
    }
    for (int k = 0; k < 3; ++k) { /* an overflow, parameters that are NaN or infinite: INVALID, and the state is kept */
        gx_real near[GX_ACTUATORS], fast[GX_ACTUATORS];
        gx_model spoiled = gx_identified;
        for (int i = 0; i < GX_ACTUATORS; ++i) {
            near[i] = q[i] + (gx_real)0.01;
            fast[i] = k == 0 ? (gx_real)(sizeof(gx_real) == 4 ? 1e30 : 1e200) : 0;
        }
        if (k > 0)
            spoiled.parameters[0] = wrong[k - 1];
        state = home;
        expect("not finite", gx_torque(&spoiled, near, fast, zero, 1, &state, tau) == GX_INVALID);
        expect("not finite is NaN", all_nan(tau, GX_ACTUATORS));
        expect("not finite keeps the state", memcmp(&state, &home, sizeof home) == 0);
        expect("parameters of M", gx_mass_matrix(&spoiled, &state, M) == (k > 0 ? GX_INVALID : GX_OK));
        expect("parameters of gravity", gx_gravity(&spoiled, &state, tau) == (k > 0 ? GX_INVALID : GX_OK));
        expect("parameters of friction", gx_friction(&spoiled, &state, zero, tau) == (k > 0 ? GX_INVALID : GX_OK));
    }
    { /* a margin that no state has: everything is singular */
        gx_model strict = gx_identified;
        strict.least_margin = (gx_real)1e9;
        state = home;
        expect("singular", gx_forward(&strict, q, &state, tau, &report) == GX_SINGULAR);
        expect("singular is NaN", all_nan(tau, GX_POSE));
        expect("singular torque", gx_torque(&strict, q, zero, zero, 1, &state, tau) == GX_SINGULAR);
    }
    { /* outside the data, results are valid and flagged */
        gx_real fast[GX_ACTUATORS];
        for (int i = 0; i < GX_ACTUATORS; ++i)
            fast[i] = (gx_real)1e3;
        state = home;
        expect("flags", gx_torque(&gx_identified, q, fast, fast, 0, &state, tau)
                            == (GX_OUTSIDE_SPEEDS | GX_OUTSIDE_ACCELERATIONS));
        expect("flagged results are there", !all_nan(tau, 1));
        expect("flags of bounds", gx_torque_bounds(&state, fast, fast, 0, tau, other)
                                      == (GX_OUTSIDE_SPEEDS | GX_OUTSIDE_ACCELERATIONS));
        expect("flagged bounds", tau[0] < other[0]);
        expect("inside", gx_torque(&gx_identified, q, zero, zero, 0, &state, tau) == GX_OK);
        expect("bounds inside", gx_torque_bounds(&state, zero, zero, 0, tau, other) == GX_OK);
        for (int i = 0; i < GX_ACTUATORS; ++i)
            fast[i] = (gx_real)(sizeof(gx_real) == 4 ? 3e38 : 1e308);
        expect("bounds overflow", gx_torque_bounds(&state, zero, fast, 0, tau, other) == GX_INVALID);
        expect("no bounds", all_nan(tau, GX_ACTUATORS) && all_nan(other, GX_ACTUATORS));
    }
    return bad != 0;
}
