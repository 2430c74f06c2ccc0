package actors

import "fmt"

// newMatchers makes the matchers of n sequences. That is code of the caller's, and
// called on the caller's goroutine: what goes wrong in it refuses the request.
func newMatchers(stop func() Matcher, n int) (all []Matcher, err error) {
	all = make([]Matcher, n)
	if stop == nil {
		return all, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: what makes the matcher of stop panics: %v", ErrParams, r)
		}
	}()
	for i := range all {
		if all[i] = stop(); all[i] == nil {
			return nil, fmt.Errorf("%w: stop makes no matcher, leave it out for none", ErrParams)
		}
	}
	return all, nil
}

// match lets a request's matcher look at new ids. It answers how many of them belong
// to the request if it ends with them, else -1. What goes wrong in a matcher is the
// request's failure.
func (o *open) match(ids []int32) (n int, err error) {
	if o.matcher == nil || len(ids) == 0 {
		return -1, nil
	}
	defer func() {
		if r := recover(); r != nil {
			n, err = -1, fmt.Errorf("%w: its matcher panics: %v", ErrFailed, r)
		}
	}()
	if n = o.matcher.Match(ids); n > len(ids) {
		return -1, fmt.Errorf("%w: its matcher wants %d of %d tokens", ErrFailed, n, len(ids))
	}
	return n, nil
}
