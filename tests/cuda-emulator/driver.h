// A driver in software: one device after the other does what is asked of it at once, in the order in
// which it is asked, whatever the stream. What a stream records is kept and done when it is replayed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "api.h"
#include "threads.h"

// One node of a graph, which holds the values of its arguments and the addresses that it copies.
struct Node {
  NodeType type;
  std::function<void()> run;
};

struct Stream {
  bool records = false;
  // Something was asked for that a recording does not allow.
  bool broken = false;
  std::vector<Node> recorded;
};

struct Event {
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

// One call at a time.
extern std::recursive_mutex driver;
#define ONE_AT_A_TIME std::lock_guard<std::recursive_mutex> lock(driver)

// The one stream that records, if any.
extern Stream* recording;

// Notes a call: counted, and written to the file that EMULATOR_TRACE names.
void note(const char* call, const std::string& detail = "");

// Whether kernels are not run: with EMULATOR_CAPABILITY, or with EMULATOR_SKIP.
bool skips_kernels();

// A mistake that a real device need not notice. It is printed, and the process ends with status 70.
void mistake(const std::string& what);

// A call that is not allowed while a stream records (global mode): it breaks the recording.
Result not_while_recording(const char* call);

// Does it now, or has the stream record it.
Result enqueue(Stream* stream, NodeType type, std::function<void()> run);

// Ends the process unless all of it is one allocation's.
void expect_device_memory(const void* start, size_t bytes, const char* who);
