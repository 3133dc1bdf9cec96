// The guest exports coremark, which runs CoreMark and returns 1 if CoreMark found its results right.
#include "coremark.h"

volatile ee_s32 seed1_volatile = 0, seed2_volatile = 0, seed3_volatile = 0x66;
volatile ee_s32 seed4_volatile, seed5_volatile = 0;
ee_u32 default_num_contexts = 1;

static int correct;

int coremark_main(void);

__attribute__((export_name("coremark"))) int coremark(int iterations) {
  seed4_volatile = iterations;
  correct = 0;
  coremark_main();
  return correct;
}

// CoreMark says "Correct operation validated" if all checksums are right.
int ee_printf(const char *format, ...) {
  const char *want = "Correct operation";
  while (*want && *want == *format) want++, format++;
  if (!*want) correct = 1;
  return 0;
}

// CoreMark takes a run of less than 10 s for an error. The host measures many short runs.
void start_time(void) {}
void stop_time(void) {}
CORE_TICKS get_time(void) { return 10; }
secs_ret time_in_secs(CORE_TICKS ticks) { return ticks; }

void portable_init(core_portable *p, int *argc, char *argv[]) { p->portable_id = 1; }
void portable_fini(core_portable *p) { p->portable_id = 0; }
