// libFuzzer entry: bytes as a kubeconfig. Files that it names are not read: contexts are chosen only as far as errors go.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "connectors/kubernetes/kubeconfig.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hindsight::connectors::kubernetes;
  auto config = parse_kubeconfig({reinterpret_cast<const char*>(data), size}, "/k/config");
  if (!config) return 0;
  for (auto& [name, cluster] : config->clusters) cluster.authority_file.clear();
  for (const auto& [name, context] : config->contexts) (void)choose_context(*config, name, "/k/config");
  return 0;
}
