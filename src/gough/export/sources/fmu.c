/* The inverse dynamics of @name@ as an FMU for co-simulation: efforts for positions, velocities and accelerations of the
 * actuators. FMI @version@. Written by gough; the declarations follow the FMI standard. */
#include "@name@.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* Value references: time, q, dq, ddq, tau, parameters, status, and the switches of
 * friction and effects. */
enum {
    V_TIME = 0,
    V_Q = 1,
    V_DQ = V_Q + GX_ACTUATORS,
    V_DDQ = V_DQ + GX_ACTUATORS,
    V_TAU = V_DDQ + GX_ACTUATORS,
    V_PARAMETERS = V_TAU + GX_ACTUATORS,
    V_STATUS = V_PARAMETERS + GX_PARAMETERS,
    V_SWITCHES
};

typedef struct {
    gx_model model;
    gx_state state;
    double time;
    gx_real inputs[3 * GX_ACTUATORS], tau[GX_ACTUATORS];
    int status, with, is_current;
} Instance;

static void restart(Instance *of)
{
    of->model = gx_identified;
    gx_start(&of->state);
    of->time = 0;
    for (int i = 0; i < 3 * GX_ACTUATORS; ++i)
        of->inputs[i] = 0;
    for (int i = 0; i < GX_ACTUATORS; ++i)
        of->inputs[i] = @home_positions@;
    of->with = GX_WITH_ALL;
    of->is_current = 0;
}

static void *made(const char *token)
{
    Instance *of;
    if (token == NULL || strcmp(token, "@token@") != 0)
        return NULL;
    of = (Instance *)calloc(1, sizeof *of);
    if (of != NULL)
        restart(of);
    return of;
}

static void compute(Instance *of)
{
    if (of->is_current)
        return;
    of->status = gx_torque(&of->model, of->inputs, of->inputs + GX_ACTUATORS, of->inputs + 2 * GX_ACTUATORS,
                           of->with, &of->state, of->tau);
    of->is_current = 1;
}

/* 0: done; 1: no such variable. */
static int get_real(Instance *of, uint32_t reference, double *value)
{
    if (reference == V_TIME)
        *value = of->time;
    else if (reference < V_TAU)
        *value = (double)of->inputs[reference - V_Q];
    else if (reference < V_PARAMETERS) {
        compute(of);
        *value = (double)of->tau[reference - V_TAU];
    } else if (reference < V_STATUS)
        *value = (double)of->model.parameters[reference - V_PARAMETERS];
    else
        return 1;
    return 0;
}

static int set_real(Instance *of, uint32_t reference, double value)
{
    of->is_current = 0;
    if (reference >= V_Q && reference < V_TAU)
        of->inputs[reference - V_Q] = (gx_real)value;
    else if (reference >= V_PARAMETERS && reference < V_STATUS)
        of->model.parameters[reference - V_PARAMETERS] = (gx_real)value;
    else
        return 1;
    return 0;
}

static int get_switch(const Instance *of, uint32_t reference, int *value)
{
    if (reference < V_SWITCHES || reference >= V_SWITCHES + GX_SWITCHES)
        return 1;
    *value = (of->with >> (reference - V_SWITCHES)) & 1;
    return 0;
}

static int set_switch(Instance *of, uint32_t reference, int value)
{
    if (reference < V_SWITCHES || reference >= V_SWITCHES + GX_SWITCHES)
        return 1;
    const int own = 1 << (reference - V_SWITCHES);
    of->with = value ? of->with | own : of->with & ~own;
    of->is_current = 0;
    return 0;
}

enum { DONE = 0, DISCARD = 2, FAILED = 3 };

static int get_reals(void *instance, const uint32_t *references, size_t n, double *values)
{
    Instance *of = (Instance *)instance;
    int result = DONE;
    for (size_t i = 0; i < n; ++i) {
        if (get_real(of, references[i], values + i))
            return FAILED;
        if (references[i] >= V_TAU && references[i] < V_PARAMETERS && of->status >= GX_INVALID)
            result = DISCARD; /* no pose, or a singular one: values are NaN */
    }
    return result;
}

static int set_reals(void *instance, const uint32_t *references, size_t n, const double *values)
{
    for (size_t i = 0; i < n; ++i)
        if (set_real((Instance *)instance, references[i], values[i]))
            return FAILED;
    return DONE;
}

