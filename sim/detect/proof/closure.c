#include "sim/detect/proof/closure.h"

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/host.h"
#include "sim/core/look.h"
#include "sim/detect/proof/look_kinds.h"
#include "sim/detect/proof/looks.h"
#include "sim/detect/proof/warp_digest.h"

enum {
  WINDOW_LEAST = 50000,   /* instructions watched at the most: so many, */
  WINDOW_PER_WARP = 8000, /* and so many for each warp that can issue */
  UNREAD_PART = 4,        /* a warp that issues such a part of its share without reading anything waits for nothing */
  LOOKS_PER_WARP = 1000,  /* different ones: a warp with more of them counts something */
  WORDS_LEAST = 1000,     /* that they come to, at the most: so many, */
  WORDS_PER_WARP = 8      /* and so many for each: who comes to more goes on, from one to the next */
};

typedef struct Watched {
  uint64_t age; /* of the warp, and 1; 0: nobody is watched in this slot */
  bool begun;
  uint32_t unread;  /* instructions since it last read memory */
  uint64_t start;   /* what decides about the first of `looks` */
  GArray *looks;    /* Look: since the warp waited for nothing */
  GPtrArray *words; /* LookWord *: that take several values, and that only this warp comes to */
} Watched;

struct Closure {
  Gpu *gpu;
  Watched *watched;    /* of each warp slot of the machine */
  uint32_t warps;      /* that are watched */
  uint64_t unread;     /* instructions that one of them issues, at the most, without reading anything */
  SeenBy alike;        /* which warps do the same in the same state, and so have their looks in common */
  KernelState *states; /* of each launch's kernel */
  GHashTable *words;   /* by place: LookWord */
  Looks looks;
  GHashTable *atomics; /* number of an atomic operation -> Watched */
  GArray *changing;    /* LookWord *: may have changed since they were looked at */
  CircleWords circle;
  SeenLoads *seen;
  uint64_t grown, seen_grown; /* how often something of words and looks was new; when it was asked last */
  uint32_t told;              /* lanes whose accesses the instruction has told so far */
  uint64_t *issued;           /* of each SM: its accesses when all was there; NULL: it wasn't */
  uint64_t progress;          /* of the machine, when the newest window began */
  bool closed, broken;        /* it is proved; something happened that the watch doesn't see through */
  bool takes_from_others;     /* some shuffle took a value of a lane that wasn't in it */
  bool usual;                 /* all looked in the newest window, nothing was new, and something hasn't been seen */
  bool heard;                 /* the host acts in this window: what was seen may make it do so again */
};

/* ---- words ---- */

static Watched *watched_at(const Closure *closure, const Sm *sm, uint32_t slot) {
  return &closure->watched[sm->index * SM_WARPS_MAX + slot];
}

static Watched *owner_of(const Closure *closure, const LookWord *word) {
  for (uint32_t i = 0; word->owner && i < closure->gpu->used_sms * SM_WARPS_MAX; i++)
    if (closure->watched[i].age == word->owner)
      return &closure->watched[i];
  return NULL;
}

/* What is under way isn't kept. */
static void forget_looks(Closure *closure) {
  g_hash_table_remove_all(closure->atomics);
  for (uint32_t i = 0; i < closure->gpu->used_sms * SM_WARPS_MAX; i++)
    if (closure->watched[i].age) {
      closure->watched[i].begun = false;
      g_array_set_size(closure->watched[i].looks, 0);
    }
}

/* What decides about looks is another thing now. */
static void begin_again(Closure *closure) {
  looks_forget(&closure->looks);
  forget_looks(closure);
}

/* The only warp that comes to the word finds there what it was in when its state was. */
static void keep_with_owner(Closure *closure, LookWord *word) {
  Watched *owner = owner_of(closure, word);
  if (!owner || g_ptr_array_find(owner->words, word, NULL))
    return;
  g_ptr_array_add(owner->words, word);
  begin_again(closure);
}

static void add_value(Closure *closure, LookWord *word) {
  uint32_t value = look_word_value(closure->gpu, word);
  for (uint32_t i = 0; i < word->count; i++)
    if (word->value[i] == value) {
      word->held |= 1u << i;
      return;
    }
  if (word->count == LOOK_VALUES_MOST) {
    closure->broken = true;
    return;
  }
  word->held |= 1u << word->count;
  word->value[word->count++] = value;
  closure->grown++;
  if (word->count > 1)
    keep_with_owner(closure, word);
}

