// A guest with debug information, for dwarf_test.go: functions that trap at different places.

static inline __attribute__((always_inline)) int divide(int a, int b) {
  return a / b;
}

// brief has a loop that the meter writes four times.
int brief(int n, int at) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum ^= i;
    sum += 1000 /
           (at - i);
  }
  return sum;
}

__attribute__((noinline)) int middle(int n, int at) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      sum += divide(i + 100, at - i) + j;
  return sum;
}

int deep(int n, int at) {
  if (n == 0)
    return middle(50, at);
  return deep(n - 1, at) + 1;
}

void copy(char *to, char *from, int n) {
  __builtin_memcpy(to, from, n);
  *(volatile int *)to = 1;
}
