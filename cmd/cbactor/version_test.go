package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	built := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	for want, info := range map[string]debug.BuildInfo{
		"cbactor (devel) (commit unknown)": {},
		"cbactor v1.2.3 (commit abc, modified)": {Main: debug.Module{Version: "v1.2.3"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}},
	} {
		if got := version(&info); got != want+built {
			t.Errorf("%q, want %q", got, want+built)
		}
	}
}
