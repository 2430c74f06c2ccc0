package cuda

// function is a place in the table of the driver's functions.
type function int

const (
	cuInit function = iota
	cuDriverGetVersion
	cuGetErrorName
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDeviceGetUuid
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuCtxSynchronize
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemsetD8Async
	cuModuleLoadData
	cuModuleUnload
	cuModuleGetFunction
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuLaunchKernel
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamWaitEvent
	cuStreamBeginCapture
	cuStreamEndCapture
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventSynchronize
	cuEventQuery
	cuEventElapsedTime
	cuGraphInstantiateWithFlags
	cuGraphDestroy
	cuGraphUpload
	cuGraphLaunch
	cuGraphExecDestroy
	functions
)

// names has what cuGetProcAddress is asked for: without suffixes, since the version asked
// for chooses which of cuMemAlloc and cuMemAlloc_v2 is meant.
var names = [functions]string{
	"cuInit", "cuDriverGetVersion", "cuGetErrorName",
	"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem", "cuDeviceGetAttribute", "cuDeviceGetUuid",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease", "cuCtxSetCurrent", "cuCtxSynchronize",
	"cuMemGetInfo", "cuMemAlloc", "cuMemFree", "cuMemHostAlloc", "cuMemFreeHost",
	"cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync", "cuMemsetD8Async",
	"cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction",
	"cuFuncGetAttribute", "cuFuncSetAttribute", "cuLaunchKernel",
	"cuStreamCreate", "cuStreamDestroy", "cuStreamSynchronize", "cuStreamWaitEvent",
	"cuStreamBeginCapture", "cuStreamEndCapture",
	"cuEventCreate", "cuEventDestroy", "cuEventRecord", "cuEventSynchronize", "cuEventQuery", "cuEventElapsedTime",
	"cuGraphInstantiateWithFlags", "cuGraphDestroy", "cuGraphUpload", "cuGraphLaunch", "cuGraphExecDestroy",
}

func (f function) String() string { return names[f] }
