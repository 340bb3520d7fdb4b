// libFuzzer entry: bytes as a kubeconfig. Files that it names are not read: contexts are chosen only as far as errors go.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <string>
#include <vector>
#include "connectors/kubernetes/auth/kubeconfig.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    return std::vector<std::string>{
        R"(apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: Q0E=, tls-server-name: s}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: get, args: [a], env: [{name: A, value: b}]}}}]
contexts: [{name: c, context: {cluster: c, user: u, namespace: n}}]
)",
        R"({"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"token":"t","client-certificate-data":"Q0E="}}]})"};
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hindsight::connectors::kubernetes;
  auto config = parse_kubeconfig({reinterpret_cast<const char*>(data), size}, "/k/config");
  if (!config) return 0;
  for (auto& [name, cluster] : config->clusters) cluster.authority_file.clear();
  for (const auto& [name, context] : config->contexts) (void)choose_context(*config, name, "/k/config");
  return 0;
}
