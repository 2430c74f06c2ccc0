package gpuexec

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// device is the first one of a driver.
func device(t testing.TB, d *emu.Driver) *cuda.Device {
	t.Helper()
	dev, err := d.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// emulated is a device whose driver is as late as it may be.
func emulated(t testing.TB) *cuda.Device { return device(t, emu.Open(t, emu.Options{})) }

// loadModel reads a checkpoint, into epoch 1. A name that is no path is the embedded model.
func loadModel(t testing.TB, path string) (*model.Config, *weights.Set) {
	t.Helper()
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	set, err := weights.Load(c.Config, c, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	return c.Config, set
}

// start makes an executor that the test closes.
func start(t testing.TB, cfg Config) *Executor {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
