/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/top.h"
#include "cli/top_draw.h"

#define NO_ANSWER_NS 2000000000ull /* after which the screen says so */
#define FIRST_RATE_NS                                                                              \
	250000000ull /* from a view's first sample to its second: for rates to be there soon */
#define AGAIN_NS 100000000ull /* until a broken connection is made again */
#define ESC_MS   25           /* how long an Esc may be the beginning of a longer key */

/* What a loop's turn is made of. */
struct watch {
	struct top *top;
	struct top_look look;
	size_t page;
	uint64_t asked_ns, due_ns; /* of requests */
	bool gone;
	char alarm[64], refusal[256];
	char why[128]; /* it ends */
};

static void drop_feed(struct watch *w)
{
	top_feed_close(w->top->feed);
	w->top->feed = NULL;
}

/*
 * The connection broke: the fabric closes slow readers, and is asked again. If it refuses or has no
 * socket it is gone; if its queue of connections is full it hangs.
 */
static void reconnect(struct watch *w)
{
	struct client *client;
	int r = client_try_open(&client, w->top->name);

	if (r == 0)
		r = top_feed_open(&w->top->feed, client);
	if (r == 0 || r == -EAGAIN)
		return;
	w->gone = true;
	snprintf(w->why, sizeof(w->why), "%s went away", w->top->name);
}

static void ask(struct watch *w)
{
	const struct top_pair *p = &w->top->views[w->look.view];
	uint64_t now = top_clock(), pause = w->top->interval_ns;

	if (p->taken < 1 && pause > FIRST_RATE_NS)
		pause = FIRST_RATE_NS;
	w->due_ns = now + pause;
	if (!w->top->feed)
		reconnect(w);
	if (!w->top->feed)
		return;
	w->asked_ns = now;
	if (top_feed_ask(w->top->feed, 1u << w->look.view) < 0)
		drop_feed(w);
}

/* Whether there will be a request at due_ns. A paused screen stays as it is, once it is whole. */
static bool will_ask(const struct watch *w)
{
	if (w->top->feed && top_feed_waits(w->top->feed))
		return false;
	return !w->look.frozen || w->top->views[w->look.view].taken < 2;
}

static void take(struct watch *w)
{
	struct top_answers answers = {0};
	int r = top_feed_take(w->top->feed, &answers);

	if (r < 0) {
		/* asked again soon: whether it is gone shows then */
		drop_feed(w);
		w->due_ns = top_clock() + AGAIN_NS;
		snprintf(w->refusal, sizeof(w->refusal), "the connection broke: %s", strerror(-r));
	} else if (r > 0) {
		snprintf(w->refusal, sizeof(w->refusal), "%s", answers.refusal);
		top_push(w->top, &answers);
	}
}

static void watch_alarm(struct watch *w)
{
	uint64_t waited = top_clock() - w->asked_ns;
	bool waits = !w->top->feed || top_feed_waits(w->top->feed);

	*w->alarm = 0;
	if (w->asked_ns && waits && waited > NO_ANSWER_NS)
		snprintf(w->alarm, sizeof(w->alarm), " NO ANSWER for %llu s ",
			(unsigned long long)(waited / 1000000000));
}

/* False: it is the user's wish to end. */
static bool take_keys(struct watch *w)
{
	int key;

	while ((key = getch()) != ERR) {
		switch (top_look_key(&w->look, key, w->page)) {
		case TOP_QUIT:
			return false;
		case TOP_LOOK:
			/* what was seen of it long ago makes no rates */
			top_pair_release(&w->top->views[w->look.view]);
			w->due_ns = 0;
			break;
		case TOP_STAY:
			break;
		}
	}
	return true;
}

static void draw(struct watch *w)
{
	struct top_picture p = {
		&w->top->status, &w->top->views[w->look.view], w->alarm, w->refusal};

	watch_alarm(w);
	w->page = top_draw(&w->look, &p);
}

/* Until the fabric is gone, or the user, or the terminal. */
static void loop(struct watch *w, int stop_fd)
{
	struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = stop_fd, .events = POLLIN}, {.events = POLLIN}};

	while (!w->gone) {
		if (will_ask(w) && top_clock() >= w->due_ns)
			ask(w);
		draw(w);
		p[2].fd = w->top->feed ? top_feed_fd(w->top->feed) : -1;
		/* at most a second: for "no answer", and for a resize just before */
		if (poll(p, 3, will_ask(w) ? top_until(w->due_ns, 1000) : 1000) < 0 &&
			errno != EINTR)
			return;
		if (p[1].revents || (p[0].revents & (POLLHUP | POLLERR)) || !take_keys(w))
			return;
		if (w->top->feed && p[2].revents)
			take(w);
	}
}

/* NULL after a message: an unknown terminal, or one that can't move its cursor (TERM=dumb). */
static SCREEN *open_screen(void)
{
	SCREEN *screen = newterm(NULL, stdout, stdin);

	if (screen && tigetstr("cup"))
		return screen;
	if (screen) {
		endwin();
		delscreen(screen);
	}
	cli_error("this terminal %s; 'fabricbed top --once' needs none",
		screen ? "can't move its cursor (TERM)" : "is not known (TERM)");
	return NULL;
}

int top_watch(struct top *t)
{
	struct watch w = {.top = t};
	int stop_fd = client_catch_signals();
	SCREEN *screen;

	if (stop_fd < 0) {
		cli_error("can't catch signals: %s", strerror(-stop_fd));
		return EXIT_RUN;
	}
	screen = open_screen();
	if (!screen) {
		client_release_signals(stop_fd);
		return EXIT_MACHINE;
	}
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESC_MS);
	curs_set(0);
	top_draw_init();
	top_look_init(&w.look);
	loop(&w, stop_fd);
	endwin();
	delscreen(screen);
	client_release_signals(stop_fd);
	if (!w.gone)
		return EXIT_WELL;
	cli_error("%s", w.why);
	return EXIT_RUN;
}
