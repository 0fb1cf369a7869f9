#include "sim/core/cluster.h"

#include "sim/core/occupancy.h"
#include "sim/core/sm.h"

/* ---- numbers ---- */

/* How many clusters there are in each direction. */
static void clusters_of(const Launch *launch, uint32_t count[3]) {
  for (unsigned axis = 0; axis < 3; axis++)
    count[axis] = launch->grid[axis] / launch->cluster[axis];
}

uint64_t cluster_of_block(const Launch *launch, uint64_t block) {
  uint32_t count[3];
  uint64_t x = block % launch->grid[0], y = block / launch->grid[0] % launch->grid[1],
           z = block / launch->grid[0] / launch->grid[1];
  clusters_of(launch, count);
  return x / launch->cluster[0] + count[0] * (y / launch->cluster[1] + count[1] * (z / launch->cluster[2]));
}

uint64_t cluster_block(const Launch *launch, uint64_t cluster, uint32_t rank) {
  const uint32_t *size = launch->cluster;
  uint32_t count[3];
  clusters_of(launch, count);
  uint64_t x = cluster % count[0] * size[0] + rank % size[0],
           y = cluster / count[0] % count[1] * size[1] + rank / size[0] % size[1],
           z = cluster / count[0] / count[1] * size[2] + rank / size[0] / size[1];
  return x + launch->grid[0] * (y + launch->grid[1] * z);
}

uint32_t cluster_register(const Block *block, SpecialReg which) {
  const Launch *launch = block->launch;
  const uint32_t *size = launch->cluster;
  switch (which) {
  case SR_CLUSTERID_X:
  case SR_CLUSTERID_Y:
  case SR_CLUSTERID_Z: return block->ctaid[which - SR_CLUSTERID_X] / size[which - SR_CLUSTERID_X];
  case SR_NCLUSTERID_X:
  case SR_NCLUSTERID_Y:
  case SR_NCLUSTERID_Z: return launch->grid[which - SR_NCLUSTERID_X] / size[which - SR_NCLUSTERID_X];
  case SR_CLUSTER_CTAID_X:
  case SR_CLUSTER_CTAID_Y:
  case SR_CLUSTER_CTAID_Z: return block->ctaid[which - SR_CLUSTER_CTAID_X] % size[which - SR_CLUSTER_CTAID_X];
  case SR_CLUSTER_NCTAID_X:
  case SR_CLUSTER_NCTAID_Y:
  case SR_CLUSTER_NCTAID_Z: return size[which - SR_CLUSTER_NCTAID_X];
  case SR_CLUSTER_CTARANK: return block->rank;
  case SR_CLUSTER_NCTARANK: return launch->cluster_blocks;
  case SR_IS_CLUSTER: return launch->explicit_cluster;
  default: return 0;
  }
}

/* ---- room ---- */

char *cluster_refuse_room(const Gpu *gpu, const Launch *launch, uint32_t dynamic_shared) {
  const Machine *machine = gpu->machine;
  Occupancy occupancy = occupancy_of(machine, launch->kernel, launch->block, dynamic_shared);
  g_autofree uint32_t *sms = g_new0(uint32_t, MAX(machine->memory.crossbar.clusters, 1));
  uint32_t most = 0;
  for (uint32_t i = 0; i < machine->gpu.sms; i++) {
    uint32_t *count = &sms[memsys_gpc(gpu->memsys, i)];
    ++*count;
    most = MAX(most, *count);
  }
  if ((uint64_t)most * occupancy.blocks >= launch->cluster_blocks)
    return NULL;
  return g_strdup_printf("a cluster has %u blocks, and a GPC of %s holds at most %u of them: %u on each of %u SMs",
                         launch->cluster_blocks, machine->name, most * occupancy.blocks, occupancy.blocks, most);
}

/* How many more blocks of the launch the SMs of a GPC have room for, each up to `most`. */
static uint32_t room_of_gpc(const Gpu *gpu, const Launch *launch, uint32_t gpc, uint32_t most) {
  uint32_t room = 0;
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    if (memsys_gpc(gpu->memsys, i) == gpc)
      room += sm_room(&gpu->sms[i], launch, most);
  return room;
}

/* ---- placing ---- */

static Cluster *cluster_new(Gpu *gpu, Launch *launch, uint64_t index) {
  Cluster *cluster = g_new0(Cluster, 1);
  cluster->launch = launch;
  cluster->index = index;
  cluster->blocks = cluster->left = launch->cluster_blocks;
  g_ptr_array_add(gpu->clusters, cluster);
  return cluster;
}

/* Its blocks go to SMs of the GPC in turn, from `first` on. Returns the SM behind the last. */
static uint32_t place(Gpu *gpu, Cluster *cluster, uint32_t gpc, uint32_t first, uint64_t now) {
  uint32_t sms = gpu->machine->gpu.sms, placed = 0, at = first;
  while (placed < cluster->blocks) {
    Sm *sm = &gpu->sms[at];
    uint64_t index = cluster_block(cluster->launch, cluster->index, placed);
    at = (at + 1) % sms;
    if (memsys_gpc(gpu->memsys, sm->index) != gpc || !sm_try_place(sm, cluster->launch, index, cluster, now))
      continue;
    placed++;
  }
  return at;
}

bool cluster_try_place(Gpu *gpu, Launch *launch, uint64_t index, uint64_t now) {
  uint32_t sms = gpu->machine->gpu.sms;
  for (; gpu->used_sms < sms; gpu->used_sms++)
    sm_init(&gpu->sms[gpu->used_sms], gpu, gpu->used_sms);
  for (uint32_t most = 1; most <= launch->cluster_blocks; most += launch->cluster_blocks - 1) {
    for (uint32_t i = 0; i < sms; i++) { /* the GPC of the SM that is next, then those of the others */
      uint32_t first = (gpu->next_sm + i) % sms, gpc = memsys_gpc(gpu->memsys, first);
      if (room_of_gpc(gpu, launch, gpc, most) < launch->cluster_blocks)
        continue;
      gpu->next_sm = place(gpu, cluster_new(gpu, launch, index), gpc, first, now);
      return true;
    }
  }
  return false;
}

/* ---- the end ---- */

void cluster_end(Gpu *gpu, Cluster *cluster) {
  for (uint32_t i = 0; i < cluster->blocks; i++)
    sm_free_block(cluster->member[i].sm, cluster->member[i].block);
  g_ptr_array_remove_fast(gpu->clusters, cluster);
}

bool cluster_is_complete(const Cluster *cluster) {
  uint32_t arrived = 0;
  for (uint32_t i = 0; i < cluster->blocks; i++) {
    const Block *block = cluster->member[i].block;
    if (cluster_missing(block))
      return false;
    arrived |= block->barrier[CLUSTER_BARRIER].arrived;
  }
  return arrived != 0;
}
