#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vocabulary/result.hpp"

namespace hindsight::connectors::kubernetes {

/// A command that yields credentials (client.authentication.k8s.io).
struct ExecSettings {
  std::string command;  ///< With a slash: a path, made absolute against the kubeconfig's folder. Else looked up in PATH.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< Added to our own.
  std::string api_version;                                       ///< "client.authentication.k8s.io/v1" or ".../v1beta1".
  std::string install_hint;
  bool provide_cluster_info = false;
};

/// How a user proves who it is. Files are named, not read: their content may change while we run.
struct AuthSource {
  std::string description;  ///< For messages: `user "admin" of /home/me/.kube/config`.
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::filesystem::path client_certificate_file;  ///< Used when the text above is empty.
  std::filesystem::path client_key_file;
  std::string token;
  std::filesystem::path token_file;  ///< Goes before `token`, as in client-go.
  std::string username;
  std::string password;
  std::optional<ExecSettings> exec;
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
};

/// Where an API server is and how to talk to it.
struct Connection {
  std::string description;  ///< For messages: `context "prod" of /home/me/.kube/config`.
  std::string server;       ///< "https://10.0.0.1:6443", no slash at the end.
  std::string namespace_ = "default";
  std::string authority_pem;             ///< Certificate authorities; empty: those of the system.
  std::filesystem::path authority_file;  ///< Where they were read from, and are read again when it changes. Empty: nowhere.
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;  ///< Name expected in the server's certificate; empty: the host of `server`.
  std::string proxy_url;        ///< Empty: HTTPS_PROXY and NO_PROXY of the environment decide.
  AuthSource user;
};

/// What the command line says about the connection.
struct ConnectionChoice {
  std::string kubeconfig;  ///< --kubeconfig: one file.
  std::string context;     ///< --context.
};

/// The connection that kubectl would use: --kubeconfig, else the files of KUBECONFIG, else the service account when inside a
/// cluster, else ~/.kube/config. Errors name file, context, field, what was found and what is allowed.
[[nodiscard]] Result<Connection> find_connection(const ConnectionChoice& choice);

/// The folder in which Kubernetes mounts a pod's service account.
inline constexpr const char* service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The connection of a pod: host and port from the environment (KUBERNETES_SERVICE_HOST, _PORT), `token` (re-read when it
/// changes), `ca.crt` and `namespace` from `folder`.
[[nodiscard]] Result<Connection> in_cluster_connection(const std::string& host, const std::string& port,
                                                       const std::filesystem::path& folder = service_account_folder);

/// Reads a small file (kubeconfig, certificate, token) whole. `what` says in the error what the file is for.
[[nodiscard]] Result<std::string> read_small_file(const std::filesystem::path& file, const std::string& what);

}  // namespace hindsight::connectors::kubernetes
