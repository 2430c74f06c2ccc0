package updates

import (
	"fmt"
	"slices"
	"time"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// Overwrite is the speed of an update in the memory of the only set, in bytes per
// second of one thread.
type Overwrite struct {
	OverwritePerS float64 `json:"overwrite_bytes_per_s"`
	CopyPerS      float64 `json:"copy_bytes_per_s"` // of a plain copy of the same tensors
	Share         float64 `json:"overwrite_share"`
}

// rounds is how often each is timed; the median counts.
const rounds = 5

// MeasureOverwrite overwrites a set with the tensors of another one, after all checks,
// and copies the same tensors plainly, in turn. It takes the memory of two sets.
func MeasureOverwrite(cfg *model.Config, set *weights.Set) (o Overwrite, err error) {
	manifest, err := manifestOf(set)
	if err != nil {
		return o, err
	}
	target, err := weights.Load(cfg, tensors{set}, 1, "target")
	if err != nil {
		return o, err
	}
	plain, err := weights.Load(cfg, tensors{set}, 1, "plain")
	if err != nil {
		return o, err
	}
	store, err := weights.NewStore(cfg, target, weights.Options{})
	if err != nil {
		return o, err
	}
	var over, copied []time.Duration
	for i := range rounds {
		d, err := overwrite(store, set, manifest, fmt.Sprint(i))
		if err != nil {
			return o, err
		}
		over = append(over, d)
		begin := time.Now()
		for t := range set.All() {
			to, _ := plain.Tensor(t.Name) // it was loaded from set
			copy(to.Data, t.Data)
		}
		copied = append(copied, time.Since(begin))
	}
	slices.Sort(over)
	slices.Sort(copied)
	o.OverwritePerS = float64(set.Bytes()) / over[rounds/2].Seconds()
	o.CopyPerS = float64(set.Bytes()) / copied[rounds/2].Seconds()
	o.Share = o.OverwritePerS / o.CopyPerS
	return o, nil
}

// overwrite is the time in which nobody could compute.
func overwrite(store *weights.Store, set *weights.Set, m weights.Manifest, version string) (time.Duration, error) {
	send := func(put func(name, dtype string, shape []int, offset int, data []byte) error) error {
		for t := range set.All() {
			if err := put(t.Name, t.DType.String(), t.Shape, 0, t.Data); err != nil {
				return err
			}
		}
		return nil
	}
	o, err := store.Overwrite("", version, m)
	if err != nil {
		return 0, err
	}
	if err := o.Check(send); err != nil {
		return 0, err
	}
	begin := time.Now()
	_, err = o.Write(send)
	return time.Since(begin), err
}

// tensors is a set as a weights.Source.
type tensors struct{ *weights.Set }

// Tensors implements weights.Source.
func (s tensors) Tensors() (list []model.Tensor) {
	for t := range s.All() {
		list = append(list, t.Tensor)
	}
	return list
}

// ReadTensor implements weights.Source.
func (s tensors) ReadTensor(name string, dst []byte) error {
	t, _ := s.Tensor(name) // one of Tensors
	copy(dst, t.Data)
	return nil
}
