// Devices, contexts, streams, events, modules and launches.
#include "driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

std::recursive_mutex driver;
Stream* recording = nullptr;

namespace {

std::map<std::string, long> calls;

// Prints how often what was called, once the process ends.
struct Summary {
  ~Summary() {
    if (!getenv("EMULATOR_CALLS")) return;
    for (auto& [call, times] : calls) fprintf(stderr, "%8ld %s\n", times, call.c_str());
  }
} summary;

int number(const char* variable, int otherwise) {
  const char* text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

// 7.0 is the first with the atomics that kernels use, and has no tensor cores for 32-bit floats.
int capability() { return number("EMULATOR_CAPABILITY", 70); }

int devices() { return number("EMULATOR_DEVICES", 2); }

struct Function {
  std::string name;
  const emulator::Kernel* kernel;
};

}  // namespace

void note(const char* call, const std::string& detail) {
  static FILE* trace = [] {
    const char* path = getenv("EMULATOR_TRACE");
    return path ? fopen(path, "w") : nullptr;
  }();
  calls[call]++;
  if (!trace) return;
  fprintf(trace, "%s%s%s%s\n", recording ? "| " : "", call, detail.empty() ? "" : " ", detail.c_str());
  fflush(trace);
}

bool skips_kernels() {
  static bool skips = getenv("EMULATOR_CAPABILITY") || getenv("EMULATOR_SKIP");
  return skips;
}

void mistake(const std::string& what) {
  fprintf(stderr, "emulator: %s\n", what.c_str());
  fflush(stderr);
  _exit(70);
}

Result not_while_recording(const char* call) {
  if (!recording) return success;
  fprintf(stderr, "emulator: %s while a stream records\n", call);
  recording->broken = true;
  return capture_unsupported;
}

Result enqueue(Stream* stream, NodeType type, std::function<void()> run) {
  if (stream && stream->records)
    stream->recorded.push_back({type, std::move(run)});
  else
    run();
  return success;
}

API Result cuInit(unsigned) { return success; }

API Result cuDeviceGetCount(int* count) {
  *count = devices();
  return success;
}

API Result cuDeviceGet(int* device, int ordinal) {
  if (ordinal >= devices()) return invalid_device;
  *device = ordinal;
  return success;
}

API Result cuDeviceGetName(char* name, int bytes, int) {
  snprintf(name, bytes, "emulated GPU");
  return success;
}

// The newest that the bindings know.
API Result cuDriverGetVersion(int* version) {
  *version = 13000;
  return success;
}

API Result cuDeviceGetPCIBusId(char* id, int length, int device) {
  snprintf(id, length, "0000:%02x:00.0", device + 1);
  return success;
}

API Result cuDeviceGetAttribute(int* value, Attribute attribute, int) {
  switch (attribute) {
    case Attribute::max_threads_per_block:
    case Attribute::max_block_x:
    case Attribute::max_block_y:
      *value = emulator::most_threads;
      return success;
    case Attribute::max_block_z:
      *value = 64;
      return success;
    case Attribute::max_grid_x:
      *value = 2147483647;
      return success;
    case Attribute::max_grid_y:
    case Attribute::max_grid_z:
      *value = 65535;
      return success;
    case Attribute::warp_size:
      *value = emulator::warp;
      return success;
    case Attribute::multiprocessors:
      *value = 8;
      return success;
    case Attribute::capability_major:
      *value = capability() / 10;
      return success;
    case Attribute::capability_minor:
      *value = capability() % 10;
      return success;
    case Attribute::max_shared_per_block:
      *value = emulator::most_shared;
      return success;
  }
  return invalid_value;
}

API Result cuDevicePrimaryCtxRetain(size_t* context, int device) {
  *context = device + 1;
  return success;
}

// Devices share their memory, so that it makes no difference whose context is current.
API Result cuCtxSetCurrent(size_t) { return success; }

API Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return success;
}

API Result cuStreamCreate(Stream** stream, unsigned) {
  *stream = new Stream;
  return success;
}

API Result cuStreamCreateWithPriority(Stream** stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}

