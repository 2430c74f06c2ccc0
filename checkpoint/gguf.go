package checkpoint

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cbactor/cbactor/model"
)

const (
	ggufMagic         = "GGUF"
	maxGGUFKey        = 1<<16 - 1
	maxGGUFKeys       = 1 << 12 // a hundred times what files have
	maxGGUFTensorName = 64      // GGML_MAX_NAME, with room for what libraries write
	defaultAlignment  = 32
)

// ggufFile is the header of a GGUF file.
type ggufFile struct {
	meta    ggufMeta
	tensors []ggufTensor
}

// ggufTensor is an entry of the table of tensors.
type ggufTensor struct {
	name   string
	shape  []int // outermost first, the other way round than in the file
	kind   ggufType
	offset uint64 // within the data, later within the file
	size   uint64
}

// readGGUF reads the header of a GGUF file (version 2 or 3, little-endian, one
// file) and checks that every tensor lies within the data, aligned, beside the
// others. The format is that of ggml's docs/gguf.md.
func readGGUF(file io.ReaderAt, size int64) (*ggufFile, error) {
	f, err := parseGGUF(newGGUFReader(file, size))
	if err != nil {
		return nil, fmt.Errorf("%w: GGUF: %w", ErrFormat, err)
	}
	return f, nil
}

func parseGGUF(r *ggufReader) (*ggufFile, error) {
	head, err := r.take(24)
	if err != nil {
		return nil, err
	}
	version := binary.LittleEndian.Uint32(head[4:])
	tensors, keys := binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
	if string(head[:4]) != ggufMagic {
		return nil, fmt.Errorf("it begins with %q, not with %s; a model in safetensors is opened by its folder", head[:4], ggufMagic)
	}
	if version < 2 || version > 3 {
		return nil, fmt.Errorf("version %d, 2 and 3 are read, both little-endian", version)
	}
	if err := r.need(tensors, 24); err != nil {
		return nil, fmt.Errorf("%d tensors: %w", tensors, err)
	}
	if err := checkCount(tensors, int64(r.size)); err != nil {
		return nil, err
	}
	if err := r.need(keys, 13); err != nil {
		return nil, fmt.Errorf("%d keys: %w", keys, err)
	}
	if keys > maxGGUFKeys {
		return nil, fmt.Errorf("%d keys, at most %d are read", keys, maxGGUFKeys)
	}
	f := &ggufFile{meta: ggufMeta{}}
	for range keys {
		if err := f.readKey(r); err != nil {
			return nil, err
		}
	}
	alignment, err := f.meta.alignment()
	if err != nil {
		return nil, err
	}
	if err := f.meta.refuseSplit(tensors); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for range tensors {
		t, err := r.tensor()
		if err != nil {
			return nil, err
		}
		if seen[t.name] {
			return nil, fmt.Errorf("tensor %q is there twice", t.name)
		}
		seen[t.name] = true
		f.tensors = append(f.tensors, t)
	}
	return f, f.place(r, alignment)
}

func (f *ggufFile) readKey(r *ggufReader) error {
	key, err := r.name(maxGGUFKey)
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if _, ok := f.meta[key]; ok {
		return fmt.Errorf("key %.80q is there twice", key)
	}
	kind, err := r.u32()
	if err != nil {
		return fmt.Errorf("key %.80q: %w", key, err)
	}
	if f.meta[key], err = r.value(kind); err != nil {
		return fmt.Errorf("key %.80q: %w", key, err)
	}
	return nil
}

// tensor reads an entry of the table and computes the tensor's size.
func (r *ggufReader) tensor() (ggufTensor, error) {
	var t ggufTensor
	var err error
	if t.name, err = r.name(maxGGUFTensorName); err != nil {
		return t, fmt.Errorf("tensor: %w", err)
	}
	dims, err := r.u32()
	if err != nil {
		return t, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	if dims < 1 || dims > 4 {
		return t, fmt.Errorf("tensor %q has %d dimensions, 1 to 4 are possible", t.name, dims)
	}
	elements := uint64(1)
	for range dims {
		d, err := r.u64()
		if err != nil {
			return t, fmt.Errorf("tensor %q: %w", t.name, err)
		}
		if d == 0 || d > math.MaxInt64/8/elements {
			return t, fmt.Errorf("tensor %q has a dimension of %d", t.name, d)
		}
		elements *= d
		t.shape = append(t.shape, int(d))
	}
	row := uint64(t.shape[0])
	slices.Reverse(t.shape)
	kind, err := r.u32()
	if err != nil {
		return t, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	if t.offset, err = r.u64(); err != nil {
		return t, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	var ok bool
	if t.kind, ok = ggufTypes[kind]; !ok {
		return t, fmt.Errorf("%w: tensor %q is of type %d, which is not known", model.ErrUnsupported, t.name, kind)
	}
	if row%t.kind.block != 0 {
		return t, fmt.Errorf("tensor %q has rows of %d, %s needs multiples of %d", t.name, row, t.kind.name, t.kind.block)
	}
	t.size = elements / t.kind.block * t.kind.bytes
	return t, nil
}

// place checks the tensors' offsets and makes them offsets into the file.
func (f *ggufFile) place(r *ggufReader, alignment uint64) error {
	data := (r.pos + alignment - 1) / alignment * alignment
	slices.SortFunc(f.tensors, func(a, b ggufTensor) int { return cmp.Compare(a.offset, b.offset) })
	end := uint64(0)
	for i := range f.tensors {
		t := &f.tensors[i]
		if t.offset%alignment != 0 {
			return fmt.Errorf("tensor %q is not aligned to %d", t.name, alignment)
		}
		if t.offset < end {
			return fmt.Errorf("tensor %q overlaps the one before", t.name)
		}
		if data > r.size || t.offset > r.size-data || t.size > r.size-data-t.offset {
			return fmt.Errorf("tensor %q lies past the end of the file: is it truncated?", t.name)
		}
		end = t.offset + t.size
		t.offset += data
	}
	return nil
}
