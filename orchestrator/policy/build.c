/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/build.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/fnv.h"
#include "base/whole_file.h"
#include "dataplane/kernel.h"
#include "policy/compile.h"
#include "policy/embedded.h"
#include "policy/scan.h"
#include "policy/verify.h"

/*
 * All that an object follows from, but for the file itself and the version of the compiler: what
 * another one makes of it does the same.
 */
static uint64_t stamp(void)
{
	size_t bytes;
	const void *base = dataplane_kernel_object(&bytes);
	uint64_t hash =
		fnv_hash(base, bytes) * 3 + fnv_hash(FABRICBED_VERSION, strlen(FABRICBED_VERSION));

	for (size_t i = 0; i < embedded_header_count; i++) {
		const struct embedded_header *h = &embedded_headers[i];

		hash = hash * 3 + fnv_hash(h->text, strlen(h->text));
	}
	return hash * 3 + compile_flags();
}

static struct cache_key key_of(const struct policy_source *source)
{
	return (struct cache_key){source->name, source->text, source->length, stamp()};
}

/* ---- linking ---- */

/* A file in memory that a library opens by its path. */
struct memory_file {
	int fd;
	char path[32];
};

static int open_memory(struct memory_file *ret, const void *bytes, size_t size)
{
	int r;

	ret->fd = memfd_create("policy", MFD_CLOEXEC);
	if (ret->fd < 0)
		return -errno;
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->fd);
	r = whole_file_write(ret->fd, bytes, size);
	if (r < 0)
		close(ret->fd);
	return r;
}

/* The switch's object first: what is weak there gives way. */
static int link_files(const char *base, const char *policy, const char *linked)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	struct bpf_linker *l;
	int r;

	errno = 0;
	l = bpf_linker__new(linked, NULL);
	r = l ? bpf_linker__add_file(l, base, NULL) : -(errno ? errno : ENOMEM);
	if (r == 0)
		r = bpf_linker__add_file(l, policy, NULL);
	if (r == 0)
		r = bpf_linker__finalize(l);
	bpf_linker__free(l);
	libbpf_set_print(print);
	return r;
}

static int link_memory(const void *object, size_t bytes, char **ret, size_t *ret_bytes)
{
	size_t base_bytes;
	const void *base = dataplane_kernel_object(&base_bytes);
	struct memory_file files[3];
	int r = 0, n = 0;

	for (; r == 0 && n < 3; n += r == 0)
		r = open_memory(&files[n], n == 0 ? base : object,
			n == 0   ? base_bytes
			: n == 1 ? bytes
				 : 0);
	if (r == 0)
		r = link_files(files[0].path, files[1].path, files[2].path);
	if (r == 0)
		r = whole_file_read(files[2].fd, SIZE_MAX, ret, ret_bytes);
	while (n)
		close(files[--n].fd);
	return r;
}

/* ---- building ---- */

static int build_bpf(struct cache_objects *o, const char *folder,
	const struct policy_source *source, char **ret_messages, struct error *why)
{
	char *object = NULL;
	size_t bytes = 0;
	int r = compile(&object, &bytes, COMPILE_BPF, folder, source, ret_messages, why);

	if (r == 0)
		r = scan_bpf(object, bytes, source, why);
	if (r == 0) {
		r = link_memory(object, bytes, &o->bpf, &o->bpf_bytes);
		if (r < 0)
			error_set(why, r, "%s: can't be linked with the switch's programs: %s",
				source->name, strerror(-r));
	}
	free(object);
	return r;
}

static int build_native(struct cache_objects *o, const char *folder,
	const struct policy_source *source, char **ret_messages, struct error *why)
{
	int r = compile(
		&o->native, &o->native_bytes, COMPILE_NATIVE, folder, source, ret_messages, why);

	return r < 0 ? r : scan_native(o->native, o->native_bytes, source, why);
}

static int build(struct cache_objects *ret, struct policy_cache *cache, const struct cache_key *key,
	const struct policy_source *source, char **ret_messages, struct error *why)
{
	struct cache_objects o = {0};
	int r = cache_make_work(cache, why);

	if (r == 0)
		r = cache_note_failure(cache, compile_prepare(cache->work), why);
	if (r == 0)
		r = build_bpf(&o, cache->work, source, ret_messages, why);
	if (r == 0)
		r = build_native(&o, cache->work, source, ret_messages, why);
	if (r == 0)
		r = cache_put(cache, key, &o, why);
	if (r < 0)
		cache_objects_release(&o);
	else
		*ret = o;
	return r;
}

int policy_build(struct policy_build *ret, const struct policy_source *source, char **ret_messages,
	struct error *why)
{
	struct policy_build b = {.hash = fnv_hash(source->text, source->length)};
	struct cache_key key = key_of(source);
	struct policy_cache cache;
	int r = cache_open(&cache, why);

	if (ret_messages)
		*ret_messages = NULL;
	if (r < 0)
		return r;
	r = cache_get(&cache, &key, &b.objects);
	b.cached = r == 0;
	if (r == -ENOENT)
		r = build(&b.objects, &cache, &key, source, ret_messages, why);
	else if (r < 0)
		error_set(why, r, "out of memory");
	cache_close(&cache);
	if (r == 0)
		*ret = b;
	return r;
}

/* ---- verifying ---- */

struct policy_code policy_code_of(const struct policy_build *b, const struct policy_source *source)
{
	return (struct policy_code){b->objects.bpf, b->objects.bpf_bytes, NULL, source->name};
}

int policy_be_verified(
	const struct policy_build *b, const struct policy_source *source, struct error *why)
{
	struct policy_code code = policy_code_of(b, source);
	struct cache_key key = key_of(source);
	struct policy_cache cache;
	int r = cache_open(&cache, why);

	if (r < 0)
		return r;
	if (!cache_is_verified(&cache, &key)) {
		r = policy_verify(source, &code, why);
		if (r == 0)
			cache_note_verified(&cache, &key);
	}
	cache_close(&cache);
	return r;
}

/* ---- loading ---- */

/* The file stays open: a second library of the same path would be taken for the first. */
int policy_load(
	struct policy_build *b, uint32_t (**ret_function)(struct policy *p), struct error *why)
{
	struct memory_file f;
	int r = open_memory(&f, b->objects.native, b->objects.native_bytes);

	if (r < 0)
		return error_set(why, r, "can't load the policy: %s", strerror(-r));
	b->library_fd = f.fd;
	b->library = dlopen(f.path, RTLD_NOW | RTLD_LOCAL);
	if (!b->library)
		return error_set(why, -ENOEXEC, "can't load the policy: %s", dlerror());
	*(void **)ret_function = dlsym(b->library, "fabricbed_policy");
	return *ret_function ? 0 : error_set(why, -ENOEXEC, "the policy has no function");
}

void policy_release(struct policy_build *b)
{
	if (b->library)
		dlclose(b->library);
	if (b->library_fd > 0)
		close(b->library_fd);
	cache_objects_release(&b->objects);
	*b = (struct policy_build){0};
}
