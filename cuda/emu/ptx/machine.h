// A block of threads that run a kernel.
#pragma once
#include "../shim/runner.h"
#include "program.h"
#include "shadow.h"
#include <stdexcept>

namespace ptx {

// Fault is what ends a kernel.
struct Fault : std::runtime_error {
	RunnerResult result;
	Fault(RunnerResult r, const std::string &what) : std::runtime_error(what), result(r) {}
};

enum class Wait : uint8_t { none, barrier, warp, done };

// Copy is a cp.async that was issued and is not done yet.
struct Copy {
	uint64_t to;
	const void *from; // null: zeros
	int bytes, group;
};

struct Thread {
	std::vector<uint64_t> registers;
	std::vector<unsigned char> local;
	uint64_t special[specials];
	int number = 0, at = 0;
	Wait wait = Wait::none;
	std::vector<Copy> copies;
	int groups = 0;
};

struct Lanes; // of a warp, in a collective

class Machine {
public:
	Machine(const Function &f, const RunnerLaunch &l);
	// run runs a block to its end, or throws a Fault.
	void run(unsigned x, unsigned y, unsigned z);

private:
	void prepare(unsigned x, unsigned y, unsigned z);
	bool run_warp(int warp);
	bool release_barrier();
	bool alive() const;

	// One thread (thread.cc); run_thread stops where it waits.
	void run_thread(Thread &t);
	void step(Thread &t, const Instruction &i);
	uint64_t read(const Operand &o, const Thread &t) const;
	void write(const Operand &o, Thread &t, uint64_t v);
	void values(const Instruction &i, Thread &t);

	// Memory (memory.cc).
	void load(const Instruction &i, Thread &t);
	void store(const Instruction &i, Thread &t);
	void atomic_add(const Instruction &i, Thread &t);
	void issue_copy(const Instruction &i, Thread &t);
	void finish_copies(Thread &t, int upto);
	unsigned char *place(const Instruction &i, const Operand &o, Thread &t, int bytes, bool write);
	unsigned char *shared_place(const Instruction &i, Thread &t, uint64_t at, int bytes, bool write);
	bool exists(const Thread &t, uint64_t at, int bytes) const;

	// Several lanes (warp.cc).
	bool meet(int warp);
	bool met(const Thread *lanes, int n, const Thread &t, unsigned mask) const;
	unsigned mask_of(const Instruction &i, const Thread &t) const;
	void bring(Lanes &w, const Operand &o, int at) const;
	void collective(const Instruction &i, Lanes &w);
	void shuffle(const Instruction &i, Lanes &w);
	void vote(const Instruction &i, Lanes &w);
	void multiply(const Instruction &i, Lanes &w);

	[[noreturn]] void fault(RunnerResult r, const char *what, const Instruction &i, const Thread &t) const;

	const Function &f_;
	const RunnerLaunch &l_;
	std::vector<unsigned char> params_, shared_;
	std::vector<Thread> threads_;
	Shadow shadow_;
	int count_;
};

} // namespace ptx
