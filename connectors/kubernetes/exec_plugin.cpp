#include "connectors/kubernetes/exec_plugin.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "connectors/kubernetes/base64.hpp"
#include "connectors/kubernetes/text_of.hpp"

extern char** environ;

namespace hindsight::connectors::kubernetes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t output_bytes_max = std::size_t{1} << 20U;

std::string exec_info(const Connection& connection, const ExecSettings& exec) {
  nlohmann::json info = {{"apiVersion", exec.api_version}, {"kind", "ExecCredential"}, {"spec", {{"interactive", false}}}};
  if (exec.provide_cluster_info) {
    nlohmann::json cluster = {{"server", connection.server}};
    if (!connection.authority_pem.empty()) cluster["certificate-authority-data"] = encode_base64(connection.authority_pem);
    if (connection.insecure_skip_tls_verify) cluster["insecure-skip-tls-verify"] = true;
    if (!connection.tls_server_name.empty()) cluster["tls-server-name"] = connection.tls_server_name;
    if (!connection.proxy_url.empty()) cluster["proxy-url"] = connection.proxy_url;
    info["spec"]["cluster"] = std::move(cluster);
  }
  return info.dump();
}

/// Our environment with the command's additions, as execve takes it.
std::vector<std::string> environment_of(const Connection& connection, const ExecSettings& exec) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& [name, value] : exec.environment) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = exec_info(connection, exec);
  std::vector<std::string> out;
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// A running command with the reading end of its standard output. Killed and waited for at the end of its life.
class Child {
 public:
  Child(pid_t pid, int output) : pid_(pid), output_(output) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::close(output_);
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  /// All it prints until it closes its output; an error text when it takes too long or prints too much.
  tl::expected<std::string, std::string> read(Clock::time_point end, const std::stop_token& stop) const {
    std::string text;
    std::array<char, 8192> buffer{};
    for (;;) {
      if (stop.stop_requested()) return tl::unexpected<std::string>("we are stopping");
      if (Clock::now() >= end) return tl::unexpected<std::string>("it took too long");
      pollfd ready{output_, POLLIN, 0};
      if (::poll(&ready, 1, 50) <= 0) continue;  // Short waits, to see a stop.
      const ssize_t got = ::read(output_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
      if (text.size() > output_bytes_max) return tl::unexpected<std::string>("it printed more than 1 MiB");
    }
  }

  /// Its wait status; nothing when it does not end in time.
  std::optional<int> wait(Clock::time_point end, const std::stop_token& stop) {
    for (;;) {
      int status = 0;
      const pid_t got = ::waitpid(pid_, &status, WNOHANG);
      if (got == pid_ || (got < 0 && errno != EINTR)) {
        pid_ = 0;
        return status;
      }
      if (Clock::now() > end || stop.stop_requested()) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  pid_t pid_;
  int output_;
};

tl::expected<std::unique_ptr<Child>, std::string> spawn(const Connection& connection, const ExecSettings& exec) {
  std::vector<std::string> words{exec.command};
  words.insert(words.end(), exec.arguments.begin(), exec.arguments.end());
  std::vector<std::string> variables = environment_of(connection, exec);

  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return tl::unexpected<std::string>(std::strerror(errno));
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, pipe[1], STDOUT_FILENO);
  posix_spawnattr_t attributes{};
  posix_spawnattr_init(&attributes);
  // A group of its own, so that what the command starts is killed with it.
  posix_spawnattr_setpgroup(&attributes, 0);
  // And signals as every program expects them: our threads block some.
  sigset_t none{};
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, exec.command.c_str(), &files, &attributes, pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  ::close(pipe[1]);
  if (error != 0) {
    ::close(pipe[0]);
    return tl::unexpected<std::string>(std::strerror(error));
  }
  return std::make_unique<Child>(pid, pipe[0]);
}

}  // namespace

Result<ExecCredential> parse_exec_credential(std::string_view text, const std::string& api_version, const std::string& what) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return fail(ErrorKind::invalid, what + ": printed no JSON object, allowed: an ExecCredential");
  if (text_of(json, "kind") != "ExecCredential") {
    return fail(ErrorKind::invalid, what + ": kind: found \"" + text_of(json, "kind") + "\", allowed: ExecCredential");
  }
  if (text_of(json, "apiVersion") != api_version) {
    return fail(ErrorKind::invalid, what + ": apiVersion: found \"" + text_of(json, "apiVersion") + "\", allowed: " + api_version);
  }
  const auto status = json.find("status");
  if (status == json.end() || !status->is_object())
    return fail(ErrorKind::invalid, what + ": status: found nothing, allowed: a status with credentials");
  ExecCredential out;
  out.token = text_of(*status, "token");
  out.client_certificate_pem = text_of(*status, "clientCertificateData");
  out.client_key_pem = text_of(*status, "clientKeyData");
  if (out.client_certificate_pem.empty() != out.client_key_pem.empty()) {
    return fail(ErrorKind::invalid, what + ": status: found one of clientCertificateData and clientKeyData, allowed: both or neither");
  }
  if (out.token.empty() && out.client_certificate_pem.empty()) {
    return fail(ErrorKind::invalid, what + ": status: found no credential, allowed: token, or clientCertificateData with clientKeyData");
  }
  if (const std::string expires = text_of(*status, "expirationTimestamp"); !expires.empty()) {
    const auto time = parse_rfc3339(expires);
    if (!time) return fail(ErrorKind::invalid, what + ": status.expirationTimestamp: " + time.error().message);
    out.expires = *time;
  }
  return out;
}

Result<ExecCredential> run_exec_plugin(const Connection& connection, std::chrono::milliseconds time_limit, const std::stop_token& stop) {
  const ExecSettings& exec = *connection.user.exec;
  const std::string what = connection.user.description + ": exec command " + exec.command;
  const std::string hint = exec.install_hint.empty() ? "" : "\n" + exec.install_hint;
  const auto end = Clock::now() + time_limit;
  auto child = spawn(connection, exec);
  if (!child) return fail(ErrorKind::denied, what + " cannot be started: " + child.error() + hint);
  const auto text = (*child)->read(end, stop);
  if (!text) return fail(ErrorKind::denied, what + " gave no credentials: " + text.error());
  const auto status = (*child)->wait(end, stop);
  if (!status) return fail(ErrorKind::denied, what + " gave no credentials: it did not end");
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
    const std::string how =
        WIFEXITED(*status) ? "exit status " + std::to_string(WEXITSTATUS(*status)) : "signal " + std::to_string(WTERMSIG(*status));
    return fail(ErrorKind::denied, what + " gave no credentials: " + how + ", allowed: 0" + hint);
  }
  return parse_exec_credential(*text, exec.api_version, what);
}

}  // namespace hindsight::connectors::kubernetes
