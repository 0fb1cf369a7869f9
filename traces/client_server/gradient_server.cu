// The gradient descent of traces/irregular/gradient.cu with servers for two nested locks (nested.cuh): clients read
// the ratings, servers own users and items, and change both under the locks of both. Ratings, steps and check are
// those of the other form. PTX: make_ptx.sh gradient_server.cu
#include "../irregular/gradient.cu"
#include "nested.cuh"

enum { LOCKS = 4096 };

extern __shared__ messages::Word local_buffers[];

// Each client thread sends an order for each edge of its own: the lower lock first, and in bit 31 of the third word
// that this is the item's.
extern "C" __global__ void __launch_bounds__(1024, 2)
    descend_clients(Ratings ratings, Word *channels, int servers, int entries, int local, int lock_count,
                    Word *finished) {
  messages::Sender<3> sender(local_buffers, channels, servers, entries, local);
  messages::LocalLocks locks(nullptr, lock_count, servers);
  __prof_trigger(0);
  sender.begin();
#pragma unroll 1
  for (int first = thread_number() - messages::lane_number(); first < ratings.edges; first += thread_count()) {
    int edge = first + messages::lane_number();
    bool has = edge < ratings.edges;
    Word user = has ? ratings.user[edge] : 0, item = has ? ratings.item[edge] : 0,
         stars = has ? ratings.stars[edge] : 0;
    bool up = locks.rank_of(user) <= locks.rank_of(item);
    messages::Message<3> message = {{up ? user : item, up ? item : user, up ? stars : stars | 1u << 31}};
    sender.send(has, locks.server_of(message.word[0]), message);
  }
  sender.flush();
  messages::finish_sending(finished);
}

struct Stepper {
  Model model;
  float rate;
  int rounds;
  __device__ __forceinline__ void operator()(Word first, Word second, Word stars) {
    Word user = stars >> 31 ? second : first, item = stars >> 31 ? first : second;
    step(model, user, item, stars & 0x7fffffff, rate);
    locks::work(rounds);
  }
};

extern "C" __global__ void __launch_bounds__(1024, 2)
    descend_servers(Model model, messages::NestedShape shape, float rate, int lock_count, int rounds) {
  __shared__ Word words[LOCKS];
  __shared__ messages::NestedSpace space;
  Stepper stepper = {model, rate, rounds};
  messages::LocalLocks locks(words, lock_count, gridDim.x);
  ::locks::Untimed clock;
  messages::NestedServer<Stepper, ::locks::Untimed> server(shape, &space, local_buffers, locks, stepper, clock);
  server.run();
  __prof_trigger(1);
}
