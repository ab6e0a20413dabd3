/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is written: flows.csv, queues.csv and events.jsonl, to the byte. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/units.h"
#include "lib/small_session.h"
#include "telemetry/recorder.h"

/* One link between two ports, 2 and 3. */
static struct net_port two_ports[] = {[2] = {.peer = 3}, [3] = {.peer = 2}};
static const struct net link_net = {.ports = two_ports, .port_count = 2};

struct bench {
	char directory[SMALL_PATH];
	int fd;
	struct recorder *recorder;
};

static const char *number_name(const void *arg, uint32_t port, char *buf)
{
	(void)arg;
	snprintf(buf, RECORDER_NAME, "p%u", port);
	return buf;
}

static int bench_open(struct bench *b, int directory)
{
	const struct series_params p = {
		.directory = directory,
		.net = &link_net,
		.port_name = number_name,
	};

	b->fd = directory;
	return recorder_new(&b->recorder, &p);
}

static void bench_setup(struct bench *b)
{
	small_directory(b->directory);
	assert_int_equal(bench_open(b, open(b->directory, O_RDONLY | O_DIRECTORY)), 0);
}

/* A folder without what was collected. */
static void bench_close(struct bench *b)
{
	recorder_free(b->recorder);
	close(b->fd);
	small_directory_remove(b->directory);
}

static void drop(
	struct bench *b, uint64_t now_ps, uint32_t port, enum drop_reason why, uint32_t bytes)
{
	recorder_dropped(b->recorder, now_ps, port, why, bytes);
}

