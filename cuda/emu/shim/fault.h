// Addresses that a kernel must not touch end the kernel, not the process.
#pragma once
#include <functional>

namespace shim {

extern const char *const illegal_address;

// catch_faults runs f, and answers false where f touched memory that is not there. What f
// had on its stack is not destroyed then.
bool catch_faults(const std::function<void()> &f);

} // namespace shim
