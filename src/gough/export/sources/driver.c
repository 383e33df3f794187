/* ---- gx_ ---- */

#ifdef GX_FLOAT
#define GX_F(name) name##f
#define GX_SMALL ((gx_real)1e-4) /* after a full step this small, the error is about its square: below rounding */
#define GX_SAME ((gx_real)1e-2) /* poses that differ less, in units of gx_scale, are the same */
#define GX_FARTHEST ((gx_real)1e3) /* positions beyond, in units of gx_scale, are too coarse: by 1e-4 or more */
#else
#define GX_F(name) name
#define GX_SMALL ((gx_real)1e-8)
#define GX_SAME ((gx_real)1e-6)
#define GX_FARTHEST ((gx_real)1e6)
#endif
#define GX_C(value) ((gx_real)(value))
#define GX_STEPS 15 /* of Newton's method */
#define GX_PIECE GX_C(0.25) /* rad, or part of gx_scale: a longer way is gone in pieces, so that no assembly is skipped */
#define GX_LEAST_PIECE GX_C(0.0009765625) /* of the way: where this fails, there is no way */
#define GX_ALL_STEPS 250 /* of Newton's method on all pieces */

@kernels@
const gx_model gx_identified = {
@values@
};

static const gx_real gx_home[GX_STATE] = {
@home@
};
static const int gx_actuated[GX_ACTUATORS] = {@actuated_places@};
static const int gx_pose[GX_POSE] = {@pose_places@};
static const int gx_turns[GX_POSE] = {@pose_turns@}; /* 1: an angle, the same after a whole turn */
static const gx_real gx_scale[GX_STATE] = {
@scale@
};

static void gx_fail(gx_real *values, int n)
{
    for (int i = 0; i < n; ++i)
        values[i] = (gx_real)NAN;
}

static int gx_all_finite(const gx_real *values, int n)
{
    for (int i = 0; i < n; ++i)
        if (!isfinite(values[i]))
            return 0;
    return 1;
}

static int gx_are_positions(const gx_real *values, const int *places, int n)
{
    for (int i = 0; i < n; ++i)
        if (!(GX_F(fabs)(values[i]) <= GX_FARTHEST * gx_scale[places[i]]))
            return 0;
    return 1;
}

/* Why results at a state are not finite: the state is singular, or inputs or parameters are NaN or too large. */
static int gx_cause(const gx_real s[GX_STATE])
{
    gx_real margin;
    gx_margin(s, &margin);
    return margin >= gx_identified.least_margin ? GX_INVALID : GX_SINGULAR;
}

static int gx_outside(const gx_real *values, const gx_real range[2][GX_ACTUATORS], int flag)
{
    for (int i = 0; i < GX_ACTUATORS; ++i)
        if (!(range[0][i] <= values[i] && values[i] <= range[1][i]))
            return flag;
    return GX_OK;
}
/*@if search*/

typedef void (*gx_step)(const gx_real *s, gx_real *step, gx_real *error, gx_real *side);

/* Newton's method: a step is halved while it crosses a singularity, leaves the workspace or does not reduce the error. */
static int gx_search(gx_step newton, gx_real side, gx_real s[GX_STATE], gx_report *report)
{
    gx_real trial[GX_STATE], step[GX_STATE], full[GX_STATE], best = (gx_real)INFINITY;
    for (int i = 0; i < GX_STATE; ++i)
        step[i] = 0;
    for (int k = 0; k < GX_STEPS; ++k) {
        gx_real error, sign, length = 0;
        for (int i = 0; i < GX_STATE; ++i)
            trial[i] = s[i] + step[i];
        newton(trial, full, &error, &sign);
        ++report->iterations;
        if (!(error < best && sign * side > 0 && gx_all_finite(full, GX_STATE))) {
            if (k == 0)
                return 0;
            for (int i = 0; i < GX_STATE; ++i)
                step[i] /= 2;
            continue;
        }
        best = error;
        for (int i = 0; i < GX_STATE; ++i) {
            const gx_real part = GX_F(fabs)(full[i]) / gx_scale[i];
            s[i] = trial[i];
            length = part > length ? part : length;
        }
        if (length <= GX_SMALL) {
            for (int i = 0; i < GX_STATE; ++i)
                s[i] += full[i];
            report->residual = GX_F(sqrt)(best);
            return 1;
        }
        for (int i = 0; i < GX_STATE; ++i)
            step[i] = length > 1 ? full[i] / length : full[i];
    }
    return 0;
}

