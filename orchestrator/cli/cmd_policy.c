/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A load-balancing policy of the user's: a C file, built as the switch is, and tried. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>
#include "base/diag.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "daemon/server.h"
#include "dataplane/dataplane.h"
#include "policy/build.h"
#include "policy/check.h"
#include "report/number.h"
#include "scenario/scenario.h"

static const struct cli_option options[] = {
	{"count", 'n', "COUNT", "packets of a check: 1 to 10000000 (default 10000)"},
	{"seed", 's', "SEED", "of the packets and queues of a check (default 1)"},
	{"back", 'b', NULL, "swap: the switches get their own policies back"},
	{"json", 'j', NULL, "print the result as JSON"},
	{0},
};

/* 0 or -errno with why. */
static int read_source(struct policy_source *ret, const char *path, struct error *why)
{
	const char *slash = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	char *text = NULL;
	size_t length = 0;

	if (fd < 0)
		return error_set(why, -errno, "can't read %s: %s", path, strerror(errno));
	r = whole_file_read(fd, POLICY_FILE_MAX, &text, &length);
	close(fd);
	if (r == -EISDIR)
		return error_set(why, -EINVAL, "%s is no regular file", path);
	if (r == -EFBIG)
		return error_set(why, r, "%s is larger than 1 MB: it is no policy", path);
	if (r < 0)
		return error_set(why, r, "can't read %s: %s", path, strerror(-r));
	*ret = (struct policy_source){slash ? slash + 1 : path, text, length};
	return 0;
}

struct hash_text {
	char text[20];
};

static struct hash_text hash_text(uint64_t hash)
{
	struct hash_text t;

	snprintf(t.text, sizeof(t.text), "%016llx", (unsigned long long)hash);
	return t;
}

/* As of scenarios: "my.c:3:5: text" in parts. */
static json_t *error_json(const char *text, const char *messages)
{
	char file[sizeof(((struct error *)0)->text)];
	int line = 0, column = 0, length = 0;

	if (sscanf(text, "%[^:]:%d:%d: %n", file, &line, &column, &length) < 3 || !length) {
		column = length = 0;
		if (sscanf(text, "%[^:]:%d: %n", file, &line, &length) < 2 || !length)
			line = length = 0;
	}
	return json_pack("{s:s*, s:i, s:i, s:s, s:s*}", "file", length ? file : NULL, "line", line,
		"column", column, "message", text + length, "compiler", messages);
}

/* A policy is wrong, or the machine lacks something. */
static int failed(const struct cli_args *args, const char *messages, int r, const struct error *why)
{
	if (args->errors)
		json_array_append_new(args->errors, error_json(why->text, messages));
	else
		cli_error("%s", why->text);
	if (messages && !args->errors)
		fputs(messages, stderr);
	return r == -EINVAL || r == -EFBIG ? EXIT_INPUT : EXIT_MACHINE;
}

int cli_check_policy(const struct cli_args *args, const struct scenario *s)
{
	const struct file_text *file = balance_file(&s->sw.balance);
	struct error why = ERROR_INIT;
	struct policy_source source;
	struct policy_build b;
	char *messages = NULL;
	int r, status = EXIT_WELL;

	if (!file)
		return EXIT_WELL;
	source = (struct policy_source){file_text_name(file), file->text, file->length};
	r = policy_build(&b, &source, &messages, &why);
	if (r == 0)
		policy_release(&b);
	else if (r == -EINVAL)
		status = failed(args, messages, r, &why);
	else
		cli_error("note: %s", why.text);
	free(messages);
	return status;
}

/* Builds it, and has the verifier look at it where it is allowed to. */
static int build(struct policy_build *ret, bool *ret_verified, const struct policy_source *source,
	const struct cli_args *args)
{
	struct error why = ERROR_INIT;
	char *messages = NULL;
	int r = policy_build(ret, source, &messages, &why), status = EXIT_WELL;

	if (r == 0) {
		r = policy_be_verified(ret, source, &why);
		*ret_verified = r == 0;
		if (r == -EPERM)
			return EXIT_WELL;
		if (r < 0)
			policy_release(ret);
	}
	if (r < 0)
		status = failed(args, messages, r, &why);
	free(messages);
	return status;
}

static int run_build(
	const struct policy_source *source, const struct command *c, const struct cli_args *args)
{
	struct policy_build b;
	bool verified = false;
	int status = build(&b, &verified, source, args);

	if (status != EXIT_WELL)
		return status;
	if (cli_value(c, args, "json")) {
		json_t *all = json_pack("{s:s, s:s, s:b, s:b}", "file", source->name, "hash",
			hash_text(b.hash).text, "cached", (int)b.cached, "verified", (int)verified);

		print_json(all, stdout);
		json_decref(all);
	} else {
		printf("%s: %s, hash %s%s\n", source->name,
			b.cached ? "it was built before" : "built", hash_text(b.hash).text,
			verified ? "" : "; the kernel's verifier has not seen it: that takes root");
	}
	policy_release(&b);
	return EXIT_WELL;
}

