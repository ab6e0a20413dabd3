/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *e, int code, const char *format, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, format);
	vsnprintf(e->text, sizeof(e->text), format, ap);
	va_end(ap);
	return code;
}
