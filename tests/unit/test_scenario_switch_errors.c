/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scenario_fixture.h"

/* In line 3 of a file. */
#define SWITCH(text) SMALL "switch: {" text "}\n"

static void wrong_buffers_are_explained(void **state)
{
	(void)state;
	expect(SWITCH("buffer: {shared: auto, per_port: 1MB}"),
		"3:43: switch.buffer.per_port: per_port and shared exclude each other; keep one\n");
	expect(SWITCH("buffer: {alpha: 1, reserve: 1KB}"),
		"3:26: switch.buffer.alpha: only a shared pool has it; add shared: auto\n"
		"3:38: switch.buffer.reserve: only a shared pool has it; add shared: auto\n");
	expect(SWITCH("buffer: {shared: 1MB, alpha: 0.003}"),
		"3:39: switch.buffer.alpha: 0.003 is too small; expected a number from 1/256 to 256\n");
	expect(SWITCH("buffer: {shared: 1MB, alpha: 257}"),
		"3:39: switch.buffer.alpha: 257 is too large; expected a number from 1/256 to 256\n");
	expect(SWITCH("buffer: {shared: 2us, reserve: some}"),
		"3:27: switch.buffer.shared: expected a size from 1B to 1TB, such as 400KB, or a share such "
		"as 25% BDP, or auto, not '2us'\n"
		"3:41: switch.buffer.reserve: expected a size up to 2GB, such as 400KB, or a share such as "
		"25% BDP, or auto, not 'some'\n");
}

static void wrong_ecn_is_explained(void **state)
{
	(void)state;
	expect(SWITCH("ecn: {kmin: 2us, kmax: 1us}"),
		"3:22: switch.ecn.kmin: kmin is above kmax; expected marking to rise from kmin to kmax\n");
	expect(SWITCH("ecn: {average: 16, pmax: -1}"),
		"3:25: switch.ecn.average: 16 is too large; expected a whole number from 1 to 9, or off\n"
		"3:35: switch.ecn.pmax: -1 is too small; expected a number from 0 to 1\n");
	expect(SWITCH("ecn: {kmax: 2s, average: 0}"),
		"3:22: switch.ecn.kmax: 2s is too large; expected a size from 1B to 2GB, such as 400KB, a "
		"share such as 25% BDP, or a time such as 2us\n"
		"3:35: switch.ecn.average: 0 is too small; expected a whole number from 1 to 9, or off\n");
	expect(SWITCH("classes: [{class: 1, ecn: {kmin: 80% BDP}}, {class: 2, ecn: 5}]"),
		"3:43: switch.classes.0.ecn.kmin: kmin is above kmax; expected marking to rise from kmin to "
		"kmax\n"
		"3:70: switch.classes.1.ecn: expected off, on, or a mapping of these keys: kmin, kmax, pmax, "
		"average, not '5'\n");
	/* a class inherits nothing of what was refused, and so has no fault of its own */
	expect(SWITCH("ecn: {kmin: 60KB, kmax: 20KB}, classes: [{class: 0, ecn: {average: 1}}, "
		      "{class: 1, ecn: {kmax: 30KB}}]"),
		"3:22: switch.ecn.kmin: kmin is above kmax; expected marking to rise from kmin to kmax\n");
	expect(SWITCH("ecn: {kmin: 60KB, kmax: 0}, classes: [{class: 0, ecn: {average: 1}}]"),
		"3:34: switch.ecn.kmax: 0 is too small; expected a size from 1B to 2GB, such as 400KB, a "
		"share such as 25% BDP, or a time such as 2us\n");
}

