#include "core/kernels/cuda_module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace triescope::kernels {

namespace {

constexpr const char* kFile = "libtriescope_cuda.so";

std::vector<std::string> places() {
  if (const char* named = std::getenv("TRIESCOPE_CUDA_MODULE");
      named != nullptr && *named != '\0') {
    return {named};
  }
  std::vector<std::string> found;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    found.push_back((program.parent_path() / kFile).string());
    found.push_back((program.parent_path().parent_path() / "lib" / "triescope" / kFile).string());
  }
#ifdef TRIESCOPE_CUDA_MODULE_PATH
  found.emplace_back(TRIESCOPE_CUDA_MODULE_PATH);
#endif
  return found;
}

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

CudaModule open_module() {
  CudaModule module;
  for (const std::string& path : places()) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      module.reason = "cannot open " + path + ": " + (why != nullptr ? why : "unknown error");
      return module;
    }
    CudaModule full;
    if (!find(library, "triescope_cuda_tree_attention", full.tree_attention) ||
        !find(library, "triescope_cuda_tree_attention_scratch", full.tree_attention_scratch) ||
        !find(library, "triescope_cuda_block_linear", full.block_linear) ||
        !find(library, "triescope_cuda_block_rows", full.block_rows) ||
        !find(library, "triescope_cuda_embed_norm", full.embed_norm) ||
        !find(library, "triescope_cuda_add_norm", full.add_norm) ||
        !find(library, "triescope_cuda_split_qkv", full.split_qkv) ||
        !find(library, "triescope_cuda_gated_activation", full.gated_activation) ||
        !find(library, "triescope_cuda_row_summary", full.row_summary) ||
        !find(library, "triescope_cuda_row_summary_scratch", full.row_summary_scratch) ||
        !find(library, "triescope_cuda_error_string", full.error_string) ||
        !find(library, "triescope_cuda_device_count", full.device_count) ||
        !find(library, "triescope_cuda_memory", full.memory) ||
        !find(library, "triescope_cuda_use_device", full.use_device) ||
        !find(library, "triescope_cuda_allocate", full.allocate) ||
        !find(library, "triescope_cuda_free", full.free) ||
        !find(library, "triescope_cuda_to_device", full.to_device) ||
        !find(library, "triescope_cuda_to_host", full.to_host) ||
        !find(library, "triescope_cuda_host_allocate", full.host_allocate) ||
        !find(library, "triescope_cuda_host_free", full.host_free)) {
      dlclose(library);
      module.reason = path + " lacks functions this program expects; build both from one source";
      return module;
    }
    full.path = path;
    return full;
  }
  module.reason =
      std::string("no ") + kFile + " beside the program (it is built wherever nvcc is found)";
  return module;
}

}  // namespace

const CudaModule& cuda_module() {
  static const CudaModule module = open_module();
  return module;
}

}  // namespace triescope::kernels
