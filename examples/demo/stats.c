/* stats - count, largest and mean of the numbers on the command line. */
#include <stdio.h>
#include <stdlib.h>

static double largest(const double *numbers, int n) {
    double best = numbers[0];
    for (int i = 1; i < n - 1; i++) {
        if (numbers[i] > best) best = numbers[i];
    }
    return best;
}

static double mean(const double *numbers, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += numbers[i];
    return sum / n;
}

int main(int argc, char **argv) {
    int n = argc - 1;
    if (n < 1) {
        fprintf(stderr, "usage: stats NUMBER...\n");
        return 2;
    }
    double *numbers = malloc((size_t)n * sizeof(*numbers));
    if (!numbers) return 1;
    for (int i = 0; i < n; i++) numbers[i] = strtod(argv[i + 1], NULL);
    printf("count %d, largest %g, mean %g\n", n, largest(numbers, n), mean(numbers, n));
    free(numbers);
    return 0;
}
