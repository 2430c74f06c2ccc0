// Blocks of a launch, on a few OS threads.
#include "grid.h"
#include "fault.h"
#include "schedule.h"
#include <condition_variable>
#include <memory>
#include <thread>

namespace shim {

__thread Block *block __attribute__((tls_model("initial-exec")));

asm(".text\n"
	".globl shim_switch\n"
	".type shim_switch,@function\n"
	"shim_switch:\n"
	"pushq %rbp\n"
	"pushq %rbx\n"
	"pushq %r12\n"
	"pushq %r13\n"
	"pushq %r14\n"
	"pushq %r15\n"
	"movq %rsp,(%rdi)\n"
	"movq %rsi,%rsp\n"
	"popq %r15\n"
	"popq %r14\n"
	"popq %r13\n"
	"popq %r12\n"
	"popq %rbx\n"
	"popq %rbp\n"
	"ret\n"
	".size shim_switch,.-shim_switch\n");

// entry is what a fiber runs first and for good.
static void entry() {
	block->kernel(block->params);
	Fiber *f = block->current;
	f->done = true;
	block->exited++;
	if (block->arrived) fail("thread returned while others wait at __syncthreads: line", block->barrier_line);
	void *never;
	shim_switch(&never, block->scheduler);
	abort();
}

// Worker has the memory of the blocks that an OS thread runs, one at a time.
struct Worker {
	Stacks stacks;
	Block block;
	Worker() {
		block.shared = (unsigned char *)mmap(nullptr, max_shared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block.shared == MAP_FAILED) abort();
	}
	~Worker() { munmap(block.shared, max_shared); }
	void prepare(const Grid &g, unsigned i);
	void run(const Grid &g, unsigned i, Schedule &s);
};

// prepare makes block i of the grid ready to run.
void Worker::prepare(const Grid &g, unsigned i) {
	block.index = {i % g.blocks.x, i / g.blocks.x % g.blocks.y, i / (g.blocks.x * g.blocks.y)};
	block.threads = g.threads;
	block.grid = g.blocks;
	block.kernel = g.kernel;
	block.params = g.params;
	block.arrived = block.exited = 0;
	block.error.clear();
	memset(block.arrays, 0, sizeof block.arrays);
	block.shared_used = (g.shared + 127) & ~size_t(127);
	memset(block.shared, 0xff, block.shared_used);
	int n = g.threads.count();
	block.fibers.resize(n);
	block.warps.resize((n + 31) / 32);
	for (Warp &w : block.warps) w.arrived = w.parity = 0;
	for (int t = 0; t < n; t++) {
		Fiber &f = block.fibers[t];
		f.index = {t % g.threads.x, t / g.threads.x % g.threads.y, t / (g.threads.x * g.threads.y)};
		f.lane = t & 31;
		f.warp = &block.warps[t >> 5];
		f.done = f.waits = false;
		f.copies.clear();
		f.groups = 0;
		f.stack_top = stacks.prepare(t, entry);
	}
}

void Worker::run(const Grid &g, unsigned i, Schedule &s) {
	prepare(g, i);
	shim::block = &block;
	if (!catch_faults([&] { run_fibers(block, s); })) block.error = illegal_address;
	shim::block = nullptr;
	for (size_t t = 0; t < block.fibers.size() && block.error.empty(); t++)
		if (stacks.mark(t) != stack_mark) block.error = "a thread's stack is over 64 KiB";
}

// work runs blocks until there are none left, or one has failed.
static void work(Grid &g) {
	// Behind a pointer: the library has little room for what a thread has of its own.
	static thread_local std::unique_ptr<Worker> own(new Worker);
	Worker &worker = *own;
	Schedule schedule(g.threads.count(), g.order);
	for (unsigned i; (i = g.next++) < g.blocks.count();) {
		worker.run(g, i, schedule);
		if (worker.block.error.empty()) continue;
		std::lock_guard<std::mutex> l(g.mutex);
		if (g.error.empty()) g.error = worker.block.error;
		g.next = g.blocks.count();
	}
}

// few blocks are done sooner than helpers wake.
constexpr unsigned few = 3;

// Pool has threads that help with one grid at a time. It lasts as long as the process:
// nobody could say when the last kernel has run.
class Pool {
public:
	explicit Pool(unsigned helpers) : helpers_(helpers) {
		for (unsigned i = 0; i < helpers; i++) std::thread([this] { help(); }).detach();
	}
	void run(Grid &g) {
		std::lock_guard<std::mutex> one(one_);
		unsigned n = std::min(helpers_, g.blocks.count() - 1);
		{
			std::lock_guard<std::mutex> l(mutex_);
			grid_ = &g;
			wanted_ = n;
		}
		for (unsigned i = 0; i < n; i++) begin_.notify_one();
		work(g);
		std::unique_lock<std::mutex> l(mutex_);
		wanted_ = 0;
		end_.wait(l, [this] { return busy_ == 0; });
	}

private:
	void help() {
		std::unique_lock<std::mutex> l(mutex_);
		for (;;) {
			begin_.wait(l, [this] { return wanted_ > 0; });
			wanted_--;
			Grid *g = grid_;
			busy_++;
			l.unlock();
			work(*g);
			l.lock();
			if (--busy_ == 0) end_.notify_all();
		}
	}
	std::mutex one_, mutex_;
	std::condition_variable begin_, end_;
	Grid *grid_ = nullptr;
	const unsigned helpers_;
	unsigned wanted_ = 0, busy_ = 0; // helpers who may begin, who have begun
};

void run_grid(Grid &g) {
	static Pool *pool = new Pool(std::max(1u, std::min(4u, std::thread::hardware_concurrency())) - 1);
	if (g.blocks.count() <= few) work(g);
	else pool->run(g);
}

} // namespace shim
