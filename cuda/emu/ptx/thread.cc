// One thread's instructions.
#include "machine.h"
#include "value.h"

namespace ptx {

uint64_t Machine::read(const Operand &o, const Thread &t) const {
	switch (o.kind) {
	case Operand::in_register: return t.registers[o.reg] ^ o.invert;
	case Operand::constant: return o.value;
	case Operand::special: return o.reg == (int)specials ? (uint64_t)t.local.data() + o.value : t.special[o.reg];
	default: throw std::logic_error("an operand without a value");
	}
}

void Machine::write(const Operand &o, Thread &t, uint64_t v) {
	if (o.kind == Operand::in_register) t.registers[o.reg] = v;
}

// values does what reads and writes registers only.
void Machine::values(const Instruction &i, Thread &t) {
	uint64_t x[4] = {};
	for (size_t a = 1; a < i.args.size(); a++) x[a - 1] = read(i.args[a], t);
	write(i.args[0], t, compute(i, x));
}

void Machine::step(Thread &t, const Instruction &i) {
	switch (i.op) {
	case Op::ld: return load(i, t);
	case Op::st: return store(i, t);
	case Op::atomic_add: return atomic_add(i, t);
	case Op::cp_async: return issue_copy(i, t);
	case Op::cp_commit: t.groups++; return;
	case Op::cp_wait: return finish_copies(t, i.parts == 0 ? t.groups + 1 : t.groups - (int)read(i.args[0], t));
	case Op::cvta: return write(i.args[0], t, read(i.args[1], t) + (i.space == Space::shared ? shared_window : 0));
	case Op::cvta_to: return write(i.args[0], t, read(i.args[1], t) - (i.space == Space::shared ? shared_window : 0));
	case Op::pack: case Op::unpack: {
		const std::vector<Operand> &parts = i.args[i.op == Op::pack].parts;
		int bits = 8 * size_of(i.type) / (int)parts.size();
		uint64_t mask = (uint64_t(1) << bits) - 1, v = i.op == Op::unpack ? read(i.args[1], t) : 0;
		for (size_t p = 0; p < parts.size(); p++)
			if (i.op == Op::pack) v |= (read(parts[p], t) & mask) << bits * p;
			else write(parts[p], t, v >> bits * p & mask);
		if (i.op == Op::pack) write(i.args[0], t, v);
		return;
	}
	case Op::nop: return;
	default: return values(i, t);
	}
}

void Machine::run_thread(Thread &t) {
	while (t.wait == Wait::none) {
		const Instruction &i = f_.code[t.at];
		if (i.guard >= 0 && (bool)(t.registers[i.guard] & 1) == i.unless) {
			t.at++;
			continue;
		}
		switch (i.op) {
		case Op::bra: t.at = i.target; continue;
		case Op::ret: t.wait = Wait::done; continue;
		case Op::bar: t.wait = Wait::barrier; continue;
		case Op::bar_warp: case Op::shfl: case Op::vote: case Op::mma: t.wait = Wait::warp; continue;
		default: break;
		}
		try {
			step(t, i);
		} catch (const Fault &) {
			throw;
		} catch (const std::exception &e) {
			fault(runner_failed, e.what(), i, t);
		}
		t.at++;
	}
}

} // namespace ptx
