#include "connectors/kubernetes/auth/kubeconfig.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <set>

#include "connectors/kubernetes/auth/base64.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// A place in the file and what went wrong there. Inside this file errors travel as exceptions, because every one of the
/// dozens of field reads may fail; parse_kubeconfig turns them into a Result.
struct FieldError {
  std::string path;
  std::string message;
};

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

/// A YAML map with the path that leads to it.
class Section {
 public:
  Section(const YAML::Node& node, std::string path) : node_(node), path_(std::move(path)) {
    if (!node_.IsMap()) throw FieldError{path_, "found " + describe(node_) + ", allowed: a map"};
  }

  [[nodiscard]] YAML::Node get(const char* key) const {
    const YAML::Node& reading = node_;  // operator[] of a non-const node would add the key.
    return reading[key];
  }
  [[nodiscard]] std::string path(const char* key) const { return path_ + "." + key; }
  [[nodiscard]] bool has(const char* key) const {
    const YAML::Node value = get(key);
    return value.IsDefined() && !value.IsNull();
  }

  [[nodiscard]] std::string text(const char* key) const {
    if (!has(key)) return {};
    const YAML::Node value = get(key);
    if (!value.IsScalar()) throw FieldError{path(key), "found " + describe(value) + ", allowed: a string"};
    return value.Scalar();
  }

  [[nodiscard]] bool boolean(const char* key) const {
    const std::string found = text(key);
    if (found.empty() || found == "false") return false;
    if (found == "true") return true;
    throw FieldError{path(key), "found " + in_quotes(found) + ", allowed: true, false"};
  }

  [[nodiscard]] std::string base64(const char* key) const {
    auto decoded = decode_base64(text(key));
    if (!decoded) throw FieldError{path(key), "found text that is not base64, allowed: base64 of a PEM block"};
    return *std::move(decoded);
  }

  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for_each(key, [&](const YAML::Node& item, const std::string& at) {
      if (!item.IsScalar()) throw FieldError{at, "found " + describe(item) + ", allowed: a string"};
      out.push_back(item.Scalar());
    });
    return out;
  }

  void for_each(const char* key, const std::function<void(const YAML::Node&, const std::string&)>& visit) const {
    if (!has(key)) return;
    const YAML::Node list = get(key);
    if (!list.IsSequence()) throw FieldError{path(key), "found " + describe(list) + ", allowed: a list"};
    for (std::size_t i = 0; i < list.size(); ++i) visit(list[i], path(key) + "[" + std::to_string(i) + "]");
  }

  /// The value of a list of {name: N, <inner>: {...}}; the path names the element by its name.
  void for_each_named(const char* key, const char* inner, const std::function<void(const std::string&, const Section&)>& visit) const {
    for_each(key, [&](const YAML::Node& item, const std::string& at) {
      const Section element(item, at);
      const std::string name = element.text("name");
      if (name.empty()) throw FieldError{element.path("name"), "found nothing, allowed: a name"};
      const std::string place = std::string(key) + "[" + in_quotes(name) + "]." + inner;
      // kubectl writes `user: null` and `context: {}` for entries without content.
      visit(name, Section(element.has(inner) ? element.get(inner) : YAML::Node(YAML::NodeType::Map), place));
    });
  }

 private:
  static std::string describe(const YAML::Node& node) {
    switch (node.Type()) {
      case YAML::NodeType::Null:
        return "null";
      case YAML::NodeType::Scalar:
        return "a scalar";
      case YAML::NodeType::Sequence:
        return "a list";
      case YAML::NodeType::Map:
        return "a map";
      case YAML::NodeType::Undefined:
        break;
    }
    return "nothing";
  }

  YAML::Node node_;
  std::string path_;
};

std::filesystem::path resolve(const std::string& path, const std::filesystem::path& folder) {
  if (path.empty()) return {};
  return (folder / path).lexically_normal();
}