/* What the policy returned last, for the trial's messages. */
static uint32_t (*tried)(struct policy *p);
static uint32_t returned;

static uint32_t note_returned(struct policy *p)
{
	returned = tried(p);
	return returned;
}

static json_t *size_json(const struct check_size *s)
{
	return json_pack("{s:I, s:I}", "instructions", (json_int_t)s->loaded, "walked",
		(json_int_t)s->walked);
}

static json_t *check_json(const struct policy_source *source, const struct policy_build *b,
	const struct check_params *params, const struct check_result *result)
{
	json_t *all = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:s?, s:b, s:s?}", "file",
		source->name, "hash", hash_text(b->hash).text, "seed", (json_int_t)params->seed,
		"packets", (json_int_t)result->packets, "choices", (json_int_t)result->choices,
		"out_of_range", (json_int_t)result->out_of_range, "example",
		result->out_of_range ? result->example : NULL, "kernel", (int)params->kernel,
		"difference", result->differs ? result->difference : NULL);

	json_object_set_new(
		all, "policy", params->kernel ? size_json(&result->policy) : json_null());
	json_object_set_new(all, "ecmp", params->kernel ? size_json(&result->ecmp) : json_null());
	return all;
}

static void print_check(const struct policy_source *source, const struct check_params *params,
	const struct check_result *result)
{
	if (result->differs)
		printf("%s: kernel and process DIFFER: %s\n", source->name, result->difference);
	else
		printf("%s: %u packets, of which it chose for %u%s\n", source->name,
			result->packets, result->choices,
			params->kernel ? ": alike in the kernel and in the process" : "");
	if (result->out_of_range)
		printf("%s: %u times it returned no candidate, and the packet is dropped: %s\n",
			source->name, result->out_of_range, result->example);
	if (params->kernel)
		printf("switch program            with it     with ecmp\n"
		       "instructions           %10u    %10u\n"
		       "walked by the verifier %10u    %10u\n",
			result->policy.loaded, result->ecmp.loaded, result->policy.walked,
			result->ecmp.walked);
	else
		puts("only in the process: the kernel's half takes root");
}

static int try_policy(struct policy_build *b, const struct policy_source *source,
	const struct command *c, const struct cli_args *args, struct check_params *params)
{
	struct error why = ERROR_INIT;
	struct policy_code code = policy_code_of(b, source);
	struct check_result result;
	int r = policy_load(b, &tried, &why);

	code.function = note_returned;
	params->source = source;
	params->code = &code;
	params->returned = &returned;
	if (r == 0)
		r = policy_check(&result, params, &why);
	if (r < 0)
		return failed(args, NULL, r, &why);
	if (cli_value(c, args, "json")) {
		json_t *all = check_json(source, b, params, &result);

		print_json(all, stdout);
		json_decref(all);
	} else {
		print_check(source, params, &result);
	}
	if (result.differs || result.out_of_range)
		return EXIT_EXPECT;
	return params->kernel ? EXIT_WELL : EXIT_MACHINE;
}

/* A whole number from least to most; false after a message. */
static bool take_number(const struct command *c, const struct cli_args *args, const char *name,
	uint64_t least, uint64_t most, uint64_t *ret)
{
	const char *text = cli_value(c, args, name);
	char *end;

	if (!text)
		return true;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *ret >= least && *ret <= most)
		return true;
	cli_error("policy: --%s takes a whole number from %llu to %llu, not '%s'", name,
		(unsigned long long)least, (unsigned long long)most, text);
	return false;
}

static int run_check(
	const struct policy_source *source, const struct command *c, const struct cli_args *args)
{
	uint64_t seed = 1, packets = 10000;
	struct check_params params = {0};
	struct policy_build b;
	int status;

	if (!take_number(c, args, "seed", 0, INT64_MAX, &seed) ||
		!take_number(c, args, "count", 1, 10000000, &packets))
		return EXIT_INPUT;
	params.seed = seed;
	params.packets = (uint32_t)packets;
	status = build(&b, &params.kernel, source, args);
	if (status != EXIT_WELL)
		return status;
	status = try_policy(&b, source, c, args, &params);
	policy_release(&b);
	return status;
}

static void print_swapped(const char *name, const json_t *result)
{
	char time[NUMBER_TEXT];
	const char *file = json_string_value(json_object_get(result, "file"));

	printf("%s: from %s on %s%s\n", name,
		number_moment(time, json_object_get(result, "model_time_us")),
		file ? "all switches balance by "
		     : "the switches balance by their own policies again",
		file ? file : "");
}

