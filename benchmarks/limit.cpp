// A yardstick: training steps of NMU(2 -> 1) and of NAU(100 -> 2) + NMU(2 -> 1) written by hand, one core.
//
//     g++ -O3 -march=native -ffast-math -o limit limit.cpp && ./limit
//
// prints microseconds per run and step of both. Batch 128, data from a counter hash like that of nalm/streams.py,
// mean squared error, the penalty, Adam and the clamp. It shows what the machine can do. It is not used by nalm.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#if defined(__AVX512F__)
constexpr int L = 16;
#elif defined(__AVX__)
constexpr int L = 8;
#else
constexpr int L = 4;
#endif
constexpr int SAMPLES = 128, INPUTS = 100;
typedef float V __attribute__((vector_size(4 * L)));
typedef int I __attribute__((vector_size(4 * L)));
typedef unsigned U __attribute__((vector_size(4 * L)));

struct Keys { unsigned first, second; };

static inline V uniform(U counter, Keys key, float low, float scale) {
  U h = counter ^ key.first;
  h = (h ^ (h >> 16)) * 0x7FEB352Du;
  h ^= key.second;
  h = (h ^ (h >> 15)) * 0x846CA68Bu;
  return __builtin_convertvector((I)h >> 9, V) * scale + low;
}

static inline U lanes() {
  U r;
  for (int k = 0; k < L; ++k) r[k] = k * 0x9E3779B9u;
  return r;
}

static inline float sum(V x) {
  float s = 0;
  for (int k = 0; k < L; ++k) s += x[k];
  return s;
}

static inline Keys keys(int seed, int step) {
  return {seed * 2654435761u + step * 0x9E3779B9u, seed ^ (step * 0x85EBCA6Bu)};
}

struct Adam {
  float rate, root;
  explicit Adam(int step) : rate(1e-3f / (1 - powf(.9f, step + 1))), root(sqrtf(1 - powf(.999f, step + 1))) {}
  void operator()(float& w, float& m, float& v, float g, float low, float high) const {
    m += .1f * (g - m);
    v = .999f * v + .001f * g * g;
    w = fminf(high, fmaxf(low, w - rate * m / (sqrtf(v) / root + 1e-8f)));
  }
};

static inline float slope_to_bit(float w) { return w < .5f ? 1.f : -1.f; }

struct NMU { float w[2], m[2], v[2]; };

__attribute__((noinline)) void step_nmu(NMU& r, int seed, int step) {
  const Keys key = keys(seed, step);
  V g0 = {}, g1 = {};
  for (int n = 0; n < SAMPLES; n += L) {
    const V a = uniform(lanes() + n * 0x9E3779B9u, key, 1.5f, 1.f / 8388608);
    const V b = uniform(lanes() + (n + SAMPLES) * 0x9E3779B9u, key, 1.5f, 1.f / 8388608);
    const V f = r.w[0] * (a - 1) + 1, h = r.w[1] * (b - 1) + 1, e = (f * h - a * b) * (2.f / SAMPLES);
    g0 += e * h * (a - 1);
    g1 += e * f * (b - 1);
  }
  const Adam adam(step);
  const float g[2] = {sum(g0), sum(g1)};
  for (int k = 0; k < 2; ++k) adam(r.w[k], r.m[k], r.v[k], g[k] + .01f * slope_to_bit(r.w[k]), 0, 1);
}

struct Stack { alignas(64) float w[2][INPUTS], m[2][INPUTS], v[2][INPUTS], subset[2][INPUTS]; NMU top; };

__attribute__((noinline)) void step_stack(Stack& r, int seed, int step, V* xs) {
  const Keys key = keys(seed, step);
  constexpr int C = SAMPLES / L;
  V d0[C], d1[C], g0 = {}, g1 = {};
  const float u0 = r.top.w[0], u1 = r.top.w[1];
  for (int c = 0; c < C; c += 2) {
    V h0[2] = {}, h1[2] = {}, s0[2] = {}, s1[2] = {};
    for (int i = 0; i < INPUTS; ++i)
      for (int q = 0; q < 2; ++q) {
        const V x = uniform(lanes() + (i * SAMPLES + (c + q) * L) * 0x9E3779B9u, key, 1.5f, 1.f / 8388608);
        xs[i * C + c + q] = x;
        h0[q] += r.w[0][i] * x;
        h1[q] += r.w[1][i] * x;
        s0[q] += r.subset[0][i] * x;
        s1[q] += r.subset[1][i] * x;
      }
    for (int q = 0; q < 2; ++q) {
      const V f = u0 * (h0[q] - 1) + 1, h = u1 * (h1[q] - 1) + 1;
      const V e = (f * h - s0[q] * s1[q]) * (2.f / SAMPLES), e0 = e * h, e1 = e * f;
      g0 += e0 * (h0[q] - 1);
      g1 += e1 * (h1[q] - 1);
      d0[c + q] = e0 * u0;
      d1[c + q] = e1 * u1;
    }
  }
  float g[2][INPUTS];
  for (int i = 0; i < INPUTS; ++i) {
    V a = {}, b = {};
    for (int c = 0; c < C; ++c) {
      a += d0[c] * xs[i * C + c];
      b += d1[c] * xs[i * C + c];
    }
    g[0][i] = sum(a);
    g[1][i] = sum(b);
  }
  const Adam adam(step);
  for (int o = 0; o < 2; ++o)
    for (int i = 0; i < INPUTS; ++i) {
      const float w = r.w[o][i], slope = slope_to_bit(fabsf(w)) * (w > 0 ? 1.f : -1.f);
      adam(r.w[o][i], r.m[o][i], r.v[o][i], g[o][i] + .01f * slope / (2 * INPUTS), -1, 1);
    }
  const float top[2] = {sum(g0), sum(g1)};
  for (int k = 0; k < 2; ++k) adam(r.top.w[k], r.top.m[k], r.top.v[k], top[k], 0, 1);
}

template <class F> double best(int runs, int steps, F step) {
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto began = std::chrono::steady_clock::now();
    for (int run = 0; run < runs; ++run)
      for (int k = 0; k < steps; ++k) step(run, k);
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    least = fmin(least, taken / runs / steps * 1e6);
  }
  return least;
}

int main() {
  std::vector<NMU> small(256, NMU{{.4f, .6f}, {}, {}});
  std::vector<Stack> large(32);
  for (Stack& r : large) {
    r = Stack{};
    r.top = {{.4f, .6f}, {}, {}};
    for (int i = 0; i < INPUTS; ++i)
      for (int o = 0; o < 2; ++o) {
        r.w[o][i] = ((i * 7 + o * 5) % 17 - 8) * .02f;
        r.subset[o][i] = i >= 10 + o * 12 && i < 35 + o * 12;
      }
  }
  V* xs = (V*)aligned_alloc(64, INPUTS * SAMPLES * 4);
  const double nmu = best(256, 2000, [&](int run, int k) { step_nmu(small[run], run, k); });
  const double stack = best(32, 1000, [&](int run, int k) { step_stack(large[run], run, k, xs); });
  printf("nmu %.4f\nnau+nmu %.4f\nweight %g %g\n", nmu, stack, small[7].w[0], large[7].w[0][5]);
}
