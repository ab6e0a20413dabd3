/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/units.h"
#include "topology/explain_parts.h"

#define DSCPS 64

/* What nobody claims is the lowest class's. */
static void write_dscps(const struct explain *e, uint32_t class, FILE *out)
{
	uint64_t mask = e->sw.classes[class].dscp, others = 0;
	const char *between = "DSCP ";
	bool lowest = true;

	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		if (i == class || !e->sw.classes[i].used)
			continue;
		others |= e->sw.classes[i].dscp;
		lowest &= i > class;
	}
	for (uint32_t i = 0; i < DSCPS; i++) {
		if (!(mask >> i & 1))
			continue;
		fprintf(out, "%s%u", between, i);
		between = ", ";
	}
	if (lowest)
		fprintf(out, "%s%s", mask ? " and " : "",
			mask || others ? "every other DSCP" : "every DSCP");
	else if (!mask)
		fputs("no DSCP", out);
}

static void write_depth(const struct switching_depth *d, FILE *out)
{
	char text[UNITS_TEXT];

	if (d->ps)
		fprintf(out, "%s at the port's rate", format_time(text, d->ps));
	else
		fprintf(out, "%llu bytes", (unsigned long long)d->bytes);
}

static void write_ecn(const struct switching_class *c, FILE *out)
{
	if (!c->kmax.bytes && !c->kmax.ps) {
		fputs("; ECN off", out);
		return;
	}
	fputs("; ECN from ", out);
	write_depth(&c->kmin, out);
	fputs(" to ", out);
	write_depth(&c->kmax, out);
	fprintf(out, ", up to %.4g%%", 100 * c->pmax);
	if (c->average)
		fprintf(out, ", by the average with weight 1/%u", 1u << c->average);
}

static void write_class(const struct explain *e, uint32_t class, FILE *out)
{
	const struct switching_class *c = &e->switching.classes[class];

	fprintf(out, "  class %u           ", class);
	write_dscps(e, class, out);
	fprintf(out, "; %s; ", c->lossless ? "lossless" : "lossy");
	if (c->share > 0)
		fprintf(out, "share %.4g%%", 100 * c->share);
	else
		fputs("strict", out);
	write_ecn(c, out);
	fputc('\n', out);
}

/* By which classes the transports' own packets go. */
static void write_own(const struct explain *e, const char *title, uint32_t dscp, FILE *out)
{
	const uint8_t *class_of = e->switching.config.class_of;

	fprintf(out, "  %-17s DSCP %u, class %u%s\n", title, dscp, class_of[dscp],
		class_of[dscp] == class_of[e->host->data_dscp] ? ", among the data" : "");
}

static void write_answers(const struct explain *e, FILE *out)
{
	write_own(e, "answers", e->host->control_dscp, out);
	if (e->host->notify_dscp != e->host->control_dscp)
		write_own(e, "CNPs", e->host->notify_dscp, out);
}

static void write_pool(const struct explain *e, FILE *out)
{
	const struct explain_pool *small = &e->smallest, *large = &e->largest;

	fprintf(out,
		"  buffer            shared, alpha %.4g: %llu bytes of %s, of which queues share %llu\n",
		e->switching.alpha, (unsigned long long)large->bytes, large->name,
		(unsigned long long)large->left);
	if (small->bytes != large->bytes || small->left != large->left)
		fprintf(out,
			"                    the smallest: %llu bytes of %s, of which queues share %llu\n",
			(unsigned long long)small->bytes, small->name,
			(unsigned long long)small->left);
}

static void write_buffers(const struct explain *e, FILE *out)
{
	if (e->switching.shared)
		write_pool(e, out);
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		const struct switching_class *c = &e->switching.classes[i];

		if (!c->used || c->headers)
			continue;
		fprintf(out, "  %s           class %u: %llu bytes of %s\n",
			e->switching.shared ? "reserve" : "buffer ", i,
			(unsigned long long)c->limit_bytes,
			!c->lossless          ? "an egress queue"
			: e->switching.shared ? "an ingress, beside its headroom"
					      : "an ingress, its headroom included");
	}
}