static void assert_file(const char *directory, const char *name, const char *want)
{
	char *text = small_file(directory, name);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

/* Writes and compares the events. */
static void bench_check(struct bench *b, const char *want)
{
	assert_int_equal(recorder_write(b->recorder, b->fd), 0);
	assert_file(b->directory, "events.jsonl.new", want);
	bench_close(b);
}

static void events_are_sorted_by_time(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	recorder_event(b.recorder, 3000000, json_pack("{s:s}", "event", "c"));
	recorder_event(b.recorder, 1, json_pack("{s:s}", "event", "a"));
	recorder_event(b.recorder, 3000000, json_pack("{s:s, s:i}", "event", "d", "n", 1));
	recorder_event(b.recorder, 2500000, json_pack("{s:s}", "event", "b"));
	bench_check(&b, "{\"t_us\":1e-6,\"event\":\"a\"}\n"
			"{\"t_us\":2.5,\"event\":\"b\"}\n"
			"{\"t_us\":3.0,\"event\":\"c\"}\n"
			"{\"t_us\":3.0,\"event\":\"d\",\"n\":1}\n");
}

/* Hundreds at one time keep the order in which they became known. */
static void events_of_one_time_keep_their_order(void **state)
{
	char want[500 * 32], *at = want;
	struct bench b;

	(void)state;
	bench_setup(&b);
	for (int i = 0; i < 500; i++) {
		recorder_event(b.recorder, 1000000, json_pack("{s:i}", "n", i));
		at += sprintf(at, "{\"t_us\":1.0,\"n\":%d}\n", i);
	}
	bench_check(&b, want);
}

#define DROPS(t, port, reason, frames, bytes, until)                                               \
	"{\"t_us\":" t ",\"event\":\"drops\",\"port\":\"" port "\",\"reason\":\"" reason           \
	"\",\"frames\":" frames ",\"bytes\":" bytes ",\"until_us\":" until "}\n"

/* No gap of more than 10 us, one port, one reason: one burst. */
static void bursts_end_at_a_gap(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	drop(&b, 1000000, 2, DROP_BUFFER, 100);
	drop(&b, 11000000, 2, DROP_BUFFER, 50);
	drop(&b, 21000000, 2, DROP_BUFFER, 7);
	drop(&b, 31000001, 2, DROP_BUFFER, 1);
	bench_check(&b, DROPS("1.0", "p2", "buffer", "3", "157", "21.0")
				DROPS("31.000001", "p2", "buffer", "1", "1", "31.000001"));
}

static void bursts_are_by_port_and_reason(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	drop(&b, 1000000, 2, DROP_BUFFER, 10);
	drop(&b, 2000000, 3, DROP_BUFFER, 10);
	drop(&b, 3000000, 2, DROP_TTL, 10);
	drop(&b, 4000000, 3, DROP_BUFFER, 10);
	drop(&b, 5000000, 2, DROP_TTL, 10);
	bench_check(&b, DROPS("1.0", "p2", "buffer", "1", "10", "1.0") DROPS("2.0", "p3", "buffer",
				"2", "20", "4.0") DROPS("3.0", "p2", "ttl", "2", "20", "5.0"));
}

/* What died on a link is shown by the link's direction: at the port that had sent it. */
static void bursts_on_a_link_have_its_direction(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	drop(&b, 1000000, 3, DROP_LINK_DOWN, 10);
	drop(&b, 2000000, 3, DROP_LOSS, 10);
	drop(&b, 3000000, 3, DROP_BURST, 10);
	drop(&b, 4000000, 3, DROP_GILBERT, 10);
	drop(&b, 5000000, 3, DROP_FCS, 10);
	drop(&b, 6000000, 3, DROP_WATCHDOG, 10);
	bench_check(&b, DROPS("1.0", "p2", "link_down", "1", "10", "1.0") DROPS("2.0", "p2", "loss",
				"1", "10", "2.0") DROPS("3.0", "p2", "burst", "1", "10", "3.0")
				DROPS("4.0", "p2", "gilbert", "1", "10", "4.0")
					DROPS("5.0", "p2", "fcs", "1", "10", "5.0")
						DROPS("6.0", "p3", "watchdog", "1", "10", "6.0"));
}

/* A burst is known when it has ended, and stands where it began. */
static void bursts_stand_where_they_began(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	drop(&b, 1000000, 2, DROP_BUFFER, 10);
	recorder_event(b.recorder, 2000000, json_pack("{s:s}", "event", "link_up"));
	drop(&b, 3000000, 2, DROP_BUFFER, 10);
	bench_check(&b, DROPS("1.0", "p2", "buffer", "2", "20",
				"3.0") "{\"t_us\":2.0,\"event\":\"link_up\"}\n");
}

#define PAUSES(t, port, class, count, paused, until, lasts)                                        \
	"{\"t_us\":" t ",\"event\":\"pauses\",\"port\":\"" port                                    \
	"\",\"class\":" class ",\"count\":" count ",\"paused_us\":" paused ",\"until_us\":" until  \
			      ",\"lasts\":" lasts "}\n"

/* A queue that is paused again within 10 us is one event, with the time of all its pauses. */
static void pauses_end_at_a_gap(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	recorder_paused(b.recorder, 1000000, 2, 0, 1);
	recorder_paused(b.recorder, 31000000, 2, 1, 0); /* however long it lasts itself */
	recorder_paused(b.recorder, 41000000, 2, 0, 1);
	recorder_paused(b.recorder, 41500000, 2, 1, 0);
	recorder_paused(b.recorder, 51500001, 2, 0, 1);
	recorder_paused(b.recorder, 51500002, 2, 1, 0);
	bench_check(&b, PAUSES("1.0", "p2", "0", "2", "30.5", "41.5", "false")
				PAUSES("51.500001", "p2", "0", "1", "1e-6", "51.500002", "false"));
}

/* A change tells of all classes of a port; what was paused and still is has not begun anew. */
static void pauses_are_by_port_and_class(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	recorder_paused(b.recorder, 1000000, 2, 0, 0x81);
	recorder_paused(b.recorder, 2000000, 3, 0, 0x80);
	recorder_paused(b.recorder, 3000000, 2, 0x81, 0x88);
	recorder_paused(b.recorder, 4000000, 3, 0x80, 0);
	recorder_paused(b.recorder, 6000000, 2, 0x88, 0);
	bench_check(&b,
		PAUSES("1.0", "p2", "0", "1", "2.0", "3.0", "false") PAUSES("1.0", "p2", "7", "1",
			"5.0", "6.0", "false") PAUSES("2.0", "p3", "7", "1", "2.0", "4.0", "false")
			PAUSES("3.0", "p2", "3", "1", "3.0", "6.0", "false"));
}

/* One that has not ended when the run has: it says so, and of how long only what is known. */
static void a_pause_that_lasts(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	recorder_paused(b.recorder, 1000000, 2, 0, 2);
	recorder_paused(b.recorder, 3000000, 2, 2, 0);
	recorder_paused(b.recorder, 4000000, 2, 0, 2);
	recorder_event(b.recorder, 9000000, json_pack("{s:s}", "event", "later"));
	bench_check(&b, PAUSES("1.0", "p2", "1", "2", "2.0", "4.0",
				"true") "{\"t_us\":9.0,\"event\":\"later\"}\n");
}

/* Commands first, then by port, and at a port by class and reason: whatever came first. */
static void events_of_one_time_have_an_order(void **state)
{
	struct bench b;

	(void)state;
	bench_setup(&b);
	drop(&b, 1000000, 3, DROP_BUFFER, 10);
	drop(&b, 1000000, 2, DROP_TTL, 10);
	drop(&b, 1000000, 2, DROP_BUFFER, 10);
	recorder_paused(b.recorder, 1000000, 3, 0, 1);
	recorder_paused(b.recorder, 1000000, 2, 0, 2);
	recorder_event(b.recorder, 1000000, json_pack("{s:s}", "event", "link_up"));
	recorder_end(b.recorder, 2000000);
	bench_check(&b, "{\"t_us\":1.0,\"event\":\"link_up\"}\n" PAUSES("1.0", "p2", "1", "1",
				"1.0", "2.0", "true") DROPS("1.0", "p2", "ttl", "1", "10", "1.0")
				DROPS("1.0", "p2", "buffer", "1", "10", "1.0")
					PAUSES("1.0", "p3", "0", "1", "1.0", "2.0", "true")
						DROPS("1.0", "p3", "buffer", "1", "10", "1.0"));
}

/* More than memory has room for: those that came late are merged from several runs on disk. */
static void many_events_are_merged(void **state)
{
	enum { EVENTS = 100000 };
	double time, latest = 0;
	char path[SMALL_PATH + 32], line[256];
	unsigned count = 0, latest_n = 0, n;
	struct bench b;
	FILE *in;

	(void)state;
	bench_setup(&b);
	for (unsigned i = 0; i < EVENTS;
		i++) /* 7919 is a prime: all over the place, five times each */
		recorder_event(b.recorder, (uint64_t)(i * 7919ull % (EVENTS / 5)) * 1000000,
			json_pack("{s:i}", "n", (int)i));
	assert_int_equal(recorder_write(b.recorder, b.fd), 0);
	snprintf(path, sizeof(path), "%s/events.jsonl.new", b.directory);
	in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		assert_int_equal(sscanf(line, "{\"t_us\":%lf,\"n\":%u}", &time, &n), 2);
		assert_true(!count || time > latest || (time == latest && n > latest_n));
		assert_int_equal(n * 7919ull % (EVENTS / 5), (uint64_t)time);
		latest = time;
		latest_n = n;
		count++;
	}
	fclose(in);
	assert_int_equal(count, EVENTS);
	bench_close(&b);
}

