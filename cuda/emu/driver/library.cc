// What a fake library that enqueues work of its own needs of the fake driver: a real one has other ways.
#include "memory.h"
#include "stream.h"

using fake::driver;

// fake_ready tells whether the thread has a context.
CONTROL CUresult fake_ready(void) {
	LOCK;
	return fake::ready_context();
}

// fake_capturing tells whether this thread captures a stream.
CONTROL int fake_capturing(void) {
	LOCK;
	for (CUstream_st *s : fake::streams)
		if (s->capture && s->origin == s && s->thread == std::this_thread::get_id()) return 1;
	return 0;
}

// fake_holds tells whether so many bytes from p on are of one allocation of the device.
CONTROL int fake_holds(const void *p, size_t n) {
	LOCK;
	return fake::within(p, n, true);
}

// fake_handles counts what the library has made, or, below 0, given back.
CONTROL void fake_handles(int n) {
	LOCK;
	driver.counts.handles += n;
}

// fake_enqueue enqueues run with a copy of n bytes of data, or adds it to the stream's capture. What it
// answers is a fault of the device.
CONTROL CUresult fake_enqueue(CUstream s, CUresult (*run)(const void *data), const void *data, size_t n) {
	NEED_CONTEXT;
	TRY(fake::usable(s));
	std::string copy((const char *)data, n);
	fake::put(s, {[run, copy] {
		fake::Touch touch;
		driver.sticky = run(copy.data());
	}});
	return driver.sticky;
}
