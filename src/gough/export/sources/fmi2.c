#define NONE(name, ...) EXPORT int name(__VA_ARGS__) { return FAILED; }
#define I void *c
#define VR const unsigned int *r, size_t n

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT int fmi2SetDebugLogging(I, int on, size_t n, const char *const *categories) { return DONE; }

EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources,
                             const void *functions, int visible, int logging)
{
    return type == 1 ? made(guid) : NULL; /* co-simulation only */
}

EXPORT void fmi2FreeInstance(I) { free(c); }

EXPORT int fmi2SetupExperiment(I, int has_tolerance, double tolerance, double start, int has_stop, double stop)
{
    ((Instance *)c)->time = start;
    return DONE;
}

EXPORT int fmi2EnterInitializationMode(I) { return DONE; }
EXPORT int fmi2ExitInitializationMode(I) { return DONE; }
EXPORT int fmi2Terminate(I) { return DONE; }

EXPORT int fmi2Reset(I)
{
    restart((Instance *)c);
    return DONE;
}

EXPORT int fmi2GetReal(I, VR, double *v) { return get_reals(c, r, n, v); }
EXPORT int fmi2SetReal(I, VR, const double *v) { return set_reals(c, r, n, v); }

EXPORT int fmi2GetInteger(I, VR, int *v)
{
    for (size_t i = 0; i < n; ++i) {
        if (r[i] != V_STATUS)
            return FAILED;
        compute((Instance *)c);
        v[i] = ((Instance *)c)->status;
    }
    return DONE;
}

EXPORT int fmi2GetBoolean(I, VR, int *v)
{
    for (size_t i = 0; i < n; ++i) {
        if (get_switch((Instance *)c, r[i], v + i))
            return FAILED;
    }
    return DONE;
}

EXPORT int fmi2SetBoolean(I, VR, const int *v)
{
    for (size_t i = 0; i < n; ++i) {
        if (set_switch((Instance *)c, r[i], v[i]))
            return FAILED;
    }
    return DONE;
}

NONE(fmi2SetInteger, I, VR, const int *v)
NONE(fmi2GetString, I, VR, const char **v)
NONE(fmi2SetString, I, VR, const char *const *v)
NONE(fmi2GetFMUstate, I, void **state)
NONE(fmi2SetFMUstate, I, void *state)
NONE(fmi2FreeFMUstate, I, void **state)
NONE(fmi2SerializedFMUstateSize, I, void *state, size_t *size)
NONE(fmi2SerializeFMUstate, I, void *state, char *data, size_t size)
NONE(fmi2DeSerializeFMUstate, I, const char *data, size_t size, void **state)
NONE(fmi2GetDirectionalDerivative, I, const unsigned int *u, size_t a, const unsigned int *k, size_t b,
     const double *s, double *v)
NONE(fmi2SetRealInputDerivatives, I, VR, const int *orders, const double *v)
NONE(fmi2GetRealOutputDerivatives, I, VR, const int *orders, double *v)
NONE(fmi2CancelStep, I)
NONE(fmi2GetStatus, I, int kind, int *v)
NONE(fmi2GetRealStatus, I, int kind, double *v)
NONE(fmi2GetIntegerStatus, I, int kind, int *v)
NONE(fmi2GetBooleanStatus, I, int kind, int *v)
NONE(fmi2GetStringStatus, I, int kind, const char **v)

EXPORT int fmi2DoStep(I, double time, double step, int no_earlier)
{
    Instance *of = (Instance *)c;
    of->time = time + step;
    of->is_current = 0;
    return DONE;
}
