#include "parser.h"
#include "lexer.h"
#include <cstdlib>
#include <stdexcept>

namespace ptx {

static const std::map<std::string, int> special_names = {
	{"%tid.x", tid_x}, {"%tid.y", tid_y}, {"%tid.z", tid_z}, {"%ntid.x", ntid_x}, {"%ntid.y", ntid_y}, {"%ntid.z", ntid_z},
	{"%ctaid.x", ctaid_x}, {"%ctaid.y", ctaid_y}, {"%ctaid.z", ctaid_z},
	{"%nctaid.x", nctaid_x}, {"%nctaid.y", nctaid_y}, {"%nctaid.z", nctaid_z}, {"%laneid", laneid},
};

// words are the parts of a declaration between white space; an array's size stays with its name.
static std::vector<std::string> words(const std::string &s) {
	std::vector<std::string> w;
	for (const std::string &part : split(s, ' '))
		for (const std::string &p : split(part, '\t'))
			if (!p.empty()) w.push_back(p);
	return w;
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

void Parser::param(const std::string &declaration) {
	std::vector<std::string> w = words(declaration);
	Type t = Type::none;
	for (const std::string &s : w)
		if (s[0] == '.' && type_named(s.substr(1)) != Type::none) t = type_named(s.substr(1));
	if (t == Type::none || w.back().find('[') != std::string::npos) throw std::runtime_error(f_.name + ": parameter " + declaration);
	size_t size = size_of(t), at = f_.param_offsets.empty() ? 0 : f_.param_offsets.back() + f_.param_sizes.back();
	at = round_up(at, size);
	symbols_[w.back()] = at;
	f_.param_sizes.push_back(size);
	f_.param_offsets.push_back(at);
}

// declare reads .shared and .local arrays; registers need no declaration.
void Parser::declare(const std::string &s) {
	bool shared = s.rfind(".shared", 0) == 0, local = s.rfind(".local", 0) == 0;
	if (!shared && !local) return;
	std::vector<std::string> w = words(s);
	size_t align = 16, bytes = 1;
	for (size_t i = 0; i + 1 < w.size(); i++)
		if (w[i] == ".align") align = atoi(w[i + 1].c_str());
		else if (w[i][0] == '.' && type_named(w[i].substr(1)) != Type::none) bytes = size_of(type_named(w[i].substr(1)));
	size_t bracket = w.back().find('[');
	std::string name = w.back().substr(0, bracket);
	if (bracket != std::string::npos) bytes *= strtoull(w.back().c_str() + bracket + 1, nullptr, 0);
	size_t &used = shared ? f_.shared : f_.local;
	used = round_up(used, std::max<size_t>(align, 16));
	(shared ? symbols_ : locals_)[name] = used;
	used += bytes;
}

int Parser::reg(const std::string &name) {
	auto found = registers_.emplace(name, (int)registers_.size()).first;
	return found->second;
}

Operand Parser::number_or_symbol(const std::string &s) {
	Operand o;
	o.kind = Operand::constant;
	if (s.size() > 2 && s[0] == '0' && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D')) o.value = strtoull(s.c_str() + 2, nullptr, 16);
	else if (isdigit((unsigned char)s[0])) o.value = strtoull(s.c_str(), nullptr, 0);
	else if (s[0] == '-') o.value = (uint64_t)strtoll(s.c_str(), nullptr, 0);
	else if (symbols_.count(s)) o.value = symbols_[s];
	else if (dynamic_.count(s)) o.value = round_up(f_.shared, 128);
	else if (locals_.count(s)) {
		o.kind = Operand::special; // a thread's own: where its memory begins, and the offset
		o.reg = specials;
		o.value = locals_[s];
	} else throw std::runtime_error(f_.name + ": who is " + s);
	return o;
}

Operand Parser::memory(const std::string &inside) {
	size_t plus = inside.find('+');
	Operand o = operand(inside.substr(0, plus));
	uint64_t offset = plus == std::string::npos ? 0 : (uint64_t)strtoll(inside.c_str() + plus + 1, nullptr, 0);
	if (o.kind == Operand::constant) o.reg = -1;
	else if (o.kind == Operand::in_register) o.value = 0;
	else throw std::runtime_error(f_.name + ": address " + inside);
	o.kind = Operand::memory;
	o.value += offset;
	return o;
}

Operand Parser::operand(std::string s) {
	s = trim(s);
	Operand o;
	if (s.empty()) throw std::runtime_error(f_.name + ": an operand is missing");
	if (s[0] == '{') {
		o.kind = Operand::vector;
		for (const std::string &part : split(s.substr(1, s.size() - 2), ',')) o.parts.push_back(operand(part));
		return o;
	}
	if (s[0] == '[') return memory(trim(s.substr(1, s.size() - 2)));
	if (s == "_") return o; // nobody wants it
	size_t bar = s.find('|');
	if (bar != std::string::npos) { // a value and a predicate
		o.kind = Operand::vector;
		o.parts = {operand(s.substr(0, bar)), operand(s.substr(bar + 1))};
		return o;
	}
	auto special = special_names.find(s);
	if (special != special_names.end()) {
		o.kind = Operand::special;
		o.reg = special->second;
		return o;
	}
	if (s[0] == '!') {
		o = operand(s.substr(1));
		o.invert = true;
		return o;
	}
	bool number = isdigit((unsigned char)s[0]) || s[0] == '-';
	if (number || symbols_.count(s) || dynamic_.count(s) || locals_.count(s)) return number_or_symbol(s);
	o.kind = Operand::in_register;
	o.reg = reg(s);
	return o;
}

void Parser::statement(const std::string &text) {
	std::string s = trim(text);
	if (s.empty()) return;
	if (s[0] == '.') return declare(s);
	Instruction i;
	i.text = (int)f_.statements.size();
	f_.statements.push_back(s);
	if (s[0] == '@') {
		size_t end = s.find_first_of(" \t");
		i.unless = s[1] == '!';
		i.guard = reg(s.substr(1 + i.unless, end - 1 - i.unless));
		s = trim(s.substr(end));
	}
	size_t end = s.find_first_of(" \t\n{[");
	std::string rest = end == std::string::npos ? "" : trim(s.substr(end));
	try {
		decode(i, s.substr(0, end));
	} catch (const std::exception &e) {
		throw std::runtime_error(f_.name + ": " + e.what() + " in " + text);
	}
	if (i.op == Op::bra) branches_.push_back({(int)f_.code.size(), rest});
	else if (i.op != Op::nop)
		for (const std::string &a : split(rest, ',')) i.args.push_back(operand(a));
	if (i.op == Op::mov && i.args[1].kind == Operand::vector) i.op = Op::pack;
	if (i.op == Op::mov && i.args[0].kind == Operand::vector) i.op = Op::unpack;
	f_.code.push_back(i);
}

void Parser::finish() {
	for (auto &b : branches_) {
		auto found = labels_.find(b.second);
		if (found == labels_.end()) throw std::runtime_error(f_.name + ": no label " + b.second);
		f_.code[b.first].target = found->second;
	}
	Instruction end;
	end.op = Op::ret;
	end.text = (int)f_.statements.size();
	f_.statements.push_back("the end");
	f_.code.push_back(end);
	f_.registers = (int)registers_.size();
}

} // namespace ptx
