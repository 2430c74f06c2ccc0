// The shim as a runner: kernels that were compiled beside this file.
#include "runner.h"
#include "fault.h"
#include "grid.h"
#include "registry.h"

namespace shim {

std::map<std::string, Kernel> &kernels() {
	static std::map<std::string, Kernel> all;
	return all;
}

} // namespace shim

void *runner_open(const char *) { return &shim::kernels(); }

int runner_params(void *, const char *name, size_t *sizes, int max) {
	auto found = shim::kernels().find(name);
	if (found == shim::kernels().end()) return -1;
	int n = 0;
	for (size_t s : found->second.sizes)
		if (n++ < max) sizes[n - 1] = s;
	return n;
}

RunnerResult runner_launch(void *, const RunnerLaunch *l, char *error, size_t n) {
	shim::Grid g;
	g.blocks = {l->grid[0], l->grid[1], l->grid[2]};
	g.threads = {l->block[0], l->block[1], l->block[2]};
	g.shared = l->shared;
	g.order = l->order;
	g.kernel = shim::kernels().at(l->kernel).call;
	g.params = l->params;
	shim::run_grid(g);
	snprintf(error, n, "%s", g.error.c_str());
	return g.error.empty() ? runner_done : g.error == shim::illegal_address ? runner_illegal : runner_failed;
}
