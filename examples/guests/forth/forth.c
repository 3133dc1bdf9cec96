// A small Forth, as a WebAssembly guest. The host writes a program to the memory at source(), and
// run(length) runs it and returns the number on top of the stack. Words: numbers,
// + - * / mod < = not, x@ and x! for the variables a to z, if ... then,
// and begin ... while ... repeat. A program with an error traps.
//
// clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,--strip-all -o forth.wasm forth.c
#define EXPORT(name) __attribute__((export_name(#name)))

typedef long long number;

enum op { PUSH, ADD, SUB, MUL, DIV, MOD, LESS, EQUAL, NOT, LOAD, STORE, UNLESS, GO, END };

static const char *const words[] = {"", "+", "-", "*", "/", "mod", "<", "=", "not"};

static char text[1 << 16];
static struct { enum op op; number arg; } code[1 << 14];
static int marks[64]; // where the open if, begin and while are in the code
static number stack[64], variables[26];
static int ops, open;

EXPORT(source) char *source(void) { return text; }

static void check(int ok) { if (!ok) __builtin_trap(); }

static void emit(enum op op, number arg) {
	check(ops < sizeof code / sizeof code[0]);
	code[ops].op = op;
	code[ops++].arg = arg;
}

static void mark(int at) { check(open < 64); marks[open++] = at; }
static int unmark(void) { check(open > 0); return marks[--open]; }

static int is(const char *word, int n, const char *name) {
	int i = 0;
	while (i < n && word[i] == name[i]) i++;
	return i == n && !name[i];
}

static void compile(const char *word, int n) {
	for (int i = ADD; i <= NOT; i++)
		if (is(word, n, words[i])) return emit(i, 0);
	if (n == 2 && word[0] >= 'a' && word[0] <= 'z' && (word[1] == '@' || word[1] == '!'))
		return emit(word[1] == '@' ? LOAD : STORE, word[0] - 'a');
	if (is(word, n, "if") || is(word, n, "while")) { mark(ops); return emit(UNLESS, 0); }
	if (is(word, n, "begin")) return mark(ops);
	if (is(word, n, "then")) { code[unmark()].arg = ops; return; }
	if (is(word, n, "repeat")) {
		int leave = unmark();
		emit(GO, unmark());
		code[leave].arg = ops;
		return;
	}
	number v = 0;
	for (int i = 0; i < n; i++) {
		check(word[i] >= '0' && word[i] <= '9');
		v = 10 * v + word[i] - '0';
	}
	emit(PUSH, v);
}

static number execute(void) {
	int sp = 0;
	for (int at = 0;; at++) {
		number arg = code[at].arg, *top = stack + sp - 1;
		enum op op = code[at].op;
		check(sp >= (op >= ADD && op <= EQUAL ? 2 : op == NOT || op == STORE || op == UNLESS || op == END) && sp < 64);
		switch (op) {
		case PUSH: stack[sp++] = arg; break;
		case ADD: top[-1] += *top; sp--; break;
		case SUB: top[-1] -= *top; sp--; break;
		case MUL: top[-1] *= *top; sp--; break;
		case DIV: top[-1] /= *top; sp--; break;
		case MOD: top[-1] %= *top; sp--; break;
		case LESS: top[-1] = top[-1] < *top; sp--; break;
		case EQUAL: top[-1] = top[-1] == *top; sp--; break;
		case NOT: *top = !*top; break;
		case LOAD: stack[sp++] = variables[arg]; break;
		case STORE: variables[arg] = *top; sp--; break;
		case UNLESS: sp--; if (!*top) at = arg - 1; break;
		case GO: at = arg - 1; break;
		case END: return *top;
		}
	}
}

EXPORT(run) number run(int length) {
	check(length >= 0 && length <= sizeof text);
	ops = open = 0;
	for (int i = 0; i < length;) {
		int from = i;
		while (i < length && text[i] > ' ') i++;
		if (i > from) compile(text + from, i - from);
		else i++;
	}
	check(open == 0);
	emit(END, 0);
	return execute();
}
