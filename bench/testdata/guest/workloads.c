// The three workloads of Table I of "Prototype Preemptive Threading in Wasmtime", and what the other
// measurements of section guest call. README.md says how this file is compiled.

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// vectors makes two vectors of n values in memory of their own, one after the other.
double *vectors(int n) {
  unsigned pages = (2 * sizeof(double) * n + 65535) / 65536;
  double *a = (double *)(__builtin_wasm_memory_grow(0, pages) << 16), *b = a + n;
  for (int i = 0; i < n; i++) {
    a[i] = i % 17;
    b[i] = i % 19;
  }
  return a;
}

double dot(const double *a, int n) {
  const double *b = a + n;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

enum { N = 512 };
static double x[N][N], y[N][N], z[N][N];

double matmul(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      x[i][j] = i + j;
      y[i][j] = i - j;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += x[i][k] * y[k][j];
      z[i][j] = sum;
    }
  return z[N - 1][N - 1] + z[7][13];
}
