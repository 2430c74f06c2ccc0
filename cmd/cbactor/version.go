package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return c.print(builtVersion() + "\n")
		},
	}
}

// builtVersion is the version of this program.
func builtVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(info)
}

// version is a line about how the program was built.
func version(info *debug.BuildInfo) string {
	module, commit, dirty := info.Main.Version, "unknown", ""
	if module == "" {
		module = "(devel)"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", modified"
		}
	}
	return fmt.Sprintf("cbactor %s (commit %s%s) %s %s/%s", module, commit, dirty, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
