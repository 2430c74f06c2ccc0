// Reads what a cubin says of its kernels: names, sizes of parameters, registers, shared
// memory (sections .text.*, .nv.info*, .nv.shared.*; the layout is not documented and was
// read from what ptxas writes).
#include "module.h"
#include <cstring>
#include <elf.h>

namespace fake {

namespace {

// Attributes in .nv.info: a byte of format, one of kind, two of size, then the value.
constexpr int with_value = 4;
constexpr int system_shared = 1024; // bytes that .nv.shared.* begins with where .nv.shared.reserved.0 is, as from sm_90 on
constexpr int kind_param = 0x17, kind_param_newer = 0x45, kind_registers = 0x2f, kind_frame = 0x11;

struct Cubin {
	const unsigned char *image;
	const Elf64_Ehdr *head;
	const Elf64_Shdr *sections;
	const Elf64_Sym *symbols = nullptr;
	const char *symbol_names = nullptr;

	explicit Cubin(const unsigned char *i) : image(i), head((const Elf64_Ehdr *)i), sections((const Elf64_Shdr *)(i + head->e_shoff)) {
		for (int s = 0; s < head->e_shnum; s++) {
			if (sections[s].sh_type != SHT_SYMTAB) continue;
			symbols = (const Elf64_Sym *)(image + sections[s].sh_offset);
			symbol_names = (const char *)image + sections[sections[s].sh_link].sh_offset;
		}
	}
	// runs_here tells whether the device has the architecture, or a later one of its kind.
	bool runs_here() const {
		int architecture = head->e_flags >> 8 & 0xff;
		return architecture / 10 == driver.config.major && architecture % 10 <= driver.config.minor;
	}
	std::string name(int s) const { return (const char *)image + sections[head->e_shstrndx].sh_offset + sections[s].sh_name; }
};

template <class T> T value(const unsigned char *p) {
	T v;
	memcpy(&v, p, sizeof v);
	return v;
}

CUfunc_st *find(CUmod_st *m, const std::string &name) {
	auto found = m->functions.find(name);
	return found == m->functions.end() ? nullptr : found->second.get();
}

// after is what follows a prefix, if the name has it.
bool after(const std::string &name, const char *prefix, std::string *rest) {
	if (name.rfind(prefix, 0)) return false;
	*rest = name.substr(strlen(prefix));
	return true;
}

void read_attribute(const Cubin &c, CUmod_st *m, const std::string &kernel, int kind, const unsigned char *v) {
	if (kind == kind_param || kind == kind_param_newer) {
		if (CUfunc_st *f = find(m, kernel)) f->params[value<uint16_t>(v + 4)] = value<uint32_t>(v + 8) >> 18 & 0x3fff;
		return;
	}
	if ((kind != kind_registers && kind != kind_frame) || !c.symbols) return;
	CUfunc_st *f = find(m, c.symbol_names + c.symbols[value<uint32_t>(v)].st_name);
	if (f) (kind == kind_registers ? f->registers : f->local) = value<uint32_t>(v + 4);
}

void read_info(const Cubin &c, int s, CUmod_st *m, const std::string &kernel) {
	const unsigned char *p = c.image + c.sections[s].sh_offset, *end = p + c.sections[s].sh_size;
	while (p + 4 <= end) {
		bool sized = p[0] == with_value;
		if (sized) read_attribute(c, m, kernel, p[1], p + 4);
		p += 4 + (sized ? value<uint16_t>(p + 2) : 0);
	}
}

} // namespace

CUresult read_cubin(const unsigned char *image, CUmod_st *m) {
	Cubin c(image);
	if (!c.runs_here()) return CUDA_ERROR_NO_BINARY_FOR_GPU;
	std::string kernel;
	int system = 0;
	for (int s = 0; s < c.head->e_shnum; s++) {
		if (!after(c.name(s), ".text.", &kernel)) continue; // one for each kernel
		auto f = std::make_unique<CUfunc_st>();
		f->name = kernel;
		m->functions[kernel] = std::move(f);
	}
	for (int s = 0; s < c.head->e_shnum; s++)
		if (c.name(s) == ".nv.shared.reserved.0") system = system_shared;
	for (int s = 0; s < c.head->e_shnum; s++) {
		std::string name = c.name(s);
		if (name == ".nv.info") read_info(c, s, m, "");
		if (after(name, ".nv.info.", &kernel)) read_info(c, s, m, kernel);
		if (after(name, ".nv.shared.", &kernel))
			if (CUfunc_st *f = find(m, kernel)) f->shared = c.sections[s].sh_size - system;
	}
	for (auto &f : m->functions) f.second->dynamic = plain_shared - f.second->shared;
	return m->functions.empty() ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

// read_ptx takes the names of the kernels; a driver refuses a version of PTX that is newer than itself.
CUresult read_ptx(const char *text, CUmod_st *m) {
	int major = 0, minor = 0;
	const char *v = strstr(text, ".version");
	if (!v || sscanf(v, ".version %d.%d", &major, &minor) != 2) return CUDA_ERROR_INVALID_PTX;
	int cuda = driver.config.version / 10; // 13.0 is 1300, and knows PTX 9.0
	if (major * 10 + minor > (cuda / 100 - 4) * 10 + cuda % 100) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
	for (const char *p = text; (p = strstr(p, ".entry "));) {
		p += strlen(".entry ");
		auto f = std::make_unique<CUfunc_st>();
		f->name = std::string(p, strcspn(p, "(\n "));
		f->dynamic = plain_shared;
		m->functions[f->name] = std::move(f);
	}
	return m->functions.empty() ? CUDA_ERROR_INVALID_PTX : CUDA_SUCCESS;
}

} // namespace fake
