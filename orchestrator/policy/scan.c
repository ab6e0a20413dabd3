/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/scan.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <linux/bpf.h>
#include "abi/shared_state.h"
#include "base/numbers.h"
#include "policy/elf_image.h"
#include "policy/source.h"

#define FUNCTION "fabricbed_policy"

#define INSTRUCTIONS_MAX 1000000u /* the kernel's BPF_COMPLEXITY_LIMIT_INSNS */

struct scan {
	const struct policy_source *source;
	struct error *why;
	struct elf_image elf;
	char place[SOURCE_PLACE];
};

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static int open_scan(struct scan *s, const void *object, size_t bytes, Elf64_Word symbols)
{
	if (elf_image_open(&s->elf, object, bytes, symbols) == 0)
		return 0;
	return error_set(s->why, -EINVAL, "%s: the compiler made no object of it", s->source->name);
}

/* ---- lines ---- */

/* The section .BTF.ext: Documentation/bpf/btf.rst, 4.2. */
struct btf_ext {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t head_bytes;
	uint32_t functions_at, functions_bytes;
	uint32_t lines_at, lines_bytes; /* from the end of the head */
};

struct btf_lines {
	uint32_t section; /* its name, a text of .BTF */
	uint32_t count;   /* of struct btf_line, which follow */
};

struct btf_line {
	uint32_t at;    /* bytes from the start of the section */
	uint32_t file;  /* a text of .BTF */
	uint32_t text;  /* of the line, likewise */
	uint32_t place; /* line above 10 bits of column */
};

#define BTF_LINE(place) ((place) >> 10)

/* The head of .BTF: Documentation/bpf/btf.rst, 2. */
struct btf_head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t head_bytes;
	uint32_t types_at, types_bytes;
	uint32_t texts_at, texts_bytes; /* from the end of the head */
};

/* A text of .BTF; "" where there is none. */
static const char *btf_text(const struct elf_image *e, uint32_t at)
{
	size_t bytes;
	const char *btf = elf_section(e, elf_find_section(e, ".BTF"), &bytes);
	struct btf_head head;
	uint64_t from;

	if (!btf || bytes < sizeof(head))
		return "";
	memcpy(&head, btf, sizeof(head));
	from = (uint64_t)head.head_bytes + head.texts_at + at;
	return from < bytes && memchr(btf + from, 0, bytes - from) ? btf + from : "";
}

/* Whether a text is the path of the policy file, which may have got the compiler's folder. */
static bool is_source(const struct scan *s, const char *path)
{
	size_t n = strlen(path), m = strlen(s->source->name);

	return n >= m && !strcmp(path + n - m, s->source->name);
}

/*
 * The line of the file that an instruction of a section, so many bytes from its start, is of: of a
 * function of a header that is inlined, where it is called. 0: not known.
 */
static unsigned line_at(const struct scan *s, size_t section, uint64_t offset)
{
	size_t bytes, at;
	const char *ext = elf_section(&s->elf, elf_find_section(&s->elf, ".BTF.ext"), &bytes);
	unsigned found = 0;
	struct btf_lines in;
	struct btf_line l;
	struct btf_ext head;
	uint32_t size;

	if (!ext || bytes < sizeof(head))
		return 0;
	memcpy(&head, ext, sizeof(head));
	at = (size_t)head.head_bytes + head.lines_at;
	if (at > bytes || head.lines_bytes > bytes - at || head.lines_bytes < sizeof(size))
		return 0;
	bytes = at + head.lines_bytes;
	memcpy(&size, ext + at, sizeof(size));
	at += sizeof(size);
	while (size >= sizeof(l) && bytes - at >= sizeof(in)) {
		memcpy(&in, ext + at, sizeof(in));
		at += sizeof(in);
		if (in.count > (bytes - at) / size)
			break;
		for (uint32_t i = 0; i < in.count; i++, at += size) {
			memcpy(&l, ext + at, sizeof(l));
			if (l.at <= offset && is_source(s, btf_text(&s->elf, l.file)) &&
				!strcmp(btf_text(&s->elf, in.section),
					elf_section_name(&s->elf, section)))
				found = BTF_LINE(l.place);
		}
	}
	return found;
}

static const char *place(struct scan *s, unsigned line)
{
	return source_place(s->place, s->source, line);
}

/* ---- variables ---- */

