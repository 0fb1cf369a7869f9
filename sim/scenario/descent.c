#include "sim/scenario/descent.h"

#include <glib.h>

enum { FEATURES = 4, SEED = 7, STEPS = 256 };

typedef struct Vertex {
  float feature[FEATURES];
} Vertex;

/* The finalizer of MurmurHash3, as traces/irregular/inputs.cuh has it. */
static uint32_t draw(uint32_t seed, uint32_t index) {
  uint32_t h = seed ^ index * 0x9e3779b9u;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

static float error_of(const Vertex *user, const Vertex *item, uint32_t rating) {
  float predicted = 0;
  for (unsigned f = 0; f < FEATURES; f++)
    predicted += user->feature[f] * item->feature[f];
  return (float)rating - predicted;
}

/* Both ends move against the error's gradient. */
static void step(Vertex *user, Vertex *item, uint32_t rating) {
  const float rate = 0.05F;
  float change = rate * error_of(user, item, rating);
  Vertex before = *user;
  for (unsigned f = 0; f < FEATURES; f++) {
    user->feature[f] += change * item->feature[f];
    item->feature[f] += change * before.feature[f];
  }
}

uint32_t descent_error(const Ratings *ratings) {
  g_autofree Vertex *vertex = g_new(Vertex, ratings->vertices);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < ratings->vertices * FEATURES; i++)
    vertex[i / FEATURES].feature[i % FEATURES] = 0.5F + (float)(draw(SEED, i) % STEPS) / (2 * STEPS);
  for (uint32_t edge = 0; edge < ratings->edges; edge++)
    step(&vertex[ratings->from[edge]], &vertex[ratings->to[edge]], ratings->rating[edge]);
  for (uint32_t edge = 0; edge < ratings->edges; edge++) {
    float error = error_of(&vertex[ratings->from[edge]], &vertex[ratings->to[edge]], ratings->rating[edge]);
    sum += (uint32_t)(error * error * STEPS);
  }
  return sum;
}
