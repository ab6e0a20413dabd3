/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/fabric_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include "base/units.h"
#include "base/json.h"

#define QUEUE_USUAL (1u << 20) /* host.stack.queue */

#define N "%" JSON_INTEGER_FORMAT

/* The head of a line, and what is behind it. */
__attribute__((format(printf, 3, 4))) static void line(
	FILE *out, const char *title, const char *format, ...)
{
	va_list ap;

	fprintf(out, "  %-17s ", title);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
}

static const char *plural(json_int_t n, const char *many)
{
	return n == 1 ? "" : many;
}

static bool is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static const char *time_text(char buf[UNITS_TEXT], const json_t *us)
{
	return format_time(buf, (uint64_t)llround(json_number_value(us) * PS_PER_US));
}

static const char *rate_text(char buf[UNITS_TEXT], const json_t *bps)
{
	return format_rate(buf, (uint64_t)json_integer_value(bps));
}

static void print_shape(const json_t *r, FILE *out)
{
	const json_t *item;
	char title[32];
	size_t i;

	fprintf(out, "%s: %s of " N " hosts, " N " switch%s, " N " links\n",
		look_text(r, "scenario"), look_text(r, "topology"), look_count(r, "hosts"),
		look_count(r, "switches"), plural(look_count(r, "switches"), "es"),
		look_count(r, "links"));
	if (look(r, "servers"))
		line(out, "servers", N " with " N " NICs each (a host is a NIC): %s\n",
			look_count(r, "servers.count"), look_count(r, "servers.nics"),
			look_text(r, "servers.where"));
	json_array_foreach(look(r, "tiers"), i, item)
	{
		json_int_t switches = look_count(item, "switches");

		snprintf(title, sizeof(title), "tier %zu", i + 1);
		line(out, title, N " switch%s", switches, plural(switches, "es"));
		if (json_is_number(look(item, "oversubscription")))
			fprintf(out, ", oversubscribed %.4g:1",
				look_number(item, "oversubscription"));
		fputc('\n', out);
	}
	json_array_foreach(look(r, "paths"), i, item)
	{
		json_int_t least = look_count(item, "least"), most = look_count(item, "most");

		line(out, "paths of a pair", "%s: " N, look_text(item, "pairs"), least);
		if (most != least)
			fprintf(out, " to " N, most);
		fprintf(out, ", each of " N " links\n", look_count(item, "links"));
	}
}

static void print_sizes(const json_t *r, FILE *out)
{
	char rate[UNITS_TEXT];

	line(out, "host links", "%s\n", rate_text(rate, look(r, "host_rate_bps")));
	line(out, "base round trip", "%.3f us\n", look_number(r, "base_rtt_us"));
	line(out, "BDP", N " bytes, %.1f full packets of " N "\n", look_count(r, "bdp_bytes"),
		look_number(r, "bdp_bytes") / look_number(r, "packet_bytes"),
		look_count(r, "packet_bytes"));
}

/* ---- the switches ---- */

static void print_latency(const json_t *sw, FILE *out)
{
	char text[UNITS_TEXT];

	if (look_number(sw, "latency_us") > 0)
		line(out, "switch latency", "%s from a frame's arrival to its place in a queue\n",
			time_text(text, look(sw, "latency_us")));
}

/* What no class claims is the lowest one's. */
static void print_dscps(const json_t *classes, size_t class, FILE *out)
{
	const json_t *own = look(json_array_get(classes, class), "dscp"), *dscp;
	bool claimed = false;
	size_t i;

	for (i = 0; i < json_array_size(classes); i++)
		claimed |= json_array_size(look(json_array_get(classes, i), "dscp")) > 0;
	json_array_foreach(own, i, dscp)
		fprintf(out, "%s" N, i ? ", " : "DSCP ", json_integer_value(dscp));
	if (class == 0)
		fprintf(out, "%s%s", json_array_size(own) ? " and " : "",
			claimed ? "every other DSCP" : "every DSCP");
	else if (!json_array_size(own))
		fputs("no DSCP", out);
}