/* The word there, with the value that it has now. */
static LookWord *word_at(Closure *closure, uint64_t key, const Sm *sm, uint64_t address) {
  LookWord *word = g_hash_table_lookup(closure->words, &key);
  if (!word) {
    word = g_new0(LookWord, 1);
    *word = (LookWord){.sm = sm, .address = address / 4 * 4};
    g_hash_table_insert(closure->words, g_memdup2(&key, sizeof key), word);
  }
  add_value(closure, word);
  return word;
}

/* The warp comes to it. */
static void meet(Closure *closure, LookWord *word, uint64_t age) {
  if (!word->met) {
    word->met = true;
    word->owner = age;
    if (word->count > 1)
      keep_with_owner(closure, word);
  } else if (word->owner && word->owner != age) {
    Watched *owner = owner_of(closure, word);
    word->owner = 0;
    if (owner && g_ptr_array_remove(owner->words, word))
      begin_again(closure);
  }
}

/* What changed last has its new value by now. */
static void see_changes(Closure *closure) {
  for (guint i = 0; i < closure->changing->len; i++)
    add_value(closure, g_array_index(closure->changing, LookWord *, i));
  g_array_set_size(closure->changing, 0);
}

/* ---- looks ---- */

/* It is known what all looks found. */
static bool all_known(const Watched *watched) {
  for (guint i = 0; i < watched->looks->len; i++)
    if (!g_array_index(watched->looks, Look, i).known)
      return false;
  return true;
}

static bool knows_own_words(const Closure *closure, const Watched *watched, const Sm *sm, const Warp *warp) {
  uint32_t value;
  for (guint i = 0; i < watched->words->len; i++)
    if (!look_word_ahead(closure->gpu, g_ptr_array_index(watched->words, i), sm, warp, &value))
      return false;
  return true;
}

/* A number for who is alike. */
static uint64_t kind_of(const Closure *closure, const Watched *watched, const ProbePoint *point) {
  uint64_t launch = point->block->launch->index;
  switch (closure->alike) {
  case SEEN_BY_LAUNCH: return launch;
  case SEEN_BY_BLOCK: return bits_mix(launch + 1, point->block->index);
  default: return watched->age;
  }
}

static uint64_t state_of(const Closure *closure, const Watched *watched, const ProbePoint *point) {
  uint64_t kind = kind_of(closure, watched, point);
  uint64_t digest = warp_digest(kind, point->sm, point->warp, &closure->states[point->block->launch->index]);
  for (guint i = 0; i < watched->words->len; i++) {
    const LookWord *word = g_ptr_array_index(watched->words, i);
    uint32_t value;
    look_word_ahead(closure->gpu, word, point->sm, point->warp, &value);
    digest = bits_mix(bits_mix(digest, word->address), value);
  }
  return digest;
}

/* A look is issued. NULL: the watch of the warp hasn't begun, since it waits for something. */
static Look *begin_look(Closure *closure, Watched *watched, const ProbePoint *point) {
  bool waits =
      point->warp->pending || !all_known(watched) || !knows_own_words(closure, watched, point->sm, point->warp);
  Look look = {.pc = point->pc, .lanes = point->lanes};
  if (!waits) {
    uint64_t start = state_of(closure, watched, point);
    if (watched->begun)
      looks_keep(&closure->looks, watched->looks, watched->start, look_key(start, &look), closure->words);
    g_array_set_size(watched->looks, 0);
    watched->begun = true;
    watched->start = start;
  }
  if (!watched->begun)
    return NULL;
  g_array_append_val(watched->looks, look);
  return &g_array_index(watched->looks, Look, watched->looks->len - 1);
}

/* A lane finds the value in a row. Told in any order. */
static void find_value(Look *look, unsigned lane, uint32_t row, uint32_t value) {
  look->found += bits_mix(bits_mix(lane + 1, row), value);
}