/* The request's keys, of a size that fabrics take; NULL after a message. */
static json_t *swap_keys(const struct policy_source *source)
{
	json_t *keys = json_pack(
		"{s:s, s:s%}", "name", source->name, "text", source->text, source->length);
	size_t bytes = keys ? json_dumpb(keys, NULL, 0, JSON_COMPACT) : 0;

	if (!keys)
		cli_error("%s is no UTF-8", source->name);
	if (bytes <= CONTROL_KEYS_MAX)
		return keys;
	json_decref(keys);
	cli_error(
		"%s has %zu bytes, %zu as JSON; a live fabric takes policies of up to %d bytes as JSON",
		source->name, source->length, bytes, CONTROL_KEYS_MAX);
	return NULL;
}

/* Built here first: what is wrong with the file does not trouble the fabric. */
static int run_swap(
	const struct policy_source *source, const struct command *c, const struct cli_args *args)
{
	const char *name = args->positional[1];
	struct policy_build b;
	json_t *keys = NULL, *result = NULL;
	bool verified = false;
	int status = EXIT_WELL;

	if (source) {
		keys = swap_keys(source);
		if (!keys)
			return EXIT_INPUT;
		status = build(&b, &verified, source, args);
		if (status != EXIT_WELL) {
			json_decref(keys);
			return status;
		}
		policy_release(&b);
	}
	status = client_request(name, "policy", keys, &result);
	if (status != EXIT_WELL)
		return status;
	if (cli_value(c, args, "json"))
		print_json(result, stdout);
	else
		print_swapped(name, result);
	json_decref(result);
	return EXIT_WELL;
}

static const struct verb {
	const char *name, *operands;
	size_t file; /* number of the operand that names it */
	int (*run)(const struct policy_source *source, const struct command *c,
		const struct cli_args *args);
} verbs[] = {
	{"build", "build FILE", 1, run_build},
	{"check", "check FILE", 1, run_check},
	{"swap", "swap NAME FILE, or swap NAME --back", 2, run_swap},
};

static const struct verb *find_verb(const char *name)
{
	const char *names[COUNT(verbs)];
	char hint[DIAG_HINT];

	for (size_t i = 0; i < COUNT(verbs); i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		names[i] = verbs[i].name;
	}
	cli_error("policy: there is no '%s'%s", name,
		diag_hint(hint, name, names, COUNT(verbs), "; see 'fabricbed policy --help'"));
	return NULL;
}

static int run_policy(const struct command *c, const struct cli_args *args)
{
	const struct verb *verb = find_verb(args->positional[0]);
	bool back = cli_value(c, args, "back");
	struct error why = ERROR_INIT;
	struct policy_source source;
	int r, status;

	if (!verb)
		return EXIT_INPUT;
	if (args->positional_count != verb->file + !back || (back && verb->run != run_swap)) {
		cli_error("policy: expected %s", verb->operands);
		return EXIT_INPUT;
	}
	if (back)
		return verb->run(NULL, c, args);
	r = read_source(&source, args->positional[verb->file], &why);
	if (r < 0) {
		failed(args, NULL, r, &why);
		return EXIT_INPUT;
	}
	status = verb->run(&source, c, args);
	free((char *)source.text);
	return status;
}

const struct command cmd_policy = {
	.name = "policy",
	.operands = "build FILE | check FILE | swap NAME FILE | swap NAME --back",
	.summary = "build, check or swap in a load-balancing policy of your own",
	.details =
		"FILE is a policy in C: #include <fabricbed/policy.h> and one POLICY(name) { ... }, which returns\n"
		"the number of the equal-cost port that a packet takes. 'switch: {balance: {policy: FILE}}' in a\n"
		"scenario uses it. docs/your-own-policy.md tells what it may do.\n\n"
		"build compiles it for the kernel (BPF, linked into the switch's program) and for the process, and\n"
		"keeps the result: a run builds what is not there yet. It refuses what a policy must not do, with\n"
		"the line: a clock, randomness that is not the packet's own, global variables, tables, a loop\n"
		"without bound. As root it has the kernel's verifier look at it too.\n\n"
		"check builds it, and runs it in both dataplanes on random packets, queues, rates, links and sets\n"
		"of ports: what comes out must be alike, down to its memory, after each packet. It also counts\n"
		"numbers that are no port, and tells how many instructions the switch has with it. Exit status 1:\n"
		"the two differ, or a number was no port; 3: the kernel's half takes root.\n\n"
		"swap builds it, and puts it in the place of the policies of all switches of a live fabric, between\n"
		"two packets: none is lost. What a policy remembers begins anew. --back gives the switches their\n"
		"own policies again.\n\n"
		"  fabricbed policy check my.c -n 100000\n"
		"  fabricbed policy swap lab my.c",
	.options = options,
	.operands_min = 2,
	.operands_max = 3,
	.run = run_policy,
};
