// Package test looks at the project from outside: golden outputs of real models,
// scripts that run the command, processes that use an engine over the network and fail, the
// rules of the house (which package may import which, and what nobody may call).
//
// Goldens need the assets of `make assets`; without them their tests are skipped,
// or fail when CBACTOR_REQUIRE_ASSETS is set, as `make test-full` does. The same holds for the
// client in Python and what test/python.sh sets up.
//
// When tests are to be short, as in `make test`, the command is built without the race detector.
//
// The test binary plays the clients that are processes of their own: see part.
package test
