/* Forward kinematics in one jump from home, compared with small steps along the same way: prints how many poses the steps
 * reach, how many of them the jump refuses, how many it takes to another assembly, and the most steps of a jump. */
#include "gx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIALS = 4000, STEPS = 200 };

int main(void)
{
    static const int places[] = {ACTUATED};
    int reached = 0, refused = 0, other = 0, most = 0;
    srand(1);
    for (int k = 0; k < TRIALS; ++k) {
        gx_state home, state;
        gx_real q[GX_ACTUATORS], between[GX_ACTUATORS], x[GX_POSE], y[GX_POSE];
        gx_report report;
        int ok = 1, same = 1;
        gx_start(&home);
        state = home;
        for (int i = 0; i < GX_ACTUATORS; ++i)
            q[i] = home.s[places[i]] + (gx_real)(SPAN * (2.0 * rand() / RAND_MAX - 1));
        for (int j = 1; j <= STEPS && ok; ++j) {
            for (int i = 0; i < GX_ACTUATORS; ++i)
                between[i] = home.s[places[i]] + (q[i] - home.s[places[i]]) * (gx_real)j / STEPS;
            ok = gx_forward(&gx_identified, between, &state, x, &report) < GX_INVALID && report.iterations <= 8;
        }
        if (!ok)
            continue;
        ++reached;
        state = home;
        ok = gx_forward(&gx_identified, q, &state, y, &report) < GX_INVALID;
        for (int i = 0; i < GX_POSE; ++i)
            same = same && fabs(y[i] - x[i]) < 1e-6;
        refused += !ok;
        other += ok && !same;
        most = report.iterations > most ? report.iterations : most;
    }
    printf("%d %d %d %d\n", reached, refused, other, most);
    return 0;
}
