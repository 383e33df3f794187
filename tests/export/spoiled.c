/* Random calls of exported C with one spoiled number in the positions, velocities, accelerations, parameters, state, margin
 * or ranges: results are finite or NaN with a status, a failure keeps the state, and threads do not disturb each other. */
#define _POSIX_C_SOURCE 200112L
#include "gx.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS = 20000, CALLS = 2000 };
static const int places[] = {ACTUATED};
static int bad = 0;

static void expect(const char *what, int condition)
{
    if (!condition && ++bad < 10)
        printf("%s\n", what);
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static double uniform(unsigned *seed)
{
    return (double)next(seed) / (1 << 24);
}

static int fits(int status, const gx_real *values, int n)
{
    for (int i = 0; i < n; ++i)
        if (status >= GX_INVALID ? !isnan(values[i]) : !isfinite(values[i]))
            return 0;
    return status >= 0 && status < 128;
}

static void near_home(unsigned *seed, double span, gx_real q[GX_ACTUATORS], gx_real dq[GX_ACTUATORS])
{
    gx_state home;
    gx_start(&home);
    for (int i = 0; i < GX_ACTUATORS; ++i) {
        q[i] = home.s[places[i]] + (gx_real)(span * (uniform(seed) - 0.5));
        dq[i] = (gx_real)uniform(seed);
    }
}

/* The sum of the efforts of many random calls with a state of its own; `job` is the seed, then the sum. */
static void *work(void *job)
{
    double *sum = job;
    unsigned seed = (unsigned)*sum;
    gx_state state;
    gx_start(&state);
    for (int k = 0; k < CALLS; ++k) {
        gx_real q[GX_ACTUATORS], dq[GX_ACTUATORS], tau[GX_ACTUATORS];
        near_home(&seed, 0.5, q, dq);
        if (gx_torque(&gx_identified, q, dq, dq, GX_WITH_ALL, &state, tau) < GX_INVALID)
            *sum += tau[0];
    }
    return 0;
}

int main(void)
{
    const gx_real odd[] = {0, (gx_real)1e-40, 1, -1, (gx_real)-1e5, (gx_real)1e15, (gx_real)3e38, (gx_real)NAN,
                           (gx_real)INFINITY, -(gx_real)INFINITY};
    unsigned seed = 7;
    double jobs[3] = {5, 5, 9};
    pthread_t threads[3];
    for (int k = 0; k < TRIALS; ++k) {
        gx_state home, state, before;
        gx_model model = gx_identified;
        gx_report report;
        gx_real q[GX_ACTUATORS], dq[GX_ACTUATORS], ddq[GX_ACTUATORS], x[GX_POSE], tau[GX_ACTUATORS], upper[GX_ACTUATORS];
        gx_real M[GX_ACTUATORS * GX_ACTUATORS], J[GX_POSE * GX_ACTUATORS];
        const gx_real value = odd[next(&seed) % (sizeof odd / sizeof *odd)];
        const unsigned place = next(&seed);
        int status;
        gx_start(&home);
        state = home;
        near_home(&seed, 2.0, q, dq);
        memcpy(ddq, dq, sizeof dq);
        switch (next(&seed) % 7) {
        case 0: q[place % GX_ACTUATORS] = value; break;
        case 1: dq[place % GX_ACTUATORS] = value; break;
        case 2: ddq[place % GX_ACTUATORS] = value; break;
        case 3: model.parameters[place % GX_PARAMETERS] = value; break;
        case 4: state.s[place % GX_STATE] = value; break;
        case 5: model.least_margin = value; break;
        default: model.positions[place % 2][place % GX_ACTUATORS] = value;
        }
        before = state;
        status = gx_torque(&model, q, dq, ddq, (int)(next(&seed) % 8), &state, tau);
        expect("torque", fits(status, tau, GX_ACTUATORS));
        expect("torque keeps the state", status < GX_INVALID || memcmp(&before, &state, sizeof state) == 0);
        status = gx_forward(&model, q, &state, x, &report);
        expect("forward", fits(status, x, GX_POSE) && report.iterations < 265);
        expect("margin", status >= GX_INVALID || report.margin >= model.least_margin);
        expect("jacobian", fits(gx_jacobian(&state, J), J, GX_POSE * GX_ACTUATORS));
        expect("mass matrix", fits(gx_mass_matrix(&model, &state, M), M, GX_ACTUATORS * GX_ACTUATORS));
        expect("gravity", fits(gx_gravity(&model, &state, tau), tau, GX_ACTUATORS));
        expect("friction", fits(gx_friction(&model, &state, dq, tau), tau, GX_ACTUATORS));
        status = gx_torque_bounds(&state, dq, ddq, GX_WITH_ALL, tau, upper);
        expect("bounds", fits(status, tau, GX_ACTUATORS) && fits(status, upper, GX_ACTUATORS));
        expect("order of bounds", status >= GX_INVALID || tau[0] <= upper[0]);
        for (int i = 0; i < GX_POSE; ++i)
            x[i] = home.s[i];
        x[place % GX_POSE] = value;
        before = state;
        status = gx_torque_of_pose(&model, x, dq, ddq, GX_WITH_ALL, &state, tau);
        expect("pose", fits(status, tau, GX_ACTUATORS));
        expect("pose keeps the state", status < GX_INVALID || memcmp(&before, &state, sizeof state) == 0);
    }
    for (int k = 0; k < 3; ++k)
        expect("thread", pthread_create(threads + k, 0, work, jobs + k) == 0);
    for (int k = 0; k < 3; ++k)
        pthread_join(threads[k], 0);
    expect("threads are alike", jobs[0] == jobs[1] && jobs[0] != jobs[2] && jobs[0] != 5);
    return bad != 0;
}