/* The state with known coordinates at these values. The way there is straight; a piece on which the search fails is halved,
 * the next one is longer again. */
static int gx_find(gx_step newton, gx_real side, const int *known, const gx_real *values, int n, gx_real s[GX_STATE],
                   gx_report *report)
{
    gx_real begin[GX_STATE], last[GX_STATE], gone = 0, way = 0, piece;
    for (int i = 0; i < GX_STATE; ++i)
        begin[i] = s[i];
    for (int i = 0; i < n; ++i) {
        const gx_real part = GX_F(fabs)(values[i] - begin[known[i]]) / gx_scale[known[i]];
        way = part > way ? part : way;
    }
    piece = way > GX_PIECE ? GX_PIECE / way : GX_C(1);
    for (int k = 0; k < GX_ALL_STEPS && report->iterations < GX_ALL_STEPS && piece >= GX_LEAST_PIECE; ++k) {
        const gx_real to = gone + piece < 1 ? gone + piece : GX_C(1);
        for (int i = 0; i < GX_STATE; ++i)
            last[i] = s[i];
        for (int i = 0; i < n; ++i)
            s[known[i]] = to < 1 ? begin[known[i]] + (values[i] - begin[known[i]]) * to : values[i];
        if (gx_search(newton, side, s, report)) {
            if (!(to < 1))
                return 1;
            gone = to;
            piece *= piece * way < GX_PIECE ? GX_C(1.5) : GX_C(1);
            continue;
        }
        for (int i = 0; i < GX_STATE; ++i)
            s[i] = last[i];
        piece /= 2;
    }
    return 0;
}
/*@end*/

/* Accept a new state, unless it is not finite or singular. */
static int gx_accept(const gx_model *model, const gx_real s[GX_STATE], gx_state *state, gx_report *report)
{
    if (!gx_all_finite(s, GX_STATE))
        return GX_UNREACHABLE;
    gx_margin(s, &report->margin);
    if (!(report->margin >= model->least_margin))
        return GX_SINGULAR;
    for (int i = 0; i < GX_STATE; ++i)
        state->s[i] = s[i];
    return GX_OK;
}

static gx_report gx_no_report(void)
{
    gx_report report;
    report.residual = 0;
    report.margin = (gx_real)NAN;
    report.iterations = 0;
    return report;
}

static int gx_at_actuators(const gx_model *model, const gx_real *q, gx_state *state, gx_report *report)
{
    gx_real s[GX_STATE];
    if (!gx_are_positions(q, gx_actuated, GX_ACTUATORS) || !gx_all_finite(state->s, GX_STATE))
        return GX_INVALID;
/*@if forward_search*/
    for (int i = 0; i < GX_STATE; ++i)
        s[i] = state->s[i];
    if (!gx_find(gx_forward_step, GX_C(@forward_side@), gx_actuated, q, GX_ACTUATORS, s, report))
        return GX_UNREACHABLE;
/*@end*/
/*@if forward_closed*/
    gx_forward_closed(q, s);
/*@end*/
/*@if complete*/
    {
        gx_real x[GX_POSE];
        for (int i = 0; i < GX_POSE; ++i)
            x[i] = s[gx_pose[i]];
        gx_states(x, s);
        for (int i = 0; i < GX_ACTUATORS; ++i)
            s[gx_actuated[i]] = q[i];
    }
/*@end*/
    return gx_accept(model, s, state, report);
}

/* Whether forward kinematics leads from a state to the pose in s. Beyond two singularities the margin has the sign of
 * home again, but there the robot has another assembly. */
static int gx_is_assembled(const gx_model *model, const gx_state *from, const gx_real s[GX_STATE])
{
    gx_state other = *from;
    gx_real q[GX_ACTUATORS];
    gx_report report = gx_no_report();
    for (int i = 0; i < GX_ACTUATORS; ++i)
        q[i] = s[gx_actuated[i]];
    if (gx_at_actuators(model, q, &other, &report) != GX_OK)
        return 0;
    for (int i = 0; i < GX_POSE; ++i) {
        const int k = gx_pose[i];
        const gx_real gap = other.s[k] - s[k];
        const gx_real least = gx_turns[i] ? GX_F(remainder)(gap, GX_C(6.283185307179586)) : gap;
        if (!(GX_F(fabs)(least) <= GX_SAME * gx_scale[k]))
            return 0;
    }
    return 1;
}

