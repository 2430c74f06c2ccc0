package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/gpuexec/nvmlinfo"
)

const devicesHelp = `Show the GPUs that NVIDIA's driver offers to this process: their numbers, which CUDA_VISIBLE_DEVICES changes, and
what they are. A build with -tags nvml shows, too, what they do at the moment. Without a driver it fails, and says
what is missing. CBACTOR_CUDA_LIBRARY names the driver's library, where it is not libcuda.so.1 on the linker's path.`

func (c *cli) devicesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "devices", Short: "Show the GPUs of this machine", Long: devicesHelp, Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			d, err := findDevices()
			if err != nil {
				return err
			}
			d.addReadings(readGPUs())
			if asJSON {
				return c.printJSON(d)
			}
			return c.print(d.String())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write it as JSON")
	return cmd
}

// devices is what a driver offers.
type devices struct {
	CUDA    string       `json:"cuda"` // the newest version that the driver knows
	Devices []deviceInfo `json:"devices"`
}

// deviceInfo is a GPU as it is shown.
type deviceInfo struct {
	Name       string `json:"name"` // as --device takes it
	Model      string `json:"model"`
	Capability string `json:"capability"`
	Memory     uint64 `json:"memory_bytes"`
	UUID       string `json:"uuid"`

	// What NVML tells; absent: it does not.
	Used    *uint64  `json:"memory_used_bytes,omitempty"`
	Busy    *float64 `json:"busy,omitempty"` // share of the last moments, 0 to 1
	Celsius *float64 `json:"celsius,omitempty"`
	Watts   *float64 `json:"watts,omitempty"`
}

// findDevices asks the driver.
func findDevices() (*devices, error) {
	lib, err := gpuexec.Driver()
	if err != nil {
		return nil, err
	}
	version, err := lib.Version()
	if err != nil {
		return nil, err
	}
	n, err := lib.Devices()
	if err != nil {
		return nil, err
	}
	all := &devices{CUDA: fmt.Sprintf("%d.%d", version/1000, version%1000/10), Devices: []deviceInfo{}}
	for i := range n {
		d, err := lib.Device(i)
		if err != nil {
			return nil, err
		}
		all.Devices = append(all.Devices, deviceInfo{
			Name: fmt.Sprintf("cuda:%d", i), Model: d.Name, Capability: fmt.Sprintf("%d.%d", d.Major, d.Minor), Memory: d.Memory, UUID: d.UUID,
		})
	}
	return all, nil
}

// readGPUs is what NVML tells, where there is one: what it does not tell is not shown.
func readGPUs() []nvmlinfo.GPU {
	r, err := nvmlinfo.Open()
	if err != nil {
		return nil
	}
	defer r.Close()     // its error would be told of a library that is needed no more
	gpus, _ := r.GPUs() // those that answer
	return gpus
}

// addReadings adds what the GPUs do.
func (d *devices) addReadings(gpus []nvmlinfo.GPU) {
	for i := range d.Devices {
		for _, g := range gpus {
			if one := &d.Devices[i]; one.UUID == g.UUID {
				one.Used, one.Busy, one.Celsius, one.Watts = &g.Used, told(g.Busy), told(g.Celsius), told(g.Watts)
			}
		}
	}
}

// told is nil for NaN.
func told(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// String is all of it in lines of text.
func (d *devices) String() string {
	rows := make([][]string, len(d.Devices))
	for i, one := range d.Devices {
		rows[i] = []string{one.Name, one.Model, "capability " + one.Capability, one.memory(), strings.Join(one.doing(), ", "), one.UUID}
	}
	return columns("Devices, of a driver for CUDA "+d.CUDA, rows)
}

// memory is how much there is.
func (d *deviceInfo) memory() string {
	all := gibibytes(d.Memory)
	if d.Used == nil {
		return all
	}
	return gibibytes(*d.Used) + " of " + all + " in use"
}

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// doing is what the device does at the moment.
func (d *deviceInfo) doing() (list []string) {
	if d.Busy != nil {
		list = append(list, fmt.Sprintf("%.0f %% busy", 100**d.Busy))
	}
	if d.Celsius != nil {
		list = append(list, fmt.Sprintf("%.0f °C", *d.Celsius))
	}
	if d.Watts != nil {
		list = append(list, fmt.Sprintf("%.0f W", *d.Watts))
	}
	return list
}
