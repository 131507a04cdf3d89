// Blocks of threads. Where threads wait for one another each has a stack of its own, and one host
// thread goes from stack to stack.
#include "threads.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Keeps the caller's registers on its stack, which it notes in `from`, and goes on with those of `to`.
extern "C" void emulator_switch(void** from, void* to);
#if defined(__x86_64__)
asm(R"(
.text
.type emulator_switch, @function
emulator_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");
constexpr int registers = 6;
#else
#error "stacks are switched on x86-64 alone"
#endif

namespace emulator {
namespace {

enum class State { ready, at_barrier, in_exchange, done };

struct Thread {
  State state;
  Index index;
  void* stack;
  Exchange exchange;
  unsigned long long value, result;
  int lane;
};

constexpr size_t stack_bytes = 64 << 10;

Block block;
Thread threads[most_threads];
unsigned count, current;
void* scheduler;
void (*body)(void**);
void** body_arguments;
alignas(1024) unsigned char shared_memory[most_shared];

void wait(State state) {
  Thread& thread = threads[current];
  thread.state = state;
  emulator_switch(&thread.stack, scheduler);
  block.thread = thread.index;
}

void barrier() { wait(State::at_barrier); }

unsigned long long exchange(Exchange what, unsigned long long value, int lane) {
  Thread& thread = threads[current];
  thread.exchange = what;
  thread.value = value;
  thread.lane = lane;
  wait(State::in_exchange);
  return thread.result;
}

void begin() {
  block.thread = threads[current].index;
  body(body_arguments);
  wait(State::done);
  abort();  // nobody goes on with a thread that is done
}

// Goes on with a thread until it waits.
void go_on(unsigned thread) {
  current = thread;
  block.thread = threads[thread].index;
  emulator_switch(&scheduler, threads[thread].stack);
}

unsigned source(const Thread& thread, unsigned lane) {
  switch (thread.exchange) {
    case Exchange::shuffle:
      return thread.lane & (warp - 1);
    case Exchange::shuffle_xor:
      return lane ^ thread.lane;
    case Exchange::shuffle_up:
      return int(lane) < thread.lane ? lane : lane - thread.lane;
    case Exchange::shuffle_down:
      return lane + thread.lane < warp ? lane + thread.lane : lane;
    default:
      return lane;
  }
}

// All threads of a warp that can run have come to an exchange: those there take part.
void settle(unsigned first, unsigned end) {
  unsigned present = 0, ballot = 0;
  for (unsigned i = first; i < end; i++) {
    if (threads[i].state == State::in_exchange) {
      present |= 1u << (i - first);
      ballot |= unsigned(threads[i].value != 0) << (i - first);
    }
  }
  for (unsigned i = first; i < end; i++) {
    Thread& thread = threads[i];
    if (!(present >> (i - first) & 1)) continue;
    unsigned from = source(thread, i - first);
    switch (thread.exchange) {
      case Exchange::ballot:
        thread.result = ballot;
        break;
      case Exchange::all:
        thread.result = ballot == present;
        break;
      case Exchange::any:
        thread.result = ballot != 0;
        break;
      default:
        // A lane that takes no part has nothing to give: the device leaves this undefined.
        thread.result = present >> from & 1 ? threads[first + from].value : thread.value;
    }
    thread.state = State::ready;
  }
}

// Runs a warp until all its threads are done or at the block's barrier.
void run_warp(unsigned first, unsigned end) {
  for (;;) {
    bool waits = false;
    for (unsigned i = first; i < end; i++)
      if (threads[i].state == State::ready) go_on(i);
    for (unsigned i = first; i < end; i++) waits |= threads[i].state == State::in_exchange;
    if (!waits) return;
    settle(first, end);
  }
}

void set_up(unsigned i) {
  static auto stacks =
      static_cast<char*>(aligned_alloc(4096, stack_bytes * most_threads));
  Thread& thread = threads[i];
  thread.state = State::ready;
  thread.index = {i % block.threads.x, i / block.threads.x % block.threads.y,
                  i / (block.threads.x * block.threads.y)};
  // As if `begin` had been called: no return address, so that the stack is aligned as at a call.
  auto top = reinterpret_cast<void**>(stacks + stack_bytes * (i + 1));
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(begin);
  for (int k = 0; k < registers; k++) *--top = nullptr;
  thread.stack = top;
}

void run_block() {
  for (unsigned i = 0; i < count; i++) set_up(i);
  for (;;) {
    for (unsigned first = 0; first < count; first += warp)
      run_warp(first, first + warp < count ? first + warp : count);
    unsigned done = 0;
    for (unsigned i = 0; i < count; i++) {
      done += threads[i].state == State::done;
      if (threads[i].state == State::at_barrier) threads[i].state = State::ready;
    }
    if (done == count) return;
  }
}

void run_in_order(const Kernel& kernel, void** arguments) {
  auto [x, y, z] = block.threads;
  for (unsigned k = 0; k < z; k++)
    for (unsigned j = 0; j < y; j++)
      for (unsigned i = 0; i < x; i++) {
        block.thread = {i, j, k};
        kernel.run(arguments);
      }
}

}  // namespace

void run(const Kernel& kernel, void** arguments, Index blocks, Index size, size_t shared) {
  if (!kernel.run) return;
  block = {{}, {}, size, blocks, shared_memory, barrier, exchange};
  *kernel.block = &block;
  count = size.x * size.y * size.z;
  body = kernel.run;
  body_arguments = arguments;
  for (unsigned z = 0; z < blocks.z; z++)
    for (unsigned y = 0; y < blocks.y; y++)
      for (unsigned x = 0; x < blocks.x; x++) {
        block.index = {x, y, z};
        // What no thread wrote is not a number.
        memset(shared_memory, 0xff, shared);
        kernel.waits ? run_block() : run_in_order(kernel, arguments);
      }
}

}  // namespace emulator
