#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kubernetes/auth/connection.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::kubernetes {

/// One kubeconfig file as it stands: nothing that it names has been read yet.
struct Kubeconfig {
  struct Cluster {
    std::string file;  ///< Where it stands.
    std::string server;
    std::string authority_data;            ///< PEM, decoded.
    std::filesystem::path authority_file;  ///< Absolute.
    bool insecure_skip_tls_verify = false;
    std::string tls_server_name;
    std::string proxy_url;
  };
  struct Context {
    std::string file;
    std::string cluster;
    std::string user;
    std::string namespace_;
  };

  std::string current_context;
  std::map<std::string, Cluster> clusters;
  std::map<std::string, Context> contexts;
  std::map<std::string, AuthSource> users;
};

/// Reads the text of `file` (YAML or JSON). Relative paths in it are taken from the folder of `file`. Fields that we do not
/// know are left alone, except those that would change who we are.
[[nodiscard]] Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::filesystem::path& file);

/// Adds what `other` has and `config` has not: of several files the first that names a thing wins.
void merge_kubeconfig(Kubeconfig& config, const Kubeconfig& other);

/// The connection of a context (empty: current-context). Reads the certificate authority's file. `files` is for messages.
[[nodiscard]] Result<Connection> choose_context(const Kubeconfig& config, const std::string& context, const std::string& files);

}  // namespace hindsight::connectors::kubernetes
