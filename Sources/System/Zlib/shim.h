// zlib, and functions for its macros.
#pragma once
#include <zlib.h>

static inline int parley_inflateInit2(z_stream *stream, int windowBits) {
  return inflateInit2(stream, windowBits);
}
static inline int parley_deflateInit2(z_stream *stream, int level, int windowBits, int memoryLevel) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY);
}
