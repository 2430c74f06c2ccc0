package server

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/cbactor/cbactor/weights"
)

// tensor is a tensor as a trainer has it.
type tensor struct {
	name, dtype string
	shape       []int
	data        []byte
}

// tensors are those of the model that is served, with the sign of each turned-th number turned
// over; 0: of none.
func (c *changing) tensors(turned int) (list []tensor) {
	c.t.Helper()
	set, err := weights.Load(c.model.Config, c.model, 1, "")
	if err != nil {
		c.t.Fatal(err)
	}
	for t := range set.All() {
		one := tensor{t.Name, t.DType.String(), t.Shape, bytes.Clone(t.Data)}
		if size := int(t.DType.RowBytes(1)); turned > 0 {
			for i := size - 1; i < len(one.data); i += turned * size {
				one.data[i] ^= 0x80
			}
		}
		list = append(list, one)
	}
	return list
}

// safetensors writes tensors, one after the other.
func safetensors(t *testing.T, list []tensor, meta ...string) []byte {
	t.Helper()
	header, data := object{}, []byte{}
	for _, one := range list {
		header[one.name] = object{"dtype": one.dtype, "shape": one.shape, "data_offsets": []int{len(data), len(data) + len(one.data)}}
		data = append(data, one.data...)
	}
	if len(meta) > 0 {
		says := object{}
		for i := 0; i < len(meta); i += 2 {
			says[meta[i]] = meta[i+1]
		}
		header["__metadata__"] = says
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...), data...)
}

// manifest lists tensors, with digests of their bytes.
func manifest(list []tensor) object {
	var entries []object
	for _, one := range list {
		entries = append(entries, object{"name": one.name, "dtype": one.dtype, "shape": one.shape, "digest": weights.Sum(weights.XXH3_64, one.data).String()})
	}
	return object{"tensors": entries}
}

// updateSaid is what routes of updates answer.
type updateSaid struct {
	ID, Version, Base, Dropped, Label, Kept, Status string

	Lease, Seconds float64
	Missing        []gap
	MissingBytes   int     `json:"missing_bytes"`
	ExpiresIn      float64 `json:"expires_in"`
	Tensors        int
	Bytes          int64
}

const updatesPath = "/v1/weights/updates"

// begin opens an update, and is its path.
func (r *rig) begin(o object) string {
	r.t.Helper()
	var said updateSaid
	r.control(updatesPath, o, &said)
	return updatesPath + "/" + said.ID
}

// send makes a call with a body that is no JSON.
func (r *rig) send(method, path string, body io.Reader, header ...string) (int, []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer drop(r.t, resp)
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, data
}

// put sends a shard, which must be taken.
func (r *rig) put(update, name string, data []byte, header ...string) (said updateSaid) {
	r.t.Helper()
	status, answer := r.send(http.MethodPut, update+"/shards/"+name, bytes.NewReader(data), header...)
	if status != http.StatusOK {
		r.t.Fatalf("shard %s: %d %s", name, status, answer)
	}
	r.decode(answer, &said)
	return said
}

// denied sends bytes that must be refused, by a code.
func (r *rig) denied(method, path string, data []byte, status int, code string, header ...string) {
	r.t.Helper()
	got, answer := r.send(method, path, bytes.NewReader(data), header...)
	if a := r.read(answer); got != status || a.Error == nil || value(a.Error.Code) != code {
		r.t.Errorf("%s: %d %s, want %d by %q", path, got, answer, status, code)
	}
}

// digest is the checksum of the weights that serve.
func (r *rig) digest() string {
	r.t.Helper()
	var said struct{ Digest string }
	if status := r.get("/v1/weights/checksum", &said); status != http.StatusOK || said.Digest == "" {
		r.t.Fatalf("%d", status)
	}
	return said.Digest
}

// weightsSaid is what GET /v1/weights answers.
type weightsSaid struct {
	Version, Label, Kept string
	Broken               bool
	Open                 *updateSaid
	Adapters             []adapterTold
}

func (r *rig) weights() (said weightsSaid) {
	r.t.Helper()
	if status := r.get("/v1/weights", &said); status != http.StatusOK {
		r.t.Fatalf("%d", status)
	}
	return said
}

// greedy is what the model draws.
func (r *rig) greedy() []int32 {
	r.t.Helper()
	return r.ask(completionsPath, long(16)).Choices[0].IDs
}
