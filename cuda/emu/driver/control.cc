// What tests say to the fake driver, and ask it.
#include "driver.h"

using fake::driver;

// fake_configure is called before cuInit.
CONTROL void fake_configure(const char *runner, const char *ptx, int schedule, int protect, int order, int version, int devices, int capability, unsigned long long memory) {
	LOCK;
	driver.config.runner = runner;
	driver.config.ptx = ptx;
	driver.config.schedule = (fake::Schedule)schedule;
	driver.config.protect = protect;
	driver.config.order = order;
	driver.config.version = version;
	driver.config.devices = devices;
	driver.config.major = capability / 10;
	driver.config.minor = capability % 10;
	driver.config.memory = memory;
}

CONTROL void fake_counts(fake::Counts *c) {
	LOCK;
	*c = driver.counts;
}

// fake_fail makes the device fail as if a kernel had, as of now.
CONTROL void fake_fail(unsigned result) {
	LOCK;
	driver.sticky = (CUresult)result;
}