static void print_depth(const json_t *depth, FILE *out)
{
	char text[UNITS_TEXT];

	if (look(depth, "us"))
		fprintf(out, "%s at the port's rate", time_text(text, look(depth, "us")));
	else
		fprintf(out, N " bytes", look_count(depth, "bytes"));
}

static void print_ecn(const json_t *ecn, FILE *out)
{
	if (json_is_null(ecn)) {
		fputs("; ECN off\n", out);
		return;
	}
	fputs("; ECN from ", out);
	print_depth(look(ecn, "kmin"), out);
	fputs(" to ", out);
	print_depth(look(ecn, "kmax"), out);
	fprintf(out, ", up to %.4g%%", 100 * look_number(ecn, "pmax"));
	if (look_count(ecn, "average"))
		fprintf(out, ", by the average with weight 1/%u", 1u << look_count(ecn, "average"));
	fputc('\n', out);
}

static void print_classes(const json_t *classes, FILE *out)
{
	char title[32];

	for (size_t i = json_array_size(classes); i-- > 0;) {
		const json_t *c = json_array_get(classes, i);

		snprintf(title, sizeof(title), "class " N, look_count(c, "class"));
		line(out, title, "%s", "");
		print_dscps(classes, i, out);
		fputs(is_true(c, "lossless") ? "; lossless; " : "; lossy; ", out);
		if (json_is_number(look(c, "share")))
			fprintf(out, "share %.4g%%", 100 * look_number(c, "share"));
		else
			fputs("strict", out);
		print_ecn(look(c, "ecn"), out);
	}
}

static bool is_of_data(const json_t *dscps, json_int_t class)
{
	bool found = class == look_count(dscps, "data.class");
	const json_t *flow;
	size_t i;

	json_array_foreach(look(dscps, "flows"), i, flow) found |=
		class == look_count(flow, "class");
	return found;
}

/* By which classes the transports' own packets go. */
static void print_answers(const json_t *dscps, FILE *out)
{
	static const char *const titles[][2] = {{"control", "answers"}, {"notify", "CNPs"}};
	const json_t *flows = look(dscps, "flows"), *flow;
	size_t i;

	json_array_foreach(flows, i, flow) line(out, "flows", "DSCP " N ", class " N "\n",
		look_count(flow, "dscp"), look_count(flow, "class"));
	for (i = 0; i < 2; i++) {
		const json_t *own = look(dscps, titles[i][0]);
		json_int_t class = look_count(own, "class");

		if (i && look_count(own, "dscp") == look_count(dscps, "control.dscp"))
			continue;
		line(out, titles[i][1], "DSCP " N ", class " N "%s\n", look_count(own, "dscp"),
			class, is_of_data(dscps, class) ? ", among the data" : "");
	}
}

/* Of four digits. */
static const char *share_text(char buf[UNITS_TEXT], const json_t *bps)
{
	uint64_t rate = (uint64_t)json_integer_value(bps), unit = 1;

	while (rate / unit >= 10000)
		unit *= 10;
	return format_rate(buf, rate / unit * unit);
}

static void print_rates(const json_t *rates, FILE *out)
{
	char least[UNITS_TEXT], most[UNITS_TEXT];

	share_text(least, look(rates, "least_bps"));
	share_text(most, look(rates, "most_bps"));
	if (look_count(rates, "least_bps") < look_count(rates, "most_bps"))
		fprintf(out, "from %s to %s of each message\n", least, most);
	else
		fprintf(out, "%s of each message\n", most);
}

/* Their number, and the terms that it follows from. */
static void print_subflows(const json_t *s, FILE *out)
{
	double most = look_number(s, "flows_most"), least = look_number(s, "flows_least");

	line(out, "subflows", N, look_count(s, "least"));
	if (look_count(s, "least") != look_count(s, "most"))
		fprintf(out, " to " N, look_count(s, "most"));
	if (!look_count(s, "queue_bytes")) {
		fputs(": no data is lossy\n", out);
		return;
	}
	fprintf(out, " = 4 x " N " / (", look_count(s, "queue_bytes"));
	if (most > least)
		fprintf(out, "%.4g to ", most);
	fprintf(out,
		"%.4g x " N " x " N
		"), rounded up: 4 x a queue's bytes / (flows of a host x threshold x payload of a packet); a message of fewer packets has one for each\n",
		least, look_count(s, "threshold"), look_count(s, "payload_bytes"));
}

