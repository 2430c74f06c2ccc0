// Cuts PTX into statements.
#pragma once
#include <string>
#include <vector>

namespace ptx {

// without_comments blanks comments out.
std::string without_comments(std::string text);

// trim cuts white space at both ends.
std::string trim(const std::string &s);

// split cuts at a character that lies in no brackets, and trims the parts.
std::vector<std::string> split(const std::string &s, char at);

} // namespace ptx
