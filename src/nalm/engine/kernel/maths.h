// Numbers, vectors of numbers, and functions of both. Programs that `emit` writes include this file.
//
// Every function is written once for a number and for a vector (`F` is float or vf): the numbers of models
// are computed in loops that the compiler vectorises, the numbers of samples in explicit vectors.
// exp, log, tanh, sin, cos, powers, erfinv: within a few roundings; infinities and NaN as in IEEE arithmetic,
// except for the sine and cosine of angles above 1e15, whose digits mean nothing.

#include <cmath>
#include <cstring>

#define ALIGNED alignas(64)
#define INLINE static inline __attribute__((always_inline))

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int vi __attribute__((vector_size(4 * LANES)));
typedef double vd __attribute__((vector_size(8 * LANES)));
typedef float uvf __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int uvi __attribute__((vector_size(4 * LANES), aligned(4)));

// -- vectors ------------------------------------------------------------------------------------------

INLINE vf splat(float x) { return vf{} + x; }
INLINE vi splat(int x) { return vi{} + x; }
INLINE vi splat(bool x) { return vi{} - (int)x; }
INLINE vi lane() {
  vi r;
  for (int k = 0; k < LANES; ++k) r[k] = k;
  return r;
}
INLINE vf load(const float* p) { return *(const uvf*)p; }
INLINE vi load(const int* p) { return *(const uvi*)p; }
INLINE void store(float* p, vf x) { *(uvf*)p = x; }
INLINE void store(int* p, vi x) { *(uvi*)p = x; }

template <class V> INLINE auto added(V x) {
  auto s = x[0];
  for (int k = 1; k < LANES; ++k) s += x[k];
  return s;
}

// -- kinds of numbers, and bits -----------------------------------------------------------------------

template <class T> INLINE float to_float(T x) { return (float)x; }
template <class T> INLINE double to_double(T x) { return (double)x; }
template <class T> INLINE int to_int(T x) { return (int)x; }
template <class T> INLINE long to_long(T x) { return (long)x; }
template <class T> INLINE bool to_bool(T x) { return x != 0; }
INLINE vf to_float(vi x) { return __builtin_convertvector(x, vf); }
INLINE vi to_int(vf x) { return __builtin_convertvector(x, vi); }
INLINE vd to_double(vf x) { return __builtin_convertvector(x, vd); }
INLINE vf to_float(vd x) { return __builtin_convertvector(x, vf); }
INLINE vi to_int(vd x) { return __builtin_convertvector(x, vi); }
INLINE vi to_bool(vf x) { return x != 0; }

INLINE int bits(float x) { int r; memcpy(&r, &x, 4); return r; }
INLINE float from_bits(int x) { float r; memcpy(&r, &x, 4); return r; }
INLINE vi bits(vf x) { return (vi)x; }
INLINE vf from_bits(vi x) { return (vf)x; }

// Adding a number with no digits after the point rounds to a whole number.
INLINE float nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }
INLINE vf nearest(vf x) { return (x + 12582912.0f) - 12582912.0f; }
INLINE double nearest(double x) { return (x + 6755399441055744.0) - 6755399441055744.0; }
INLINE vd nearest(vd x) { return (x + 6755399441055744.0) - 6755399441055744.0; }

// -- comparisons --------------------------------------------------------------------------------------

template <class T> INLINE auto lt_(T a, T b) { return a < b; }
template <class T> INLINE auto le_(T a, T b) { return a <= b; }
template <class T> INLINE auto eq_(T a, T b) { return a == b; }
template <class T> INLINE auto ne_(T a, T b) { return a != b; }
INLINE bool not_(bool a) { return !a; }
INLINE vi not_(vi a) { return ~a; }
template <class T> INLINE T where_(bool c, T a, T b) { return c ? a : b; }
INLINE vf where_(vi c, vf a, vf b) { return c ? a : b; }
INLINE vi where_(vi c, vi a, vi b) { return c ? a : b; }

// NaN is passed on.
template <class T> INLINE T max_(T a, T b) { return where_((a > b) | (a != a), a, b); }
template <class T> INLINE T min_(T a, T b) { return where_((a < b) | (a != a), a, b); }
template <class T> INLINE T atleast_(T x, T low) { return where_((x < low) | (low != low), low, x); }
template <class T> INLINE T atmost_(T x, T high) { return where_((x > high) | (high != high), high, x); }

// -- elementary functions -----------------------------------------------------------------------------

INLINE float abs_(float x) { return __builtin_fabsf(x); }
INLINE double abs_(double x) { return __builtin_fabs(x); }
INLINE int abs_(int x) { return x < 0 ? -x : x; }
INLINE vi abs_(vi x) { return x < 0 ? -x : x; }
INLINE vf abs_(vf x) { return (vf)((vi)x & 0x7fffffff); }
// The compiler has vector instructions for some of these.
#define LANE_BY_LANE(name, function) \
  INLINE float name(float x) { return function(x); } \
  INLINE vf name(vf x) { \
    vf r; \
    for (int k = 0; k < LANES; ++k) r[k] = function(x[k]); \
    return r; \
  }
