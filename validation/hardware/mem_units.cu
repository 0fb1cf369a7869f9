// The atomic unit of one slice of the L2: lines that belong to one slice are found by how they slow each other down, then all SMs try
// words of one slice, each thread random ones of a set, and others probe the same words, other words of that slice, and other slices. Says what
// an operation takes on the word, sector, line before or on another one, in which order a unit serves, and what a load there waits for.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_units mem_units.cu
// Run:   ./mem_units > mem_units.csv
// Variants: `OPERATION on SET; lanes N` (n: words of the set; `; sliding`: a lane tries the word of the lane behind next): what a try of a warp takes, the mean
// of all, and of the blocks of the set's home half and of the others; `... beside probe OPERATION on SET` and `probe OPERATION on SET beside ...`: the crowd, and one
// lane of each of n blocks; `slice of a line`, `home of a page`: as numbered here (slices whose lines were taken for others have one line).
#include "mem.cuh"

enum { WARM_UP = 60000, TIME = 300000, MOST = 2048, LINES = 8192, LINE = 32, NO_PROBE = -1 };
enum Op { LOAD, ADD, CAS, PUT, OPS };
static const char *const op_names[] = {"load", "atom.add", "atom.cas that fails", "store"};

static __device__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

static __device__ unsigned operate(int op, unsigned *word) {
  unsigned seen = 0;
  if (op == ADD)
    asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(seen) : "l"(word) : "memory");
  else if (op == CAS)
    asm volatile("atom.global.cas.b32 %0, [%1], 7, 8;" : "=r"(seen) : "l"(word) : "memory");
  else if (op == PUT)
    touch<STORE>(word);
  else
    seen = touch<LOAD_VOLATILE>(word);
  return seen;
}

struct Crowd {
  const unsigned *where; // words of the set
  unsigned count;
  int op, lanes, apart; // apart: no two lanes of a warp try the same line
  int halves,
      slide; // halves: a bit for SMs of the home half, one for the others; slide: lanes try the words of the lanes behind next
  const unsigned *far; // of blocks of the other half, if it isn't null
};

// All warps but the first of each block try words of the crowd's set; the first lane of each of the first `probing` blocks those of the other.
// sums: of each block cycles and number of the probes, then of the tries of its warps, and its SM.
__global__ void crowd(unsigned *words, Crowd crowds, Crowd probe, int probing, const int *near,
                      unsigned long long *sums) {
  __shared__ unsigned where[MOST], other[MOST];
  for (unsigned i = threadIdx.x; i < crowds.count; i += blockDim.x)
    where[i] = (crowds.far && !near[blockIdx.x] ? crowds.far : crowds.where)[i];
  for (unsigned i = threadIdx.x; probe.op >= 0 && i < probe.count; i += blockDim.x)
    other[i] = probe.where[i];
  __syncthreads();
  bool tries = threadIdx.x >= 32;
  const Crowd mine = tries ? crowds : probe;
  const unsigned *set = tries ? where : other;
  if (tries ? threadIdx.x % 32 >= mine.lanes : blockIdx.x >= probing || threadIdx.x || mine.op < 0)
    return;
  if (tries && !(crowds.halves & (near[blockIdx.x] ? 1 : 2)))
    return;
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1), seen = 0, done = 0, slid = 0;
  long long start = now(), begun = 0, end = 0;
  for (int i = 0; i < 100000; i++) {
    end = now_with(seen);
    if (!begun && end - start > WARM_UP)
      begun = end, done = 0;
    if (begun && end - begun > TIME)
      break;
    state = state * 1664525u + 1013904223u + seen;
    unsigned count = mine.apart ? mine.count / 32 : mine.count;
    unsigned at = count == 1 ? 0 : (unsigned)((unsigned long long)mixed(state) * count >> 32);
    if (mine.slide)
      at = mixed((blockIdx.x * blockDim.x + threadIdx.x + slid++) * 0x9E3779B9u + seen) % count;
    if (mine.apart)
      at = at * 32 + threadIdx.x % 32;
    seen = operate(mine.op, words + set[at]);
    done++;
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[5 * blockIdx.x + (tries ? 2 : 0)], (unsigned long long)(end - begun));
    atomicAdd(&sums[5 * blockIdx.x + (tries ? 3 : 1)], (unsigned long long)done);
    sums[5 * blockIdx.x + 4] = sm_id();
  }
}