/* In shared memory a look finds at once what is there. */
static void find_shared(Look *look, const Sm *sm, const uint64_t address[WARP_LANES]) {
  for (uint32_t rest = look->lanes; rest; rest &= rest - 1)
    for (uint32_t row = 0; row < look->rows; row++) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      find_value(look, lane, row, look_shared(sm, (uint32_t)(address[lane] / 4) + row));
    }
  look->known = true;
}

/* ---- what is told ---- */

/* Fewer warps are alike. */
static void tell_apart(Closure *closure, SeenBy alike) {
  if (closure->alike <= alike)
    return;
  closure->alike = alike;
  begin_again(closure);
}

static void come_to_words(Closure *closure, const ProbePoint *point, AccessSpace space, AccessKind kind,
                          const uint64_t address[32], uint32_t rows) {
  const Sm *sm = space == SPACE_SHARED ? point->sm : NULL;
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1)
    for (uint32_t row = 0; row < rows; row++) {
      uint64_t at = address[__builtin_ctz(rest)] + 4 * (uint64_t)row;
      LookWord *word = word_at(closure, circle_place(point->sm, space, at), sm, at);
      meet(closure, word, point->warp->age + 1);
      if (sm && kind != ACCESS_READ)
        g_array_append_val(closure->changing, word);
    }
}

static void note_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                        const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  Closure *closure = user;
  Watched *watched = watched_at(closure, point->sm, point->warp->slot);
  see_changes(closure);
  closure->told |= point->lanes;
  closure->broken |= space == SPACE_SHARED && number; /* another block's of the cluster: it isn't followed */
  closure->broken |= !look_sees_through(point, kind, bytes, taken, unlock) || watched->age != point->warp->age + 1;
  if (closure->broken)
    return;
  if (space == SPACE_SHARED)
    tell_apart(closure, SEEN_BY_BLOCK); /* it is at other places for other blocks */
  uint32_t rows = access_words(bytes);
  come_to_words(closure, point, space, kind, address, rows);
  if (kind != ACCESS_WRITE) {
    circle_words_note(&closure->circle, point, space, kind == ACCESS_ATOMIC, address);
    watched->unread = 0;
  }
  const KernelState *state = &closure->states[point->block->launch->index];
  bool looks = look_is_one(state, point, kind, closure->takes_from_others);
  Look *look = looks ? begin_look(closure, watched, point) : NULL;
  if (!look)
    return;
  look->rows = rows;
  look->atomic = kind == ACCESS_ATOMIC;
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    look->key[lane] = circle_place(point->sm, space, address[lane]);
    look->byte[lane] = address[lane] % 4;
  }
  if (space == SPACE_SHARED) {
    find_shared(look, point->sm, address);
  } else if (look->atomic) {
    look->number = number;
    g_hash_table_insert(closure->atomics, g_memdup2(&number, sizeof number), watched);
  }
}

/* The word that the lane looks at in that row was seen to hold the value, or one of which it is the part that is
 * loaded. */
static bool was_held(const Closure *closure, const ProbePoint *point, const Look *look, unsigned lane, uint32_t row,
                     uint32_t value) {
  MemWidth width = (MemWidth)point->inst->width;
  uint64_t key = look->key[lane] + 4 * (uint64_t)row;
  const LookWord *word = g_hash_table_lookup(closure->words, &key);
  for (uint32_t i = 0; i < word->count; i++)
    if (value == (width_bytes[width] < 4 ? narrow_load(word->value[i], look->byte[lane], width) : word->value[i]))
      return true;
  return false;
}

/* Registers have what the lanes have loaded. */
static void note_replied(void *user, const ProbePoint *point) {
  Closure *closure = user;
  see_changes(closure);
  Watched *watched = watched_at(closure, point->sm, point->warp->slot);
  for (guint i = 0; watched->age == point->warp->age + 1 && i < watched->looks->len; i++) {
    Look *look = &g_array_index(watched->looks, Look, i);
    if (look->known || look->atomic || look->pc != point->pc || look->lanes != point->lanes)
      continue;
    for (uint32_t rest = look->lanes; rest; rest &= rest - 1)
      for (uint32_t row = 0; row < look->rows; row++) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t reg = (uint32_t)point->inst->dst + row, value = point->warp->regs[reg * WARP_LANES + lane];
        find_value(look, lane, row, value);
        look->odd |= !was_held(closure, point, look, lane, row, value);
      }
    look->known = true;
    return;
  }
}

