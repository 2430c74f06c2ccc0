package convert

import "github.com/cbactor/cbactor/checkpoint"

// Protocol is the version of the messages.
const Protocol = 1

// AdapterFiles are the files of an adapter that are sent.
var AdapterFiles = checkpoint.AdapterFiles
