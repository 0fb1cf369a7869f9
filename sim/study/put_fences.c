#include "sim/study/put_fences.h"

static gint compare_places(gconstpointer a, gconstpointer b) {
  uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  return one < other ? -1 : one > other;
}

static bool has_place(const GArray *all, uint32_t place) {
  for (guint i = 0; i < all->len; i++)
    if (g_array_index(all, uint32_t, i) == place)
      return true;
  return false;
}

/* Of all fences in a kernel, rising, each once. */
static GArray *places_in(const GPtrArray *fences, const char *kernel) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (guint i = 0; i < fences->len; i++) {
    const LateFence *fence = g_ptr_array_index(fences, i);
    for (guint k = 0; fence->kernel == kernel && k < fence->insts->len; k++) {
      uint32_t pc = g_array_index(fence->insts, uint32_t, k),
               place = fence->before ? fenced_before(pc) : fenced_behind(pc);
      if (!has_place(all, place))
        g_array_append_val(all, place);
    }
  }
  g_array_sort(all, compare_places);
  return all;
}

static FencedPlaces places_of(const char *kernel, const GArray *all) {
  return (FencedPlaces){.kernel = kernel, .place = (const uint32_t *)all->data, .count = all->len};
}

Program *put_fences(const Program *program, const GPtrArray *fences) {
  g_autofree FencedPlaces *places = g_new0(FencedPlaces, program->kernels->len + 1);
  g_autoptr(GPtrArray) arrays = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  for (guint i = 0; i < program->kernels->len; i++) {
    const char *kernel = g_intern_string(program_kernel(program, i)->name);
    GArray *all = places_in(fences, kernel);
    g_ptr_array_add(arrays, all);
    places[i] = places_of(kernel, all);
  }
  return fenced_new(program, places, program->kernels->len);
}

LateFence *put_fences_before(const GPtrArray *fences, const LateFence *found) {
  g_autoptr(GArray) all = places_in(fences, found->kernel);
  FencedPlaces places = places_of(found->kernel, all);
  LateFence *before = late_fence_copy(found);
  for (guint i = 0; i < before->insts->len; i++)
    g_array_index(before->insts, uint32_t, i) = fenced_original(&places, g_array_index(before->insts, uint32_t, i));
  return before;
}

bool put_fences_has(const GPtrArray *fences, const LateFence *found) {
  for (guint i = 0; i < fences->len; i++) {
    const LateFence *fence = g_ptr_array_index(fences, i);
    if (fence->kernel == found->kernel && fence->before == found->before &&
        g_array_index(fence->insts, uint32_t, 0) == g_array_index(found->insts, uint32_t, 0))
      return true;
  }
  return false;
}
