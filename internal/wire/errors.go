package wire

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Why a connection was not made, or has ended.
var (
	ErrInsecure  = errors.New("without TLS only a loopback address may be used: give certificates of both sides")
	ErrUntrusted = errors.New("the other side does not accept the certificate, or has none that is accepted")
	ErrRefused   = errors.New("the engine refuses the client")
	ErrBusy      = errors.New("the engine takes no more clients now")
	ErrReplaced  = errors.New("another client with the same id has taken the connection's place")
	ErrProtocol  = errors.New("what was sent is not allowed")
	ErrSlow      = errors.New("too much waits to be written, since the other side does not read")
	ErrEnded     = errors.New("the engine has ended the connection")
	ErrLost      = errors.New("the connection is lost")
)

// codeOf is how each error crosses: the codes that gRPC itself gives to a stream without a
// deadline are others, but for those of ErrProtocol.
var codeOf = []struct {
	err  error
	code codes.Code
}{
	{ErrProtocol, codes.InvalidArgument}, {ErrProtocol, codes.ResourceExhausted}, {ErrProtocol, codes.Unimplemented},
	{ErrRefused, codes.FailedPrecondition},
	{ErrReplaced, codes.AlreadyExists},
	{ErrSlow, codes.DeadlineExceeded},
	{ErrEnded, codes.Aborted},
}

// toStatus is what the server ends a stream with.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	for _, c := range codeOf {
		if errors.Is(err, c.err) {
			return status.Error(c.code, err.Error())
		}
	}
	return status.Error(codes.Unavailable, err.Error())
}

// fromStatus gives an error of gRPC its class: what the far side said, or what gRPC noticed.
func fromStatus(err error) error {
	s := status.Convert(err)
	for _, c := range codeOf {
		if s.Code() == c.code {
			return &classed{c.err, s.Message()}
		}
	}
	return fmt.Errorf("%w: %s", ErrLost, s.Message())
}

// classed is an error whose text, made on the far side, already begins with that of its
// class.
type classed struct {
	class error
	text  string
}

func (e *classed) Error() string { return e.text }
func (e *classed) Unwrap() error { return e.class }

// forbidden is an ErrProtocol that says what was wrong.
func forbidden(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrProtocol, fmt.Errorf(format, args...))
}