static void wrong_classes_are_explained(void **state)
{
	(void)state;
	expect(SWITCH("classes: {class: 3}"),
		"3:19: switch.classes: expected a list of {class, dscp, lossless, schedule, buffer, ecn, "
		"xoff, xon, headroom}, not a mapping\n");
	expect(SWITCH("classes: []"),
		"3:19: switch.classes: empty; expected at least one class, or leave it out\n");
	expect(SWITCH("classes: [{class: 8}, {dscp: 1}, {class: 1, dscp: 64}, {class: 2, dscp: [1, 1]}]"),
		"3:28: switch.classes.0.class: 8 is too large; expected a whole number from 0 to 7\n"
		"3:32: switch.classes.1.class: missing; expected a whole number from 0 to 7\n"
		"3:60: switch.classes.2.dscp: 64 is too large; expected a whole number from 0 to 63\n"
		"3:86: switch.classes.3.dscp.1: DSCP 1 again; once is enough\n");
	expect(SWITCH("classes: [{class: 3, dscp: 1}, {class: 3}, {class: 4, dscp: [2, 1]}]"),
		"3:49: switch.classes.1.class: a second class 3\n"
		"3:70: switch.classes.2.dscp: DSCP 1 is class 3's and class 4's; keep one\n");
	expect(SWITCH("classes: [{class: 1, dscp: {}, lossless: maybe}]"),
		"3:37: switch.classes.0.dscp: expected a DSCP from 0 to 63, or a list such as [26, 27], not "
		"a mapping\n"
		"3:51: switch.classes.0.lossless: 'maybe' is not known; valid here: no, yes\n");
}

static void wrong_shares_are_explained(void **state)
{
	(void)state;
	expect(SWITCH("classes: [{class: 3, schedule: 60%}, {class: 4, schedule: 50%}]"),
		"3:19: switch.classes: the shares of the classes sum to 110%; expected at most 100%\n");
	expect(SWITCH("classes: [{class: 3, schedule: 0%}, {class: 4, schedule: 101%}, {class: 5, schedule: on}]"),
		"3:41: switch.classes.0.schedule: 0% is too small; expected a percentage above 0% and up to "
		"100%, such as 25%, or strict\n"
		"3:67: switch.classes.1.schedule: 101% is too large; expected a percentage above 0% and up "
		"to 100%, such as 25%, or strict\n"
		"3:95: switch.classes.2.schedule: expected a percentage above 0% and up to 100%, such as "
		"25%, or strict, not 'on'\n");
	/* thirds are written with a few digits and must do */
	scenario_free(load(SWITCH("classes: [{class: 1, schedule: 50%}, {class: 2, schedule: 30%}, "
				  "{class: 3, schedule: 20%}]")));
}

static void lossless_settings_are_checked(void **state)
{
	(void)state;
	expect(SWITCH("classes: [{class: 3, lossless: yes}]"),
		"3:41: switch.classes.0.lossless: class 3 cannot be lossless without PFC; add switch.pfc: "
		"on\n");
	expect(SWITCH("pfc: on, classes: [{class: 3}]"),
		"3:15: switch.pfc: no class is lossless, so that nothing would be paused; add lossless: yes "
		"to one in switch.classes\n");
	expect(SWITCH("classes: [{class: 3, xoff: 10KB, headroom: 3}]"),
		"3:37: switch.classes.0.xoff: only a lossless class has it; add lossless: yes, or leave it "
		"out\n"
		"3:53: switch.classes.0.headroom: only a lossless class has it; add lossless: yes, or leave "
		"it out\n");
	expect(SWITCH("pfc: on, classes: [{class: 3, lossless: yes, xoff: 10KB, xon: 11KB}]"),
		"3:72: switch.classes.0.xon: XON is above XOFF, at 10KB; a queue that was paused must drain "
		"first\n");
	expect(SWITCH("pfc: on, classes: [{class: 3, lossless: yes, xon: 11KB}]"),
		"3:60: switch.classes.0.xon: XOFF is automatic, and differs from link to link; give xoff "
		"too, or leave xon at auto\n");
	expect(SWITCH("pfc: on, buffer: {shared: auto},\n"
		      "  classes: [{class: 3, lossless: yes, xoff: 10KB, xon: 1KB, buffer: 1MB}]"),
		"4:45: switch.classes.0.xoff: the shared pool decides, by its alpha; leave it out, or give "
		"buffer.per_port in the place of shared\n"
		"4:56: switch.classes.0.xon: the shared pool decides, by its alpha; leave it out, or give "
		"buffer.per_port in the place of shared\n"
		"4:69: switch.classes.0.buffer: the shared pool decides, by its alpha; leave it out, or "
		"give buffer.per_port in the place of shared\n");
}