static void print_transport(const json_t *transport, FILE *out)
{
	const json_t *data = look(transport, "data"), *parts = look(transport, "parts"), *d;
	const char *key, *between = "";
	size_t i;

	line(out, "transport", "%s: ", look_text(transport, "title"));
	json_object_foreach((json_t *)parts, key, d)
	{
		fprintf(out, "%s%s %s", between, key, json_string_value(d));
		between = ", ";
	}
	fprintf(out, "%s%s", parts ? "; " : "", json_array_size(data) ? "" : "no data");
	json_array_foreach(data, i, d) fprintf(out, "%sDSCP " N ", class " N, i ? "; " : "",
		look_count(d, "dscp"), look_count(d, "class"));
	fputc('\n', out);
	if (look(transport, "rate")) {
		line(out, "rate",
			"%.4g of the fair share: ", look_number(transport, "rate.of_fair_share"));
		print_rates(look(transport, "rate"), out);
	}
	if (look(transport, "subflows"))
		print_subflows(look(transport, "subflows"), out);
}

static void print_pool(const json_t *pool, FILE *out)
{
	const json_t *small = look(pool, "smallest"), *large = look(pool, "largest");

	line(out, "buffer", "shared, alpha %.4g: " N " bytes of %s, of which queues share " N "\n",
		look_number(pool, "alpha"), look_count(large, "bytes"), look_text(large, "switch"),
		look_count(large, "shared_bytes"));
	if (look_count(small, "bytes") != look_count(large, "bytes") ||
		look_count(small, "shared_bytes") != look_count(large, "shared_bytes"))
		line(out, "", "the smallest: " N " bytes of %s, of which queues share " N "\n",
			look_count(small, "bytes"), look_text(small, "switch"),
			look_count(small, "shared_bytes"));
}

static void print_buffers(const json_t *sw, FILE *out)
{
	const json_t *pool = look(sw, "pool"), *trimmed = look(sw, "trimming.class"), *c;
	bool shared = !json_is_null(pool);
	size_t i;

	if (shared)
		print_pool(pool, out);
	json_array_foreach(look(sw, "classes"), i, c)
	{
		if (trimmed && json_equal(trimmed, look(c, "class")))
			continue;
		line(out, shared ? "reserve" : "buffer", "class " N ": " N " bytes of %s\n",
			look_count(c, "class"),
			look_count(c, shared ? "reserve_bytes" : "buffer_bytes"),
			!is_true(c, "lossless") ? "an egress queue"
			: shared                ? "an ingress, beside its headroom"
						: "an ingress, its headroom included");
	}
}

static void print_trimming(const json_t *sw, FILE *out)
{
	const json_t *t = look(sw, "trimming");

	if (json_is_null(t))
		return;
	line(out, "trimming",
		"headers to the %s by class " N ", DSCP " N "; a queue holds " N
		" bytes of them, and then they are %s\n",
		look_text(sw, "trim"), look_count(t, "class"), look_count(t, "dscp"),
		look_count(t, "queue_bytes"),
		strcmp(look_text(t, "overflow"), "return") ? "dropped" : "returned");
}

static const char *switches_text(const char *switches)
{
	return !strcmp(switches, "all")      ? "every switch"
	       : !strcmp(switches, "others") ? "the other switches"
					     : switches;
}

static void print_policy(const json_t *b, FILE *out)
{
	const json_t *lifetime = look(b, "lifetime_us");
	char text[UNITS_TEXT];

	line(out, "balance", "%s: %s", switches_text(look_text(b, "switches")),
		look_text(b, "policy"));
	if (look(b, "gap_us"))
		fprintf(out, ", gap %s", time_text(text, look(b, "gap_us")));
	if (look(b, "threshold_bytes"))
		fprintf(out, ", threshold " N " bytes", look_count(b, "threshold_bytes"));
	if (look(b, "choices"))
		fprintf(out, ", " N " drawn and " N " remembered", look_count(b, "choices"),
			look_count(b, "remembered"));
	if (look(b, "flows"))
		fprintf(out, "; room for " N " flows a switch", look_count(b, "flows"));
	if (json_is_number(lifetime))
		fprintf(out, ", each forgotten after %s", time_text(text, lifetime));
	fputc('\n', out);
}

