// What an operation's name says.
#include "lexer.h"
#include "parser.h"
#include <algorithm>
#include <stdexcept>

namespace ptx {

static const std::map<std::string, Type> types = {
	{"pred", Type::pred}, {"b8", Type::u8}, {"u8", Type::u8}, {"s8", Type::s8}, {"b16", Type::u16}, {"u16", Type::u16}, {"s16", Type::s16}, {"f16", Type::f16},
	{"b32", Type::u32}, {"u32", Type::u32}, {"s32", Type::s32}, {"b64", Type::u64}, {"u64", Type::u64}, {"s64", Type::s64},
	{"f32", Type::f32}, {"f64", Type::f64},
};

static const std::map<std::string, Op> ops = {
	{"mov", Op::mov}, {"add", Op::add}, {"sub", Op::sub}, {"mul", Op::mul}, {"mul24", Op::mul}, {"mad", Op::mad}, {"fma", Op::fma},
	{"div", Op::div}, {"rem", Op::rem}, {"neg", Op::neg}, {"abs", Op::abs}, {"min", Op::min}, {"max", Op::max},
	{"and", Op::and_}, {"or", Op::or_}, {"xor", Op::xor_}, {"not", Op::not_}, {"shl", Op::shl}, {"shr", Op::shr},
	{"bfe", Op::bfe}, {"bfi", Op::bfi}, {"prmt", Op::prmt}, {"lop3", Op::lop3}, {"popc", Op::popc}, {"clz", Op::clz}, {"brev", Op::brev},
	{"selp", Op::selp}, {"setp", Op::setp}, {"cvt", Op::cvt}, {"ex2", Op::ex2}, {"lg2", Op::lg2}, {"rsqrt", Op::rsqrt}, {"rcp", Op::rcp},
	{"sqrt", Op::sqrt}, {"tanh", Op::tanh}, {"copysign", Op::copysign},
	{"ld", Op::ld}, {"ldu", Op::ld}, {"st", Op::st}, {"atom", Op::atomic_add}, {"red", Op::atomic_add}, {"bra", Op::bra}, {"ret", Op::ret}, {"exit", Op::ret},
	{"membar", Op::nop}, {"fence", Op::nop}, {"prefetch", Op::nop}, {"bar", Op::bar}, {"barrier", Op::bar}, {"shfl", Op::shfl},
	{"vote", Op::vote}, {"mma", Op::mma},
};

static const std::map<std::string, Compare> compares = {
	{"eq", Compare::eq}, {"ne", Compare::ne}, {"lt", Compare::lt}, {"le", Compare::le}, {"gt", Compare::gt}, {"ge", Compare::ge},
	{"lo", Compare::lt}, {"ls", Compare::le}, {"hi", Compare::gt}, {"hs", Compare::ge}, {"equ", Compare::equ}, {"neu", Compare::neu},
	{"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu}, {"geu", Compare::geu}, {"num", Compare::num}, {"nan", Compare::nan},
};

static const std::map<std::string, Mode> modes = {
	{"bfly", Mode::bfly}, {"down", Mode::down}, {"up", Mode::up}, {"idx", Mode::idx}, {"ballot", Mode::ballot}, {"any", Mode::any}, {"all", Mode::all},
};

static const std::map<std::string, Space> spaces = {
	{"global", Space::global}, {"shared", Space::shared}, {"shared::cta", Space::shared}, {"local", Space::local}, {"param", Space::param}, {"const", Space::global},
};

Type type_named(const std::string &s) {
	auto found = types.find(s);
	return found == types.end() ? Type::none : found->second;
}

namespace {

// Parts are an operation's name between its points, the first of which is the operation.
struct Parts {
	std::vector<std::string> all;
	bool has(const char *s) const { return std::find(all.begin() + 1, all.end(), s) != all.end(); }
	template <class T> void find(const std::map<std::string, T> &of, T *to) const {
		for (size_t i = 1; i < all.size(); i++) {
			auto found = of.find(all[i]);
			if (found == of.end()) continue;
			*to = found->second;
			return;
		}
	}
};

// Operations whose later parts say which one it is.
Op refined(Op op, const Parts &p, const std::string &name) {
	if (p.all[0] == "bar" && p.has("warp")) return Op::bar_warp;
	if (op == Op::mul) return p.has("wide") ? Op::mul_wide : p.has("hi") ? Op::mul_hi : op;
	if (op == Op::mad) return p.has("wide") ? Op::mad_wide : p.has("hi") ? Op::mad_hi : op;
	if (op == Op::mma && name != "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") throw std::runtime_error("no support for " + name);
	if (op == Op::atomic_add && !p.has("add")) throw std::runtime_error("no support for " + name);
	return op;
}

Op operation(const Parts &p, const std::string &name) {
	if (p.all[0] == "cvta") return p.has("to") ? Op::cvta_to : Op::cvta;
	if (p.all[0] == "shf") {
		if (!p.has("wrap")) throw std::runtime_error("no support for " + name);
		return p.has("l") ? Op::shf_l : Op::shf_r;
	}
	if (p.all[0] == "cp" && p.has("async")) return p.has("commit_group") ? Op::cp_commit : p.has("wait_group") || p.has("wait_all") ? Op::cp_wait : Op::cp_async;
	auto found = ops.find(p.all[0]);
	if (found == ops.end()) throw std::runtime_error("no support for " + name);
	return refined(found->second, p, name);
}

} // namespace

void decode(Instruction &i, const std::string &name) {
	Parts p{split(name, '.')};
	i.op = operation(p, name);
	for (const std::string &s : p.all) {
		Type t = type_named(s);
		if (t == Type::none) continue;
		if (i.type == Type::none) i.type = t;
		i.from = t;
	}
	p.find(spaces, &i.space);
	if (i.op == Op::setp) {
		p.find(compares, &i.compare);
		if (p.has("and")) i.combine = Mode::and_;
		if (p.has("or")) i.combine = Mode::or_;
		if (p.has("xor")) i.combine = Mode::xor_;
	} else if (i.op == Op::shfl || i.op == Op::vote) p.find(modes, &i.mode);
	if (i.op == Op::cvt) i.rounding = p.has("rzi") ? Rounding::to_zero : p.has("rni") ? Rounding::nearest : p.has("rmi") ? Rounding::down : p.has("rpi") ? Rounding::up : Rounding::none;
	if (i.op == Op::fma && p.has("rm")) i.rounding = Rounding::down; // as the compiler's exp has it
	i.saturate = p.has("sat");
	i.keeps_nan = p.has("NaN");
	i.parts = p.has("v2") ? 2 : p.has("v4") ? 4 : 1;
	if (p.all[0] == "cp" && p.has("wait_all")) i.parts = 0;
}

} // namespace ptx
