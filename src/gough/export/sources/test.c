/* Test of @name@.c against @count@ vectors that gough computed in the range of the data: prints the number of wrong return
 * values and the largest relative error of each function. Exits with 0 if no return value is wrong and all errors are below
 * the tolerance. Written by gough. */
#include "@name@.h"
#include "@name@_vectors.h"

#include <math.h>
#include <stdio.h>

static double worst_of_all = 0;
static int failures = 0;

/* The largest error of n values, with that of earlier vectors; relative to the largest value, or to the usual one. */
static void compare(const void *values, int is_float, const double *expected, int n, double usual, double *worst)
{
    double scale = usual;
    for (int i = 0; i < n; ++i)
        scale = fabs(expected[i]) > scale ? fabs(expected[i]) : scale;
    for (int i = 0; i < n; ++i) {
        const double value = is_float ? (double)((const float *)values)[i] : ((const double *)values)[i];
        const double error = fabs(value - expected[i]) / scale;
        if (!(error <= *worst)) /* NaN is an error, too */
            *worst = error == error ? error : INFINITY;
    }
}

static void tell(const char *what, double worst, double tolerance)
{
    printf("%s %.17g\n", what, worst);
    if (worst > worst_of_all)
        worst_of_all = worst;
    if (!(worst <= tolerance))
        ++failures;
}

@sections@
int main(void)
{
@calls@
    printf("worst %.17g\n", worst_of_all);
    return failures ? 1 : 0;
}