static int refuse_variable(struct scan *s, const char *name)
{
	const char *dot = strrchr(name, '.'); /* one in a function is called "function.name" */

	name = dot ? dot + 1 : name;
	return error_set(s->why, -EINVAL,
		"%s: '%s' is a global or static variable, which all switches would share; memory of a switch is POLICY_SWITCH(), of a flow POLICY_FLOW()",
		place(s, source_line_of(s->source, name)), name);
}

/* Sections that hold variables, or code that runs by itself. */
static bool is_variable_section(const char *name)
{
	static const char *const starts[] = {
		".data", ".bss", ".tdata", ".tbss", ".init_array", ".fini_array", ".ctors"};

	for (size_t i = 0; i < COUNT(starts); i++)
		if (begins(name, starts[i]) && !begins(name, ".data.rel.ro"))
			return true;
	return false;
}

static int check_variables(struct scan *s)
{
	const struct elf_image *e = &s->elf;

	for (size_t i = 0; i < e->symbol_count; i++)
		if (ELF64_ST_TYPE(e->symbols[i].st_info) == STT_OBJECT &&
			is_variable_section(elf_section_name(e, e->symbols[i].st_shndx)))
			return refuse_variable(s, elf_symbol_name(e, i));
	for (size_t i = 1; i < e->section_count; i++)
		if (e->sections[i].sh_size && e->sections[i].sh_flags & SHF_ALLOC &&
			is_variable_section(elf_section_name(e, i)))
			return error_set(s->why, -EINVAL,
				"%s: it has variables of its own (section %s); memory of a switch is POLICY_SWITCH(), of a flow POLICY_FLOW()",
				s->source->name, elf_section_name(e, i));
	return 0;
}

/* ---- functions of others ---- */

/* The numbers of helpers are their places in this list. */
static const char *const helpers[] = {
#define NAME(x) "bpf_" #x
	__BPF_FUNC_MAPPER(NAME)
#undef NAME
};

/* What somebody may want, by how the name begins; the last fits all. */
static const struct {
	const char *start, *instead;
} wanted[] = {
	{"bpf_ktime_", "it has no clock but model time: p->now_ps"},
	{"bpf_jiffies", "it has no clock but model time: p->now_ps"},
	{"clock", "it has no clock but model time: p->now_ps"},
	{"time", "it has no clock but model time: p->now_ps"},
	{"gettimeofday", "it has no clock but model time: p->now_ps"},
	{"bpf_get_prandom", "it has no randomness but its own: p->random, policy_random()"},
	{"rand", "it has no randomness but its own: p->random, policy_random()"},
	{"drand48", "it has no randomness but its own: p->random, policy_random()"},
	{"getrandom", "it has no randomness but its own: p->random, policy_random()"},
	{"bpf_for_each_map", "it walks no table: it has the candidates of its packet"},
	{"bpf_loop", "its loops are those that the verifier can follow: for, with a bound"},
	{"", "it has only what <fabricbed/policy.h> gives it"},
};

const char *scan_instead(const char *function)
{
	size_t i = 0;

	while (!begins(function, wanted[i].start))
		i++;
	return wanted[i].instead;
}

static int refuse_call(struct scan *s, unsigned line, const char *name)
{
	return error_set(s->why, -EINVAL, "%s: a policy can't call %s(): %s", place(s, line), name,
		scan_instead(name));
}

/* ---- symbols ---- */

/* Where a symbol is used first, as its relocations tell. */
static unsigned line_of_use(const struct scan *s, size_t symbol)
{
	const struct elf_image *e = &s->elf;

	for (size_t i = 1; i < e->section_count; i++) {
		const Elf64_Shdr *head = &e->sections[i];
		size_t bytes;
		const char *all = elf_section(e, i, &bytes);
		Elf64_Rel r;

		if (head->sh_type != SHT_REL || !all || head->sh_info >= e->section_count ||
			!(e->sections[head->sh_info].sh_flags & SHF_EXECINSTR))
			continue;
		for (; bytes >= sizeof(r); bytes -= sizeof(r), all += sizeof(r)) {
			memcpy(&r, all, sizeof(r));
			if (ELF64_R_SYM(r.r_info) == symbol)
				return line_at(s, head->sh_info, r.r_offset);
		}
	}
	return 0;
}

static const char *const tables[] = {
#define X(name, element, bytes, elements) #name,
	SW_TABLES(X)
#undef X
};

