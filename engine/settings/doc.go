// Package settings reads values of engine.Config from YAML files and from the
// environment. Each source becomes a list for engine.Config.Apply, the one that
// counts most applied last: file, environment, flags.
//
// It owns nothing, keeps nothing, and is safe from any goroutine.
package settings
