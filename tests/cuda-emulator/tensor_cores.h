// Matrices of a warp (mma.h). A device spreads one over the threads of a warp; here the first of them
// has all of it, and the others wait.
#pragma once

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K>
struct shape;
template <int M, int N, int K>
struct shape<matrix_a, M, N, K> {
  static constexpr int rows = M, columns = K;
};
template <int M, int N, int K>
struct shape<matrix_b, M, N, K> {
  static constexpr int rows = K, columns = N;
};
template <int M, int N, int K>
struct shape<accumulator, M, N, K> {
  static constexpr int rows = M, columns = N;
};

template <class Use, int M, int N, int K, class T, class Layout = row_major>
struct fragment {
  static constexpr int rows = shape<Use, M, N, K>::rows, columns = shape<Use, M, N, K>::columns;
  static constexpr int num_elements = rows * columns;
  T x[num_elements];
  T& at(int row, int column) { return x[row * columns + column]; }
};

static inline bool first_of_warp() {
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return thread % warpSize == 0;
}

// All of the warp has written what it multiplies, and goes on once it is multiplied.
template <class Work>
static inline void together(Work work) {
  __syncwarp();
  if (first_of_warp()) work();
  __syncwarp();
}

static inline unsigned long at(bool by_rows, unsigned stride, int row, int column) {
  return by_rows ? row * stride + column : column * stride + row;
}

template <class F, class T>
static inline void fill_fragment(F& fragment, T value) {
  if (first_of_warp())
    for (auto& element : fragment.x) element = value;
}

template <class F, class T>
static inline void load(F& fragment, const T* from, unsigned stride, bool by_rows) {
  together([&] {
    for (int i = 0; i < F::rows; i++)
      for (int j = 0; j < F::columns; j++) fragment.at(i, j) = from[at(by_rows, stride, i, j)];
  });
}

template <class Use, int M, int N, int K, class T, class Layout, class S>
static inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& to, const S* from, unsigned stride) {
  load(to, from, stride, __is_same(Layout, row_major));
}

template <class F, class T>
static inline void load_matrix_sync(F& to, const T* from, unsigned stride, layout_t layout) {
  load(to, from, stride, layout == mem_row_major);
}

template <class F, class T>
static inline void store_matrix_sync(T* to, F& fragment, unsigned stride, layout_t layout) {
  together([&] {
    for (int i = 0; i < F::rows; i++)
      for (int j = 0; j < F::columns; j++)
        to[at(layout == mem_row_major, stride, i, j)] = fragment.at(i, j);
  });
}

template <class D, class A, class B, class C>
static inline void mma_sync(D& d, A& a, B& b, C& c) {
  if (!first_of_warp()) return;
  for (int i = 0; i < D::rows; i++)
    for (int j = 0; j < D::columns; j++) {
      float sum = c.at(i, j);
      for (int k = 0; k < A::columns; k++) sum += float(a.at(i, k)) * float(b.at(k, j));
      d.at(i, j) = sum;
    }
}

}  // namespace nvcuda::wmma