static void write_headroom(const struct explain *e, const struct explain_headroom *h, FILE *out)
{
	char rate[UNITS_TEXT], delay[UNITS_TEXT];

	fprintf(out, "  headroom          class %u, %u link%s of %s and %s such as %s: %llu bytes",
		h->class, h->links, h->links == 1 ? "" : "s", format_rate(rate, h->rate_bps),
		format_time(delay, h->delay_ps), h->name, (unsigned long long)h->bytes);
	if (h->automatic)
		fprintf(out,
			" = 2 x %u + %u/%llu x (%llu frame ahead + %llu PFC + %llu control + %llu in flight + %llu response)",
			e->packet_bytes, e->packet_bytes, (unsigned long long)h->frame,
			(unsigned long long)h->frame, (unsigned long long)h->pfc,
			(unsigned long long)h->control, (unsigned long long)h->flight,
			(unsigned long long)h->response);
	if (e->switching.shared)
		fputs("; XOFF and XON by the pool\n", out);
	else
		fprintf(out, "; XOFF at %llu, XON at %llu\n", (unsigned long long)h->xoff_bytes,
			(unsigned long long)h->xon_bytes);
}

static void write_trim(const struct explain *e, FILE *out)
{
	const struct switch_spec *sw = &e->sw;

	if (sw->trim.to == TRIM_OFF)
		return;
	fprintf(out,
		"  trimming          headers to the %s by class %u, DSCP %u; a queue holds %llu bytes of them, and then they are %s\n",
		sw->trim.to == TRIM_SENDER ? "sender" : "receiver", sw->trim.class,
		sw->trim.to == TRIM_SENDER ? sw->trim.return_dscp : sw->trim.dscp,
		(unsigned long long)e->switching.classes[sw->trim.class].limit_bytes,
		sw->trim.or_return ? "returned" : "dropped");
}

static void write_pauses(const struct explain *e, FILE *out)
{
	const struct switch_spec *sw = &e->sw;
	char response[UNITS_TEXT], watchdog[UNITS_TEXT];

	if (sw->pfc.on)
		fprintf(out, "  PFC               %u quanta, response %s, watchdog %s\n",
			sw->pfc.quanta, format_time(response, sw->pfc.response_ps),
			sw->pfc.watchdog_ps ? format_time(watchdog, sw->pfc.watchdog_ps) : "off");
	for (size_t i = 0; i < e->headroom_count; i++)
		write_headroom(e, &e->headrooms[i], out);
	for (uint32_t i = 0; sw->roles.on && i < SCENARIO_CLASSES; i++)
		if (sw->roles.to[i] != i)
			fprintf(out,
				"  roles             class %u moves to class %u from uplink to uplink\n",
				i, sw->roles.to[i]);
}

void explain_write_switch(const struct explain *e, FILE *out)
{
	for (uint32_t i = SCENARIO_CLASSES; i-- > 0;)
		if (e->switching.classes[i].used)
			write_class(e, i, out);
	write_answers(e, out);
	write_buffers(e, out);
	write_trim(e, out);
	write_pauses(e, out);
}

void explain_write_failures(const struct explain *e, FILE *out)
{
	char at[UNITS_TEXT];

	for (size_t i = 0; i < e->failure_count; i++) {
		const struct explain_failure *r = &e->failures[i];

		fprintf(out, "  failure           at %s, fault%s", format_time(at, r->at_ps),
			r->fault_count == 1 ? "" : "s");
		for (uint32_t n = 0; n < r->fault_count; n++)
			fprintf(out, "%s%u", n ? ", " : " ", r->faults[n]);
		fprintf(out, ": %s of %u hosts has %.4g of %.4g uplinks left; %s: ", r->pod,
			r->hosts, r->left, r->uplinks,
			e->permutation ? "a permutation" : "all-to-all");
		if (r->left == 0) {
			fputs("cut off\n", out);
			continue;
		}
		fprintf(out, "%.6g flow%s on a host's link %s %.6g on an uplink: %s%s\n",
			r->host_flows, r->host_flows == 1 ? "" : "s",
			r->bottleneck ? "<" : ">=", r->uplink_flows,
			r->bottleneck ? "a bottleneck" : "no bottleneck",
			r->before ? " (without failures too)" : "");
	}
	if (e->failures_more)
		fprintf(out, "  failures          at %zu later moments\n", e->failures_more);
}

static json_t *depth_json(const struct switching_depth *d)
{
	if (d->ps)
		return json_pack("{s:f}", "us", (double)d->ps / PS_PER_US);
	return json_pack("{s:I}", "bytes", (json_int_t)d->bytes);
}

static json_t *ecn_json(const struct switching_class *c)
{
	if (!c->kmax.bytes && !c->kmax.ps)
		return json_null();
	return json_pack("{s:o, s:o, s:f, s:I}", "kmin", depth_json(&c->kmin), "kmax",
		depth_json(&c->kmax), "pmax", c->pmax, "average", (json_int_t)c->average);
}

