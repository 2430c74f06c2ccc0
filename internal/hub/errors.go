package hub

import (
	"errors"
	"fmt"
	"time"
)

// Errors of this package, wrapped with what was found. Test with errors.Is.
var (
	// ErrEndpoint: the address of the hub is none.
	ErrEndpoint = errors.New("bad address of a hub")
	// ErrNotFound: there is no such model, revision or file, or it is not told of.
	ErrNotFound = errors.New("the hub does not have it")
	// ErrDenied: a token is missing, is not right, or has no access.
	ErrDenied = errors.New("the hub denies access")
	// ErrAnswer: an answer that the hub's routes do not have.
	ErrAnswer = errors.New("bad answer of the hub")
	// ErrUnavailable: the hub could not be reached, or did not do it, also when asked again.
	ErrUnavailable = errors.New("the hub is not available")
	// ErrDigest: a file that was fetched is not the one that was listed.
	ErrDigest = errors.New("a file has come with another digest than its list has")
	// ErrSpace: the disk has no room for the files.
	ErrSpace = errors.New("there is no room for it")
	// ErrBusy: another process pulls into the folder.
	ErrBusy = errors.New("another process pulls into the folder: wait for its end")
	// ErrTaken: a file is in the way that is not of the hub, or a copy of another repository.
	ErrTaken = errors.New("another file is in its place: take it away, or give another folder")
	// ErrChoice: the files of the repository are no model, or several.
	ErrChoice = errors.New("it is not clear what to fetch")
)

// passingError is an error that may be gone when it is tried again.
type passingError struct {
	error
	after time.Duration // when to try again, as the server wants; 0: it does not say
}

func (e *passingError) Unwrap() error { return e.error }

// passing is an error of a server or a network that may be gone soon.
func passing(format string, args ...any) error {
	return &passingError{error: fmt.Errorf(format, args...)}
}
