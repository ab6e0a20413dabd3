/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/json.h"

#include <string.h>

const json_t *look(const json_t *object, const char *path)
{
	while (object && *path) {
		size_t length = strcspn(path, ".");
		char key[64];

		if (length >= sizeof(key))
			return NULL;
		memcpy(key, path, length);
		key[length] = '\0';
		object = json_object_get(object, key);
		path += length + (path[length] == '.');
	}
	return object;
}

double look_number(const json_t *object, const char *path)
{
	const json_t *value = look(object, path), *count;
	const char *key;
	double sum = json_number_value(value);

	json_object_foreach((json_t *)value, key, count) sum += json_number_value(count);
	return sum;
}

json_int_t look_count(const json_t *object, const char *path)
{
	return (json_int_t)look_number(object, path);
}

const char *look_text(const json_t *object, const char *path)
{
	return json_string_value(look(object, path));
}

json_t *real_or_null(bool exists, double value)
{
	return exists ? json_real(value) : json_null();
}

void print_json(const json_t *json, FILE *out)
{
	json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putc('\n', out);
}
