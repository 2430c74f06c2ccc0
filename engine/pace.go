package engine

import "time"

// pace is how fast tensors are taken that are sent beside generation.
type pace struct {
	engine *Engine
	worked time.Duration // since it has rested
}

// rest is how long to give way to steps after more work: as long as was worked, waits
// for a processor included, while requests are open and no pause holds them. Whoever works takes a processor from
// one of the threads that compute a step together, and so stops them all.
func (p *pace) rest(worked time.Duration) time.Duration {
	p.worked += worked
	if p.worked < time.Millisecond { // shorter rests cost more than they give
		return 0
	}
	worked, p.worked = p.worked, 0
	if p.engine.Status().Mode != "running" || p.engine.requests.open() == 0 {
		return 0
	}
	return worked
}

// piece is how many bytes are put between two rests: whole numbers of each type.
const piece = 1 << 20

// inPieces puts a chunk piece by piece, and rests as long as put says behind each.
func inPieces(offset int, data []byte, put func(offset int, data []byte) (rest time.Duration, err error)) error {
	for {
		n := min(piece, len(data))
		rest, err := put(offset, data[:n])
		time.Sleep(rest)
		if offset, data = offset+n, data[n:]; err != nil || len(data) == 0 {
			return err
		}
	}
}
