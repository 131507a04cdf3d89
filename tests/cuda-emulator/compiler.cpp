// NVRTC's place: makes a library for the host of a kernel's source, by the system's C++ compiler. Where
// EMULATOR_NVRTC names NVIDIA's own, that has to take the source, too.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "api.h"

namespace {

struct Program {
  std::string source, log, library;
};

std::string variable(const char* name, const char* otherwise = "") {
  const char* value = getenv(name);
  return value ? value : otherwise;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The source with what only a GPU's compiler understands put in other words.
std::string for_host(const std::string& source) {
  using std::regex;
  auto text = std::regex_replace(source, regex("#include[^\n]*"), "");
  text = std::regex_replace(text, regex("typedef (un)?signed [^;]*;"), "");
  text = std::regex_replace(text, regex(R"(extern\s+__shared__\s+(?:__align__\(\d+\)\s*)?(\w+)\s+(\w+)\[\];)"),
                            "$1* $2 = ($1*)emulator_block->shared;");
  regex atomic(R"--(asm volatile\("atom\.relaxed\.(add|min|max)\.\w+ %0, \[%1\], %2;" : "=\w"\((\w+)\) : "l"\((\w+)\), "\w"\((\w+)\) \);)--");
  text = std::regex_replace(text, atomic, "emulator_atomic_$1($2, $3, $4);");
  std::smatch name;
  regex kernel(R"(__global__ void (?:__launch_bounds__\([^)]*\))?\s*(\w+)\()");
  if (!std::regex_search(text, name, kernel)) return "";
  bool waits = text.find("_sync(") != std::string::npos || text.find("__sync") != std::string::npos ||
               text.find("nvcuda::") != std::string::npos;
  return "#include \"kernel.h\"\n" + text + "\nEMULATOR_KERNEL(" + name[1].str() + ", " +
         (waits ? "true" : "false") + ")\n";
}

// Runs a command; what it prints is the log.
bool succeeds(const std::string& command, std::string& log) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return false;
  char buffer[4096];
  while (size_t bytes = fread(buffer, 1, sizeof buffer, pipe)) log.append(buffer, bytes);
  return pclose(pipe) == 0;
}

std::string kernel_name(const std::string& source) {
  std::smatch name;
  std::regex kernel(R"(__global__ void (?:__launch_bounds__\([^)]*\))?\s*(\w+)\()");
  return std::regex_search(source, name, kernel) ? name[1].str() : "";
}

// Has NVIDIA's compiler translate the source, with the options given but its own folders of headers.
bool nvidia_takes(Program& program, const std::vector<std::string>& given) {
  static void* nvrtc = dlopen(variable("EMULATOR_NVRTC").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!nvrtc) {
    program.log = "EMULATOR_NVRTC cannot be loaded";
    return false;
  }
  auto create = (int (*)(void**, const char*, const char*, int, void*, void*))dlsym(nvrtc, "nvrtcCreateProgram");
  auto compile = (int (*)(void*, int, const char**))dlsym(nvrtc, "nvrtcCompileProgram");
  auto log_size = (int (*)(void*, size_t*))dlsym(nvrtc, "nvrtcGetProgramLogSize");
  auto log = (int (*)(void*, char*))dlsym(nvrtc, "nvrtcGetProgramLog");
  auto destroy = (int (*)(void**))dlsym(nvrtc, "nvrtcDestroyProgram");
  std::vector<std::string> options;
  for (auto& option : given)
    if (option.find("--include-path") == std::string::npos) options.push_back(option);
  auto folder = variable("EMULATOR_HEADERS");
  options.push_back("--include-path=" + folder);
  options.push_back("--include-path=" + folder + "/cccl");
  std::vector<const char*> texts;
  for (auto& option : options) texts.push_back(option.c_str());
  void* native = nullptr;
  if (create(&native, program.source.c_str(), nullptr, 0, nullptr, nullptr)) return false;
  bool taken = compile(native, texts.size(), texts.data()) == 0;
  size_t bytes = 0;
  log_size(native, &bytes);
  std::string said(bytes, '\0');
  log(native, said.data());
  destroy(&native);
  if (!taken) program.log = said;
  return taken;
}

bool host_takes(Program& program) {
  auto here = variable("EMULATOR"), cache = variable("EMULATOR_CACHE");
  static std::string headers = read(here + "/kernel.h") + read(here + "/threads.h") + read(here + "/tensor_cores.h");
  auto source = for_host(program.source);
  char name[40];
  snprintf(name, sizeof name, "/%016zx", std::hash<std::string>()(headers + source));
  program.library = cache + name + ".so";
  struct stat found;
  if (stat(program.library.c_str(), &found) == 0) return true;
  // Under a name of this process until it is whole.
  auto own = cache + name + "-" + std::to_string(getpid());
  std::ofstream(own + ".cpp") << source;
  bool taken = succeeds("g++ -std=c++20 -O2 -march=native -fno-strict-aliasing -w -fPIC -shared -I'" + here +
                            "' '" + own + ".cpp' -o '" + own + ".so'",
                        program.log);
  if (!taken) {
    fprintf(stderr, "emulator: this is not understood (%s.cpp):\n%s", own.c_str(), program.log.c_str());
    return false;
  }
  remove((own + ".cpp").c_str());
  return rename((own + ".so").c_str(), program.library.c_str()) == 0;
}

}  // namespace

API const char* nvrtcGetErrorString(int) { return "the compiler did not take it"; }

API int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char**, const char**) {
  *program = new Program{source, "", ""};
  return 0;
}

API int nvrtcDestroyProgram(Program** program) {
  delete *program;
  return 0;
}

API int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  const int compilation = 6;
  auto begun = std::chrono::steady_clock::now();
  if (getenv("EMULATOR_NVRTC") && !nvidia_takes(*program, {options, options + count})) {
    fprintf(stderr, "emulator: NVRTC does not take a kernel:\n%s\n", program->log.c_str());
    return compilation;
  }
  // One that is not to be run has no library: see cuModuleLoadData.
  bool runs = !getenv("EMULATOR_CAPABILITY") && !getenv("EMULATOR_SKIP");
  if (runs && !host_takes(*program)) return compilation;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (auto file = variable("EMULATOR_COMPILED"); !file.empty()) {
    std::ofstream(file, std::ios::app)
        << took.count() << '\t' << program->source.size() << '\t' << kernel_name(program->source) << '\n';
  }
  return 0;
}

API int nvrtcGetProgramLogSize(Program* program, size_t* bytes) {
  *bytes = program->log.size() + 1;
  return 0;
}

API int nvrtcGetProgramLog(Program* program, char* log) {
  memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}

API int nvrtcGetPTXSize(Program* program, size_t* bytes) {
  *bytes = program->library.size() + 1;
  return 0;
}

API int nvrtcGetPTX(Program* program, char* ptx) {
  memcpy(ptx, program->library.c_str(), program->library.size() + 1);
  return 0;
}