static void print_headroom(const json_t *h, json_int_t packet, FILE *out)
{
	char rate[UNITS_TEXT], delay[UNITS_TEXT];
	const json_t *terms = look(h, "terms");
	json_int_t frame = look_count(terms, "frame_bytes");

	line(out, "headroom", "class " N ", " N " link%s of %s and %s such as %s: " N " bytes",
		look_count(h, "class"), look_count(h, "links"), plural(look_count(h, "links"), "s"),
		rate_text(rate, look(h, "rate_bps")), time_text(delay, look(h, "delay_us")),
		look_text(h, "such_as"), look_count(h, "headroom_bytes"));
	if (!json_is_null(terms))
		fprintf(out,
			" = 2 x " N " + " N "/" N " x (" N " frame ahead + " N " PFC + " N
			" control + " N " in flight + " N " response)",
			packet, packet, frame, frame, look_count(terms, "pfc_bytes"),
			look_count(terms, "control_bytes"), look_count(terms, "flight_bytes"),
			look_count(terms, "response_bytes"));
	if (json_is_null(look(h, "xoff_bytes")))
		fputs("; XOFF and XON by the pool\n", out);
	else
		fprintf(out, "; XOFF at " N ", XON at " N "\n", look_count(h, "xoff_bytes"),
			look_count(h, "xon_bytes"));
}

static void print_pauses(const json_t *r, const json_t *sw, FILE *out)
{
	const json_t *pauses = look(sw, "pauses"), *watchdog = look(pauses, "watchdog_us"), *item;
	char a[UNITS_TEXT], b[UNITS_TEXT];
	size_t i;

	if (!json_is_null(pauses))
		line(out, "PFC", N " quanta, response %s, watchdog %s\n",
			look_count(pauses, "quanta"), time_text(a, look(pauses, "response_us")),
			json_is_null(watchdog) ? "off" : time_text(b, watchdog));
	json_array_foreach(look(sw, "headroom"), i, item)
		print_headroom(item, look_count(r, "packet_bytes"), out);
	json_array_foreach(look(sw, "roles"), i, item)
		line(out, "roles", "class " N " moves to class " N " from uplink to uplink\n",
			look_count(item, "class"), look_count(item, "to"));
}

/* ---- the hosts, and what is joined to the fabric ---- */

static void print_clock(const json_t *clock, FILE *out)
{
	if (strcmp(look_text(clock, "follows"), "wall"))
		return;
	if (json_is_number(look(clock, "slowdown")))
		line(out, "clock", "the wall's, slowdown %.6g\n", look_number(clock, "slowdown"));
	else
		line(out, "clock", "the wall's, slowdown as this box needs it\n");
}

static void print_stack(const json_t *s, FILE *out)
{
	static const char title[] = "host stack";
	const char *entropy = look_text(s, "entropy");
	char text[UNITS_TEXT];
	const json_t *rule;
	size_t i;

	json_array_foreach(look(s, "classes"), i, rule)
	{
		if (look_text(rule, "cgroup"))
			line(out, title, "cgroup %s", look_text(rule, "cgroup"));
		else
			line(out, title, "port " N, look_count(rule, "port"));
		fprintf(out, ": DSCP " N ", class " N "\n", look_count(rule, "dscp"),
			look_count(rule, "class"));
	}
	if (is_true(s, "ecn"))
		line(out, title, "TCP asks for ECN\n");
	if (is_true(s, "ect"))
		line(out, title, "what is not ECN-capable becomes ECT(0)\n");
	if (!strcmp(entropy, "flowlet"))
		line(out, title,
			"a path a flowlet, which a gap of %s begins; of IPv6 alone, by its flow label\n",
			time_text(text, look(s, "flowlet_us")));
	else if (!strcmp(entropy, "packet"))
		line(out, title, "a path a packet; of IPv6 alone, by its flow label\n");
	if (look_count(s, "queue_bytes") != QUEUE_USUAL)
		line(out, title, "up to %s wait for the line\n",
			format_bytes(text, (uint64_t)look_count(s, "queue_bytes")));
}

