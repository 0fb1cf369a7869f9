// Slides, "Classwork: Grading": grades of n students from their marks, and the histogram of the grades.
// Grades S A B C D E U are 0 to 6; S from 90, E from 40.
// PTX: make_ptx.sh grading.cu
static __device__ int grade_of(int marks) { return marks >= 90 ? 0 : marks < 40 ? 6 : 9 - marks / 10; }

extern "C" __global__ void grading(const int *marks, int *grade, int *histogram, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n)
    return;
  grade[id] = grade_of(marks[id]);
  histogram[grade[id]]++;
}

extern "C" __global__ void grading_atomic(const int *marks, int *grade, int *histogram, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n)
    return;
  grade[id] = grade_of(marks[id]);
  atomicAdd(&histogram[grade[id]], 1);
}

// A private histogram for each block (privatization), added up at its end.
extern "C" __global__ void grading_shared(const int *marks, int *grade, int *histogram, int n) {
  __shared__ int mine[7];
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 7)
    mine[threadIdx.x] = 0;
  __syncthreads();
  if (id < n) {
    grade[id] = grade_of(marks[id]);
    atomicAdd(&mine[grade[id]], 1);
  }
  __syncthreads();
  if (threadIdx.x < 7)
    atomicAdd(&histogram[threadIdx.x], mine[threadIdx.x]);
}
