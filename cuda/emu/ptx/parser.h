// Reads one kernel's body, statement by statement.
#pragma once
#include "program.h"

namespace ptx {

class Parser {
public:
	explicit Parser(Function &f, std::map<std::string, size_t> dynamic) : f_(f), dynamic_(std::move(dynamic)) {}
	void param(const std::string &declaration);
	void statement(const std::string &s);
	void label(const std::string &name) { labels_[name] = (int)f_.code.size(); }
	// finish resolves branches.
	void finish();

private:
	void declare(const std::string &s);
	Operand operand(std::string s);
	Operand memory(const std::string &inside);
	Operand number_or_symbol(const std::string &s);
	int reg(const std::string &name);

	Function &f_;
	std::map<std::string, size_t> dynamic_;  // arrays of shared memory whose size the launch says
	std::map<std::string, int> registers_, labels_;
	std::map<std::string, uint64_t> symbols_;
	std::map<std::string, uint64_t> locals_; // by offset; a thread adds where its own lie
	std::vector<std::pair<int, std::string>> branches_;
};

// decode sets what an operation's name says: "ld.shared.v4.u32" and the like.
void decode(Instruction &i, const std::string &name);

Type type_named(const std::string &s); // none: it is no type

} // namespace ptx
