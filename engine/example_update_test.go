package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// What a trainer has written to a folder becomes the weights that serve: beside those
// before, or over them where memory does not hold both.
func ExampleEngine_UpdateInPlace() {
	e, _ := spawn()
	defer end(e)
	folder, remove := trainerWrites()
	defer remove()
	s, err := checkpoint.OpenStream(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			log.Fatal(err)
		}
	}()
	ctx, o := context.Background(), engine.UpdateOptions{Version: "step-1", KV: engine.KVRecompute}
	for _, t := range s.Tensors() {
		o.Manifest.Tensors = append(o.Manifest.Tensors, weights.Entry{Name: t.Name, DType: t.DType, Shape: t.Shape})
	}
	u, err := e.Update(ctx, o)
	switch {
	case errors.Is(err, weights.ErrMemory):
		err = e.UpdateInPlace(ctx, o, s.Send)
	case err == nil:
		if err = s.Send(u.Put); err == nil {
			err = u.Commit(ctx)
		}
		u.Abort() // after Commit it does nothing
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q serves\n", e.Version())
	o.Version = "step-2"
	if err := e.UpdateInPlace(ctx, o, s.Send); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q serves, %q is kept\n", e.Version(), e.Kept())
	// Output:
	// "step-1" serves
	// "step-2" serves, "" is kept
}

// trainerWrites makes a folder with weights as a trainer would write them.
func trainerWrites() (folder string, remove func()) {
	dir, err := os.MkdirTemp("", "trainer")
	if err != nil {
		log.Fatal(err)
	}
	m, _ := model()
	folder = filepath.Join(dir, "weights")
	if err := errors.Join(checkpoint.WriteBF16(folder, m), m.Close()); err != nil {
		log.Fatal(err)
	}
	return folder, func() {
		if err := os.RemoveAll(dir); err != nil {
			log.Fatal(err)
		}
	}
}