static void wrong_pauses_are_explained(void **state)
{
	(void)state;
	expect(SWITCH("pfc: {quanta: 65536, response: 2, watchdog: 0us}"),
		"3:24: switch.pfc.quanta: 65536 is too large; expected a whole number from 1 to 65535\n"
		"3:41: switch.pfc.response: expected a time up to 1s, such as 1us, not '2'\n"
		"3:54: switch.pfc.watchdog: 0us is too small; expected a time from 1ns to 864000s, such as "
		"1us, or off\n");
	expect(SWITCH("pfc: maybe, lldp: maybe, cnp: 50us, reroute: {mode: lokal}"),
		"3:15: switch.pfc: expected off, on, or a mapping of these keys: quanta, response, watchdog, "
		"not 'maybe'\n"
		"3:28: switch.lldp: expected off, on, or {every: 100us}, not 'maybe'\n"
		"3:40: switch.cnp: expected off, on, or {every: auto}, not '50us'\n"
		"3:62: switch.reroute.mode: 'lokal' is not known; did you mean 'local'?\n");
}

#define TWO_LOSSLESS                                                                               \
	"pfc: on, classes: [{class: 1}, {class: 3, dscp: 3, lossless: yes},\n"                     \
	"  {class: 4, dscp: 4, lossless: yes}, {class: 5, lossless: yes}],\n"

static void wrong_roles_are_explained(void **state)
{
	(void)state;
	expect(SWITCH("roles: on"),
		"3:17: switch.roles: expected off, or {remap: {3: 4}}, not 'on'\n");
	expect(SWITCH("roles: {}"),
		"3:17: switch.roles.remap: missing; expected classes and where they move to, such as {3: "
		"4}\n");
	expect(SWITCH("roles: {remap: {}}"),
		"3:25: switch.roles.remap: empty; expected classes and where they move to\n");
	expect(SWITCH("roles: {remap: {0: 0, 1: 9, x: 1, 12: 1}}"),
		"3:29: switch.roles.remap.0: class 0 to itself; expected another\n"
		"3:35: switch.roles.remap.1: 9 is too large; expected a whole number from 0 to 7\n"
		"3:41: switch.roles.remap.x: the key is no class; expected one from 0 to 7\n"
		"3:48: switch.roles.remap.12: the key is no class; expected one from 0 to 7\n");
	expect(SWITCH(TWO_LOSSLESS "  roles: {remap: {3: 4}}"),
		"5:10: switch.roles: ports learn their roles by LLDP, which is off; add switch.lldp: on\n");
	expect(SWITCH(TWO_LOSSLESS "  lldp: on, roles: {remap: {3: 1, 2: 3, 4: 5}}"),
		"5:32: switch.roles.remap.3: class 1 is not lossless; only lossless classes can deadlock, "
		"and moving into another would drop\n"
		"5:38: switch.roles.remap.2: there is no class 2; add it to switch.classes\n"
		"5:44: switch.roles.remap.4: class 5 has no DSCP, by which later switches would know what "
		"was moved; give it one\n");
	expect(SWITCH(TWO_LOSSLESS "  lldp: on, roles: {remap: {3: 4, 4: 3}}"),
		"5:32: switch.roles.remap.3: class 3 comes back to itself, and with it the deadlock; "
		"expected a way that ends\n"
		"5:38: switch.roles.remap.4: class 4 comes back to itself, and with it the deadlock; "
		"expected a way that ends\n");
}

static void wrong_trimming_is_explained(void **state)
{
	(void)state;
	expect(SWITCH("trim: on"),
		"3:16: switch.trim: 'on' is not known; valid here: off, receiver, sender\n");
	expect(SWITCH("trim: {to: off, overflow: keep, queue: 0}"),
		"3:21: switch.trim.to: 'off' is not known; valid here: receiver, sender\n"
		"3:36: switch.trim.overflow: 'keep' is not known; valid here: drop, return\n"
		"3:49: switch.trim.queue: 0 is too small; expected a size from 1B to 2GB, such as 400KB, or "
		"a share such as 25% BDP\n");
	expect(SWITCH("trim: {to: sender, overflow: return}"),
		"3:39: switch.trim.overflow: headers go to the sender anyway; return is for to: receiver\n");
	expect(SWITCH("trim: {dscp: 50}"),
		"3:23: switch.trim.dscp: DSCP 50 means headers to the receiver and to the sender; expected "
		"two\n");
	expect(SWITCH("trim: {class: 3}, classes: [{class: 3, buffer: 1MB}, {class: 1}]"),
		"3:57: switch.classes.0.buffer: class 3 is that of trimmed headers, and switch.trim.queue "
		"says how much it holds; leave it out\n");
	expect(SWITCH("trim: {class: 3}, classes: [{class: 3, lossless: yes}, {class: 1}], pfc: on"),
		"3:24: switch.trim.class: class 3 is lossless; headers need a class that is not\n");
	expect(SWITCH("trim: receiver, pfc: on"),
		"3:16: switch.trim: nothing to trim; only a lossy class beside class 6, that of headers, is "
		"trimmed\n");
	expect(SWITCH("trim: receiver, classes: [{class: 6}]"),
		"3:16: switch.trim: nothing to trim; only a lossy class beside class 6, that of headers, is "
		"trimmed\n");
	expect(SWITCH("trim: receiver, classes: [{class: 3, dscp: [49, 50]}]"),
		"3:16: switch.trim: DSCP 49 is class 3's; headers have it (dscp) and go by class 6; take "
		"another\n");
	expect(SWITCH("trim: {return_dscp: 7}, classes: [{class: 3, dscp: 7}]"),
		"3:30: switch.trim.return_dscp: DSCP 7 is class 3's; headers have it (return_dscp) and go "
		"by class 6; take another\n");
}