/* Lanes of an atomic operation are performed, and find what is there. */
static void find_old(Closure *closure, const ProbePoint *point, const AccessPart *part) {
  Watched *watched = g_hash_table_lookup(closure->atomics, &part->number);
  for (guint i = 0; watched && i < watched->looks->len; i++) {
    Look *look = &g_array_index(watched->looks, Look, i);
    if (look->number != part->number)
      continue;
    for (uint32_t rest = point->lanes; rest; rest &= rest - 1)
      for (uint32_t row = 0; row < look->rows; row++) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        find_value(look, lane, row, look_global(closure->gpu, (part->address[lane] / 4 + row) * 4));
      }
    look->known = part->last;
  }
  if (part->last)
    g_hash_table_remove(closure->atomics, &part->number);
}

static void note_performed(void *user, const ProbePoint *point, const AccessPart *part) {
  Closure *closure = user;
  see_changes(closure);
  closure->broken |= part->shared;
  if (closure->broken)
    return;
  for (uint32_t rest = part->kind == ACCESS_READ ? 0 : point->lanes; rest; rest &= rest - 1)
    for (uint32_t row = 0; row < access_words(part->bytes); row++) {
      uint64_t at = part->address[__builtin_ctz(rest)] + 4 * (uint64_t)row;
      LookWord *word = word_at(closure, circle_place(point->sm, SPACE_GLOBAL, at), NULL, at);
      g_array_append_val(closure->changing, word);
    }
  if (part->kind == ACCESS_ATOMIC)
    find_old(closure, point, part);
}

/* Lanes of it have come to their local memory, by generic addresses. */
static bool comes_to_local(const Closure *closure, const ProbePoint *point) {
  const Inst *inst = point->inst;
  bool generic = op_info[inst->op].unit == UNIT_GLOBAL && inst->space == MEM_GENERIC;
  return generic && point->lanes & ~closure->told;
}

static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  Closure *closure = user;
  Unit unit = op_info[point->inst->op].unit;
  see_changes(closure);
  if (point->inst->op == OP_LD && point->inst->dst >= 0 && point->warp->reg_ready[point->inst->dst] != REG_PENDING)
    note_replied(closure, point); /* all lanes hit the L1: there is no reply */
  bool local = unit == UNIT_LOCAL || comes_to_local(closure, point);
  closure->told = 0;
  if (local || (unit == UNIT_SYSREG && !look_is_of_launch(point->inst->mode)))
    tell_apart(closure, SEEN_BY_WARP);
  if (!closure->takes_from_others && look_takes_from_others(point)) {
    closure->takes_from_others = true;
    begin_again(closure);
  }
  Watched *watched = watched_at(closure, point->sm, point->warp->slot);
  closure->broken |=
      unit == UNIT_BARRIER || watched->age != point->warp->age + 1 || ++watched->unread > closure->unread;
}

static void note_copy(void *user, const ProbePoint *point, const uint32_t physical[32], uint32_t bytes) {
  (void)point, (void)physical, (void)bytes;
  ((Closure *)user)->broken = true;
}

static void note_bulk(void *user, const ProbePoint *point, uint64_t address, uint32_t bytes, bool writes) {
  (void)point, (void)address, (void)bytes, (void)writes;
  ((Closure *)user)->broken = true;
}

static void note_heap(void *user, const ProbePoint *point, uint64_t address, uint64_t bytes, bool gives) {
  (void)point, (void)address, (void)bytes, (void)gives;
  ((Closure *)user)->broken = true;
}

/* An L1 has an older copy than a word's only warp should find. */
static void note_stale(void *user, const ProbePoint *point, const StaleRead *stale) {
  (void)point, (void)stale;
  begin_again(user);
}

static void note_host(void *user, const HostPoint *point, HostDeed deed) {
  (void)point, (void)deed;
  ((Closure *)user)->heard = true;
}

/* ---- is it enough? ---- */

