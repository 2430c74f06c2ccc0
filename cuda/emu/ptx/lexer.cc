#include "lexer.h"
#include <cctype>

namespace ptx {

std::string without_comments(std::string text) {
	for (size_t i = 0; i + 1 < text.size(); i++) {
		if (text[i] != '/') continue;
		if (text[i + 1] == '/')
			for (; i < text.size() && text[i] != '\n'; i++) text[i] = ' ';
		else if (text[i + 1] == '*') {
			size_t end = text.find("*/", i + 2);
			end = end == std::string::npos ? text.size() : end + 2;
			for (; i < end; i++) text[i] = text[i] == '\n' ? '\n' : ' ';
		}
	}
	return text;
}

std::string trim(const std::string &s) {
	size_t from = 0, to = s.size();
	while (from < to && isspace((unsigned char)s[from])) from++;
	while (to > from && isspace((unsigned char)s[to - 1])) to--;
	return s.substr(from, to - from);
}

std::vector<std::string> split(const std::string &s, char at) {
	std::vector<std::string> parts;
	std::string part;
	int depth = 0;
	for (char c : s) {
		depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
		if (c != at || depth) part += c;
		else {
			parts.push_back(trim(part));
			part.clear();
		}
	}
	part = trim(part);
	if (!part.empty() || !parts.empty()) parts.push_back(part);
	return parts;
}

} // namespace ptx