static int gx_at_pose(const gx_model *model, const gx_real *x, gx_state *state, gx_report *report)
{
    gx_real s[GX_STATE];
    if (!gx_are_positions(x, gx_pose, GX_POSE) || !gx_all_finite(state->s, GX_STATE))
        return GX_INVALID;
/*@if inverse_search*/
    for (int i = 0; i < GX_STATE; ++i)
        s[i] = state->s[i];
    if (!gx_find(gx_inverse_step, GX_C(@inverse_side@), gx_pose, x, GX_POSE, s, report))
        return GX_UNREACHABLE;
/*@end*/
/*@if inverse_closed*/
    gx_states(x, s);
/*@end*/
    {
        gx_state found = *state;
        const int status = gx_accept(model, s, &found, report);
        if (status != GX_OK)
            return status;
        if (!gx_is_assembled(model, state, s))
            return GX_SINGULAR;
        *state = found;
    }
    return GX_OK;
}

void gx_start(gx_state *state)
{
    for (int i = 0; i < GX_STATE; ++i)
        state->s[i] = gx_home[i];
}

int gx_forward(const gx_model *model, const gx_real q[GX_ACTUATORS], gx_state *state, gx_real x[GX_POSE],
               gx_report *report)
{
    gx_report own = gx_no_report();
    const int status = gx_at_actuators(model, q, state, &own);
    if (report)
        *report = own;
    if (status >= GX_INVALID) {
        gx_fail(x, GX_POSE);
        return status;
    }
    for (int i = 0; i < GX_POSE; ++i)
        x[i] = state->s[gx_pose[i]];
    return gx_outside(q, model->positions, GX_OUTSIDE_POSITIONS);
}

int gx_inverse(const gx_model *model, const gx_real x[GX_POSE], gx_state *state, gx_real q[GX_ACTUATORS],
               gx_report *report)
{
    gx_report own = gx_no_report();
    const int status = gx_at_pose(model, x, state, &own);
    if (report)
        *report = own;
    if (status >= GX_INVALID) {
        gx_fail(q, GX_ACTUATORS);
        return status;
    }
    for (int i = 0; i < GX_ACTUATORS; ++i)
        q[i] = state->s[gx_actuated[i]];
    return gx_outside(q, model->positions, GX_OUTSIDE_POSITIONS);
}

int gx_jacobian(const gx_state *state, gx_real J[GX_POSE * GX_ACTUATORS])
{
    if (!gx_all_finite(state->s, GX_STATE)) {
        gx_fail(J, GX_POSE * GX_ACTUATORS);
        return GX_INVALID;
    }
    gx_jacobian_at(state->s, J);
    if (!gx_all_finite(J, GX_POSE * GX_ACTUATORS)) {
        gx_fail(J, GX_POSE * GX_ACTUATORS);
        return gx_cause(state->s);
    }
    return GX_OK;
}
/*@if dynamics*/

static int gx_outside_any(const gx_model *model, const gx_real *q, const gx_real *dq, const gx_real *ddq)
{
    return gx_outside(q, model->positions, GX_OUTSIDE_POSITIONS) | gx_outside(dq, model->speeds, GX_OUTSIDE_SPEEDS)
        | gx_outside(ddq, model->accelerations, GX_OUTSIDE_ACCELERATIONS);
}

static int gx_finite_efforts(const gx_real *s, gx_real *tau)
{
    if (gx_all_finite(tau, GX_ACTUATORS))
        return GX_OK;
    gx_fail(tau, GX_ACTUATORS);
    return gx_cause(s);
}
/*@if effects*/

static const int gx_effect_switch[GX_EFFECTS] = {@effect_switches@};

/* Add the effects that are switched on; `efforts` are those of the robot's own model. */
static void gx_add_effects(const gx_model *model, const gx_real *s, const gx_real *dq, const gx_real *ddq,
                           const gx_real *efforts, int with, gx_real *tau)
{
    gx_real E[GX_EFFECTS * GX_ACTUATORS];
    int any = 0;
    for (int k = 0; k < GX_EFFECTS; ++k)
        any |= with & gx_effect_switch[k];
    if (!any)
        return;
    gx_effect_efforts(s, dq, ddq, efforts, model->parameters + GX_OWN_PARAMETERS, E);
    for (int k = 0; k < GX_EFFECTS; ++k)
        for (int i = 0; i < GX_ACTUATORS; ++i)
            tau[i] += with & gx_effect_switch[k] ? E[k * GX_ACTUATORS + i] : GX_C(0);
}
/*@end*/

