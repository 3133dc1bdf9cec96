// A WASI command that runs a Lua program: its first argument. Compile it with all of Lua, in one
// unit: -I the folder of Lua's source. wasi-libc 14 has no setjmp, so an error in Lua ends the command.
#include <stdio.h>
#include <stdlib.h>

// What WASI has not.
#define lua_tmpnam(b, e) { (e) = 1; }
#define LUA_TMPNAMBUFSIZE 32
#define system(c) (-1)
#define tmpfile() NULL

struct lua_longjmp;
#define LUAI_THROW(L, c) (fprintf(stderr, "lua: error %d\n", (c)->status), exit(1))
#define LUAI_TRY(L, c, a) { a }
#define luai_jmpbuf int

#define MAKE_LIB
#include "onelua.c"

int main(int argc, char **argv) {
	lua_State *L = luaL_newstate();
	if (argc != 2 || L == NULL) {
		fprintf(stderr, "usage: lua PROGRAM\n");
		return 2;
	}
	luaL_requiref(L, "_G", luaopen_base, 1);
	luaL_requiref(L, "string", luaopen_string, 1);
	luaL_requiref(L, "table", luaopen_table, 1);
	luaL_requiref(L, "math", luaopen_math, 1);
	if (luaL_dostring(L, argv[1])) {
		fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
		return 1;
	}
	return 0;
}