Kubeconfig::Cluster read_cluster(const Section& from, const std::filesystem::path& file) {
  Kubeconfig::Cluster cluster;
  cluster.file = file.string();
  cluster.server = from.text("server");
  while (cluster.server.ends_with('/')) cluster.server.pop_back();
  if (!cluster.server.starts_with("https://") && !cluster.server.starts_with("http://")) {
    throw FieldError{from.path("server"), "found " + in_quotes(cluster.server) + ", allowed: an https:// or http:// address"};
  }
  cluster.authority_data = from.base64("certificate-authority-data");
  cluster.authority_file = resolve(from.text("certificate-authority"), file.parent_path());
  cluster.insecure_skip_tls_verify = from.boolean("insecure-skip-tls-verify");
  cluster.tls_server_name = from.text("tls-server-name");
  cluster.proxy_url = from.text("proxy-url");
  static constexpr std::string_view proxy_schemes[] = {"http://", "https://", "socks5://"};
  if (!cluster.proxy_url.empty() && std::none_of(std::begin(proxy_schemes), std::end(proxy_schemes),
                                                 [&](std::string_view scheme) { return cluster.proxy_url.starts_with(scheme); })) {
    throw FieldError{from.path("proxy-url"),
                     "found " + in_quotes(cluster.proxy_url) + ", allowed: http://, https:// or socks5:// addresses"};
  }
  if (cluster.insecure_skip_tls_verify && (!cluster.authority_data.empty() || !cluster.authority_file.empty())) {
    throw FieldError{from.path("insecure-skip-tls-verify"), "found true beside a certificate authority, allowed: one of the two"};
  }
  return cluster;
}

ExecSettings read_exec(const Section& from, const std::filesystem::path& folder) {
  ExecSettings exec;
  exec.command = from.text("command");
  if (exec.command.empty()) throw FieldError{from.path("command"), "found nothing, allowed: a command"};
  if (exec.command.find('/') != std::string::npos) exec.command = resolve(exec.command, folder).string();
  exec.arguments = from.texts("args");
  from.for_each("env", [&](const YAML::Node& item, const std::string& at) {
    const Section variable(item, at);
    exec.environment.emplace_back(variable.text("name"), variable.text("value"));
    const std::string& name = exec.environment.back().first;
    if (name.empty() || name.find('=') != std::string::npos) {
      throw FieldError{variable.path("name"), "found " + in_quotes(name) + ", allowed: a name without ="};
    }
  });
  exec.api_version = from.text("apiVersion");
  if (exec.api_version != "client.authentication.k8s.io/v1" && exec.api_version != "client.authentication.k8s.io/v1beta1") {
    throw FieldError{from.path("apiVersion"), "found " + in_quotes(exec.api_version) +
                                                  ", allowed: client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1"};
  }
  const std::string mode = from.text("interactiveMode");
  if (mode == "Always") {
    throw FieldError{from.path("interactiveMode"), "found \"Always\", allowed: Never, IfAvailable (a control plane has no terminal)"};
  }
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable") {
    throw FieldError{from.path("interactiveMode"), "found " + in_quotes(mode) + ", allowed: Never, IfAvailable"};
  }
  exec.install_hint = from.text("installHint");
  exec.provide_cluster_info = from.boolean("provideClusterInfo");
  return exec;
}

AuthSource read_user(const std::string& name, const Section& from, const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  AuthSource user;
  user.description = "user " + in_quotes(name) + " of " + file.string();
  // These would silently change who we are, and we cannot do them.
  for (const char* field : {"auth-provider", "as-user-extra"}) {
    if (from.has(field))
      throw FieldError{from.path(field), "is not supported, allowed: exec, token, tokenFile, client-certificate, username"};
  }
  user.client_certificate_pem = from.base64("client-certificate-data");
  user.client_key_pem = from.base64("client-key-data");
  user.client_certificate_file = resolve(from.text("client-certificate"), folder);
  user.client_key_file = resolve(from.text("client-key"), folder);
  const bool has_certificate = !user.client_certificate_pem.empty() || !user.client_certificate_file.empty();
  const bool has_key = !user.client_key_pem.empty() || !user.client_key_file.empty();
  if (has_certificate != has_key) {
    throw FieldError{from.path(has_certificate ? "client-key" : "client-certificate"),
                     "found nothing, allowed: both client-certificate and client-key (or their -data), or neither"};
  }
  user.token = from.text("token");
  user.token_file = resolve(from.text("tokenFile"), folder);
  user.username = from.text("username");
  user.password = from.text("password");
  const bool has_token = !user.token.empty() || !user.token_file.empty();
  if (has_token && !user.username.empty()) {
    throw FieldError{from.path("username"), "found beside a token, allowed: one of the two"};
  }
  if (from.has("exec")) {
    if (has_token || !user.username.empty()) throw FieldError{from.path("exec"), "found beside a token or username, allowed: one of them"};
    user.exec = read_exec(Section(from.get("exec"), from.path("exec")), folder);
  }
  user.impersonate_user = from.text("as");
  user.impersonate_uid = from.text("as-uid");
  user.impersonate_groups = from.texts("as-groups");
  if (user.impersonate_user.empty() && (!user.impersonate_uid.empty() || !user.impersonate_groups.empty())) {
    throw FieldError{from.path("as"), "found nothing beside as-uid or as-groups, allowed: the name of a user"};
  }
  return user;
}

