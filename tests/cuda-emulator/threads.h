// What a kernel knows of the block that runs, and what its threads ask of one another.
#pragma once

#include <cstddef>

namespace emulator {

constexpr unsigned warp = 32;
constexpr unsigned most_threads = 1024;
constexpr size_t most_shared = 232448;

struct Index {
  unsigned x, y, z;
};

// What a warp's threads do together.
enum class Exchange { sync, shuffle, shuffle_xor, shuffle_up, shuffle_down, ballot, all, any };

// Of the block that runs; there is one at a time.
struct Block {
  Index thread, index, threads, blocks;
  unsigned char* shared;
  void (*barrier)();
  unsigned long long (*exchange)(Exchange what, unsigned long long value, int lane);
};

// A kernel, as its library exports it.
struct Kernel {
  // Runs the thread that `Block` names.
  void (*run)(void** arguments);
  // Bytes of each argument.
  const size_t* sizes;
  size_t arguments;
  // Whether its threads wait for one another; if not, one runs after the other on one stack.
  bool waits;
  // Where it looks for the block.
  Block** block;
};

// Runs all blocks of a launch, one after the other.
void run(const Kernel& kernel, void** arguments, Index blocks, Index threads, size_t shared);

}  // namespace emulator