/* Sum of the parts that are switched on; NaN and a flag where it is not finite. */
static int gx_sum(const gx_model *model, const gx_real *s, const gx_real *dq, const gx_real *ddq,
                  const gx_real *rigid, const gx_real *friction, int with, gx_real *tau)
{
    if (!gx_all_finite(model->parameters, GX_PARAMETERS)) {
        gx_fail(tau, GX_ACTUATORS);
        return GX_INVALID;
    }
    for (int i = 0; i < GX_ACTUATORS; ++i)
        tau[i] = with & GX_WITH_FRICTION ? rigid[i] + friction[i] : rigid[i];
/*@if effects*/
    {
        gx_real own[GX_ACTUATORS];
        for (int i = 0; i < GX_ACTUATORS; ++i)
            own[i] = tau[i];
        gx_add_effects(model, s, dq, ddq, own, with, tau);
    }
/*@end*/
/*@if no_effects*/
    (void)dq, (void)ddq;
/*@end*/
    return gx_finite_efforts(s, tau);
}

int gx_torque(const gx_model *model, const gx_real q[GX_ACTUATORS], const gx_real dq[GX_ACTUATORS],
              const gx_real ddq[GX_ACTUATORS], int with, gx_state *state, gx_real tau[GX_ACTUATORS])
{
    gx_real rigid[GX_ACTUATORS], rubbing[GX_ACTUATORS];
    const gx_real weight = 1;
    gx_report report = gx_no_report();
    gx_state next = *state;
    int status = GX_INVALID;
    if (gx_all_finite(dq, GX_ACTUATORS) && gx_all_finite(ddq, GX_ACTUATORS))
        status = gx_at_actuators(model, q, &next, &report);
    if (status >= GX_INVALID) {
        gx_fail(tau, GX_ACTUATORS);
        return status;
    }
    gx_joint_efforts(next.s, dq, ddq, model->parameters, &weight, rigid, rubbing);
    status = gx_sum(model, next.s, dq, ddq, rigid, rubbing, with, tau);
    if (status >= GX_INVALID)
        return status;
    *state = next;
    return gx_outside_any(model, q, dq, ddq);
}
/*@if pose_efforts*/

int gx_torque_of_pose(const gx_model *model, const gx_real x[GX_POSE], const gx_real dx[GX_POSE],
                      const gx_real ddx[GX_POSE], int with, gx_state *state, gx_real tau[GX_ACTUATORS])
{
    gx_real q[GX_ACTUATORS], dq[GX_ACTUATORS], ddq[GX_ACTUATORS], rigid[GX_ACTUATORS], rubbing[GX_ACTUATORS];
    const gx_real weight = 1;
    gx_report report = gx_no_report();
    gx_state next = *state;
    int status = GX_INVALID;
    if (gx_all_finite(dx, GX_POSE) && gx_all_finite(ddx, GX_POSE))
        status = gx_at_pose(model, x, &next, &report);
    if (status >= GX_INVALID) {
        gx_fail(tau, GX_ACTUATORS);
        return status;
    }
    for (int i = 0; i < GX_ACTUATORS; ++i)
        q[i] = next.s[gx_actuated[i]];
    gx_pose_efforts(next.s, dx, ddx, model->parameters, &weight, rigid, rubbing, dq, ddq);
    status = gx_sum(model, next.s, dq, ddq, rigid, rubbing, with, tau);
    if (status >= GX_INVALID)
        return status;
    *state = next;
    return gx_outside_any(model, q, dq, ddq);
}
/*@end*/

/* Efforts at a state without a search. */
static void gx_at_state(const gx_model *model, const gx_state *state, const gx_real *dq, const gx_real *ddq,
                        gx_real weight, gx_real *rigid, gx_real *friction)
{
    gx_joint_efforts(state->s, dq, ddq, model->parameters, &weight, rigid, friction);
}

