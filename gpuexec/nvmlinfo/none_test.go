//go:build !nvml || !cgo || !linux

package nvmlinfo

import (
	"errors"
	"strings"
	"testing"
)

// A build without NVML says how to have it.
func TestOpen(t *testing.T) {
	if _, err := Open(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "-tags nvml") {
		t.Error(err)
	}
}
