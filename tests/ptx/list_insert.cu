// Concurrent insertion into a linked list by compare-and-swap on 64-bit pointers.
struct Node {
  Node *next;
  int key;
};
extern "C" __global__ void list_insert(Node **head, Node *pool, const int *keys) {
  Node *mine = &pool[blockIdx.x * blockDim.x + threadIdx.x];
  mine->key = keys[threadIdx.x];
  Node *seen = *(Node *volatile *)head;
  for (;;) {
    mine->next = seen;
    __threadfence();
    Node *now = (Node *)atomicCAS((unsigned long long *)head, (unsigned long long)seen, (unsigned long long)mine);
    if (now == seen)
      break;
    seen = now;
  }
}
