// What several lanes of a warp do together.
#include "machine.h"
#include "value.h"

namespace ptx {

// Lanes are what a warp's lanes bring, and what they get.
struct Lanes {
	Thread *threads;
	unsigned mask;
	uint64_t in[32][10];
	bool has(int lane) const { return lane >= 0 && lane < 32 && mask >> lane & 1; }
};

// mask_of is which lanes take part, as the lane itself says.
unsigned Machine::mask_of(const Instruction &i, const Thread &t) const {
	return i.op == Op::mma ? 0xffffffffu : (unsigned)read(i.args.back(), t);
}

// met tells whether all lanes of the mask wait at the instruction where lane t waits.
bool Machine::met(const Thread *lanes, int n, const Thread &t, unsigned mask) const {
	for (int l = 0; l < 32; l++) {
		if (!(mask >> l & 1)) continue;
		if (l >= n || lanes[l].wait != Wait::warp || lanes[l].at != t.at || mask_of(f_.code[t.at], lanes[l]) != mask) return false;
	}
	return true;
}

// meet lets a warp's lanes go on that have all come to the same collective.
bool Machine::meet(int warp) {
	Thread *lanes = &threads_[warp * 32];
	int n = std::min(32, count_ - warp * 32);
	bool any = false;
	for (int l = 0; l < n; l++) {
		Thread &t = lanes[l];
		if (t.wait != Wait::warp) continue;
		const Instruction &i = f_.code[t.at];
		unsigned mask = mask_of(i, t);
		if (!(mask >> l & 1)) fault(runner_failed, "lane is not in its own mask", i, t);
		if (!met(lanes, n, t, mask)) continue;
		Lanes w{lanes, mask, {}};
		collective(i, w);
		shadow_.collective(warp);
		for (int k = 0; k < n; k++) {
			if (!(mask >> k & 1)) continue;
			lanes[k].wait = Wait::none;
			lanes[k].at++;
		}
		any = true;
	}
	return any;
}

// bring copies what an operand of each lane holds to its places from at on.
void Machine::bring(Lanes &w, const Operand &o, int at) const {
	for (int l = 0; l < 32; l++) {
		if (!w.has(l)) continue;
		if (o.kind != Operand::vector) w.in[l][at] = read(o, w.threads[l]);
		for (size_t p = 0; p < o.parts.size(); p++) w.in[l][at + p] = read(o.parts[p], w.threads[l]);
	}
}

void Machine::collective(const Instruction &i, Lanes &w) {
	switch (i.op) {
	case Op::bar_warp: return;
	case Op::shfl: return shuffle(i, w);
	case Op::vote: return vote(i, w);
	default: return multiply(i, w);
	}
}

void Machine::shuffle(const Instruction &i, Lanes &w) {
	bring(w, i.args[1], 0);
	const Operand &to = i.args[0], &value = to.kind == Operand::vector ? to.parts[0] : to;
	for (int l = 0; l < 32; l++) {
		if (!w.has(l)) continue;
		Thread &t = w.threads[l];
		int by = (int)read(i.args[2], t);
		int from = i.mode == Mode::bfly ? l ^ by : i.mode == Mode::down ? l + by : i.mode == Mode::up ? l - by : by & 31;
		bool inside = from >= 0 && from < 32;
		if (inside && !w.has(from)) fault(runner_failed, "shuffle reads a lane outside the mask", i, t);
		write(value, t, (uint32_t)w.in[inside ? from : l][0]);
		if (to.kind == Operand::vector) write(to.parts[1], t, inside);
	}
}

void Machine::vote(const Instruction &i, Lanes &w) {
	bring(w, i.args[1], 0);
	unsigned yes = 0;
	for (int l = 0; l < 32; l++)
		if (w.has(l) && w.in[l][0]) yes |= 1u << l;
	uint64_t answer = i.mode == Mode::ballot ? yes : i.mode == Mode::any ? yes != 0 : yes == w.mask;
	for (int l = 0; l < 32; l++)
		if (w.has(l)) write(i.args[0], w.threads[l], answer);
}

// bf16 is the lower or the upper number of a register of two.
static float bf16(uint64_t pair, int upper) { return get<float>(upper ? pair & 0xffff0000 : (pair & 0xffff) << 16); }

// multiply is mma.m16n8k16: registers 0 to 3 of a lane are of A, then two of B, then four of C.
void Machine::multiply(const Instruction &i, Lanes &w) {
	for (int a = 1, at = 0; a <= 3; at += (int)i.args[a++].parts.size()) bring(w, i.args[a], at);
	for (int l = 0; l < 32; l++)
		for (int r = 0; r < 4; r++) {
			int row = (l >> 2) + (r >> 1) * 8, col = (l & 3) * 2 + (r & 1);
			float product = 0;
			for (int k = 0; k < 16; k++) {
				int pair = (k & 7) >> 1, upper = k >> 3;
				uint64_t a = w.in[(row & 7) * 4 + pair][(row >> 3) + 2 * upper], b = w.in[col * 4 + pair][4 + upper];
				product += bf16(a, k & 1) * bf16(b, k & 1);
			}
			write(i.args[0].parts[r], w.threads[l], put(get<float>(w.in[l][6 + r]) + product));
		}
}

} // namespace ptx