static void wrong_hosts_are_explained(void **state)
{
	(void)state;
	expect(SWITCH("trim: receiver") "host: {dscp: 49}\n",
		"4:14: host.dscp: data would go by class 6, that of trimmed headers; expected host.dscp.data "
		"to be of another class\n");
	expect(SWITCH("trim: receiver") "host: {dscp: {notify: 49, control: 50}}\n",
		"4:36: host.dscp.control: DSCP 50 is that of answers too (host.dscp.control), and headers go by "
		"class 6; take another\n");
	expect(SWITCH("trim: {dscp: 48}"),
		"3:16: switch.trim: DSCP 48 is that of answers too (host.dscp.control), and headers go by "
		"class 6; take another\n");
	expect(SWITCH("trim: receiver") "host: {dscp: {data: 50}}\n",
		"4:21: host.dscp.data: data would go by class 6, that of trimmed headers; expected "
		"host.dscp.data to be of another class\n");
	expect(SWITCH("trim: {class: 0}, classes: [{class: 0}, {class: 1}]"),
		"3:16: switch.trim: data would go by class 0, that of trimmed headers; expected "
		"host.dscp.data to be of another class\n");
	expect(SMALL "host: {dscp: 64, transport: {roce: {qps_per_connection: 65, congestion: on,\n"
		     "  byte_counter: 0, additive: 3}}}\n",
		"3:14: host.dscp: 64 is too large; expected a whole number from 0 to 63\n"
		"3:57: host.transport.roce.qps_per_connection: 65 is too large; expected a whole number from "
		"1 to 64\n"
		"3:73: host.transport.roce.congestion: 'on' is not known; valid here: off, dcqcn\n"
		"4:17: host.transport.roce.byte_counter: 0 is too small; expected a size from 1B to 1TB, "
		"such as 2MB, or auto\n"
		"4:30: host.transport.roce.additive: expected a rate from 1Kbps to 10Tbps, such as 100Gbps, "
		"or auto, not '3'\n");
	expect(SMALL "host: {transport: {roce: {dcqcn: tunde, gain: 0, clamp_target: yes}}}\n",
		"3:34: host.transport.roce.dcqcn: 'tunde' is not known; did you mean 'tuned'?\n"
		"3:47: host.transport.roce.gain: 0 is too small; expected a probability above 0 and up to 1, such as "
		"0.1% or 1e-3\n"
		"3:64: host.transport.roce.clamp_target: 'yes' is not known; valid here: always, after_increase\n");
	expect(SMALL "host: {transport: {roce: {}, strack: {congestion: of}}}\n",
		"3:38: host.transport.strack: strack and roce exclude each other; keep one\n"
		"3:51: host.transport.strack.congestion: 'of' is not known; valid here: on, off\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_buffers_are_explained),
		cmocka_unit_test(wrong_ecn_is_explained),
		cmocka_unit_test(wrong_classes_are_explained),
		cmocka_unit_test(wrong_shares_are_explained),
		cmocka_unit_test(lossless_settings_are_checked),
		cmocka_unit_test(wrong_pauses_are_explained),
		cmocka_unit_test(wrong_roles_are_explained),
		cmocka_unit_test(wrong_trimming_is_explained),
		cmocka_unit_test(wrong_hosts_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
