// Stochastic gradient descent over the ratings of a bipartite graph, an edge a thread: a step changes the user and the item, under the
// locks of both (SGD of Wang, Fussell and Lin, 2019; the edge locks of Kaleem et al.). Two nested try-locks: a lane that fails
// at the second gives back the first. PTX: make_ptx.sh gradient.cu
#include "inputs.cuh"
#include "locks.cuh"
using namespace inputs;

enum { FEATURES = 4 };

struct Ratings {
  const Word *user, *item, *stars; // of each edge; users and items are numbered together
  int edges;
};
struct Model {
  float *feature; // FEATURES of each vertex
  Word *steps;    // that changed each vertex
  Word *lock;     // of each vertex
};

static __device__ __forceinline__ float look(const float *word) { return *(const volatile float *)word; }
static __device__ __forceinline__ void put(float *word, float value) { *(volatile float *)word = value; }

static __device__ __forceinline__ float error_of(const Model &model, Word user, Word item, float stars) {
  float predicted = 0;
  for (int f = 0; f < FEATURES; f++)
    predicted += look(&model.feature[user * FEATURES + f]) * look(&model.feature[item * FEATURES + f]);
  return stars - predicted;
}

static __device__ __forceinline__ void step(const Model &model, Word user, Word item, float stars, float rate) {
  float change = rate * error_of(model, user, item, stars);
  for (int f = 0; f < FEATURES; f++) {
    float *of_user = &model.feature[user * FEATURES + f], *of_item = &model.feature[item * FEATURES + f];
    float u = look(of_user), i = look(of_item);
    put(of_user, u + change * i);
    put(of_item, i + change * u);
  }
  locks::put(&model.steps[user], locks::look(&model.steps[user]) + 1);
  locks::put(&model.steps[item], locks::look(&model.steps[item]) + 1);
}

// One pass over all edges. Users have lower numbers than items, so each lane takes the user's lock first.
template <class Clock>
static __device__ __forceinline__ void descend_all(Ratings ratings, Model model, float rate, int fence, int rounds,
                                                   Clock clock) {
  __prof_trigger(0);
#pragma unroll 1
  for (int edge = thread_number(); edge < ratings.edges; edge += thread_count()) {
    Word user = ratings.user[edge], item = ratings.item[edge];
    float stars = ratings.stars[edge];
    int done = 0;
    do {
      if (locks::try_lock(&model.lock[user], fence, clock)) {
        clock.taken(user);
        if (locks::try_lock(&model.lock[item], fence, clock)) {
          clock.taken(item);
          step(model, user, item, stars, rate);
          locks::work(rounds);
          clock.frees(user);
          clock.frees(item);
          __threadfence();
          locks::unlock(&model.lock[item]);
          locks::unlock(&model.lock[user]);
          done = 1;
        } else {
          clock.given_back(user);
          locks::unlock(&model.lock[user]);
        }
      }
      locks::join(done);
    } while (!done);
  }
  clock.finish();
  __prof_trigger(1);
}

extern "C" __global__ void start(Model model, int vertices) {
  for (int i = thread_number(); i < vertices * FEATURES; i += thread_count())
    model.feature[i] = 0.5f + (draw(7, i) & 255) / 512.0f;
}
extern "C" __global__ void descend(Ratings ratings, Model model, float rate, int fence, int rounds) {
  descend_all(ratings, model, rate, fence, rounds, locks::Untimed::of(0, 0));
}
extern "C" __global__ void descend_timed(Ratings ratings, Model model, float rate, int fence, int rounds,
                                         locks::Time *stamps, locks::Time *sums) {
  descend_all(ratings, model, rate, fence, rounds, locks::Timed::of(stamps, sums));
}

// The sum of all squared errors, in 256ths.
extern "C" __global__ void measure(Ratings ratings, Model model, Word *sum) {
  for (int edge = thread_number(); edge < ratings.edges; edge += thread_count()) {
    float error = error_of(model, ratings.user[edge], ratings.item[edge], ratings.stars[edge]);
    atomicAdd(sum, (Word)(error * error * 256));
  }
}

// The check. A step isn't lost: each vertex counts as many as it has edges (`rows`). `result`: vertices with another count; with a
// lock that is still held; 1 if the error didn't become smaller, or isn't within 15 % of what a sequential pass leaves (`expected`; the order of
// the steps makes up to 12 %).
extern "C" __global__ void check(Model model, const Word *rows, int vertices, const Word *before, const Word *after,
                                 const Word *expected, Word *result) {
  for (int i = thread_number(); i < vertices; i += thread_count()) {
    if (model.steps[i] != rows[i + 1] - rows[i])
      atomicAdd(&result[0], 1);
    if (model.lock[i])
      atomicAdd(&result[1], 1);
  }
  if (thread_number() == 0) {
    long long left = *after, wanted = *expected, differ = left > wanted ? left - wanted : wanted - left;
    if (left >= *before || differ * 20 > wanted * 3)
      result[2] = 1;
  }
}

extern "C" __global__ void say(const locks::Time *sums) { locks::say(sums); }