/* Adds what the warp looks at now. False if it isn't known. */
static bool add_key(const Watched *watched, GArray *keys) {
  if (!watched->age || !watched->begun || !watched->looks->len)
    return false;
  uint64_t key = look_key(watched->start, &g_array_index(watched->looks, Look, 0));
  g_array_append_val(keys, key);
  return true;
}

/* Adds what all warps that can issue look at now. False if it isn't known of one: it sleeps, say. */
static bool add_keys(const Closure *closure, GArray *keys) {
  const Gpu *gpu = closure->gpu;
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++)
      if (gpu->sms[i].warps[slot].state == WARP_RUNNING && !add_key(watched_at(closure, &gpu->sms[i], slot), keys))
        return false;
  return true;
}

/* What the warps that can issue look at now, and all that may come behind it, has been seen. */
static bool has_all(const Closure *closure) {
  g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  return add_keys(closure, keys) && looks_have_all(&closure->looks, keys);
}

/* Each warp that can issue has looked at something in this window. */
static bool all_look(const Closure *closure) {
  g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  return add_keys(closure, keys);
}

static bool is_known(void *user) {
  Closure *closure = user;
  see_changes(closure);
  uint64_t grown = closure->grown + closure->looks.grown;
  guint warps = closure->warps;
  closure->broken |= closure->looks.broken || g_hash_table_size(closure->looks.kept) > LOOKS_PER_WARP * warps ||
                     g_hash_table_size(closure->words) > WORDS_LEAST + WORDS_PER_WARP * warps;
  if (closure->broken || closure->heard)
    return true;
  if (grown != closure->seen_grown) {
    closure->seen_grown = grown;
    g_clear_pointer(&closure->issued, g_free);
    return false;
  }
  if (!closure->issued) {
    if (has_all(closure))
      closure->issued = circle_issued(closure->gpu);
    return false;
  }
  closure->closed = circle_is_performed(closure->gpu, closure->issued) && has_all(closure);
  return closure->closed;
}

/* ---- the watch ---- */

static void watch_warp(Closure *closure, const Sm *sm, const Warp *warp) {
  const Launch *launch = sm->blocks[warp->block_slot].launch;
  Watched *watched = watched_at(closure, sm, warp->slot);
  KernelState *state = &closure->states[launch->index];
  kernel_state_init(state, launch->kernel);
  closure->broken |= state->clocked;
  if (watched->age)
    return;
  closure->warps++;
  *watched =
      (Watched){.age = warp->age + 1, .looks = g_array_new(FALSE, FALSE, sizeof(Look)), .words = g_ptr_array_new()};
}

static void init(Closure *closure, Gpu *gpu) {
  *closure = (Closure){.gpu = gpu,
                       .progress = gpu->progress,
                       .watched = g_new0(Watched, (gsize)gpu->machine->gpu.sms * SM_WARPS_MAX),
                       .states = g_new0(KernelState, gpu->launches->len),
                       .words = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free),
                       .atomics = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL),
                       .changing = g_array_new(FALSE, FALSE, sizeof(LookWord *)),
                       .alike = SEEN_BY_LAUNCH,
                       .seen = seen_new_exchanges()};
  looks_init(&closure->looks);
  circle_words_init(&closure->circle);
}

Closure *closure_new(Gpu *gpu) {
  Closure *closure = g_new0(Closure, 1);
  init(closure, gpu);
  return closure;
}

static void clear(Closure *closure) {
  for (uint32_t i = 0; i < closure->gpu->machine->gpu.sms * SM_WARPS_MAX; i++)
    if (closure->watched[i].age) {
      g_array_unref(closure->watched[i].looks);
      g_ptr_array_unref(closure->watched[i].words);
    }
  for (guint i = 0; i < closure->gpu->launches->len; i++)
    kernel_state_clear(&closure->states[i]);
  circle_words_clear(&closure->circle);
  looks_clear(&closure->looks);
  seen_free(closure->seen);
  g_hash_table_unref(closure->atomics);
  g_hash_table_unref(closure->words);
  g_array_unref(closure->changing);
  g_free(closure->watched);
  g_free(closure->states);
  g_free(closure->issued);
}

void closure_free(Closure *closure) {
  if (!closure)
    return;
  clear(closure);
  g_free(closure);
}

