/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/elf_image.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* n elements at an offset of the file; NULL: not within it. */
static const void *within(const struct elf_image *e, uint64_t offset, uint64_t n, size_t size)
{
	if (offset > e->size || n > (e->size - offset) / size || offset % 8)
		return NULL;
	return e->bytes + offset;
}

/* A text of a table of them, which ends within it. */
static const char *text_at(const char *table, size_t size, size_t offset)
{
	return table && offset < size && memchr(table + offset, 0, size - offset) ? table + offset
										  : "";
}

const void *elf_section(const struct elf_image *e, size_t section, size_t *ret_size)
{
	const Elf64_Shdr *s;

	*ret_size = 0;
	if (section >= e->section_count)
		return NULL;
	s = &e->sections[section];
	if (s->sh_type == SHT_NOBITS || s->sh_offset > e->size ||
		s->sh_size > e->size - s->sh_offset)
		return NULL;
	*ret_size = s->sh_size;
	return e->bytes + s->sh_offset;
}

const char *elf_section_name(const struct elf_image *e, size_t section)
{
	return section < e->section_count
		       ? text_at(e->names, e->names_size, e->sections[section].sh_name)
		       : "";
}

const char *elf_symbol_name(const struct elf_image *e, size_t symbol)
{
	return symbol < e->symbol_count
		       ? text_at(e->strings, e->strings_size, e->symbols[symbol].st_name)
		       : "";
}

size_t elf_find_section(const struct elf_image *e, const char *name)
{
	for (size_t i = 1; i < e->section_count; i++)
		if (!strcmp(elf_section_name(e, i), name))
			return i;
	return 0;
}

static void find_symbols(struct elf_image *e, Elf64_Word table)
{
	size_t bytes;

	for (size_t i = 1; i < e->section_count; i++) {
		const Elf64_Shdr *s = &e->sections[i];

		if (s->sh_type != table)
			continue;
		e->symbols = within(
			e, s->sh_offset, s->sh_size / sizeof(*e->symbols), sizeof(*e->symbols));
		e->symbol_count = e->symbols ? s->sh_size / sizeof(*e->symbols) : 0;
		e->strings = elf_section(e, s->sh_link, &bytes);
		e->strings_size = bytes;
		return;
	}
}

int elf_image_open(struct elf_image *ret, const void *bytes, size_t size, Elf64_Word table)
{
	struct elf_image e = {.bytes = bytes, .size = size};
	const Elf64_Ehdr *head = bytes;

	if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
		head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr))
		return -EINVAL;
	e.sections = within(&e, head->e_shoff, head->e_shnum, sizeof(*e.sections));
	if (!e.sections)
		return -EINVAL;
	e.section_count = head->e_shnum;
	e.names = elf_section(&e, head->e_shstrndx, &e.names_size);
	find_symbols(&e, table);
	*ret = e;
	return 0;
}
