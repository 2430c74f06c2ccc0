// Memory: every access is checked for alignment, bounds and, of shared memory, races.
#include "machine.h"
#include "value.h"
#include <algorithm>

namespace ptx {

// exists tells whether bytes lie in one allocation, or in what the thread has of its own.
bool Machine::exists(const Thread &t, uint64_t at, int bytes) const {
	uint64_t own = (uint64_t)t.local.data();
	if (at >= own && at + bytes <= own + t.local.size()) return true;
	const RunnerRange *end = l_.memory + l_.ranges;
	const RunnerRange *next = std::upper_bound(l_.memory, end, at, [](uint64_t a, const RunnerRange &r) { return a < (uint64_t)r.base; });
	if (next == l_.memory) return false;
	const RunnerRange &r = *--next;
	return at + bytes <= (uint64_t)r.base + r.size;
}

unsigned char *Machine::shared_place(const Instruction &i, Thread &t, uint64_t at, int bytes, bool write) {
	if (at + bytes > shared_.size()) fault(runner_illegal, "shared memory out of bounds", i, t);
	if (shadow_.touch(at, bytes, t.number, write)) fault(runner_failed, "race in shared memory", i, t);
	return shared_.data() + at;
}

// place is where an operand of memory lies in this process.
unsigned char *Machine::place(const Instruction &i, const Operand &o, Thread &t, int bytes, bool write) {
	uint64_t at = (o.reg < 0 ? 0 : t.registers[o.reg]) + o.value;
	if (i.space == Space::param) return params_.data() + at;
	if (at % bytes) fault(runner_misaligned, "misaligned access", i, t);
	if (i.space == Space::shared) return shared_place(i, t, (uint32_t)at, bytes, write);
	if (i.space == Space::generic && at >= shared_window) return shared_place(i, t, at - shared_window, bytes, write);
	if (!exists(t, at, bytes)) fault(runner_illegal, "illegal address", i, t);
	return (unsigned char *)at;
}

// A register that is wider than what is loaded holds it extended by its sign.
static uint64_t widened(Type type, const unsigned char *p) {
	return as_type(type, [&](auto v) -> uint64_t {
		memcpy(&v, p, sizeof v);
		if (sizeof v < 4 && std::is_signed<decltype(v)>::value) return (uint32_t)(int32_t)v;
		return put(v);
	});
}

void Machine::load(const Instruction &i, Thread &t) {
	int size = size_of(i.type);
	const unsigned char *p = place(i, i.args[1], t, size * i.parts, false);
	for (int k = 0; k < i.parts; k++) write(i.parts > 1 ? i.args[0].parts[k] : i.args[0], t, widened(i.type, p + k * size));
}

void Machine::store(const Instruction &i, Thread &t) {
	int size = size_of(i.type);
	unsigned char *p = place(i, i.args[0], t, size * i.parts, true);
	for (int k = 0; k < i.parts; k++) {
		uint64_t v = read(i.parts > 1 ? i.args[1].parts[k] : i.args[1], t);
		memcpy(p + k * size, &v, size);
	}
}

// atomic_add does an atom.add, or a red.add, which has no result. Atomic accesses do not race
// with each other, but with others, as reads do.
void Machine::atomic_add(const Instruction &i, Thread &t) {
	bool silent = i.args[0].kind == Operand::memory;
	int size = size_of(i.type);
	unsigned char *p = place(i, i.args[silent ? 0 : 1], t, size, false);
	Instruction add;
	add.op = Op::add;
	add.type = i.type;
	uint64_t x[4] = {widened(i.type, p), read(i.args[silent ? 1 : 2], t)}, sum = compute(add, x);
	memcpy(p, &sum, size);
	if (!silent) write(i.args[0], t, x[0]);
}

// issue_copy notes a cp.async. It may write at any time until it is waited for: it is an
// access now, and another one then.
void Machine::issue_copy(const Instruction &i, Thread &t) {
	int bytes = (int)read(i.args[2], t), valid = i.args.size() > 3 ? (int)read(i.args[3], t) : bytes;
	uint64_t to = (uint32_t)((i.args[0].reg < 0 ? 0 : t.registers[i.args[0].reg]) + i.args[0].value);
	uint64_t from = t.registers[i.args[1].reg] + i.args[1].value;
	if (to % bytes || (valid && from % bytes)) fault(runner_misaligned, "misaligned access", i, t);
	if (valid != 0 && valid != bytes) fault(runner_failed, "cp.async of a part", i, t);
	if (valid && !exists(t, from, bytes)) fault(runner_illegal, "illegal address", i, t);
	shared_place(i, t, to, bytes, true);
	shadow_.hold(to, bytes);
	t.copies.push_back({to, valid ? (const void *)from : nullptr, bytes, t.groups});
}

void Machine::finish_copies(Thread &t, int upto) {
	size_t n = 0;
	for (; n < t.copies.size() && t.copies[n].group < upto; n++) {
		const Copy &c = t.copies[n];
		shadow_.release(c.to, c.bytes);
		unsigned char *to = shared_place(f_.code[t.at], t, c.to, c.bytes, true);
		if (c.from) memcpy(to, c.from, c.bytes);
		else memset(to, 0, c.bytes);
	}
	t.copies.erase(t.copies.begin(), t.copies.begin() + n);
}

} // namespace ptx