// What two words take, the blocks of even number trying the first: 1 line or 2 of a slice, or not.
__global__ void pair(unsigned *words, unsigned first, const unsigned *seconds, unsigned long long *took) {
  unsigned *word = words + (blockIdx.x & 1 ? *seconds : first), seen = 0;
  if (threadIdx.x % 32)
    return;
  long long start = now();
  for (int i = 0; i < 40; i++)
    asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(seen) : "l"(word + seen) : "memory");
  if (threadIdx.x % 32 == 0)
    atomicAdd(took, (unsigned long long)(now_with(seen) - start));
}

// One lane of each SM: what an atomic on the word takes.
__global__ void lone(unsigned *word, int block, unsigned long long *took) {
  if (blockIdx.x != block || threadIdx.x)
    return;
  unsigned seen = 0;
  operate(ADD, word);
  long long start = now();
  for (int i = 0; i < 8; i++)
    seen += operate(ADD, word + seen);
  *took = (now_with(seen) - start) / 8;
}

int main() {
  mem_begin();
  Buffer<unsigned> words(1 << 20), second(LINES);
  Buffer<unsigned long long> took(LINES), sums(5 * 132);
  words.clear();
  // The slices: lines that slow those of the first one without a slice are of its slice.
  std::vector<int> slice_of(LINES, -1);
  std::vector<std::vector<unsigned>> slices;
  for (;;) {
    std::vector<unsigned> rest;
    for (unsigned i = 0; i < LINES; i++)
      if (slice_of[i] < 0)
        rest.push_back(i * LINE);
    if (rest.empty() || slices.size() > 200)
      break;
    second.set([&] {
      auto all = rest;
      all.resize(LINES);
      return all;
    }());
    took.clear();
    for (size_t i = 0; i < rest.size(); i++)
      pair<<<132, 256>>>(words.data, rest[0], second.data + i, took.data + i);
    finish("pair");
    std::vector<unsigned long long> times = took.get(), sorted(times.begin(), times.begin() + rest.size());
    std::sort(sorted.begin(), sorted.end());
    unsigned long long least = sorted[sorted.size() / 10];
    slices.push_back({});
    for (size_t i = 0; i < rest.size(); i++)
      if (i == 0 || times[i] > least * 16 / 10) {
        slice_of[rest[i] / LINE] = (int)slices.size() - 1;
        slices.back().push_back(rest[i]);
      }
  }
  std::sort(slices.begin(), slices.end(), [](auto &a, auto &b) { return a.size() > b.size(); });
  fprintf(stderr, "%zu slices:", slices.size());
  for (auto &s : slices)
    fprintf(stderr, " %zu", s.size());
  fprintf(stderr, "\nby line:");
  for (int i = 0; i < 512; i++)
    fprintf(stderr, " %d", slice_of[i]);
  fprintf(stderr, "\n");
  while (slices.size() && slices.back().size() < 24)
    slices.pop_back();
  row("units", "slices", 132, 128, LINES, 1, {(double)slices.size()});
  // Halves: of SMs as seen from the first slice, of slices as seen from an SM of that half.
  std::vector<int> near(132);
  auto lone_time = [&](unsigned at, int block) {
    for (int i = 0; i < 2; i++)
      lone<<<132, 32>>>(words.data + at, block, took.data);
    finish("lone");
    return took.get()[0];
  };
  for (int block = 0; block < 132; block++)
    near[block] = lone_time(slices[0][0], block) < 430;
  int of_half = (int)(std::find(near.begin(), near.end(), 1) - near.begin());
  std::vector<std::vector<unsigned>> half[2];
  for (auto &s : slices)
    half[lone_time(s[0], of_half) >= 430].push_back(s);
  fprintf(stderr, "halves %zu %zu, near %d\n", half[0].size(), half[1].size(),
          (int)std::count(near.begin(), near.end(), 1));
  Buffer<int> near_at(132);
  near_at.set(near);
  struct Set {
    std::string name;
    std::vector<unsigned> at, far;
    int apart = 0, halves = 3, slide = 0;
  };
  std::mt19937 random(1);
  // `lines` lines of each of `count` slices of each half (0: none of the other half), with `in` of each line; mixed so that lanes apart have all slices.
  auto of = [&](std::string name, int here, int there, int lines, int skip, std::vector<unsigned> in) {
    Set set{name, {}, {}};
    for (int line = skip; line < skip + lines; line++)
      for (unsigned word : in) {
        for (int i = 0; i < here && i < (int)half[0].size(); i++)
          set.at.push_back(half[0][i][line] + word);
        for (int i = 0; i < there && i < (int)half[1].size(); i++)
          set.at.push_back(half[1][i][line] + word);
      }
    return set;
  };
  Buffer<unsigned> crowd_at(MOST), far_at(MOST), probe_at(MOST);
  auto measure = [&](const Set &set, int op, int lanes, int blocks, int warps, const Set *probed, int probe_op,
                     int probing) {
    crowd_at.set(set.at);
    if (!set.far.empty())
      far_at.set(set.far);
    if (probed)
      probe_at.set(probed->at);
    std::vector<double> tries, probes[2];
    unsigned long long byhalf[2][2] = {};
    for (int run = 0; run < 3; run++) {
      sums.clear();
      Crowd c{crowd_at.data,
              (unsigned)set.at.size(),
              op,
              lanes,
              set.apart,
              set.halves,
              set.slide,
              set.far.empty() ? nullptr : far_at.data},
          p{probe_at.data, probed ? (unsigned)probed->at.size() : 0, probed ? probe_op : NO_PROBE, 1, 0, 3, 0,
            nullptr};
      crowd<<<blocks, 32 * (warps + 1)>>>(words.data, c, p, probing, near_at.data, sums.data);
      finish("crowd");
      std::vector<unsigned long long> sum = sums.get();
      unsigned long long all[6] = {};
      for (int block = 0; block < blocks; block++) {
        all[0] += sum[5 * block + 2];
        all[1] += sum[5 * block + 3];
        for (int i = 0; i < 2; i++)
          all[2 + 2 * !near[block] + i] += sum[5 * block + i];
      }
      if (all[1])
        tries.push_back((double)all[0] / all[1]);
      for (int block = 0; block < blocks; block++)
        byhalf[!near[block]][0] += sum[5 * block + 2], byhalf[!near[block]][1] += sum[5 * block + 3];
      for (int i = 0; i < 2; i++)
        if (all[3 + 2 * i])
          probes[i].push_back((double)all[2 + 2 * i] / all[3 + 2 * i]);
    }
    std::string what = std::string(op_names[op]) + " on " + set.name + "; lanes " + std::to_string(lanes), beside;
    if (probed)
      beside = std::string("probe ") + op_names[probe_op] + " on " + probed->name;
    row("units", what + (probed ? " beside " + beside : ""), blocks, 32 * warps, set.at.size(), 1, tries);
    for (int i = 0; i < 2 && blocks == 132 && !probed; i++)
      if (byhalf[i][1])
        row("units", what + (i ? ": other half" : ": home half"), blocks, 32 * warps, set.at.size(), 1,
            {(double)byhalf[i][0] / byhalf[i][1]});
    if (probed)
      for (int i = 0; i < 2; i++)
        row("units", beside + " beside " + what + (i ? "; other half" : "; home half"), blocks, 32 * warps, probing,
            1, probes[i]);
  };
  std::vector<unsigned> pairs, zero{0};
  for (unsigned i = 0; i < 32; i += 2)
    pairs.push_back(i);
  // Twins: the slices of the other half that requests to a slice pass.
  auto pair_time = [&](unsigned a, unsigned b) {
    second.set([&] {
      std::vector<unsigned> v(LINES, b);
      return v;
    }());
    took.clear();
    pair<<<132, 256>>>(words.data, a, second.data, took.data);
    finish("pair");
    return took.get()[0];
  };
  std::vector<std::vector<unsigned>> twin_a, twin_b;
  for (int i = 0; i < 16; i++) {
    unsigned long long most = 0, usual = ~0ull;
    int twin = 0;
    for (int j = 0; j < (int)half[1].size(); j++) {
      unsigned long long t = pair_time(half[0][i][0], half[1][j][0]);
      usual = std::min(usual, t);
      if (t > most)
        most = t, twin = j;
    }
    fprintf(stderr, "twin of %d: %d %.2f\n", i, twin, (double)most / usual);
    if (most > usual * 12 / 10 && twin_a.size() < 8) {
      twin_a.push_back(half[0][i]);
      twin_b.push_back(half[1][twin]);
    }
  }
  static const int shapes[][2] = {{132, 1}, {28, 8},  {56, 8},   {112, 8}, {132, 8},
                                  {28, 31}, {56, 31}, {112, 31}, {132, 31}},
                   all132[][2] = {{132, 1}, {132, 8}, {132, 31}};
  std::vector<Set> sets;
  for (unsigned first : {0u, 8192u, 65536u, 100u * 1024}) {
    Set set{"64 lines in a row from " + std::to_string(first / LINE), {}, {}};
    fprintf(stderr, "row %u:", first);
    for (unsigned line = 0; line < 64; line++) {
      if (line % 32 == 0)
        fprintf(stderr, " [%llu]", lone_time(first + line * LINE, of_half));
      fprintf(stderr, " %d", slice_of[first / LINE + line]);
      for (unsigned word : pairs)
        set.at.push_back(first + line * LINE + word);
    }
    fprintf(stderr, "\n");
    sets.push_back(set);
    set.slide = 1;
    set.name += "; sliding";
    sets.push_back(set);
  }
  auto add_lines = [&](Set &set, const std::vector<std::vector<unsigned>> &from, unsigned count,
                       std::vector<unsigned> in) {
    for (unsigned i = 0; i < count && i < from.size(); i++)
      for (int line = 0; line < 4; line++)
        for (unsigned word : in)
          set.at.push_back(from[i][line] + word);
  };
  Set twins{"4 lines of each of 8 slices and their twins", {}, {}};
  add_lines(twins, twin_a, 8, pairs);
  add_lines(twins, twin_b, 8, pairs);
  sets.push_back(twins);
  twins.slide = 1, twins.name += "; sliding";
  sets.push_back(twins);
  sets.push_back(of("4 lines of each of 8 and 8 slices", 8, 8, 4, 0, pairs));
  for (auto &set : sets)
    for (int op : {ADD, CAS})
      for (auto &[blocks, warps] : shapes)
        measure(set, op, 32, blocks, warps, nullptr, 0, 0);
  Set mix{"4 lines of a slice and of its twin", {}, {}};
  add_lines(mix, twin_a, 1, pairs);
  add_lines(mix, twin_b, 1, pairs);
  Set one = of("4 lines of each of 1 slices", 0, 0, 0, 0, pairs),
      many = of("words of 20 lines of each slice of a half", 100, 0, 20, 0, zero),
      some = of("words of 20 lines of each of 24 slices", 24, 0, 20, 0, zero);
  add_lines(one, twin_a, 1, pairs);
  for (Set *set : {&many, &some})
    for (auto &at : set->at)
      at += random() % 32;
  for (Set *set : {&mix, &one, &many, &some})
    for (int halves : {1, 2, 3}) {
      set->halves = halves;
      Set copy = *set;
      copy.name += halves == 1 ? "; SMs of the home half" : halves == 2 ? "; SMs of the other half" : "; all SMs";
      for (int op : {LOAD, ADD, CAS, PUT})
        for (auto &[blocks, warps] : all132)
          for (int lanes : {1, 32})
            measure(copy, op, lanes, blocks, warps, nullptr, 0, 0);
    }
  for (auto [near_lines, far_lines] : {std::pair<int, int>{1, 0}, {0, 1}}) {
    Set set = of(near_lines ? "words of 20 lines of each slice of its half"
                            : "words of 20 lines of each slice of the half not its own",
                 near_lines * 100, far_lines * 100, 20, 0, zero);
    set.far = of("", far_lines * 100, near_lines * 100, 20, 0, zero).at;
    size_t least = std::min(set.at.size(), set.far.size());
    set.at.resize(least), set.far.resize(least);
    for (size_t i = 0; i < least; i++)
      set.at[i] += random() % 32, set.far[i] += random() % 32;
    for (int op : {LOAD, ADD, PUT})
      for (auto &[blocks, warps] : all132)
        measure(set, op, 32, blocks, warps, nullptr, 0, 0);
  }
  // One SM: lanes on one bank of the L1, and on any.
  Set first_words = of("first words of 20 lines of each of all slices", 100, 100, 20, 0, zero),
      any_words = first_words;
  any_words.name = "words of 20 lines of each of all slices";
  for (auto &at : any_words.at)
    at += random() % 32;
  for (Set *set : {&first_words, &any_words})
    for (int op : {LOAD, ADD, CAS})
      for (int warps : {1, 8, 31})
        measure(*set, op, 32, 1, warps, nullptr, 0, 0);
  for (auto &[blocks, warps] : all132)
    for (int op : {ADD, CAS})
      measure(any_words, op, 32, blocks, warps, nullptr, 0, 0);
  for (int count : {1, 2, 4, 8, 16, 20}) {
    Set lines = of(std::to_string(count) + " lines of one slice", 1, 0, count, 0, zero);
    measure(lines, ADD, 1, 132, 8, nullptr, 0, 0);
  }
  Set crowded{"one word", {twin_a[0][0]}, {}}, beside{"another line of its slice", {twin_a[0][20]}, {}};
  for (int probe_op : {LOAD, ADD})
    measure(crowded, ADD, 1, 132, 8, &beside, probe_op, 132);
  for (int line = 0; line < 512; line++)
    row("units", "slice of a line", 1, 1, line, 1, {(double)slice_of[line]});
  for (int page = 0; page < LINES / 32; page++)
    row("units", "home of a page", 1, 1, page, 1, {(double)(lone_time(page * 1024, of_half) >= 430)});
  // Loads of words of the lines that the crowd tries, and of others.
  Set line0 = of("4 lines of each of 16 slices", 16, 0, 4, 0, pairs), odd = line0,
      away = of("other lines of these slices", 16, 0, 4, 8, zero),
      far_off = of("lines of other slices", 0, 8, 4, 12, zero);
  odd.name = "other words of its lines";
  for (auto &at : odd.at)
    at++;
  Set big = of("words of 20 lines of each of all slices", 100, 100, 20, 0, zero), big_odd = big;
  big.at.resize(std::min<size_t>(big.at.size(), MOST)), big_odd = big, big_odd.name = "other words of its lines";
  for (auto &at : big_odd.at)
    at++;
  Set word{"one word", {twin_a[0][0]}, {}}, word_odd{"the word beside it", {twin_a[0][0] + 1}, {}};
  for (auto &[blocks, warps] : {std::pair<int, int>{132, 1}, {56, 8}, {132, 8}, {132, 31}})
    for (int op : {ADD, CAS})
      for (int lanes : {1, 32})
        for (int probing : {1, 32, 132})
          for (int probe_op : {LOAD, ADD}) {
            for (const Set *probed : {&odd, &away, &far_off})
              measure(line0, op, lanes, blocks, warps, probed, probe_op, std::min(probing, (int)blocks));
            measure(big, op, lanes, blocks, warps, &big_odd, probe_op, std::min(probing, (int)blocks));
            measure(word, op, lanes, blocks, warps, &word_odd, probe_op, std::min(probing, (int)blocks));
          }
  return 0;
}
