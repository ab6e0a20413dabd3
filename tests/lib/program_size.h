/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_PROGRAM_SIZE_H
#define FABRICBED_TEST_PROGRAM_SIZE_H

/* Instructions of a loaded program, as the kernel has them once it has removed what is off, and how
 * many its verifier walked. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

struct program_size {
	unsigned loaded, walked;
};

/* Zeros where the kernel does not tell. */
static inline struct program_size program_size(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length))
		return (struct program_size){0, 0};
	return (struct program_size){
		info.xlated_prog_len / sizeof(struct bpf_insn), info.verified_insns};
}

#endif
