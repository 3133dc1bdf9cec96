// Package recipes holds the code for clients of databases that docs/guide.md shows, for copying.
// Tests run it with the real servers.
package recipes
