package main

import (
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/internal/certs"
)

// certsOptions are what `cbactor certs` takes.
type certsOptions struct {
	dir     string
	hosts   []string
	clients []string
	days    int
}

func (c *cli) certsCommand() *cobra.Command {
	var o certsOptions
	cmd := &cobra.Command{
		Use:   "certs",
		Short: "Make certificates for an engine and its clients",
		Long: "Make an authority of your own, and certificates of it for an engine and for clients: for tests, and for a few\n" +
			"machines that trust each other. Files in the folder are kept; with an authority that is there, more clients are\n" +
			"made. Its key, ca.key, lets its owner make more: nobody else needs it.",
		Example: "  cbactor certs --dir certs\n" +
			"  cbactor certs --dir certs --host engine.example.org --host 10.0.0.7 --client trainer --client reader",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.certs(o, cmd.Flags().Changed) },
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "folder to write to, made where it is missing")
	f.StringArrayVar(&o.hosts, "host", []string{"localhost", "127.0.0.1", "::1"}, "name or IP address by which clients reach the engine; more than once for several")
	f.StringArrayVar(&o.clients, "client", []string{"client"}, "name of a client; more than once for several")
	f.IntVar(&o.days, "days", 365, "how long they are good")
	return cmd
}

// certs makes what is missing. asked says which flags were given: what they name must not be
// there already.
func (c *cli) certs(o certsOptions, asked func(flag string) bool) error {
	if err := o.check(); err != nil {
		return err
	}
	valid := time.Duration(o.days) * 24 * time.Hour
	d, made, err := certs.OpenDir(o.dir, valid)
	if err != nil {
		return badFile("--dir", err)
	}
	if made {
		c.say("wrote %s and ca.key", d.Files(certs.AuthorityName).CA)
	}
	wanted := []wantedCert{{"host", certs.ServerName, func() error { return d.AddServer(o.hosts, valid) }}}
	for _, name := range o.clients {
		wanted = append(wanted, wantedCert{"client", name, func() error { return d.AddClient(name, valid) }})
	}
	for _, w := range wanted {
		if asked(w.flag) && d.Has(w.name) {
			return badUsage("--%s: %s is there already: remove it and its key, or leave the flag out", w.flag, d.Files(w.name).Cert)
		}
	}
	for _, w := range wanted {
		if d.Has(w.name) {
			continue
		}
		if err := w.make(); err != nil {
			return err
		}
		c.say("wrote %s and %s.key", d.Files(w.name).Cert, w.name)
	}
	return nil
}

// wantedCert is one that a flag names.
type wantedCert struct {
	flag, name string
	make       func() error
}

var (
	hostForm   = regexp.MustCompile(`^[A-Za-z0-9.:_-]{1,253}$`)
	clientForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

func (o *certsOptions) check() error {
	switch {
	case o.dir == "":
		return badUsage("there is no folder to write to: give --dir")
	case o.days < 1 || o.days > 36500:
		return badUsage("--days is %d, must be from 1 to 36500", o.days)
	}
	for _, h := range o.hosts {
		if !hostForm.MatchString(h) {
			return badUsage("--host %q is neither a name nor an IP address", h)
		}
	}
	for _, name := range o.clients {
		if !clientForm.MatchString(name) || name == certs.AuthorityName || name == certs.ServerName {
			return badUsage("--client %q: a name has letters, digits, hyphens and underscores, at most 64, and is not %q or %q",
				name, certs.AuthorityName, certs.ServerName)
		}
	}
	return nil
}
