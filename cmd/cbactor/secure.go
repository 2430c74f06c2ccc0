package main

import (
	"crypto/tls"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/internal/certs"
)

// secureFlags name the files of one side of a connection with TLS, which both sides must
// have unless it stays on this machine.
type secureFlags struct{ files certs.Files }

func (f *secureFlags) add(fs *pflag.FlagSet) {
	fs.Var(pathFlag{path: &f.files.CA}, "tls-ca", "certificate of the authority that the other side's is of; without it connections stay on this machine")
	fs.Var(pathFlag{path: &f.files.Cert}, "tls-cert", "certificate of this side, as cbactor certs makes them")
	fs.Var(pathFlag{path: &f.files.Key}, "tls-key", "its key")
}

// check refuses a part of what belongs together.
func (f *secureFlags) check() error {
	if f.files != (certs.Files{}) && (f.files.CA == "" || f.files.Cert == "" || f.files.Key == "") {
		return badUsage("--tls-ca, --tls-cert and --tls-key belong together: give all three")
	}
	return nil
}

// load reads the files for one side, with certs.Files.Server or Client; nil: none are given.
func (f *secureFlags) load(side func(certs.Files) (*tls.Config, error)) (*tls.Config, error) {
	if f.files == (certs.Files{}) {
		return nil, nil
	}
	config, err := side(f.files)
	if err != nil {
		return nil, badUsage("--tls-ca, --tls-cert, --tls-key: %w", err)
	}
	return config, nil
}
