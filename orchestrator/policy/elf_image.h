/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_ELF_IMAGE_H
#define FABRICBED_POLICY_ELF_IMAGE_H

/*
 * An object file in memory (ELF of 64 bits, this machine's byte order). What lies outside of the
 * file is not there: no offset is followed that does not lead to a place within it.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

struct elf_image {
	const unsigned char *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	size_t section_count;
	const char *names; /* of sections */
	size_t names_size;
	const Elf64_Sym *symbols; /* of the table that was asked for */
	size_t symbol_count;
	const char *strings; /* of symbols */
	size_t strings_size;
};

/* table: SHT_SYMTAB or SHT_DYNSYM. 0, or -EINVAL: it is no such file. */
int elf_image_open(struct elf_image *ret, const void *bytes, size_t size, Elf64_Word table);

/* "" where there is none. */
const char *elf_section_name(const struct elf_image *e, size_t section);
const char *elf_symbol_name(const struct elf_image *e, size_t symbol);

/* Bytes of a section, and how many; NULL: it has none in the file. */
const void *elf_section(const struct elf_image *e, size_t section, size_t *ret_size);

/* The section of that name; 0: there is none. */
size_t elf_find_section(const struct elf_image *e, const char *name);

#endif
