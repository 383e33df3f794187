#define NONE(name, ...) EXPORT int name(__VA_ARGS__) { return FAILED; }
#define I void *c
#define VR const uint32_t *r, size_t n
#define ABSENT(type, word) \
    NONE(fmi3Get##word, I, VR, type *v, size_t k) \
    NONE(fmi3Set##word, I, VR, const type *v, size_t k)

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT int fmi3SetDebugLogging(I, bool on, size_t n, const char *const *categories) { return DONE; }

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool events, bool early, const uint32_t *required, size_t n,
                                         void *environment, void *log, void *update)
{
    return made(token);
}

EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, void *log)
{
    return NULL;
}

EXPORT void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources,
                                               bool visible, bool logging, void *environment, void *log, void *update,
                                               void *lock, void *unlock)
{
    return NULL;
}

EXPORT void fmi3FreeInstance(I) { free(c); }

EXPORT int fmi3EnterInitializationMode(I, bool has_tolerance, double tolerance, double start, bool has_stop,
                                       double stop)
{
    ((Instance *)c)->time = start;
    return DONE;
}

EXPORT int fmi3ExitInitializationMode(I) { return DONE; }
EXPORT int fmi3EnterStepMode(I) { return DONE; }
EXPORT int fmi3EnterConfigurationMode(I) { return DONE; }
EXPORT int fmi3ExitConfigurationMode(I) { return DONE; }
EXPORT int fmi3Terminate(I) { return DONE; }

EXPORT int fmi3Reset(I)
{
    restart((Instance *)c);
    return DONE;
}

EXPORT int fmi3GetFloat64(I, VR, double *v, size_t k) { return k < n ? FAILED : get_reals(c, r, n, v); }
EXPORT int fmi3SetFloat64(I, VR, const double *v, size_t k) { return k < n ? FAILED : set_reals(c, r, n, v); }

EXPORT int fmi3GetInt32(I, VR, int32_t *v, size_t k)
{
    for (size_t i = 0; i < n && i < k; ++i) {
        if (r[i] != V_STATUS)
            return FAILED;
        compute((Instance *)c);
        v[i] = ((Instance *)c)->status;
    }
    return DONE;
}

NONE(fmi3SetInt32, I, VR, const int32_t *v, size_t k)

EXPORT int fmi3GetBoolean(I, VR, bool *v, size_t k)
{
    for (size_t i = 0; i < n && i < k; ++i) {
        int value;
        if (get_switch((Instance *)c, r[i], &value))
            return FAILED;
        v[i] = value != 0;
    }
    return DONE;
}

EXPORT int fmi3SetBoolean(I, VR, const bool *v, size_t k)
{
    for (size_t i = 0; i < n && i < k; ++i) {
        if (set_switch((Instance *)c, r[i], v[i]))
            return FAILED;
    }
    return DONE;
}

ABSENT(float, Float32)
ABSENT(int8_t, Int8)
ABSENT(uint8_t, UInt8)
ABSENT(int16_t, Int16)
ABSENT(uint16_t, UInt16)
ABSENT(uint32_t, UInt32)
ABSENT(int64_t, Int64)
ABSENT(uint64_t, UInt64)
ABSENT(char *, String)
NONE(fmi3GetBinary, I, VR, size_t *sizes, const uint8_t **v, size_t k)
NONE(fmi3SetBinary, I, VR, const size_t *sizes, const uint8_t *const *v, size_t k)
NONE(fmi3GetClock, I, VR, bool *v)
NONE(fmi3SetClock, I, VR, const bool *v)
NONE(fmi3GetNumberOfVariableDependencies, I, uint32_t r, size_t *n)
NONE(fmi3GetVariableDependencies, I, uint32_t r, size_t *a, uint32_t *b, size_t *d, int *kinds, size_t n)
NONE(fmi3GetFMUState, I, void **state)
NONE(fmi3SetFMUState, I, void *state)
NONE(fmi3FreeFMUState, I, void **state)
NONE(fmi3SerializedFMUStateSize, I, void *state, size_t *size)
NONE(fmi3SerializeFMUState, I, void *state, uint8_t *data, size_t size)
NONE(fmi3DeserializeFMUState, I, const uint8_t *data, size_t size, void **state)
NONE(fmi3GetDirectionalDerivative, I, const uint32_t *u, size_t a, const uint32_t *k, size_t b, const double *s,
     size_t d, double *v, size_t e)
NONE(fmi3GetAdjointDerivative, I, const uint32_t *u, size_t a, const uint32_t *k, size_t b, const double *s, size_t d,
     double *v, size_t e)
NONE(fmi3EnterEventMode, I)
NONE(fmi3GetIntervalDecimal, I, VR, double *v, int *q)
NONE(fmi3GetIntervalFraction, I, VR, uint64_t *a, uint64_t *b, int *q)
NONE(fmi3GetShiftDecimal, I, VR, double *v)
NONE(fmi3GetShiftFraction, I, VR, uint64_t *a, uint64_t *b)
NONE(fmi3SetIntervalDecimal, I, VR, const double *v)
NONE(fmi3SetIntervalFraction, I, VR, const uint64_t *a, const uint64_t *b)
NONE(fmi3SetShiftDecimal, I, VR, const double *v)
NONE(fmi3SetShiftFraction, I, VR, const uint64_t *a, const uint64_t *b)
NONE(fmi3EvaluateDiscreteStates, I)
NONE(fmi3UpdateDiscreteStates, I, bool *a, bool *b, bool *d, bool *e, bool *f, double *g)
NONE(fmi3GetOutputDerivatives, I, VR, const int32_t *orders, double *v, size_t k)
NONE(fmi3ActivateModelPartition, I, uint32_t clock, double time)
NONE(fmi3EnterContinuousTimeMode, I)
NONE(fmi3CompletedIntegratorStep, I, bool no_earlier, bool *event, bool *terminate)
NONE(fmi3SetTime, I, double time)
NONE(fmi3SetContinuousStates, I, const double *v, size_t n)
NONE(fmi3GetContinuousStates, I, double *v, size_t n)
NONE(fmi3GetContinuousStateDerivatives, I, double *v, size_t n)
NONE(fmi3GetNominalsOfContinuousStates, I, double *v, size_t n)
NONE(fmi3GetEventIndicators, I, double *v, size_t n)
NONE(fmi3GetNumberOfEventIndicators, I, size_t *n)
NONE(fmi3GetNumberOfContinuousStates, I, size_t *n)

EXPORT int fmi3DoStep(I, double time, double step, bool no_earlier, bool *event, bool *terminate, bool *early,
                      double *last)
{
    Instance *of = (Instance *)c;
    of->time = time + step;
    *event = *terminate = *early = false;
    *last = of->time;
    of->is_current = 0;
    return DONE;
}
