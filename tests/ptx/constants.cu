// Variables of each state space with initialisers: integers, floats, arrays, structs, addresses, strings.
struct Node {
  const char *name;
  const int *next;
  int value;
  float weight;
};
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ float weights[2][3] = {{0.5f, 1.5f, -2.0f}, {1e10f, 0.0f, 3.25f}};
__constant__ double pi = 3.14159265358979;
__constant__ unsigned char bytes[4] = {1, 2, 255, 0};
__constant__ short negative[3] = {-1, -32768, 5};
__device__ long long wide = -5000000000LL;
__device__ int zeroed[100];
__device__ int partly[10] = {1, 2, 3};
__device__ const char text[] = "hello \"world\"\n";
__device__ int target = 7;
__device__ int *pointer = &target;
__device__ const int *into = primes;
__device__ Node nodes[2] = {{"first", &target, 3, 0.25f}, {"second", &partly[4], -4, -0.0f}};
__shared__ int block_word;
__managed__ int managed = 1;

extern "C" __global__ void constants(int *out, int i) {
  block_word = i;
  out[0] = primes[i] + (int)weights[i & 1][i % 3] + (int)pi + bytes[i & 3] + negative[i % 3] + (int)wide + zeroed[i] + partly[i];
  out[1] = text[i] + *pointer + nodes[i & 1].value + nodes[i & 1].name[1] + (int)nodes[1].weight + *nodes[0].next + block_word + managed;
}
