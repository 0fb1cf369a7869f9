#include "sim/core/print.h"

#include <string.h>

typedef struct Printer {
  GString *out;
  PrintPeek peek;
  void *user;
  uint64_t format, args; /* the next byte of each */
  uint64_t bad;
  int taken;
  bool failed;
} Printer;

/* A conversion: %[flags][width][.precision][size]type. */
typedef struct Conversion {
  char flags[8];
  int width, precision; /* -1: not given */
  bool is_long;         /* the argument has 8 bytes */
  uint8_t narrow;       /* bits that `h` and `hh` leave: 16, 8; else 0 */
  char type;
} Conversion;

static uint8_t peek_byte(Printer *printer, uint64_t address) {
  uint8_t byte = 0;
  if (!printer->failed && !printer->peek(printer->user, address, &byte)) {
    printer->failed = true;
    printer->bad = address;
  }
  return byte;
}

static uint8_t look(Printer *printer) { return peek_byte(printer, printer->format); }

static uint8_t take(Printer *printer) { return peek_byte(printer, printer->format++); }

static uint64_t argument(Printer *printer, uint32_t bytes) {
  uint64_t value = 0;
  printer->args = (printer->args + bytes - 1) / bytes * bytes;
  for (uint32_t i = 0; i < bytes; i++)
    value |= (uint64_t)peek_byte(printer, printer->args++) << (8 * i);
  printer->taken++;
  return value;
}

bool print_string(GString *out, PrintPeek peek, void *user, uint64_t address, uint64_t *bad) {
  for (uint32_t i = 0; i < PRINT_STRING_MAX; i++, address++) {
    uint8_t byte;
    if (!peek(user, address, &byte)) {
      *bad = address;
      return false;
    }
    if (byte == '\0')
      return true;
    g_string_append_c(out, (char)byte);
  }
  return true;
}

/* A number, or `*`: the next argument. */
static int read_number(Printer *printer, int none) {
  if (look(printer) == '*') {
    take(printer);
    int32_t value = (int32_t)argument(printer, 4);
    return CLAMP(value, -PRINT_WIDTH_MAX, PRINT_WIDTH_MAX);
  }
  int value = none;
  for (uint8_t byte; (byte = look(printer)) >= '0' && byte <= '9'; take(printer))
    value = MIN(MAX(value, 0) * 10 + (byte - '0'), PRINT_WIDTH_MAX);
  return value;
}

static Conversion read_conversion(Printer *printer) {
  Conversion conversion = {.width = -1, .precision = -1};
  unsigned flags = 0;
  for (uint8_t byte; (byte = look(printer)) && strchr("-+ #0", byte); take(printer))
    if (!strchr(conversion.flags, byte) && flags + 1 < sizeof conversion.flags)
      conversion.flags[flags++] = (char)byte;
  conversion.width = read_number(printer, -1);
  if (conversion.width < -1) { /* a negative `*`: left-justified */
    if (!strchr(conversion.flags, '-') && flags + 1 < sizeof conversion.flags)
      conversion.flags[flags++] = '-';
    conversion.width = -conversion.width;
  }
  if (look(printer) == '.') {
    take(printer);
    conversion.precision = read_number(printer, 0);
  }
  for (uint8_t byte; (byte = look(printer)) == 'l' || byte == 'h'; take(printer)) {
    conversion.is_long |= byte == 'l';
    conversion.narrow = byte == 'l' ? 0 : conversion.narrow ? 8 : 16;
  }
  conversion.type = (char)take(printer);
  return conversion;
}

/* The conversion as the host's printf reads it, with `size` before the type. */
static char *host_format(const Conversion *conversion, const char *size) {
  GString *format = g_string_new("%");
  g_string_append(format, conversion->flags);
  if (conversion->width >= 0)
    g_string_append_printf(format, "%d", conversion->width);
  if (conversion->precision >= 0)
    g_string_append_printf(format, ".%d", conversion->precision);
  g_string_append_printf(format, "%s%c", size, conversion->type);
  return g_string_free(format, FALSE);
}

static void print_integer(Printer *printer, const Conversion *conversion) {
  bool is_signed = conversion->type == 'd' || conversion->type == 'i';
  uint64_t value = argument(printer, conversion->is_long ? 8 : 4);
  unsigned keep = conversion->is_long ? 0 : 64u - (conversion->narrow ? conversion->narrow : 32u);
  value = is_signed ? (uint64_t)((int64_t)(value << keep) >> keep) : value << keep >> keep;
  g_autofree char *format = host_format(conversion, G_GINT64_MODIFIER);
  g_string_append_printf(printer->out, format, value);
}

static void print_double(Printer *printer, const Conversion *conversion) {
  uint64_t bits = argument(printer, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  g_autofree char *format = host_format(conversion, "");
  g_string_append_printf(printer->out, format, value);
}

/* The width and - count; what stands in the string is printed byte by byte. */
static void print_text(Printer *printer, const Conversion *conversion) {
  g_autoptr(GString) text = g_string_new(NULL);
  if (conversion->type == 'c') {
    g_string_append_c(text, (char)argument(printer, 4));
  } else if (conversion->type == 'p') {
    g_string_append_printf(text, "0x%" G_GINT64_MODIFIER "x", argument(printer, 8));
  } else {
    uint64_t address = argument(printer, 8);
    if (address == 0)
      g_string_append(text, "(null)");
    else if (!printer->failed && !print_string(text, printer->peek, printer->user, address, &printer->bad))
      printer->failed = true;
    if (conversion->precision >= 0 && text->len > (gsize)conversion->precision)
      g_string_truncate(text, (gsize)conversion->precision);
  }
  gsize padding = conversion->width > (int)text->len ? (gsize)conversion->width - text->len : 0;
  bool left = strchr(conversion->flags, '-') != NULL;
  g_string_append_printf(printer->out, "%*s", left ? 0 : (int)padding, "");
  g_string_append_len(printer->out, text->str, (gssize)text->len);
  g_string_append_printf(printer->out, "%*s", left ? (int)padding : 0, "");
}

static void print_conversion(Printer *printer) {
  uint64_t start = printer->format, args = printer->args;
  int taken = printer->taken;
  Conversion conversion = read_conversion(printer);
  if (printer->failed)
    return;
  if (conversion.type && strchr("diouxX", conversion.type)) {
    print_integer(printer, &conversion);
  } else if (conversion.type && strchr("eEfFgGaA", conversion.type)) {
    print_double(printer, &conversion);
  } else if (conversion.type && strchr("csp", conversion.type)) {
    print_text(printer, &conversion);
  } else if (conversion.type == '%') {
    g_string_append_c(printer->out, '%');
  } else { /* none that we know: as it stands */
    uint64_t end = conversion.type ? printer->format : printer->format - 1;
    printer->args = args;
    printer->taken = taken;
    g_string_append_c(printer->out, '%');
    for (printer->format = start; printer->format < end;)
      g_string_append_c(printer->out, (char)take(printer));
  }
}

int print_format(GString *out, PrintPeek peek, void *user, uint64_t format, uint64_t args, uint64_t *bad) {
  Printer printer = {.out = out, .peek = peek, .user = user, .format = format, .args = args};
  gsize before = out->len;
  for (uint8_t byte; printer.format - format < PRINT_STRING_MAX && (byte = take(&printer));) {
    if (byte == '%')
      print_conversion(&printer);
    else
      g_string_append_c(out, (char)byte);
  }
  if (!printer.failed)
    return printer.taken;
  g_string_truncate(out, before);
  *bad = printer.bad;
  return -1;
}
