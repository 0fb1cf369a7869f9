/* host.h - the CPU beside the GPU: a small program of steps, and the words that both see (host-mapped buffers,
 * BackingBuffer.host).
 *
 * Models: two views of a host-mapped word, the GPU's (the backing store) and the host's. A plain store of either side
 * shows to the other host.latency cycles later. A word has one order of stores: a store of the GPU counts when it
 * arrives at the host, so that a store of the host that meets it on the way comes before it, and the GPU never sees
 * that one.
 * Atomic operations of either side (HOST_ADD, atom, red) are done at the memory, one after another, and never lose an
 * update. A finished launch has shown all its stores, and a launch sees all stores of the host before it.
 * Does not model: the host's caches, several host threads, pageable memory (a copy is a step on a host-mapped word).
 * Time: a step other than a delay takes one cycle, a poll looks each host.poll_interval cycles, to wait for a launch
 * takes host.latency after its end. The host is one source of events, and acts first within a cycle.
 * Ownership: the Gpu owns its Host (gpu_set_host). */
#ifndef LOCKSTEP_CORE_HOST_H
#define LOCKSTEP_CORE_HOST_H

#include "sim/core/state.h"

typedef enum {
  HOST_POLL,   /* waits until the word compares true */
  HOST_WRITE,  /* word = value */
  HOST_ADD,    /* word += value, atomically */
  HOST_MODIFY, /* reads the word, and `cycles` later writes what it read plus value: updates between get lost */
  HOST_DELAY,  /* `cycles` */
  HOST_LAUNCH, /* starts a launch; the n-th time (from 0) that this step comes: `launch` + n */
  HOST_WAIT,   /* until a launch has finished, numbered alike */
  HOST_REPEAT, /* the next `body` steps `count` times */
  HOST_LEAVE,  /* leaves the innermost repetition if the word compares true */
} HostStepKind;

/* Of the word as a signed number with `value`. */
typedef enum { HOST_EQ, HOST_NE, HOST_LT, HOST_GE, HOST_ODD, HOST_EVEN } HostCompare;

typedef struct HostStep {
  HostStepKind kind;
  HostCompare compare; /* POLL, LEAVE */
  guint buffer;        /* index in the backing store, and word; POLL, LEAVE, WRITE, ADD, MODIFY */
  uint32_t index;
  uint32_t value;
  uint64_t cycles; /* DELAY, MODIFY */
  uint32_t launch; /* LAUNCH, WAIT: index in the order of gpu_add_launch() */
  uint32_t count;  /* REPEAT */
  uint32_t body;   /* REPEAT */
} HostStep;

enum { HOST_DEPTH_MAX = 16, HOST_SOURCE = 0 /* of its events */ };

/* A store on its way to the other side. */
typedef struct HostChange {
  uint64_t when; /* it shows */
  guint buffer;
  uint32_t index, value;
} HostChange;

typedef enum { HOST_ACTING, HOST_POLLING, HOST_WAITING, HOST_MODIFYING, HOST_DONE } HostState;

typedef struct Host {
  Gpu *gpu;
  HostStep *steps;
  uint32_t count;
  uint32_t at;     /* the step it does */
  uint32_t *times; /* how often each step was begun before */
  struct {
    uint32_t step, left; /* the REPEAT, rounds after this one */
  } loop[HOST_DEPTH_MAX];
  uint32_t depth;
  HostState state;
  bool released;            /* a launch may begin now: the dispatcher hasn't seen it yet */
  uint64_t next;            /* when it acts; WHEEL_NEVER: not before something changes */
  uint64_t began;           /* POLLING: the first look */
  uint64_t event_time;      /* of its event in the queue, WHEEL_NEVER for none */
  uint32_t modified;        /* MODIFYING: what it will write */
  uint32_t **view;          /* the words of each host-mapped buffer as the host sees them; NULL for others */
  guint buffers;            /* how many buffers there are */
  GArray *to_host, *to_gpu; /* HostChange, by time */
} Host;

/* Gives the GPU a host that does these steps from cycle 0 on; after all launches were added. Launches that a step
 * starts wait for it. False with a sentence in *why (newly allocated) if a step is wrong. */
bool gpu_set_host(Gpu *gpu, const HostStep *steps, uint32_t count, char **why);
void host_free(Host *host);

/* Its event is due. Returns when the next one is, WHEEL_NEVER if none: the caller queues it. */
uint64_t host_run(Host *host, uint64_t now);

/* A plain store of the GPU changed a word of a host-mapped buffer. */
void host_note_store(Host *host, guint buffer, uint32_t index, uint32_t value, uint64_t now);
/* Around an atomic operation of the GPU: first both sides agree on the word, then the host sees the result. */
void host_before_atomic(Host *host, guint buffer, uint32_t index, uint64_t now);
void host_after_atomic(Host *host, guint buffer, uint32_t index, uint32_t value, uint64_t now);
/* A launch has finished. */
void host_launch_finished(Host *host, const Launch *launch, uint64_t now);

bool host_compares(const HostStep *step, uint32_t word);
/* True if nothing will happen on the host's side unless the GPU does something; then a state of the GPU that comes
 * back will come back for ever. Also without a host. */
bool host_is_still(const Host *host);
/* "step 2 (modify counter[0])", counted from 1 in the order in which they are listed. Newly allocated. */
char *host_step_text(const Host *host, uint32_t step);
/* What it does: "polls flag[0] until it is odd, and sees 4". Newly allocated. */
char *host_text(const Host *host);

#endif