int gx_mass_matrix(const gx_model *model, const gx_state *state, gx_real M[GX_ACTUATORS * GX_ACTUATORS])
{
    gx_real still[GX_ACTUATORS], unit[GX_ACTUATORS], none[GX_ACTUATORS], column[GX_ACTUATORS], other[GX_ACTUATORS];
    gx_real scaled[GX_ACTUATORS];
    int status = gx_all_finite(state->s, GX_STATE) ? GX_OK : GX_INVALID;
    for (int i = 0; i < GX_ACTUATORS; ++i)
        still[i] = 0;
    if (status == GX_OK) {
        gx_at_state(model, state, still, still, 0, none, other);
        for (int j = 0; j < GX_ACTUATORS; ++j) {
            for (int i = 0; i < GX_ACTUATORS; ++i)
                unit[i] = i == j ? GX_C(1) : GX_C(0);
            gx_at_state(model, state, still, unit, 0, column, other);
            for (int i = 0; i < GX_ACTUATORS; ++i)
                column[i] -= none[i];
            gx_sum(model, state->s, still, unit, column, other, GX_IN_MASS, scaled);
            for (int i = 0; i < GX_ACTUATORS; ++i)
                M[i * GX_ACTUATORS + j] = scaled[i];
        }
        if (!gx_all_finite(M, GX_ACTUATORS * GX_ACTUATORS))
            status = gx_cause(state->s);
    }
    if (status != GX_OK)
        gx_fail(M, GX_ACTUATORS * GX_ACTUATORS);
    return status;
}

int gx_gravity(const gx_model *model, const gx_state *state, gx_real tau[GX_ACTUATORS])
{
    gx_real still[GX_ACTUATORS], rigid[GX_ACTUATORS], friction[GX_ACTUATORS];
    if (!gx_all_finite(state->s, GX_STATE)) {
        gx_fail(tau, GX_ACTUATORS);
        return GX_INVALID;
    }
    for (int i = 0; i < GX_ACTUATORS; ++i)
        still[i] = 0;
    gx_at_state(model, state, still, still, 1, rigid, friction);
    return gx_sum(model, state->s, still, still, rigid, friction, GX_IN_MASS, tau);
}

int gx_friction(const gx_model *model, const gx_state *state, const gx_real dq[GX_ACTUATORS],
                gx_real tau[GX_ACTUATORS])
{
    gx_real still[GX_ACTUATORS], rigid[GX_ACTUATORS], friction[GX_ACTUATORS];
    if (!gx_all_finite(state->s, GX_STATE) || !gx_all_finite(dq, GX_ACTUATORS)) {
        gx_fail(tau, GX_ACTUATORS);
        return GX_INVALID;
    }
    for (int i = 0; i < GX_ACTUATORS; ++i)
        still[i] = 0;
    gx_at_state(model, state, dq, still, 0, rigid, friction);
    for (int i = 0; i < GX_ACTUATORS; ++i)
        rigid[i] = 0;
    return gx_sum(model, state->s, dq, still, rigid, friction, GX_WITH_ALL, tau);
}
/*@if bounds*/

enum { GX_COLUMNS = @n_columns@ }; /* those of the unknowns, then those of parameters with a known value */

static const gx_real gx_center[GX_COLUMNS] = {
@center@
};
static const int gx_column_switch[GX_COLUMNS] = {@column_switches@}; /* 0: of bodies and rotors */
/*@if box*/
/* The box center +/- radius, rounded outward. */
static const gx_real gx_radius[GX_UNKNOWNS] = {
@radius@
};
/*@end*/
/*@if ellipsoid*/
/* Around the ellipsoid (theta - center)' S^-1 (theta - center) <= 1: rows of a triangular L with L L' - S >= 0, which
 * gough has proven in exact integers. */
static const gx_real gx_shape_center[GX_UNKNOWNS] = {
@shape_center@
};
static const gx_real gx_shape[GX_UNKNOWNS * (GX_UNKNOWNS + 1) / 2] = {
@shape@
};
/*@end*/

/* Rounding outward. With N = GX_COLUMNS and the unit roundoff u = EPSILON / 2, a sum of at most N products whose factors
 * are rounded tables is off by at most (N + 2) u / (1 - (N + 2) u) times the sum of absolute values, in any order and
 * with or without fused operations (Higham, Accuracy and Stability, section 3.1); 2 u in place of u for other rounding
 * modes. SLACK times sums of absolute values, which are themselves off by such a part, exceeds the errors of both sums
 * of a bound and of adding them. TINY exceeds what is lost to underflow, also where subnormal numbers count as 0. */
#ifdef GX_FLOAT
#define GX_EPSILON GX_C(1.1920928955078125e-07)
#define GX_LEAST GX_C(1.1754943508222875e-38)
#else
#define GX_EPSILON GX_C(2.220446049250313e-16)
#define GX_LEAST GX_C(2.2250738585072014e-308)
#endif
#define GX_SLACK (GX_C(4 * GX_COLUMNS + 24) * GX_EPSILON)
#define GX_TINY (GX_C(8 * GX_COLUMNS + 32) * GX_LEAST)

