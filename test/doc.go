// Package test looks at the project from outside: golden outputs of real models,
// scripts that run the command, the rules of the house (which package may import
// which, and what nobody may call).
//
// Goldens need the assets of `make assets`; without them their tests are skipped,
// or fail when CBACTOR_REQUIRE_ASSETS is set, as `make test-full` does.
package test
