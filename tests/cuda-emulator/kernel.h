// CUDA C++ as an ordinary compiler reads it: what the kernels of burn and cubecl use of the language
// and of NVIDIA's headers, and no more. `compiler.cpp` puts it before a kernel's source.
#pragma once

#include "threads.h"

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)

static emulator::Block* emulator_block;
#define threadIdx (emulator_block->thread)
#define blockIdx (emulator_block->index)
#define blockDim (emulator_block->threads)
#define gridDim (emulator_block->blocks)
#define warpSize 32

// Threads among themselves.

#define __syncthreads() emulator_block->barrier()
#define __activemask() 0u
static inline void __syncwarp(unsigned = 0) { emulator_block->exchange(emulator::Exchange::sync, 0, 0); }

template <class T>
static inline T emulator_shuffle(emulator::Exchange what, T value, int lane) {
  static_assert(sizeof(T) <= sizeof(unsigned long long));
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = emulator_block->exchange(what, bits, lane);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
#define __shfl_sync(mask, value, lane) emulator_shuffle(emulator::Exchange::shuffle, value, lane)
#define __shfl_xor_sync(mask, value, lane) emulator_shuffle(emulator::Exchange::shuffle_xor, value, lane)
#define __shfl_up_sync(mask, value, by) emulator_shuffle(emulator::Exchange::shuffle_up, value, by)
#define __shfl_down_sync(mask, value, by) emulator_shuffle(emulator::Exchange::shuffle_down, value, by)
#define __ballot_sync(mask, value) unsigned(emulator_block->exchange(emulator::Exchange::ballot, !!(value), 0))
#define __all_sync(mask, value) (emulator_block->exchange(emulator::Exchange::all, !!(value), 0) != 0)
#define __any_sync(mask, value) (emulator_block->exchange(emulator::Exchange::any, !!(value), 0) != 0)

// Atomics, which kernels write as PTX: `compiler.cpp` makes calls of them. Threads take turns anyway.

#define EMULATOR_ATOMIC(name, combined)                                  \
  template <class T>                                                     \
  static inline void emulator_atomic_##name(T& old, const void* at, T value) { \
    auto place = static_cast<T*>(const_cast<void*>(at));                 \
    old = *place;                                                        \
    *place = combined;                                                   \
  }
EMULATOR_ATOMIC(add, old + value)
EMULATOR_ATOMIC(min, value < old ? value : old)
EMULATOR_ATOMIC(max, value > old ? value : old)

// Numbers.

#define exp __builtin_expf
#define log __builtin_logf
#define log1p __builtin_log1pf
#define expm1 __builtin_expm1f
#define sqrt __builtin_sqrtf
#define rsqrt(x) (1 / __builtin_sqrtf(x))
#define sin __builtin_sinf
#define cos __builtin_cosf
#define tan __builtin_tanf
#define tanh __builtin_tanhf
#define sinh __builtin_sinhf
#define cosh __builtin_coshf
#define asin __builtin_asinf
#define acos __builtin_acosf
#define atan __builtin_atanf
#define atan2 __builtin_atan2f
#define erf __builtin_erff
#define pow __builtin_powf
#define floor __builtin_floorf
#define ceil __builtin_ceilf
#define trunc __builtin_truncf
#define rint __builtin_rintf
#define round __builtin_roundf
#define fma __builtin_fmaf
#define fabs __builtin_fabsf
#define fminf __builtin_fminf
#define fmaxf __builtin_fmaxf
#define isnan(x) __builtin_isnan(float(x))
#define isinf(x) __builtin_isinf(float(x))
#define __expf exp
#define __logf log
#define __powf pow
#define __sinf sin
#define __cosf cos
#define __tanhf tanh
#define __fdividef(a, b) ((a) / (b))
#define __frcp_rn(a) (1 / (a))
#define __fsqrt_rn sqrt
#define __frsqrt_rn rsqrt
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
static inline int __mulhi(int a, int b) { return (long long)a * b >> 32; }
static inline int __clz(int a) { return a ? __builtin_clz(a) : 32; }
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __ffs(int a) { return __builtin_ffs(a); }
static inline float abs(float a) { return __builtin_fabsf(a); }
static inline int abs(int a) { return a < 0 ? -a : a; }
// Of two floats, the one that is a number.
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
#define EMULATOR_ORDER(T)                                       \
  static inline T min(T a, T b) { return b < a ? b : a; }       \
  static inline T max(T a, T b) { return b > a ? b : a; }
