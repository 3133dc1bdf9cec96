// A WASI command that runs SQL in a database in memory: the statements of its first argument. It
// prints each row on a line, its columns separated by "|".
#include <stdio.h>
#include "sqlite3.h"

// Without a file system there is no VFS. SQLite wants one, so this one does nothing but exist.
int sqlite3_os_init(void) {
	static sqlite3_vfs none = {.iVersion = 1, .szOsFile = sizeof(sqlite3_file), .mxPathname = 64, .zName = "none"};
	return sqlite3_vfs_register(&none, 1);
}
int sqlite3_os_end(void) { return SQLITE_OK; }

static int row(void *unused, int n, char **values, char **names) {
	for (int i = 0; i < n; i++)
		printf("%s%s", i ? "|" : "", values[i] ? values[i] : "");
	putchar('\n');
	return 0;
}

int main(int argc, char **argv) {
	sqlite3 *db;
	char *message = 0;
	if (argc != 2) {
		fprintf(stderr, "usage: sqlite SQL\n");
		return 2;
	}
	if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_exec(db, argv[1], row, 0, &message) != SQLITE_OK) {
		fprintf(stderr, "sqlite: %s\n", message ? message : sqlite3_errmsg(db));
		return 1;
	}
	return 0;
}
