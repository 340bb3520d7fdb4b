#include "connectors/kubernetes/auth/connection.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "connectors/kubernetes/auth/kubeconfig.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// Kubeconfigs, certificates and tokens are small; a larger file is a mistake that should not fill the memory.
constexpr std::uintmax_t file_bytes_max = std::uintmax_t{16} << 20U;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::filesystem::path> split_paths(const std::string& list) {
  std::vector<std::filesystem::path> out;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ':');) {
    if (!item.empty()) out.emplace_back(item);
  }
  return out;
}

/// Reads the files in their order. `may_be_absent`: as kubectl does with those of KUBECONFIG, as long as one exists.
Result<Connection> read_files(const std::vector<std::filesystem::path>& files, const std::string& context, bool may_be_absent) {
  Kubeconfig config;
  std::string names;
  std::size_t found = 0;
  for (const std::filesystem::path& file : files) {
    names += (names.empty() ? "" : ":") + file.string();
    std::error_code ignored;
    if (may_be_absent && !std::filesystem::exists(file, ignored)) continue;
    const auto text = read_small_file(file, "kubeconfig");
    if (!text) return tl::unexpected(text.error());
    const auto part = parse_kubeconfig(*text, std::filesystem::absolute(file));
    if (!part) return tl::unexpected(part.error());
    merge_kubeconfig(config, *part);
    ++found;
  }
  if (found == 0) {
    return fail(ErrorKind::not_found,
                "kubeconfig " + names + ": no such file; allowed: --kubeconfig FILE, KUBECONFIG, ~/.kube/config or a pod");
  }
  return choose_context(config, context, names);
}

}  // namespace

Result<std::string> read_small_file(const std::filesystem::path& file, const std::string& what) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    return fail(ErrorKind::not_found, what + ": found " + file.string() + ", which does not exist; allowed: a file that can be read");
  }
  if (!std::filesystem::is_regular_file(status)) {
    return fail(ErrorKind::invalid, what + ": found " + file.string() + ", which is no regular file; allowed: a file that can be read");
  }
  if (std::filesystem::file_size(file, error) > file_bytes_max) {
    return fail(ErrorKind::invalid, what + ": found " + file.string() + " with more than 16 MiB; allowed: at most 16 MiB");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    return fail(ErrorKind::io,
                what + ": " + file.string() + " cannot be read: " + std::strerror(errno) + "; allowed: a file that can be read");
  }
  return std::move(text).str();
}

Result<Connection> in_cluster_connection(const std::string& host, const std::string& port, const std::filesystem::path& folder) {
  const std::string what = "in-cluster configuration: ";
  if (host.empty() || port.empty()) {
    return fail(ErrorKind::not_found,
                what + "found no KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT in the environment; allowed: both");
  }
  auto authority = read_small_file(folder / "ca.crt", what + "certificate authority");
  if (!authority) return tl::unexpected(authority.error());
  // Read once to fail early; the client reads it again whenever it changes.
  const auto token = read_small_file(folder / "token", what + "service account token");
  if (!token) return tl::unexpected(token.error());
  const auto namespace_ = read_small_file(folder / "namespace", what + "namespace");

  Connection connection;
  connection.description = "the service account in " + folder.string();
  const bool is_ipv6 = host.find(':') != std::string::npos;
  connection.server = "https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
  if (namespace_ && !namespace_->empty()) connection.namespace_ = namespace_->substr(0, namespace_->find_last_not_of(" \r\n") + 1);
  connection.authority_pem = *std::move(authority);
  connection.authority_file = folder / "ca.crt";
  connection.user.description = connection.description;
  connection.user.token_file = folder / "token";
  return connection;
}

Result<Connection> find_connection(const ConnectionChoice& choice) {
  if (!choice.kubeconfig.empty()) return read_files({choice.kubeconfig}, choice.context, false);
  if (const std::string list = environment("KUBECONFIG"); !list.empty()) return read_files(split_paths(list), choice.context, true);
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  if (!host.empty() && choice.context.empty()) return in_cluster_connection(host, environment("KUBERNETES_SERVICE_PORT"));
  // Without a home the path would be relative to the folder where we were started. Whoever may write there would say with which commands we
  // prove who we are.
  const std::filesystem::path home = environment("HOME");
  if (!home.is_absolute()) {
    return fail(ErrorKind::not_found, "kubeconfig: found HOME \"" + home.string() +
                                          "\", which is no absolute path; allowed: --kubeconfig FILE, KUBECONFIG, ~/.kube/config or a pod");
  }
  return read_files({home / ".kube" / "config"}, choice.context, true);
}

}  // namespace hindsight::connectors::kubernetes