EMULATOR_ORDER(int)
EMULATOR_ORDER(unsigned)
EMULATOR_ORDER(long long)
EMULATOR_ORDER(unsigned long long)

// Sixteen bits: computed in 32 and rounded, as the device does an operation at a time.

template <class Bits>
struct emulator_half {
  unsigned short bits;
  emulator_half() = default;
  emulator_half(float value) : bits(Bits::of(value)) {}
  template <class T>
  explicit emulator_half(T value) : emulator_half(float(value)) {}
  operator float() const { return Bits::value(bits); }
#define EMULATOR_OPERATION(op)                                                                          \
  friend emulator_half operator op(emulator_half a, emulator_half b) { return float(a) op float(b); } \
  emulator_half& operator op##=(emulator_half b) { return *this = *this op b; }
  EMULATOR_OPERATION(+)
  EMULATOR_OPERATION(-)
  EMULATOR_OPERATION(*)
  EMULATOR_OPERATION(/)
  emulator_half operator-() const { return -float(*this); }
};
struct emulator_f16 {
  static float value(unsigned short bits) {
    _Float16 value;
    __builtin_memcpy(&value, &bits, 2);
    return value;
  }
  static unsigned short of(float value) {
    _Float16 rounded = value;
    unsigned short bits;
    __builtin_memcpy(&bits, &rounded, 2);
    return bits;
  }
};
struct emulator_bf16 {
  static float value(unsigned short bits) {
    unsigned wide = unsigned(bits) << 16;
    float value;
    __builtin_memcpy(&value, &wide, 4);
    return value;
  }
  // To the nearest, of two as near to the even one.
  static unsigned short of(float value) {
    if (isnan(value)) return 0x7fff;
    unsigned wide;
    __builtin_memcpy(&wide, &value, 4);
    return (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
  }
};
typedef emulator_half<emulator_f16> __half;
typedef emulator_half<emulator_bf16> __nv_bfloat16;

#include "tensor_cores.h"

// How the driver finds a kernel and hands it its arguments.

// Of this kernel alone: others have types of the same names.
namespace {

template <size_t... I>
struct emulator_indices {};

template <class T>
struct emulator_plain {
  typedef T type;
};
template <class T>
struct emulator_plain<const T> {
  typedef T type;
};

template <class... A>
struct emulator_arguments {
  static constexpr size_t count = sizeof...(A);
  static constexpr size_t sizes[count + 1] = {sizeof(A)..., 0};
  template <size_t... I>
  static void call(void (*kernel)(A...), void** at, emulator_indices<I...>) {
    kernel(*static_cast<typename emulator_plain<A>::type*>(at[I])...);
  }
  static void call(void (*kernel)(A...), void** at) {
    call(kernel, at, emulator_indices<__integer_pack(sizeof...(A))...>());
  }
};
template <class... A>
emulator_arguments<A...> emulator_arguments_of(void (*)(A...));

}  // namespace

#define EMULATOR_KERNEL(name, waits)                                                            \
  static void emulator_run(void** at) { decltype(emulator_arguments_of(name))::call(name, at); } \
  extern "C" emulator::Kernel emulator_kernel;                                                  \
  emulator::Kernel emulator_kernel = {emulator_run, decltype(emulator_arguments_of(name))::sizes, \
                                      decltype(emulator_arguments_of(name))::count, waits,      \
                                      &emulator_block};
