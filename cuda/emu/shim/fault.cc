// A fault of a thread that runs a kernel jumps out of it; all others go to who handled
// faults before, such as the runtime of Go.
#include "fault.h"
#include <csetjmp>
#include <csignal>

namespace shim {

const char *const illegal_address = "illegal address";

static thread_local sigjmp_buf *where_to __attribute__((tls_model("initial-exec")));
static struct sigaction before[NSIG];

static void on_fault(int sig, siginfo_t *info, void *context) {
	if (where_to) siglongjmp(*where_to, 1);
	if (before[sig].sa_flags & SA_SIGINFO) before[sig].sa_sigaction(sig, info, context);
	else if (before[sig].sa_handler != SIG_DFL && before[sig].sa_handler != SIG_IGN) before[sig].sa_handler(sig);
	else {
		sigaction(sig, &before[sig], nullptr); // and the instruction faults again
	}
}

static bool install() {
	struct sigaction a = {};
	a.sa_sigaction = on_fault;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	sigaction(SIGSEGV, &a, &before[SIGSEGV]);
	sigaction(SIGBUS, &a, &before[SIGBUS]);
	return true;
}

bool catch_faults(const std::function<void()> &f) {
	static bool installed = install();
	(void)installed; // for its effect
	sigjmp_buf here;
	if (sigsetjmp(here, 0)) {
		where_to = nullptr;
		return false;
	}
	where_to = &here;
	f();
	where_to = nullptr;
	return true;
}

} // namespace shim