/* A warp has exited, or a block has come: nothing of what was seen counts. Or some of it seems to be of the time
 * before all went round. */
static void start_anew(Closure *closure) {
  Gpu *gpu = closure->gpu;
  clear(closure);
  init(closure, gpu);
}

/* Some word has held a value before this window, and not in it. */
static bool has_past_values(const Closure *closure) {
  GHashTableIter all;
  gpointer word;
  g_hash_table_iter_init(&all, closure->words);
  while (g_hash_table_iter_next(&all, NULL, &word))
    if (((const LookWord *)word)->held != (1u << ((const LookWord *)word)->count) - 1)
      return true;
  return false;
}

/* A window begins: what was under way when the last one ended isn't known. */
static void begin(Closure *closure) {
  const Gpu *gpu = closure->gpu;
  if (closure->progress != gpu->progress || (closure->usual && has_past_values(closure)))
    start_anew(closure);
  if (closure->heard)
    begin_again(closure);
  closure->heard = !host_is_still(gpu->host);
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++)
      if (gpu->sms[i].warps[slot].state == WARP_RUNNING)
        watch_warp(closure, &gpu->sms[i], &gpu->sms[i].warps[slot]);
  forget_looks(closure);
  GHashTableIter all;
  gpointer word;
  g_hash_table_iter_init(&all, closure->words);
  while (g_hash_table_iter_next(&all, NULL, &word)) {
    ((LookWord *)word)->held = 0;
    g_array_append_val(closure->changing, word);
  }
  see_changes(closure);
  closure->seen_grown = UINT64_MAX;
  g_clear_pointer(&closure->issued, g_free);
}

/* True if it is known that nobody finishes. */
static bool watch(Closure *closure, uint64_t share, uint64_t limit_cycles, GpuStop *stop) {
  Gpu *gpu = closure->gpu;
  uint64_t whole = WINDOW_LEAST + (uint64_t)WINDOW_PER_WARP * closure->warps;
  SeenWindow window = {.instructions = MAX(share, MIN(whole, (uint64_t)CIRCLE_SHARE_LEAST)),
                       .words_change = true,
                       .enough = is_known,
                       .user = closure};
  closure->unread = whole / (UNREAD_PART * (uint64_t)closure->warps);
  Probe probe = {.user = closure,
                 .issued = note_issued,
                 .access = note_access,
                 .performed = note_performed,
                 .replied = note_replied,
                 .copy = note_copy,
                 .bulk = note_bulk,
                 .heap = note_heap,
                 .host = note_host,
                 .stale_read = note_stale};
  gpu_subscribe(gpu, &probe);
  gpu->local_changed = false;
  uint64_t grown = closure->grown + closure->looks.grown;
  bool known = seen_record_exchanges(closure->seen, gpu, &window, limit_cycles, stop);
  gpu_unsubscribe(gpu, &probe);
  closure->broken |= gpu->local_changed;
  closure->usual =
      *stop == GPU_BUDGET && !closure->closed && grown == closure->grown + closure->looks.grown && all_look(closure);
  return known && closure->closed && !closure->broken && !closure->heard && host_is_still(gpu->host);
}

/* Some word held several values in the newest window. */
static bool some_changed(const Closure *closure) {
  GHashTableIter all;
  gpointer word;
  bool some = false;
  g_hash_table_iter_init(&all, closure->words);
  while (!some && g_hash_table_iter_next(&all, NULL, &word))
    some = bits_count(((const LookWord *)word)->held) > 1;
  return some;
}

Circle *closure_watch(Closure *closure, uint64_t share, uint64_t limit_cycles, GpuStop *stop) {
  *stop = GPU_BUDGET;
  begin(closure);
  if (closure->broken || closure->heard || !closure->warps || !watch(closure, share, limit_cycles, stop))
    return NULL;
  seen_join(closure->seen, closure->gpu, closure->alike);
  Circle *circle = circle_new(g_steal_pointer(&closure->seen), &closure->circle);
  circle->words_change = some_changed(closure);
  return circle;
}

bool closure_gave_up(const Closure *closure) { return closure->broken; }

bool closure_is_usual(const Closure *closure) {
  return closure->usual && !closure->broken && !closure->heard && g_hash_table_size(closure->looks.kept);
}