/* The bounds middle +/- half, wider by rounding errors; `size` is the sum of absolute values behind the middle. */
static void gx_outward(gx_real middle, gx_real half, gx_real size, gx_real tiny, gx_real *lower, gx_real *upper)
{
    const gx_real wide = half + GX_SLACK * (size + half) + tiny;
    if (isfinite(middle) && isfinite(wide)) { /* else an overflow: no bounds from this set */
        *lower = middle - wide > *lower ? middle - wide : *lower;
        *upper = middle + wide < *upper ? middle + wide : *upper;
    }
}

int gx_torque_bounds(const gx_state *state, const gx_real dq[GX_ACTUATORS], const gx_real ddq[GX_ACTUATORS],
                     int with, gx_real lower[GX_ACTUATORS], gx_real upper[GX_ACTUATORS])
{
    gx_real W[GX_ACTUATORS * GX_COLUMNS], q[GX_ACTUATORS];
    int status = GX_INVALID;
    if (gx_all_finite(state->s, GX_STATE) && gx_all_finite(dq, GX_ACTUATORS) && gx_all_finite(ddq, GX_ACTUATORS)) {
/*@if effects*/
        const gx_real rubbing = with & GX_WITH_FRICTION ? GX_C(1) : GX_C(0);
        gx_columns(state->s, dq, ddq, &rubbing, W);
/*@end*/
/*@if no_effects*/
        gx_columns(state->s, dq, ddq, W);
/*@end*/
        status = gx_all_finite(W, GX_ACTUATORS * GX_COLUMNS) ? GX_OK : gx_cause(state->s);
    }
    if (status != GX_OK) {
        gx_fail(lower, GX_ACTUATORS);
        gx_fail(upper, GX_ACTUATORS);
        return status;
    }
    for (int i = 0; i < GX_ACTUATORS; ++i) {
        gx_real *w = W + i * GX_COLUMNS, known = 0, known_size = 0, weight = 1, tiny;
        for (int j = 0; j < GX_COLUMNS; ++j) {
            if (gx_column_switch[j] && !(gx_column_switch[j] & with))
                w[j] = 0;
            weight += GX_F(fabs)(w[j]);
        }
        tiny = GX_TINY * weight;
        for (int j = GX_UNKNOWNS; j < GX_COLUMNS; ++j) {
            known += w[j] * gx_center[j];
            known_size += GX_F(fabs)(w[j] * gx_center[j]);
        }
        lower[i] = -(gx_real)INFINITY;
        upper[i] = (gx_real)INFINITY;
/*@if box*/
        {
            gx_real middle = known, size = known_size, half = 0;
            for (int j = 0; j < GX_UNKNOWNS; ++j) {
                middle += w[j] * gx_center[j];
                size += GX_F(fabs)(w[j] * gx_center[j]);
                half += GX_F(fabs)(w[j]) * gx_radius[j];
            }
            gx_outward(middle, half, size, tiny, lower + i, upper + i);
        }
/*@end*/
/*@if ellipsoid*/
        {
            gx_real middle = known, size = known_size, squares = 0;
            for (int k = 0; k < GX_UNKNOWNS; ++k) { /* |L' w|, each component rounded outward */
                gx_real part = 0, part_size = 0;
                for (int j = k; j < GX_UNKNOWNS; ++j) {
                    const gx_real product = gx_shape[j * (j + 1) / 2 + k] * w[j];
                    part += product;
                    part_size += GX_F(fabs)(product);
                }
                part = GX_F(fabs)(part) + GX_SLACK * part_size + tiny;
                squares += part * part;
                middle += w[k] * gx_shape_center[k];
                size += GX_F(fabs)(w[k] * gx_shape_center[k]);
            }
            gx_outward(middle, GX_F(sqrt)(squares + GX_TINY), size, tiny, lower + i, upper + i);
        }
/*@end*/
    }
    if (!gx_all_finite(lower, GX_ACTUATORS) || !gx_all_finite(upper, GX_ACTUATORS)) { /* an overflow: no bounds */
        gx_fail(lower, GX_ACTUATORS);
        gx_fail(upper, GX_ACTUATORS);
        return GX_INVALID;
    }
    for (int i = 0; i < GX_ACTUATORS; ++i)
        q[i] = state->s[gx_actuated[i]];
    return gx_outside_any(&gx_identified, q, dq, ddq);
}
/*@end*/
/*@end*/
