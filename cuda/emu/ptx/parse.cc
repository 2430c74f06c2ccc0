// Finds the kernels of a file and hands their parts to a Parser each.
#include "lexer.h"
#include "parser.h"
#include <stdexcept>

namespace ptx {

namespace {

// body reads a kernel's statements, from behind its first bracket to behind its last.
size_t body(const std::string &text, size_t at, Parser &p) {
	int depth = 1;
	while (depth) {
		at = text.find_first_not_of(" \t\n\r", at);
		if (at == std::string::npos) throw std::runtime_error("the end comes too early");
		if (text[at] == '{' || text[at] == '}') {
			depth += text[at++] == '{' ? 1 : -1;
			continue;
		}
		size_t end = text.find_first_of(";:\n", at);
		for (int inside = 0; end != std::string::npos; end = text.find_first_of(";:\n{}", end + 1)) { // a vector may hold no end
			inside += (text[end] == '{') - (text[end] == '}');
			if (text[end] == ';' || (text[end] == ':' && !inside)) break;
			if (text[end] == '\n' && text.compare(at, 5, ".loc ") == 0) break;
		}
		if (end == std::string::npos) throw std::runtime_error("a statement has no end");
		if (text[end] == ':') p.label(trim(text.substr(at, end - at)));
		else p.statement(text.substr(at, end - at));
		at = end + 1;
	}
	return at;
}

// dynamic_arrays are the arrays of shared memory whose size a launch says.
std::map<std::string, size_t> dynamic_arrays(const std::string &text) {
	std::map<std::string, size_t> names;
	for (size_t at = 0; (at = text.find(".extern .shared", at)) != std::string::npos; at++) {
		size_t bracket = text.find("[", at), begin = text.find_last_of(" \t", bracket);
		names[text.substr(begin + 1, bracket - begin - 1)] = 0;
	}
	return names;
}

} // namespace

Program parse(const std::string &commented) {
	std::string text = without_comments(commented);
	Program program;
	std::map<std::string, size_t> dynamic = dynamic_arrays(text);
	const std::string entry = ".entry ";
	for (size_t at = 0; (at = text.find(entry, at)) != std::string::npos;) {
		at += entry.size();
		size_t open = text.find_first_of("({", at);
		Function &f = program[trim(text.substr(at, open - at))];
		f.name = trim(text.substr(at, open - at));
		Parser p(f, dynamic);
		if (text[open] == '(') {
			size_t close = text.find(')', open);
			for (const std::string &d : split(text.substr(open + 1, close - open - 1), ','))
				if (!d.empty()) p.param(d);
			open = text.find('{', close);
		}
		at = body(text, open + 1, p);
		p.finish();
	}
	if (program.empty()) throw std::runtime_error("there is no kernel in it");
	return program;
}

} // namespace ptx
