// Memory of the devices, of pinned pages, and copies.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver.h"

namespace {

// Allocations by address, and their bytes.
std::map<uintptr_t, size_t> allocations;
size_t in_use = 0;

size_t capacity() {
  const char* megabytes = getenv("EMULATOR_MEMORY_MB");
  return (megabytes ? strtoull(megabytes, nullptr, 10) : 16 << 10) << 20;
}

Result allocate(uintptr_t* start, size_t bytes) {
  if (in_use + bytes > capacity()) return out_of_memory;
  void* memory = nullptr;
  if (posix_memalign(&memory, 512, bytes ? bytes : 1)) return out_of_memory;
  // What nobody wrote is not a number.
  memset(memory, 0xff, bytes);
  *start = reinterpret_cast<uintptr_t>(memory);
  allocations[*start] = bytes;
  in_use += bytes;
  return success;
}

void release(uintptr_t start) {
  auto found = allocations.find(start);
  if (found == allocations.end()) return mistake("memory is released that is not allocated");
  auto memory = reinterpret_cast<void*>(start);
  memset(memory, 0xff, found->second);
  in_use -= found->second;
  allocations.erase(found);
  free(memory);
}

// Rows of one side of a copy: device memory or not, where they start, and how far apart they are.
struct Side {
  MemoryType type;
  char* start;
  size_t pitch;
};

// What a device gives whose kernels are not run: as integers ones, as floats numbers that are finite and not
// zero, so that a program goes on that counts with them.
void fill_with_ones(char* target, size_t bytes) {
  const uint32_t one = 1;
  for (size_t at = 0; at < bytes; at += sizeof one)
    memcpy(target + at, &one, bytes - at < sizeof one ? bytes - at : sizeof one);
}

Result copy(Side to, Side from, size_t width, size_t height, Stream* stream) {
  ONE_AT_A_TIME;
  const char* name = from.type == MemoryType::host ? "copy to the device"
                     : to.type == MemoryType::host ? "copy to the host"
                                                   : "copy on the device";
  note(name, std::to_string(width * height));
  // Addresses are recorded, so that a replay copies what is there then.
  return enqueue(stream, NodeType::copy, [=] {
    for (size_t row = 0; row < height; row++) {
      char* target = to.start + row * to.pitch;
      const char* source = from.start + row * from.pitch;
      if (to.type == MemoryType::device) expect_device_memory(target, width, name);
      if (from.type == MemoryType::device) expect_device_memory(source, width, name);
      if (skips_kernels() && to.type == MemoryType::host)
        fill_with_ones(target, width);
      else
        memcpy(target, source, width);
    }
  });
}

}  // namespace

void expect_device_memory(const void* start, size_t bytes, const char* who) {
  auto at = reinterpret_cast<uintptr_t>(start);
  auto after = allocations.upper_bound(at);
  bool inside = after != allocations.begin();
  if (inside) {
    auto [begin, size] = *std::prev(after);
    inside = at + bytes <= begin + size;
  }
  if (!inside) mistake(std::string(who) + ": not memory of a device");
}

API Result cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = capacity();
  return success;
}

API Result cuMemAlloc_v2(uintptr_t* start, size_t bytes) {
  ONE_AT_A_TIME;
  note("cuMemAlloc", std::to_string(bytes));
  if (Result refused = not_while_recording("cuMemAlloc")) return refused;
  return allocate(start, bytes);
}

API Result cuMemFree_v2(uintptr_t start) {
  ONE_AT_A_TIME;
  note("cuMemFree");
  if (Result refused = not_while_recording("cuMemFree")) return refused;
  release(start);
  return success;
}

// A recording may hold allocations, but cannot be replayed then: cubecl refuses one that does.
API Result cuMemAllocAsync(uintptr_t* start, size_t bytes, Stream* stream) {
  ONE_AT_A_TIME;
  note("cuMemAllocAsync", std::to_string(bytes));
  if (stream && stream->records) stream->recorded.push_back({NodeType::allocate, nullptr});
  return allocate(start, bytes);
}

API Result cuMemFreeAsync(uintptr_t start, Stream* stream) {
  ONE_AT_A_TIME;
  note("cuMemFreeAsync");
  if (stream && stream->records)
    stream->recorded.push_back({NodeType::release, nullptr});
  else
    release(start);
  return success;
}

API Result cuMemAllocHost_v2(void** start, size_t bytes) {
  ONE_AT_A_TIME;
  note("cuMemAllocHost", std::to_string(bytes));
  if (Result refused = not_while_recording("cuMemAllocHost")) return refused;
  if (posix_memalign(start, 64, bytes ? bytes : 1)) return out_of_memory;
  memset(*start, 0xff, bytes);
  return success;
}

API Result cuMemFreeHost(void* start) {
  ONE_AT_A_TIME;
  note("cuMemFreeHost");
  if (Result refused = not_while_recording("cuMemFreeHost")) return refused;
  free(start);
  return success;
}

API Result cuMemcpyHtoDAsync_v2(char* to, char* from, size_t bytes, Stream* stream) {
  return copy({MemoryType::device, to, 0}, {MemoryType::host, from, 0}, bytes, 1, stream);
}

API Result cuMemcpyDtoHAsync_v2(char* to, char* from, size_t bytes, Stream* stream) {
  return copy({MemoryType::host, to, 0}, {MemoryType::device, from, 0}, bytes, 1, stream);
}

API Result cuMemcpyDtoDAsync_v2(char* to, char* from, size_t bytes, Stream* stream) {
  return copy({MemoryType::device, to, 0}, {MemoryType::device, from, 0}, bytes, 1, stream);
}

API Result cuMemcpy2DAsync_v2(const Copy2D* rows, Stream* stream) {
  auto from = rows->source_type == MemoryType::host ? rows->source_host : rows->source_device;
  auto to = rows->target_type == MemoryType::host ? rows->target_host : rows->target_device;
  return copy({rows->target_type, to, rows->target_pitch},
              {rows->source_type, const_cast<char*>(from), rows->source_pitch}, rows->width, rows->height,
              stream);
}

// Kernels of the devices that have tensor maps are compiled and not run.
API Result cuTensorMapEncodeTiled(void*) { return success; }
API Result cuTensorMapEncodeIm2col(void*) { return success; }
API Result cuTensorMapEncodeIm2colWide(void*) { return success; }
