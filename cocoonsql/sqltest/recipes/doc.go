// Package recipes holds the recipes of docs/guide.md for database clients, to be copied. Tests run
// them with the real servers.
package recipes
