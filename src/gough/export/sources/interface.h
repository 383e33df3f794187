/* ---- gx_: @about@
 *
@table@
 *
 * Every function is re-entrant: no static data, no allocation, bounded iterations. SI units; matrices row by row.
 * Define GX_FLOAT for single precision. Do not use -ffast-math: inputs are checked for NaN.
 *
 * Return values are sums of flags. GX_OK is 0. From GX_INVALID on, the outputs are NaN and the state is unchanged;
 * below, results are valid, but extrapolate the data from which they were identified.
 */
#ifdef GX_FLOAT
typedef float gx_real;
#else
typedef double gx_real;
#endif

enum {
    GX_ACTUATORS = @n_actuators@, /* @actuators@ */
    GX_POSE = @n_pose@, /* @pose@ */
    GX_STATE = @n_state@ /* all coordinates, passive ones too */
};

enum {
    GX_OK = 0,
    GX_OUTSIDE_POSITIONS = 1, /* a position lies outside the range of the data */
    GX_OUTSIDE_SPEEDS = 2, /* a velocity does */
    GX_OUTSIDE_ACCELERATIONS = 4, /* an acceleration does */
    GX_INVALID = 16, /* an input or a parameter is NaN, infinite, or so large that results are coarse or overflow */
    GX_UNREACHABLE = 32, /* no solution: out of reach, or more than the allowed steps away */
    GX_SINGULAR = 64 /* nearer to a singularity than least_margin, or beyond one, in another assembly */
};

/* Positions of all joints: kept by the caller between cycles, so that forward kinematics begins at the last solution. */
typedef struct {
    gx_real s[GX_STATE];
} gx_state;

/* What a kinematic function found. */
typedef struct {
    gx_real residual; /* root of the sum of squared closure equations, without units; 0 of closed forms */
    gx_real margin; /* distance from singularity without units: 0 at one, negative beyond one */
    int iterations; /* steps of Newton's method */
} gx_report;

/*@if dynamics*/
enum {
    GX_PARAMETERS = @n_parameters@,
/*@if effects*/
    GX_OWN_PARAMETERS = @n_own@, /* of the robot; those of effects follow */
    GX_EFFECTS = @n_effects@,
/*@end*/
    GX_UNKNOWNS = @n_unknowns@ /* parameters, or combinations of them, that the data determine */
};

/* Parameters by name. */
enum {
@parameter_names@
};

/*@end*/
/* The table of a robot. Copy gx_identified and change the copy to use other values at run time. */
typedef struct {
/*@if dynamics*/
    gx_real parameters[GX_PARAMETERS];
/*@end*/
    gx_real positions[2][GX_ACTUATORS]; /* smallest and largest position in the data: @position_units@ */
/*@if dynamics*/
    gx_real speeds[2][GX_ACTUATORS]; /* the same of velocities: @speed_units@ */
    gx_real accelerations[2][GX_ACTUATORS]; /* the same of accelerations: @acceleration_units@ */
/*@end*/
    gx_real least_margin;
} gx_model;

extern const gx_model gx_identified;

/* The state at home: begin with it. */
void gx_start(gx_state *state);

/* Pose x of actuator positions q, beginning at the state, which becomes the new one. `report` may be NULL. */
int gx_forward(const gx_model *model, const gx_real q[GX_ACTUATORS], gx_state *state, gx_real x[GX_POSE],
               gx_report *report);

/* Actuator positions q of a pose x@inverse_start@; the state becomes the new one. `report` may be NULL.
 * GX_SINGULAR where forward kinematics of q, beginning at the state, does not lead to x: x is of another assembly, or too
 * far from the state to tell. */
int gx_inverse(const gx_model *model, const gx_real x[GX_POSE], gx_state *state, gx_real q[GX_ACTUATORS],
               gx_report *report);

/* J at a state, with dx/dt = J dq/dt. */
int gx_jacobian(const gx_state *state, gx_real J[GX_POSE * GX_ACTUATORS]);
/*@if dynamics*/

/* What efforts contain besides those of bodies and rotors: a sum of these. */
enum {
    GX_WITHOUT_FRICTION = 0,
    GX_WITH_FRICTION = 1, /* dry and viscous friction, offsets and cogging; dry friction is a plain sign of the speed */
@switches@
    GX_WITH_ALL = @default_switches@, /* @default_words@ */
    GX_IN_MASS = @in_mass@, /* gains and rotors of the drives: always part of the mass matrix; gains of gravity too */
    GX_SWITCHES = @n_switches@
};

/* Efforts tau (@effort_units@) for positions, velocities and accelerations of the actuators. */
int gx_torque(const gx_model *model, const gx_real q[GX_ACTUATORS], const gx_real dq[GX_ACTUATORS],
              const gx_real ddq[GX_ACTUATORS], int with, gx_state *state, gx_real tau[GX_ACTUATORS]);
/*@if pose_efforts*/

/* The same for a motion of the platform: pose, its first and second derivative. */
int gx_torque_of_pose(const gx_model *model, const gx_real x[GX_POSE], const gx_real dx[GX_POSE],
                      const gx_real ddx[GX_POSE], int with, gx_state *state, gx_real tau[GX_ACTUATORS]);
/*@end*/

/* Mass matrix M at a state, in the coordinates of the actuators: tau = M ddq + ... */
int gx_mass_matrix(const gx_model *model, const gx_state *state, gx_real M[GX_ACTUATORS * GX_ACTUATORS]);

/* Efforts that hold the robot still at a state, without friction. */
int gx_gravity(const gx_model *model, const gx_state *state, gx_real tau[GX_ACTUATORS]);

/* Efforts of friction@friction_words@ at a state. */
int gx_friction(const gx_model *model, const gx_state *state, const gx_real dq[GX_ACTUATORS],
                gx_real tau[GX_ACTUATORS]);
/*@if bounds*/

/* Bounds of the model's efforts at a state, from the identified set: @set_about@
 * The bounds are those of the model, not of a measured effort with its noise. They and the flags of the range belong to
 * gx_identified and do not change with a copy. They are rounded outward: for the columns of the regressor as computed at this
 * state, the efforts of every model of the set lie between them in exact arithmetic, in both precisions. */
int gx_torque_bounds(const gx_state *state, const gx_real dq[GX_ACTUATORS], const gx_real ddq[GX_ACTUATORS],
                     int with, gx_real lower[GX_ACTUATORS], gx_real upper[GX_ACTUATORS]);
/*@end*/
/*@end*/