API Result cuStreamDestroy_v2(Stream* stream) {
  delete stream;
  return success;
}

API Result cuStreamSynchronize(Stream*) {
  ONE_AT_A_TIME;
  note("cuStreamSynchronize");
  return not_while_recording("cuStreamSynchronize");
}

API Result cuEventCreate(Event** event, unsigned) {
  *event = new Event;
  return success;
}

API Result cuEventDestroy_v2(Event* event) {
  delete event;
  return success;
}

API Result cuEventRecord(Event* event, Stream* stream) {
  ONE_AT_A_TIME;
  note("cuEventRecord");
  event->recorded = stream && stream->records;
  event->time = std::chrono::steady_clock::now();
  return success;
}

// Work is done when it is asked for, so the time between two events is what it took.
API Result cuEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  ONE_AT_A_TIME;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return success;
}

API Result cuEventElapsedTime_v2(float* milliseconds, Event* begin, Event* end) {
  return cuEventElapsedTime(milliseconds, begin, end);
}

API Result cuEventSynchronize(Event* event) {
  ONE_AT_A_TIME;
  note("cuEventSynchronize");
  return event->recorded ? capture_isolation : not_while_recording("cuEventSynchronize");
}

// Work of another stream is not taken into a recording: nothing here asks for it.
API Result cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  ONE_AT_A_TIME;
  note("cuStreamWaitEvent");
  if (event->recorded == stream->records) return success;
  fprintf(stderr, "emulator: streams wait for one another across a recording's edge\n");
  if (recording) recording->broken = true;
  return capture_isolation;
}

// The image is the path of a library that `compiler.cpp` made, or empty: then launches do nothing.
API Result cuModuleLoadData(void** module, const char* path) {
  ONE_AT_A_TIME;
  note(recording ? "cuModuleLoadData, while a stream records" : "cuModuleLoadData");
  static char nothing;
  *module = *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : &nothing;
  if (*module) return success;
  fprintf(stderr, "emulator: %s\n", dlerror());
  return invalid_image;
}

API Result cuModuleGetFunction(Function** function, void* module, const char* name) {
  static const emulator::Kernel nothing = {};
  auto kernel = skips_kernels()
                    ? &nothing
                    : static_cast<const emulator::Kernel*>(dlsym(module, "emulator_kernel"));
  if (!kernel) return not_found;
  *function = new Function{name, kernel};
  return success;
}

API Result cuFuncSetAttribute(Function*, int, int) { return success; }

API Result cuLaunchKernel(Function* function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                          unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared,
                          Stream* stream, void** arguments, void**) {
  ONE_AT_A_TIME;
  note("cuLaunchKernel", function->name);
  emulator::Index blocks = {blocks_x, blocks_y, blocks_z}, threads = {threads_x, threads_y, threads_z};
  size_t in_block = size_t(threads.x) * threads.y * threads.z;
  if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0 || blocks.y > 65535 || blocks.z > 65535 ||
      in_block == 0 || in_block > emulator::most_threads)
    return invalid_value;
  const emulator::Kernel& kernel = *function->kernel;
  if (!stream || !stream->records) {
    emulator::run(kernel, arguments, blocks, threads, shared);
    return success;
  }
  // A recording keeps the values of the arguments.
  std::vector<std::vector<char>> values;
  for (size_t i = 0; i < kernel.arguments; i++) {
    auto bytes = static_cast<char*>(arguments[i]);
    values.emplace_back(bytes, bytes + kernel.sizes[i]);
  }
  return enqueue(stream, NodeType::kernel, [=, &kernel]() mutable {
    std::vector<void*> at;
    for (auto& value : values) at.push_back(value.data());
    emulator::run(kernel, at.data(), blocks, threads, shared);
  });
}

API Result cuGetErrorName(Result result, const char** name) {
  switch (result) {
    case out_of_memory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return success;
    case capture_unsupported:
      *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
      return success;
    default:
      *name = "CUDA_ERROR";
      return success;
  }
}

API Result cuGetErrorString(Result result, const char** text) { return cuGetErrorName(result, text); }