static int check_symbol(struct scan *s, size_t i)
{
	const struct elf_image *e = &s->elf;
	const Elf64_Sym *symbol = &e->symbols[i];
	const char *name = elf_symbol_name(e, i);
	const char *section = elf_section_name(e, symbol->st_shndx);

	if (!*name || ELF64_ST_TYPE(symbol->st_info) == STT_SECTION)
		return 0;
	if (!strcmp(section, ".maps") && !is_one_of(name, tables, COUNT(tables)))
		return error_set(s->why, -EINVAL,
			"%s: the map '%s'; memory of a switch is POLICY_SWITCH(), of a flow POLICY_FLOW()",
			place(s, source_line_of(s->source, name)), name);
	if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL)
		return refuse_call(s, line_of_use(s, i), name);
	if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
		strcmp(name, FUNCTION) != 0)
		return error_set(s->why, -EINVAL, "%s: '%s' must be static",
			place(s, source_line_of(s->source, name)), name);
	return 0;
}

static int check_symbols(struct scan *s)
{
	bool found = false;
	int r = 0;

	for (size_t i = 0; i < s->elf.symbol_count; i++)
		found |= !strcmp(elf_symbol_name(&s->elf, i), FUNCTION);
	if (!found)
		return error_set(s->why, -EINVAL,
			"%s: it has no policy; one is POLICY(name) { return ...; }",
			s->source->name);
	for (size_t i = 0; r == 0 && i < s->elf.symbol_count; i++)
		r = check_symbol(s, i);
	return r;
}

/* ---- instructions ---- */

static int refuse_helper(struct scan *s, size_t section, uint64_t offset, uint32_t id)
{
	return refuse_call(s, line_at(s, section, offset),
		id < COUNT(helpers) ? helpers[id] : "a helper of the kernel");
}

static int check_code(struct scan *s, size_t section)
{
	size_t bytes;
	const char *code = elf_section(&s->elf, section, &bytes);
	struct bpf_insn insn;

	if (bytes / sizeof(insn) > INSTRUCTIONS_MAX)
		return error_set(s->why, -EINVAL,
			"%s: %zu instructions, of which the kernel takes %u at most",
			place(s, source_line_of(s->source, "POLICY")), bytes / sizeof(insn),
			INSTRUCTIONS_MAX);
	for (size_t at = 0; code && at + sizeof(insn) <= bytes; at += sizeof(insn)) {
		memcpy(&insn, code + at, sizeof(insn));
		if (insn.code == (BPF_LD | BPF_DW | BPF_IMM))
			at += sizeof(insn);
		else if (insn.code == (BPF_JMP | BPF_CALL) && insn.src_reg == 0 &&
			 insn.imm != BPF_FUNC_map_lookup_elem)
			return refuse_helper(s, section, at, (uint32_t)insn.imm);
	}
	return 0;
}

static int check_programs(struct scan *s)
{
	int r = 0;

	for (size_t i = 1; r == 0 && i < s->elf.section_count; i++) {
		const char *name = elf_section_name(&s->elf, i);

		if (!(s->elf.sections[i].sh_flags & SHF_EXECINSTR) || !s->elf.sections[i].sh_size)
			continue;
		r = !strcmp(name, ".text")
			    ? check_code(s, i)
			    : error_set(s->why, -EINVAL,
				      "%s: it has a program of its own (section %s); a policy is one POLICY(name) { return ...; }",
				      s->source->name, name);
	}
	return r;
}

int scan_bpf(
	const void *object, size_t bytes, const struct policy_source *source, struct error *why)
{
	struct scan s = {.source = source, .why = why};
	int r = open_scan(&s, object, bytes, SHT_SYMTAB);

	if (r == 0)
		r = check_variables(&s);
	if (r == 0)
		r = check_symbols(&s);
	return r == 0 ? check_programs(&s) : r;
}

/* Compilers call these for copies, and whoever loads the object has them. */
static const char *const copies[] = {"memcpy", "memmove", "memset", "memcmp"};

int scan_native(
	const void *object, size_t bytes, const struct policy_source *source, struct error *why)
{
	struct scan s = {.source = source, .why = why};
	int r = open_scan(&s, object, bytes, SHT_DYNSYM);

	for (size_t i = 1; r == 0 && i < s.elf.symbol_count; i++) {
		const char *name = elf_symbol_name(&s.elf, i);

		if (s.elf.symbols[i].st_shndx == SHN_UNDEF && *name &&
			!is_one_of(name, copies, COUNT(copies)))
			r = refuse_call(&s, source_line_of(source, name), name);
	}
	return r == 0 ? check_variables(&s) : r;
}