LANE_BY_LANE(sqrt_, __builtin_sqrtf)
LANE_BY_LANE(floor_, __builtin_floorf)
LANE_BY_LANE(round_, __builtin_rintf)  // halves to even, like torch
INLINE double sqrt_(double x) { return __builtin_sqrt(x); }
INLINE double floor_(double x) { return __builtin_floor(x); }
INLINE double round_(double x) { return __builtin_rint(x); }
INLINE float number(float, float x) { return x; }
INLINE vf number(vf, float x) { return splat(x); }
INLINE double number(double, float x) { return x; }
template <class F> INLINE F reciprocal_(F x) { return number(x, 1.0f) / x; }
template <class F> INLINE F rsqrt_(F x) { return number(x, 1.0f) / sqrt_(x); }
template <class F> INLINE F sign_(F x) {
  const F zero = number(x, 0.0f), one = number(x, 1.0f);
  return where_(x > zero, one, where_(x < zero, -one, zero));
}

// 2**k for whole k between -126 and 127.
template <class T> INLINE auto power_of_two(T k) { return from_bits((k + 127) << 23); }

// exp x = 2**k exp r with |r| at most half of log 2; 2**k in two halves, so that it may leave the range.
template <class F> INLINE F exp_(F x) {
  x = atmost_(atleast_(x, number(x, -104.0f)), number(x, 89.0f));
  const F k = nearest(x * 1.44269504088896341f);
  const F r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  F p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const F y = p * (r * r) + (r + 1.0f);
  const auto whole = to_int(k);
  const auto half = whole >> 1;
  return y * power_of_two(half) * power_of_two(whole - half);
}

// x = 2**k m with m between sqrt(1/2) and sqrt(2), for x above zero.
template <class F> INLINE F mantissa(F given, F& k) {
  const auto small = given < number(given, 1.17549435e-38f);
  const F x = where_(small, given * 8388608.0f, given);
  const auto b = bits(x) - 0x3f3504f3;
  k = to_float(b >> 23) - where_(small, number(x, 23.0f), number(x, 0.0f));
  return from_bits((b & 0x007fffff) + 0x3f3504f3);
}

template <class F> INLINE F log_(F given) {
  const F zero = number(given, 0.0f);
  F k;
  const F x = mantissa(given, k), m = x - 1.0f;
  F p = m * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const F square = m * m;
  F y = p * m * square + k * -2.12194440e-4f;
  y = y - square * 0.5f;
  y = (m + y) + k * 0.693359375f;
  const F infinite = number(x, __builtin_inff());
  y = where_(given == infinite, infinite, y);
  y = where_(given == zero, -infinite, y);
  return where_((given < zero) | (given != given), number(x, __builtin_nanf("")), y);
}

template <class F> INLINE F sigmoid_(F x) { return number(x, 1.0f) / (exp_(-x) + 1.0f); }

template <class F> INLINE F tanh_(F x) {
  const F z = abs_(x), s = x * x;
  F p = s * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * s - 5.37397155531e-2f;
  p = p * s + 1.33314422036e-1f;
  p = p * s - 3.33332819422e-1f;
  const F near = p * s * x + x;
  const F far = number(x, 1.0f) - number(x, 2.0f) / (exp_(z + z) + 1.0f);
  return where_(z < number(x, 0.625f), near, where_(x < number(x, 0.0f), -far, far));
}

// The angle is reduced in double precision, so that large angles keep their digits; huge ones have none.
template <class D> INLINE D quadrant_of(D x, D& rest) {
  const D k = nearest(x * 0.63661977236758134);
  rest = x - k * 1.5707963267948966;
  return k - nearest(k * 0.25 - 0.375) * 4.0;
}
template <class F> INLINE F reduced(F x, decltype(bits(x))& quadrant) {
  decltype(to_double(x)) rest;
  quadrant = to_int(quadrant_of(to_double(x), rest));
  return atmost_(atleast_(to_float(rest), number(x, -0.7854f)), number(x, 0.7854f));
}
template <class F, class Q> INLINE F sine_of_quadrant(F r, Q quadrant) {
  const F s = r * r;
  F sine = s * -1.9515295891e-4f + 8.3321608736e-3f;
  sine = (sine * s - 1.6666654611e-1f) * s * r + r;
  F cosine = s * 2.443315711809948e-5f - 1.388731625493765e-3f;
  cosine = (cosine * s + 4.166664568298827e-2f) * s * s - s * 0.5f + 1.0f;
  const F y = where_((quadrant & 1) != 0, cosine, sine);
  return where_((quadrant & 2) != 0, -y, y);
}
INLINE float sin_(float x) { int q; const float r = reduced(x, q); return sine_of_quadrant(r, q); }
INLINE float cos_(float x) { int q; const float r = reduced(x, q); return sine_of_quadrant(r, q + 1); }
INLINE vf sin_(vf x) { vi q = {}; const vf r = reduced(x, q); return sine_of_quadrant(r, q); }
INLINE vf cos_(vf x) { vi q = {}; const vf r = reduced(x, q); return sine_of_quadrant(r, q + 1); }

