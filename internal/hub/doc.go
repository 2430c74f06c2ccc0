// Package hub copies models from a Hugging Face hub, or from what speaks its routes.
//
// Purpose: [Client.Pull] copies the files that a model needs into a folder. It asks
// which commit a revision is and which files that has, with their sizes and digests,
// and fetches what is not there yet. Which shards of tensors a model has is what its
// index says. A file is there under its name only when all of it is and its digest is
// right: SHA-256 of large files, the hash of git of small ones. What has come of one lies
// under its digest meanwhile, so that another pull goes on with it, and never with a part
// of another version. package hubcache keeps the record.
//
// The routes, as the documentation of the hub's API has them:
//
//	GET /api/models/ORG/NAME/revision/REVISION        its commit
//	GET /api/models/ORG/NAME/tree/COMMIT?recursive=true   its files, by pages (Link: rel="next")
//	GET /ORG/NAME/resolve/COMMIT/FILE                 a file, often by a redirect
//
// The server is not trusted: answers are bounded, names of files stay within the folder,
// no more is written than was announced and the disk has room for, and a token goes to
// the host of the endpoint alone. What fails for a while is tried again, later
// and later, or when the server says.
//
// Ownership and concurrency: a Client may be used from any goroutine. Two pulls into one
// folder are kept apart by a lock. Pull runs goroutines of its own, which have ended when
// it returns.
package hub