Kubeconfig read_root(const YAML::Node& root, const std::filesystem::path& file) {
  Kubeconfig config;
  if (root.IsNull()) return config;  // An empty file is legal: kubectl starts with one.
  const Section from(root, file.string());
  const std::string kind = from.text("kind");
  if (!kind.empty() && kind != "Config") throw FieldError{"kind", "found " + in_quotes(kind) + ", allowed: Config"};
  config.current_context = from.text("current-context");
  // emplace keeps the first of two equal names.
  from.for_each_named("clusters", "cluster",
                      [&](const std::string& name, const Section& section) { config.clusters.emplace(name, read_cluster(section, file)); });
  from.for_each_named("users", "user",
                      [&](const std::string& name, const Section& section) { config.users.emplace(name, read_user(name, section, file)); });
  from.for_each_named("contexts", "context", [&](const std::string& name, const Section& section) {
    config.contexts.emplace(name,
                            Kubeconfig::Context{file.string(), section.text("cluster"), section.text("user"), section.text("namespace")});
  });
  return config;
}

template <class Map>
std::string names_of(const Map& map) {
  std::string out;
  for (const auto& [name, unused] : map) out += (out.empty() ? "" : ", ") + in_quotes(name);
  return out.empty() ? "none is defined" : out;
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::filesystem::path& file) {
  try {
    return read_root(YAML::Load(std::string(text)), file);
  } catch (const FieldError& error) {
    const std::string prefix = error.path.starts_with(file.string()) ? "" : file.string() + ": ";
    return fail(ErrorKind::invalid, "kubeconfig " + prefix + error.path + ": " + error.message);
  } catch (const YAML::Exception& error) {
    const std::string line = error.mark.is_null() ? "" : ":" + std::to_string(error.mark.line + 1);
    return fail(ErrorKind::invalid, "kubeconfig " + file.string() + line + ": is not YAML: " + error.msg);
  }
}

void merge_kubeconfig(Kubeconfig& config, const Kubeconfig& other) {
  if (config.current_context.empty()) config.current_context = other.current_context;
  config.clusters.insert(other.clusters.begin(), other.clusters.end());
  config.contexts.insert(other.contexts.begin(), other.contexts.end());
  config.users.insert(other.users.begin(), other.users.end());
}

Result<Connection> choose_context(const Kubeconfig& config, const std::string& context, const std::string& files) {
  const std::string& name = context.empty() ? config.current_context : context;
  const std::string allowed_contexts = "; allowed: " + names_of(config.contexts);
  if (name.empty()) {
    return fail(ErrorKind::invalid,
                "kubeconfig " + files + ": current-context: found nothing and no --context was given" + allowed_contexts);
  }
  const auto chosen = config.contexts.find(name);
  if (chosen == config.contexts.end()) {
    const std::string where = context.empty() ? "current-context" : "--context";
    return fail(ErrorKind::not_found,
                "kubeconfig " + files + ": " + where + ": found " + in_quotes(name) + ", no such context" + allowed_contexts);
  }
  const Kubeconfig::Context& settings = chosen->second;
  const std::string where = "kubeconfig " + settings.file + ": contexts[" + in_quotes(name) + "].context.";
  const auto cluster = config.clusters.find(settings.cluster);
  if (cluster == config.clusters.end()) {
    return fail(ErrorKind::not_found, where + "cluster: found " + in_quotes(settings.cluster) + ", allowed: " + names_of(config.clusters));
  }
  const auto user = config.users.find(settings.user);
  if (user == config.users.end()) {
    return fail(ErrorKind::not_found, where + "user: found " + in_quotes(settings.user) + ", allowed: " + names_of(config.users));
  }

  Connection connection;
  connection.description = "context " + in_quotes(name) + " of " + settings.file;
  connection.server = cluster->second.server;
  if (!settings.namespace_.empty()) connection.namespace_ = settings.namespace_;
  connection.authority_pem = cluster->second.authority_data;
  if (connection.authority_pem.empty() && !cluster->second.authority_file.empty()) {
    auto pem = read_small_file(cluster->second.authority_file, "kubeconfig " + cluster->second.file + ": clusters[" +
                                                                   in_quotes(settings.cluster) + "].cluster.certificate-authority");
    if (!pem) return tl::unexpected(pem.error());
    connection.authority_pem = *std::move(pem);
    connection.authority_file = cluster->second.authority_file;
  }
  connection.insecure_skip_tls_verify = cluster->second.insecure_skip_tls_verify;
  connection.tls_server_name = cluster->second.tls_server_name;
  connection.proxy_url = cluster->second.proxy_url;
  connection.user = user->second;
  return connection;
}

}  // namespace hindsight::connectors::kubernetes