static void print_external(const json_t *x, FILE *out)
{
	if (json_is_null(x))
		return;
	line(out, "external", "%s, on bridge %s", look_text(x, "node"), look_text(x, "bridge"));
	if (look_text(x, "address"))
		fprintf(out, ", %s", look_text(x, "address"));
	if (look_text(x, "address6"))
		fprintf(out, ", %s", look_text(x, "address6"));
	fputc('\n', out);
}

/* ---- what is to happen ---- */

#define PICKED_NAMES  64 /* of a group, beyond which they are only counted */
#define PICKED_GROUPS 64 /* of a fault, the same */

static void print_picked_group(const json_t *p, const json_t *g, FILE *out)
{
	const json_t *names = look(g, "picked"), *name;
	json_int_t picked = (json_int_t)json_array_size(names), fault = look_count(p, "fault");
	size_t i;

	line(out, "picked", "fault " N "%s%s: " N " of " N " %s", fault,
		look_text(g, "of") ? ", " : "", look_text(g, "of") ? look_text(g, "of") : "",
		picked, look_count(g, "matching"), look_text(p, "kind"));
	json_array_foreach(names, i, name)
	{
		if (i == PICKED_NAMES)
			break;
		fprintf(out, "%s%s", i ? ", " : ": ", json_string_value(name));
	}
	if (picked > PICKED_NAMES)
		fprintf(out, ", and " N " more", picked - PICKED_NAMES);
	fputc('\n', out);
}

static void print_picked(const json_t *p, FILE *out)
{
	const json_t *groups = look(p, "groups"), *g;
	json_int_t more = (json_int_t)json_array_size(groups) - PICKED_GROUPS;
	size_t i;

	json_array_foreach(groups, i, g) if (i < PICKED_GROUPS) print_picked_group(p, g, out);
	if (more > 0)
		line(out, "picked", "fault " N ": %s of " N " more\n", look_count(p, "fault"),
			look_text(p, "pick"), more);
}

/* How many more pods lose as much as the worst one, and less. */
static void print_other_pods(const json_t *f, FILE *out)
{
	double worst = look_number(f, "uplinks_left");
	json_int_t alike = -1, less = 0;
	const json_t *pod;
	size_t i;

	json_array_foreach(look(f, "pods"), i, pod)
	{
		bool same = fabs(look_number(pod, "uplinks_left") - worst) < 1e-9;

		alike += same;
		less += !same;
	}
	if (alike > 0)
		fprintf(out, "; the same in " N " more pod%s", alike, plural(alike, "s"));
	if (less > 0)
		fprintf(out, "; less is lost in " N " more pod%s", less, plural(less, "s"));
}

/* The right side of the inequality: the flows that leave the pod, over its links. */
static void print_quotient(const json_t *f, bool permutation, FILE *out)
{
	double hosts = look_number(f, "hosts"), left = look_number(f, "uplinks_left");
	double flows = look_number(f, "flows_per_uplink");

	if (permutation)
		fprintf(out, "%.6g", flows * left);
	else
		fprintf(out, "%.6g x %.6g", hosts,
			look_number(f, "flows_per_host_link") + 1 - hosts);
	fprintf(out, " / %.6g = %.6g", left, flows);
}

