// A program in PTX, decoded: what the interpreter runs. The language is that of NVIDIA's "PTX ISA" manual,
// as far as the compiler uses it for the kernels.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptx {

enum class Type : uint8_t { none, pred, u8, s8, u16, s16, f16, u32, s32, u64, s64, f32, f64 };

inline int size_of(Type t) {
	switch (t) {
	case Type::u8: case Type::s8: return 1;
	case Type::u16: case Type::s16: case Type::f16: return 2;
	case Type::u64: case Type::s64: case Type::f64: return 8;
	default: return 4;
	}
}

enum class Op : uint8_t {
	// of values alone
	mov, add, sub, mul, mul_wide, mul_hi, mad, mad_wide, mad_hi, fma, div, rem, neg, abs, min, max,
	and_, or_, xor_, not_, shl, shr, shf_l, shf_r, bfe, bfi, prmt, lop3, popc, clz, brev, selp, setp, cvt,
	ex2, lg2, rsqrt, rcp, sqrt, tanh, copysign,
	// of memory and control
	ld, st, atomic_add, cvta, cvta_to, pack, unpack, bra, ret, nop, cp_async, cp_commit, cp_wait,
	// of several threads
	bar, bar_warp, shfl, vote, mma,
};

enum class Space : uint8_t { generic, global, shared, local, param };
enum class Compare : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Mode : uint8_t { none, and_, or_, xor_, bfly, down, up, idx, ballot, any, all };
enum class Rounding : uint8_t { none, to_zero, nearest, down, up };

struct Operand {
	enum Kind : uint8_t { nothing, in_register, constant, special, memory, vector } kind = nothing;
	bool invert = false;   // of a predicate
	int reg = 0;          // also the base of memory; -1 where it has none
	uint64_t value = 0;   // of a constant; of memory, what is added to the base
	std::vector<Operand> parts;
};

struct Instruction {
	Op op = Op::nop;
	Type type = Type::none, from = Type::none; // from: what cvt reads
	int guard = -1;                            // register of the predicate
	bool unless = false;                       // the predicate must be false
	Compare compare = Compare::eq;
	Mode mode = Mode::none, combine = Mode::none; // combine: of setp with another predicate
	Rounding rounding = Rounding::none;           // of cvt to a whole number
	Space space = Space::generic;
	bool saturate = false, keeps_nan = false;
	int parts = 1;    // of a vector
	int target = -1;  // of a branch
	std::vector<Operand> args;
	int text = 0;     // number of its statement in Function::statements
};

struct Function {
	std::string name;
	std::vector<Instruction> code;
	std::vector<std::string> statements;
	int registers = 0;
	std::vector<size_t> param_sizes, param_offsets;
	size_t shared = 0, local = 0; // bytes that it has by itself
};

using Program = std::map<std::string, Function>;

// Special registers, in the order of a thread's table of them.
enum Special { tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z, laneid, specials };

// Addresses of shared memory are offsets; as generic ones they lie in a window where the process
// has no memory.
constexpr uint64_t shared_window = uint64_t(1) << 60;

// parse reads a program; at what it does not know it throws a std::runtime_error.
Program parse(const std::string &text);

} // namespace ptx