static void without_a_directory_nothing_is_written(void **state)
{
	struct bench b;

	(void)state;
	assert_int_equal(bench_open(&b, -1), 0);
	recorder_event(b.recorder, 1, json_pack("{s:s}", "event", "a"));
	drop(&b, 1000000, 2, DROP_BUFFER, 10);
	recorder_paused(b.recorder, 1000000, 2, 0, 0xff);
	assert_int_equal(recorder_flush(b.recorder), 0);
	recorder_free(b.recorder);
	recorder_free(NULL);
}

/* ---- files that can't be written ------------------------------------------------------------- */

/* Files may be so long: what is beyond it is refused, as on a full disk. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* It shows when it is flushed; if there is room again nothing is lost. */
static void full_disk_shows_and_may_be_cured(void **state)
{
	struct bench b;
	int why = 0;

	(void)state;
	bench_setup(&b);
	recorder_event(b.recorder, 1, json_pack("{s:s}", "event", "a"));
	limit_files(4);
	assert_int_equal(recorder_flush(b.recorder), -EFBIG);
	assert_int_equal(recorder_write(b.recorder, b.fd), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(recorder_flush(b.recorder), 0);
	assert_int_equal(recorder_lost(b.recorder, &why), 0);
	bench_check(&b, "{\"t_us\":1e-6,\"event\":\"a\"}\n");
}

/* Memory does not grow for ever: what is too much is counted, and nothing is cut in two. */
static void full_disk_for_long_loses_lines(void **state)
{
	enum { EVENTS = 40000 };
	char text[256], path[SMALL_PATH + 32], *line = NULL;
	uint64_t lost, found = 0;
	struct bench b;
	size_t size = 0;
	int why = 0;
	ssize_t n;
	FILE *in;

	(void)state;
	bench_setup(&b);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	limit_files(1000);
	for (int i = 0; i < EVENTS; i++)
		recorder_event(b.recorder, 1, json_pack("{s:s}", "event", text));
	limit_files(RLIM_INFINITY);
	lost = recorder_lost(b.recorder, &why);
	assert_in_range(lost, 1, EVENTS);
	assert_int_equal(why, -EFBIG);
	assert_int_equal(recorder_write(b.recorder, b.fd), 0);
	snprintf(path, sizeof(path), "%s/events.jsonl.new", b.directory);
	in = fopen(path, "r");
	assert_non_null(in);
	while ((n = getline(&line, &size, in)) > 0) {
		assert_int_equal(n, (ssize_t)strlen("{\"t_us\":1e-6,\"event\":\"\"}\n") + 255);
		found++;
	}
	free(line);
	fclose(in);
	assert_int_equal(found + lost, EVENTS);
	bench_close(&b);
}

static void what_is_in_the_way_is_not_written_to(void **state)
{
	char directory[SMALL_PATH], path[SMALL_PATH + 32], *text;
	struct bench b = {.recorder = NULL};
	FILE *out;
	int fd;

	(void)state;
	small_directory(directory);
	snprintf(path, sizeof(path), "%s/victim", directory);
	out = fopen(path, "w");
	fputs("keep", out);
	fclose(out);
	snprintf(path, sizeof(path), "%s/events.jsonl.part", directory);
	assert_int_equal(symlink("victim", path), 0);
	fd = open(directory, O_RDONLY | O_DIRECTORY);
	assert_int_equal(bench_open(&b, fd), -EEXIST);
	assert_null(b.recorder);
	text = small_file(directory, "victim");
	assert_string_equal(text, "keep");
	free(text);
	close(fd);
	small_directory_remove(directory);
}

/* ---- a whole run ----------------------------------------------------------------------------- */

/*
 * Two packets, of 4096 and 904 bytes, from h0 to h1: frames of 4170 and 978 bytes that take 335.52
 * and 80.16 ns a link, and one SACK for both, 9.76 ns. h1's link is dead for a packet of h1 to h0.
 */
static const char tiny[] = "name: tiny\n"
			   "topology:\n"
			   "  custom:\n"
			   "    hosts: [h0, h1]\n"
			   "    switches: [s0]\n"
			   "    links: [h0-s0, h1-s0]\n"
			   "  delay: 1us\n"
			   "switch: {reroute: 1us}\n"
			   "workload:\n"
			   "  - pairs: {from: [h0], to: [h1], message: 5000}\n"
			   "  - pairs: {from: [h1], to: [h0], message: 100, start: 20us}\n"
			   "faults:\n"
			   "  - {at: 19us, until: 22us, link: h1-s0, do: down}\n"
			   "  - {at: 30us, link: h0-s0, do: {rate: 50%}}\n"
			   "telemetry: {queues: {every: 500ns, above: 0}}\n"
			   "until: 31us\n";

static void tiny_run_to_the_byte(void **state)
{
	char directory[SMALL_PATH];
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_session_open(&s, tiny, NULL, 0, directory);
	small_session_run(&s);
	assert_int_equal(session_write(s.session, NULL, NULL, &why), 0);
	/* 2 us + 2 * 335.52 + 80.16 ns; 2 us + 2 * 9.76 ns more for the SACK */
	assert_file(directory, "flows.csv",
		"flow,src,dst,bytes,start_us,fct_us,delivery_us,retransmitted,"
		"spurious,paths,timeouts,ideal_us,fct_slowdown,delivered_bytes,packets,marks,"
		"out_of_order,qp,qps,udp_ports,dscp,entry,measured,transport,lost,trimmed,returned,"
		"reordered,reorder_sum,reorder_max\n"
		"0,h0,h1,5000,0.000000,4.770720,2.751200,0,0,2,0,4.770720,1.000000,5000,2,0,"
		"0,3,1,52472-52727,0,0,1,strack,0,0,0,0,0,0\n"
		"1,h1,h0,100,20.000000,,,1,0,2,0,4.051200,,0,2,0,0,5,1,59687-59942,0,1,1,strack,"
		"1,0,0,0,0,0\n");
	/*
	 * of 31 us h0's line is busy for 335.52 + 80.16 ns and a SACK's 9.76 ns; what died on h1's
	 * link is a drop of the port that had sent it
	 */
	assert_file(directory, "ports.csv",
		"port,rate_gbps,tx_frames,tx_bytes,utilisation,rx_frames,marked,"
		"trimmed,dropped,dropped_malformed,dropped_checksum,dropped_ttl,"
		"dropped_no_route,dropped_buffer,dropped_link_down,dropped_not_mine,"
		"dropped_foreign,dropped_loss,dropped_burst,dropped_gilbert,"
		"dropped_fcs,dropped_headers,dropped_headroom,dropped_watchdog,"
		"dropped_switch_down,dropped_host_queue,dropped_policy,max_depth_bytes,pauses_sent,"
		"pauses_received,paused_us\n"
		"h0->s0,50.000000,3,5246,0.013724,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
		"0,0,0,0,0,0,0,0.000000\n"
		"h1->s0,100.000000,5,618,0.001905,3,0,0,1,0,0,0,0,0,1,0,0,0,0,0,0,0,0,"
		"0,0,0,0,0,0,0,0.000000\n"
		"s0->h0,50.000000,4,444,0.001905,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
		"0,0,0,174,0,0,0.000000\n"
		"s0->h1,100.000000,3,5246,0.013724,5,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
		"0,0,0,0,5148,0,0,0.000000\n");
	/* the first packet is in s0 from 1.33552 to 1.67104 us, the second to 1.7512 us */
	assert_file(directory, "queues.csv",
		"t_us,port,class,depth_bytes,delay_us\n"
		"1.500000,s0->h1,0,5148,0.411840\n");
	assert_file(directory, "events.jsonl",
		"{\"t_us\":19.0,\"event\":\"link_down\",\"link\":\"h1-s0\"}\n"
		"{\"t_us\":20.0,\"event\":\"reroute\",\"routes_changed\":1}\n" DROPS("21.01584",
			"h1->s0", "link_down", "1", "174",
			"21.01584") "{\"t_us\":22.0,\"event\":\"link_up\",\"link\":\"h1-s0\"}\n"
				    "{\"t_us\":23.0,\"event\":\"reroute\",\"routes_changed\":1}\n"
				    "{\"t_us\":30.0,\"event\":\"link_rate\",\"link\":\"h0-s0\",\"rate_bps\":"
				    "50000000000}\n"
				    "{\"t_us\":31.0,\"event\":\"cut_off\",\"by\":\"until\","
				    "\"unfinished\":1}\n");
	small_session_close(&s);
	small_directory_remove(directory);
}

/* Sampling is off unless asked for. */
static void no_samples_no_file(void **state)
{
	const char *sets[] = {"telemetry.queues=off"};
	char directory[SMALL_PATH];
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_session_open(&s, tiny, sets, 1, directory);
	small_session_run(&s);
	assert_int_equal(session_write(s.session, NULL, NULL, &why), 0);
	assert_null(small_file(directory, "queues.csv"));
	small_session_close(&s);
	small_directory_remove(directory);
}

/* h1 pauses class 3 at 9 us, at its switch 1 us and 84 bytes later; the run ends in the pause. */
static const char stormy[] =
	"name: stormy\n"
	"topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 2}, delay: 1us}\n"
	"switch: {pfc: on, classes: [{class: 0}, {class: 3, dscp: 26, lossless: yes}]}\n"
	"workload:\n"
	"  - pairs: {from: [h1], to: [h0], message: 100, start: 1ms}\n"
	"faults:\n"
	"  - {at: 9us, until: 10us, host: h1, do: {pause: 3}}\n"
	"until: 100us\n";

static void pauses_to_the_byte(void **state)
{
	char directory[SMALL_PATH];
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_session_open(&s, stormy, NULL, 0, directory);
	small_session_run(&s);
	assert_int_equal(session_write(s.session, NULL, NULL, &why), 0);
	assert_file(directory, "pauses.csv",
		"port,class,pauses_sent,resumes_sent,pauses_received,paused_us,max_ingress_bytes\n"
		"h0->leaf0,3,0,0,0,0.000000,0\n"
		"h1->leaf0,3,1,0,0,0.000000,0\n"
		"leaf0->h0,3,0,0,0,0.000000,0\n"
		"leaf0->h1,3,0,0,1,89.993280,0\n"
		"leaf0->spine0,3,0,0,0,0.000000,0\n"
		"spine0->leaf0,3,0,0,0,0.000000,0\n");
	small_session_close(&s);
	small_directory_remove(directory);
}

/* Where nobody can pause there is nothing to tell of it. */
static void no_pauses_no_file(void **state)
{
	char directory[SMALL_PATH];
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_session_open(&s, tiny, NULL, 0, directory);
	small_session_run(&s);
	assert_int_equal(session_write(s.session, NULL, NULL, &why), 0);
	assert_null(small_file(directory, "pauses.csv"));
	small_session_close(&s);
	small_directory_remove(directory);
}

static bool has_results(const char *directory)
{
	static const char *const names[] = {"summary.json", "scenario.yaml", "flows.csv",
		"queues.csv", "events.jsonl", "pauses.csv", "flows.csv.new"};
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = small_file(directory, names[i]);

		found |= text != NULL;
		free(text);
	}
	return found;
}

