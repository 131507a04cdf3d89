// The part of CUDA's driver interface (cuda.h) that is played here, with its numbers.
#pragma once

#include <cstddef>

#define API extern "C" __attribute__((visibility("default")))

enum Result {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_device = 101,
  invalid_image = 200,
  illegal_state = 401,
  not_found = 500,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_isolation = 905,
};

enum class Attribute {
  max_threads_per_block = 1,
  max_block_x = 2,
  max_block_y = 3,
  max_block_z = 4,
  max_grid_x = 5,
  max_grid_y = 6,
  max_grid_z = 7,
  warp_size = 10,
  multiprocessors = 16,
  capability_major = 75,
  capability_minor = 76,
  max_shared_per_block = 97,
};

enum class NodeType { kernel = 0, copy = 1, allocate = 10, release = 11 };

enum class MemoryType : int { host = 1, device = 2 };

struct Copy2D {
  size_t source_x, source_y;
  MemoryType source_type;
  const char* source_host;
  const char* source_device;
  void* source_array;
  size_t source_pitch;
  size_t target_x, target_y;
  MemoryType target_type;
  char* target_host;
  char* target_device;
  void* target_array;
  size_t target_pitch;
  size_t width, height;
};
