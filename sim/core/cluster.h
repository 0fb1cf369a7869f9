/* cluster.h - clusters of several blocks (sm_90): they are placed at once, on SMs of one GPC
 * (memory.crossbar.clusters), meet at a barrier of their own, and reach each other's shared memory (remote.h).
 * Models: a cluster has room where its GPC's SMs have it, one block an SM as long as so many have; its blocks stay
 * until all of them have exited. The barrier (CLUSTERBAR) completes when all warps of its blocks that haven't exited
 * have arrived; who exits isn't waited for (PTX ISA, barrier.cluster: "all the non-exited threads"). A lane has to
 * wait between two arrivals, and to arrive before it waits.
 * Does not model: which SMs of a GPC a GPU chooses, clusters of more than CLUSTER_BLOCKS_MAX blocks.
 * Launches with clusters don't run in windows (Launch.orderly), so blocks can look at each other.
 * Ownership: the Gpu owns its Clusters, each as long as it has blocks; an Sm owns the blocks. */
#ifndef LOCKSTEP_CORE_CLUSTER_H
#define LOCKSTEP_CORE_CLUSTER_H

#include "sim/core/state.h"

/* A block of it, by rank. */
typedef struct ClusterMember {
  Sm *sm;
  Block *block;
} ClusterMember;

typedef struct Cluster {
  Launch *launch;
  uint64_t index;        /* linear in the launch's clusters */
  uint32_t blocks, left; /* all; those that haven't exited */
  ClusterMember member[CLUSTER_BLOCKS_MAX];
} Cluster;

/* Says why no GPC of the machine, even an empty one, has room for a cluster of the launch; NULL: one has.
 * `dynamic_shared`: bytes. */
char *cluster_refuse_room(const Gpu *gpu, const Launch *launch, uint32_t dynamic_shared);
/* Places the blocks of cluster `index` if some GPC has room for all. */
bool cluster_try_place(Gpu *gpu, Launch *launch, uint64_t index, uint64_t now);
/* The cluster that block `block` of the launch belongs to, and back: the block of that rank. */
uint64_t cluster_of_block(const Launch *launch, uint64_t block);
uint64_t cluster_block(const Launch *launch, uint64_t cluster, uint32_t rank);
/* The rank of the block with that place in the grid. */
static inline uint32_t cluster_rank(const Launch *launch, const uint32_t ctaid[3]) {
  const uint32_t *size = launch->cluster;
  return ctaid[0] % size[0] + size[0] * (ctaid[1] % size[1] + size[1] * (ctaid[2] % size[2]));
}
/* What a special register of clusters (SR_CLUSTERID_X and so on) gives in the block. */
uint32_t cluster_register(const Block *block, SpecialReg which);
/* Frees the blocks of a cluster all of which have exited, and the cluster. */
void cluster_end(Gpu *gpu, Cluster *cluster);

/* ---- the barrier, as far as barrier.c leaves it to the cluster ---- */

/* Warps of the block that the barrier waits for: neither have they arrived nor exited. */
static inline uint32_t cluster_missing(const Block *block) {
  uint32_t warps = block->warps == BLOCK_WARPS_MAX ? UINT32_MAX : (1u << block->warps) - 1;
  return warps & ~block->finished & ~block->barrier[CLUSTER_BARRIER].arrived;
}
/* True if some warp has arrived, and nobody is waited for. */
bool cluster_is_complete(const Cluster *cluster);

#endif