/* The reason reaches the user, nothing partial appears, and with room again all of it does. */
static void results_appear_whole_or_not_at_all(void **state)
{
	static const rlim_t sizes[] = {
		0, 10, 300, 600}; /* another file is the first that is too long */
	char directory[SMALL_PATH], *text;
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_session_open(&s, tiny, NULL, 0, directory);
	small_session_run(&s);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		limit_files(sizes[i]);
		assert_int_equal(session_write(s.session, NULL, NULL, &why), -EFBIG);
		limit_files(RLIM_INFINITY);
		assert_non_null(strstr(why.text, "File too large"));
		assert_non_null(strstr(why.text, directory));
		assert_false(has_results(directory));
	}
	assert_int_equal(session_write(s.session, NULL, NULL, &why), 0);
	text = small_file(directory, "events.jsonl");
	assert_non_null(strstr(text, "link_rate"));
	free(text);
	text = small_file(directory, "queues.csv");
	assert_non_null(strstr(text, "1.500000,s0->h1,0,5148,"));
	free(text);
	small_session_close(&s);
	small_directory_remove(directory);
}

/* As after a first try elsewhere. */
static void results_can_go_to_another_folder(void **state)
{
	char directory[SMALL_PATH], other[SMALL_PATH], *text;
	struct folder_params p = {.path = other};
	struct error why = ERROR_INIT;
	struct folder *folder = NULL;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_directory(other);
	small_session_open(&s, tiny, NULL, 0, directory);
	small_session_run(&s);
	limit_files(10);
	assert_int_equal(session_write(s.session, NULL, NULL, &why), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(folder_claim(&folder, &p, &why), 0);
	assert_int_equal(folder_begin(folder, &why), 0);
	assert_int_equal(session_write(s.session, NULL, folder, &why), 0);
	text = small_file(other, "events.jsonl");
	assert_non_null(strstr(text, "link_rate"));
	free(text);
	folder_close(folder);
	small_session_close(&s);
	assert_null(small_file(directory, "events.jsonl.part"));
	small_directory_remove(directory);
	small_directory_remove(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_sorted_by_time),
		cmocka_unit_test(events_of_one_time_keep_their_order),
		cmocka_unit_test(bursts_end_at_a_gap),
		cmocka_unit_test(bursts_are_by_port_and_reason),
		cmocka_unit_test(bursts_on_a_link_have_its_direction),
		cmocka_unit_test(bursts_stand_where_they_began),
		cmocka_unit_test(pauses_end_at_a_gap),
		cmocka_unit_test(pauses_are_by_port_and_class),
		cmocka_unit_test(a_pause_that_lasts),
		cmocka_unit_test(without_a_directory_nothing_is_written),
		cmocka_unit_test(events_of_one_time_have_an_order),
		cmocka_unit_test(many_events_are_merged),
		cmocka_unit_test(full_disk_shows_and_may_be_cured),
		cmocka_unit_test(full_disk_for_long_loses_lines),
		cmocka_unit_test(what_is_in_the_way_is_not_written_to),
		cmocka_unit_test(tiny_run_to_the_byte),
		cmocka_unit_test(no_samples_no_file),
		cmocka_unit_test(pauses_to_the_byte),
		cmocka_unit_test(no_pauses_no_file),
		cmocka_unit_test(results_appear_whole_or_not_at_all),
		cmocka_unit_test(results_can_go_to_another_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
