// Runs the arithmetic instructions of PTX that are listed in a file, each on the edge values of ptx_forms.h, on a real GPU.
// Build and run: nvcc -O2 -arch=native -o ptx_forms ptx_forms.cu -lcuda && ./ptx_forms ptx_forms_h100.csv
// The file: lines `hash,instruction`; the hash may be missing. Output: the same lines with what this GPU gives.
#include <cuda.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "ptx_forms.h"

#define CHECK(call)                                       \
  do {                                                    \
    CUresult result = (call);                             \
    const char *text = "";                                \
    if (result != CUDA_SUCCESS) {                         \
      cuGetErrorString(result, &text);                    \
      fprintf(stderr, "%s: %s\n", #call, text);           \
      exit(1);                                            \
    }                                                     \
  } while (0)

int main(int argc, char **argv) {
  std::vector<std::string> instructions;
  std::string module = FORMS_HEAD;
  char line[512], text[FORMS_TEXT_MAX];
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!file)
    return fprintf(stderr, "usage: ptx_forms LIST\n"), 2;
  while (fgets(line, sizeof line, file)) {
    char *comma = strchr(line, ',');
    line[strcspn(line, "\n")] = '\0';
    if (*line == '#' || !comma || !strchr(comma, '%'))
      continue;
    forms_kernel(comma + 1, (unsigned)instructions.size(), text);
    instructions.push_back(comma + 1);
    module += text;
  }
  fclose(file);
  static uint64_t in[FORMS_THREADS * FORMS_INPUTS], out[FORMS_THREADS * 2];
  for (unsigned i = 0; i < FORMS_THREADS * FORMS_INPUTS; i++)
    in[i] = forms_input(i / FORMS_INPUTS, i % FORMS_INPUTS);
  CUdevice device;
  CUcontext context;
  CUmodule loaded;
  CUdeviceptr from, to;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&loaded, module.c_str()));
  CHECK(cuMemAlloc(&from, sizeof in));
  CHECK(cuMemAlloc(&to, sizeof out));
  CHECK(cuMemcpyHtoD(from, in, sizeof in));
  printf("hash,instruction\n");
  for (size_t i = 0; i < instructions.size(); i++) {
    CUfunction function;
    void *arguments[] = {&from, &to};
    std::string name = "k" + std::to_string(i);
    CHECK(cuModuleGetFunction(&function, loaded, name.c_str()));
    CHECK(cuLaunchKernel(function, 1, 1, 1, FORMS_THREADS, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(out, to, sizeof out));
    printf("%016llx,%s\n", (unsigned long long)forms_hash(instructions[i].c_str(), out), instructions[i].c_str());
  }
  return 0;
}
