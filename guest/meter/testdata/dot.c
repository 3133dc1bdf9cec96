// The caller grows the memory: a and b are offsets of n values each.
void fill(double *a, int n, double seed) {
  for (int i = 0; i < n; i++) a[i] = seed + i % 17;
}
double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}