static json_t *classes_json(const struct explain *e)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		const struct switching_class *c = &e->switching.classes[i];
		json_t *dscps;

		if (!c->used)
			continue;
		dscps = json_array();
		for (uint32_t d = 0; d < DSCPS; d++)
			if (e->sw.classes[i].dscp >> d & 1)
				json_array_append_new(dscps, json_integer(d));
		json_array_append_new(array,
			json_pack("{s:I, s:o, s:b, s:o, s:o, s:I}", "class", (json_int_t)i, "dscp",
				dscps, "lossless", c->lossless, "share",
				c->share > 0 ? json_real(c->share) : json_null(), "ecn",
				ecn_json(c), e->switching.shared ? "reserve_bytes" : "buffer_bytes",
				(json_int_t)c->limit_bytes));
	}
	return array;
}

static json_t *dscp_json(const struct explain *e, uint32_t dscp)
{
	return json_pack("{s:I, s:I}", "dscp", (json_int_t)dscp, "class",
		(json_int_t)e->switching.config.class_of[dscp]);
}

json_t *explain_dscps_json(const struct explain *e)
{
	return json_pack("{s:o, s:o, s:o}", "data", dscp_json(e, e->host->data_dscp), "control",
		dscp_json(e, e->host->control_dscp), "notify", dscp_json(e, e->host->notify_dscp));
}

static json_t *pool_json(const struct explain_pool *p)
{
	return json_pack("{s:s, s:I, s:I}", "switch", p->name, "bytes", (json_int_t)p->bytes,
		"shared_bytes", (json_int_t)p->left);
}

static json_t *headrooms_json(const struct explain *e)
{
	json_t *array = json_array();

	for (size_t i = 0; i < e->headroom_count; i++) {
		const struct explain_headroom *h = &e->headrooms[i];
		bool shared = e->switching.shared;

		json_array_append_new(array,
			json_pack("{s:I, s:I, s:s, s:I, s:f, s:I, s:o, s:o}", "class",
				(json_int_t)h->class, "links", (json_int_t)h->links, "such_as",
				h->name, "rate_bps", (json_int_t)h->rate_bps, "delay_us",
				(double)h->delay_ps / PS_PER_US, "headroom_bytes",
				(json_int_t)h->bytes, "xoff_bytes",
				shared ? json_null() : json_integer((json_int_t)h->xoff_bytes),
				"xon_bytes",
				shared ? json_null() : json_integer((json_int_t)h->xon_bytes)));
	}
	return array;
}

json_t *explain_switch_json(const struct explain *e)
{
	static const char *const trims[] = {
		[TRIM_OFF] = "off",
		[TRIM_RECEIVER] = "receiver",
		[TRIM_SENDER] = "sender",
	};
	json_t *pools =
		e->switching.shared
			? json_pack("{s:f, s:o, s:o}", "alpha", e->switching.alpha, "smallest",
				  pool_json(&e->smallest), "largest", pool_json(&e->largest))
			: json_null();

	return json_pack("{s:o, s:o, s:o, s:s, s:b}", "classes", classes_json(e), "pool", pools,
		"headroom", headrooms_json(e), "trim", trims[e->sw.trim.to], "pfc", e->sw.pfc.on);
}

json_t *explain_failures_json(const struct explain *e)
{
	json_t *array = json_array();

	for (size_t i = 0; i < e->failure_count; i++) {
		const struct explain_failure *r = &e->failures[i];
		bool cut = r->left == 0;
		json_t *faults = json_array();

		for (uint32_t n = 0; n < r->fault_count; n++)
			json_array_append_new(faults, json_integer(r->faults[n]));
		json_array_append_new(array,
			json_pack("{s:f, s:o, s:s, s:s, s:I, s:f, s:f, s:f, s:o, s:b, s:b}",
				"at_us", (double)r->at_ps / PS_PER_US, "faults", faults, "traffic",
				e->permutation ? "permutation" : "all-to-all", "pod", r->pod,
				"hosts", (json_int_t)r->hosts, "uplinks", r->uplinks,
				"uplinks_left", r->left, "flows_per_host_link", r->host_flows,
				"flows_per_uplink", cut ? json_null() : json_real(r->uplink_flows),
				"bottleneck", r->bottleneck, "bottleneck_without", r->before));
	}
	return array;
}