// M. Giles, "Approximating the erfinv function", 2011: single precision.
template <class F> INLINE F erfinv_(F x) {
  const F one = number(x, 1.0f);
  const F w = -log_((one - x) * (one + x));
  const F a = w - 2.5f, b = sqrt_(w) - 3.0f;
  F p = a * 2.81022636e-08f + 3.43273939e-07f;
  p = p * a - 3.5233877e-06f;
  p = p * a - 4.39150654e-06f;
  p = p * a + 0.00021858087f;
  p = p * a - 0.00125372503f;
  p = p * a - 0.00417768164f;
  p = p * a + 0.246640727f;
  p = p * a + 1.50140941f;
  F q = b * -0.000200214257f + 0.000100950558f;
  q = q * b + 0.00134934322f;
  q = q * b - 0.00367342844f;
  q = q * b + 0.00573950773f;
  q = q * b - 0.0076224613f;
  q = q * b + 0.00943887047f;
  q = q * b + 1.00167406f;
  q = q * b + 2.83297682f;
  const F y = where_(w < number(x, 5.0f), p, q);
  return x * where_(w == number(x, __builtin_inff()), w, y);
}

// x**y = exp(y log x) with the product in double precision, whose error would otherwise grow with log x.
INLINE vd log_times(vf x, vf y) {
  vf k;
  const vd m = to_double(mantissa(x, k)), s = (m - 1.0) / (m + 1.0), q = s * s;
  vd p = q * (2.0 / 11) + 2.0 / 9;
  p = p * q + 2.0 / 7;
  p = p * q + 2.0 / 5;
  p = p * q + 2.0 / 3;
  p = p * q + 2.0;
  return to_double(y) * (to_double(k) * 0.69314718055994531 + p * s);
}
INLINE vf pow_(vf x, vf y) {
  const vf one = splat(1.0f), zero = splat(0.0f), infinite = splat(__builtin_inff());
  const vf size = abs_(x);
  const vd z = log_times(size, y);
  const vf high = to_float(z), low = to_float(z - to_double(high));
  vf r = exp_(high);
  r = where_((r == infinite) | (low != low), r, r + r * low);
  const vf at_zero = where_(y > zero, zero, infinite), at_infinity = where_(y > zero, infinite, zero);
  r = where_(size == zero, at_zero, where_(size == infinite, at_infinity, r));
  const vf odd = y - floor_(y * 0.5f) * 2.0f, none = splat(__builtin_nanf(""));
  const vf of_negative = where_(odd == one, -r, where_((floor_(y) == y) | (size == infinite), r, none));
  r = where_(x < zero, of_negative, r);
  r = where_((x != x) | (y != y), x + y, r);
  return where_((y == zero) | (x == one) | ((x == -one) & (abs_(y) == infinite)), one, r);
}

// In double precision, for numbers of models only, or rarely used: as in the standard library.
INLINE double exp_(double x) { return exp(x); }
INLINE double log_(double x) { return log(x); }
INLINE double tanh_(double x) { return tanh(x); }
INLINE double sin_(double x) { return sin(x); }
INLINE double cos_(double x) { return cos(x); }
INLINE double sigmoid_(double x) { return 1.0 / (1.0 + exp(-x)); }
LANE_BY_LANE(erf_, erff)
LANE_BY_LANE(log1p_, log1pf)
LANE_BY_LANE(expm1_, expm1f)
INLINE double erf_(double x) { return erf(x); }
INLINE double pow_(double x, double y) { return pow(x, y); }
INLINE float pow_(float x, float y) { return powf(x, y); }
INLINE double log1p_(double x) { return log1p(x); }
INLINE double expm1_(double x) { return expm1(x); }

// -- a block of models, from and to tensors -----------------------------------------------------------

#define RARE static __attribute__((noinline))

template <class T>
RARE void fetch(T* to, const void* from, long first, int live, long size, long offset, long) {
  for (int m = 0; m < BLOCK; ++m) to[m] = ((const T*)from)[(m < live ? first + m : first) * size + offset];
}
template <class T>
RARE void fetch(T (*to)[FEATURES], const void* from, long first, int live, long size, long offset, long along) {
  for (int m = 0; m < BLOCK; ++m)
    for (int i = 0; i < FEATURES; ++i)
      to[m][i] = ((const T*)from)[(m < live ? first + m : first) * size + offset + i * along];
}
template <class T>
RARE void keep(const T* from, void* to, long first, int live, long size, long offset, long) {
  for (int m = 0; m < live; ++m) ((T*)to)[(first + m) * size + offset] = from[m];
}
template <class T>
RARE void keep(const T (*from)[FEATURES], void* to, long first, int live, long size, long offset, long along) {
  for (int m = 0; m < live; ++m)
    for (int i = 0; i < FEATURES; ++i) ((T*)to)[(first + m) * size + offset + i * along] = from[m][i];
}
