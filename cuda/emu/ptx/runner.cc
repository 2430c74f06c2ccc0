// The interpreter as a runner.
#include "../shim/runner.h"
#include "machine.h"
#include <cstdio>
#include <fstream>
#include <sstream>

void *runner_open(const char *path) {
	try {
		std::ifstream in(path);
		if (!in) throw std::runtime_error("cannot be read");
		std::stringstream text;
		text << in.rdbuf();
		return new ptx::Program(ptx::parse(text.str()));
	} catch (const std::exception &e) {
		fprintf(stderr, "interpreter: %s: %s\n", path, e.what());
		return nullptr;
	}
}

int runner_params(void *program, const char *kernel, size_t *sizes, int max) {
	auto &p = *(ptx::Program *)program;
	auto found = p.find(kernel);
	if (found == p.end()) return -1;
	int n = 0;
	for (size_t s : found->second.param_sizes)
		if (n++ < max) sizes[n - 1] = s;
	return n;
}

RunnerResult runner_launch(void *program, const RunnerLaunch *l, char *error, size_t n) {
	*error = 0;
	try {
		ptx::Machine m(((ptx::Program *)program)->at(l->kernel), *l);
		for (unsigned z = 0; z < l->grid[2]; z++)
			for (unsigned y = 0; y < l->grid[1]; y++)
				for (unsigned x = 0; x < l->grid[0]; x++) m.run(x, y, z);
	} catch (const ptx::Fault &f) {
		snprintf(error, n, "%s", f.what());
		return f.result;
	}
	return runner_done;
}