static void print_failure(const json_t *f, FILE *out)
{
	const json_t *faults = look(f, "faults"), *fault;
	bool permutation = !strcmp(look_text(f, "traffic"), "permutation");
	bool bottleneck = is_true(f, "bottleneck");
	double flows = look_number(f, "flows_per_host_link");
	char at[UNITS_TEXT];
	size_t i;

	line(out, "failure", "at %s, fault%s", time_text(at, look(f, "at_us")),
		plural((json_int_t)json_array_size(faults), "s"));
	json_array_foreach(faults, i, fault)
		fprintf(out, "%s" N, i ? ", " : " ", json_integer_value(fault));
	fprintf(out, ": %s of " N " hosts has %.4g of %.4g uplinks left; %s: ", look_text(f, "pod"),
		look_count(f, "hosts"), look_number(f, "uplinks_left"), look_number(f, "uplinks"),
		permutation ? "a permutation" : "all-to-all");
	if (json_is_null(look(f, "flows_per_uplink")))
		fputs("cut off", out);
	else {
		fprintf(out, "%.6g flow%s on a host's link %s ", flows, flows == 1 ? "" : "s",
			bottleneck ? "<" : ">=");
		print_quotient(f, permutation, out);
		fprintf(out, " on an uplink: %s%s", bottleneck ? "a bottleneck" : "no bottleneck",
			is_true(f, "bottleneck_without") ? " (without failures too)" : "");
	}
	print_other_pods(f, out);
	fputc('\n', out);
}

static void print_share(const json_t *share, FILE *out)
{
	static const char title[] = "fair share";

	if (look_text(share, "unknown")) {
		line(out, title, "not known: %s\n", look_text(share, "unknown"));
	} else if (!json_is_null(share)) {
		line(out, title, "%s", "");
		print_rates(share, out);
	}
}

static void print_load(const json_t *r, FILE *out)
{
	static const char *const dataplanes[] = {"kernel", "inline"};
	const json_t *load = look(r, "workload");
	char title[32];

	line(out, "workload", N " message%s, " N " bytes, " N " packets\n",
		look_count(load, "flows"), plural(look_count(load, "flows"), "s"),
		look_count(load, "bytes"), look_count(load, "packets"));
	line(out, "ideal", "%.3f us for the slowest message, by host link rates\n",
		look_number(load, "ideal_us"));
	print_share(look(load, "fair_share"), out);
	for (size_t i = 0; i < 2; i++) {
		const json_t *estimate = look(look(r, "estimate"), dataplanes[i]);

		snprintf(title, sizeof(title), "%s dataplane", dataplanes[i]);
		line(out, title, "about %.0f MB, %.1f s\n", look_number(estimate, "memory_mb"),
			look_number(estimate, "wall_s"));
	}
}

static void print_series(const json_t *s, FILE *out)
{
	char every[UNITS_TEXT];

	time_text(every, look(s, "every_us"));
	if (json_is_null(look(s, "rows")))
		line(out, look_text(s, "file"), "as many rows as queues are that deep, each %s\n",
			every);
	else
		line(out, look_text(s, "file"), "at least %.3g MB: " N " rows, a sample each %s\n",
			look_number(s, "size_mb"), look_count(s, "rows"), every);
}

static void print_sweep(const json_t *s, FILE *out)
{
	if (s)
		line(out, "sweep", N " points, " N " variants, " N " seeds: " N " runs\n",
			look_count(s, "points"), look_count(s, "variants"), look_count(s, "seeds"),
			look_count(s, "runs"));
}

void fabric_report_print(const json_t *r, FILE *out)
{
	const json_t *sw = look(r, "switch"), *item;
	size_t i;

	print_shape(r, out);
	print_sizes(r, out);
	print_latency(sw, out);
	json_array_foreach(look(sw, "balance"), i, item) print_policy(item, out);
	print_classes(look(sw, "classes"), out);
	json_array_foreach(look(r, "transports"), i, item) print_transport(item, out);
	print_answers(look(r, "transport_dscps"), out);
	print_buffers(sw, out);
	print_trimming(sw, out);
	print_pauses(r, sw, out);
	print_clock(look(r, "clock"), out);
	print_stack(look(r, "stack"), out);
	print_external(look(r, "external"), out);
	json_array_foreach(look(r, "picked"), i, item) print_picked(item, out);
	json_array_foreach(look(r, "failures"), i, item) print_failure(item, out);
	if (look_count(r, "failures_more"))
		line(out, "failures", "at " N " later moments\n", look_count(r, "failures_more"));
	print_load(r, out);
	json_array_foreach(look(r, "series"), i, item) print_series(item, out);
	print_sweep(look(r, "sweep"), out);
	json_array_foreach(look(r, "notes"), i, item)
		line(out, "note", "%s\n", json_string_value(item));
}
