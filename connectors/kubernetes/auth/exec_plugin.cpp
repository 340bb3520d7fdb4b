#include "connectors/kubernetes/auth/exec_plugin.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/kubernetes/text_of.hpp"
#include "vocabulary/printable.hpp"

extern char** environ;

namespace hindsight::connectors::kubernetes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t output_bytes_max = std::size_t{1} << 20U;
constexpr std::size_t error_bytes_max = std::size_t{16} << 10U;

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

/// A running command with the reading ends of its outputs. At the end of its life it is killed, with all that it started and that stayed in
/// its process group, and waited for.
class Child {
 public:
  Child(pid_t pid, int output, int errors) : pid_(pid), output_(output), errors_(errors) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    pass_on(said_.size());
    ::close(output_);
    ::close(errors_);
    // Before it is waited for: until then nobody else can have this number.
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }

  struct Ended {
    std::string output;
    int code = 0;
    bool by_signal = false;
  };
  /// Waits for its end, not for that of what it left behind. An error text when it takes too long or prints too much.
  tl::expected<Ended, std::string> wait(Clock::time_point end, const std::stop_token& stop) {
    Ended out;
    for (bool prints = true;;) {
      if (stop.stop_requested()) return tl::unexpected<std::string>("we are stopping");
      if (Clock::now() >= end) return tl::unexpected<std::string>(prints ? "it took too long" : "it did not end");
      // Looked at before its outputs are: what it printed before its end is then there.
      siginfo_t how{};
      const bool ended = ::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid == pid_;
      prints = take(out.output) && prints;
      if (out.output.size() > output_bytes_max) return tl::unexpected<std::string>("it printed more than 1 MiB");
      pass_on_errors();
      if (ended) {
        out.code = how.si_status;
        out.by_signal = how.si_code != CLD_EXITED;
        return out;
      }
      // Short waits: nobody tells us of its end or of a stop.
      std::array<pollfd, 2> ready{pollfd{prints ? output_ : -1, POLLIN, 0}, pollfd{complains_ ? errors_ : -1, POLLIN, 0}};
      (void)::poll(ready.data(), ready.size(), 10);
    }
  }

 private:
  /// Reads what there is; false when there will be no more.
  bool take(std::string& text) const {
    std::array<char, 8192> buffer{};
    while (text.size() <= output_bytes_max) {
      const ssize_t got = ::read(output_, buffer.data(), buffer.size());
      if (got == 0) return false;
      if (got < 0) return true;  // Nothing just now, or a signal.
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return true;
  }
  /// Its standard error becomes ours, as far as a person would read, and as a terminal may show it: what a plugin says can come from a
  /// server that it asked. Whole lines at a time, so that no character is met in halves.
  void pass_on_errors() {
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = ::read(errors_, buffer.data(), buffer.size())) > 0) {
      const std::size_t fresh = std::min(static_cast<std::size_t>(got), error_bytes_max - passed_on_);
      passed_on_ += fresh;
      said_.append(buffer.data(), fresh);
      if (const auto end = said_.rfind('\n'); end != std::string::npos) pass_on(end + 1);
      if (passed_on_ >= error_bytes_max) break;  // The rest is read, but in turns with all else.
    }
    if (got == 0) complains_ = false;
  }
  void pass_on(std::size_t bytes) {
    const std::string shown = printable_lines(std::string_view(said_).substr(0, bytes));
    said_.erase(0, bytes);
    if (!shown.empty()) [[maybe_unused]]
      const auto written = ::write(STDERR_FILENO, shown.data(), shown.size());
  }

  pid_t pid_;
  int output_;
  int errors_;
  bool complains_ = true;  ///< Its standard error is open.
  std::string said_;       ///< There, the line that has not ended.
  std::size_t passed_on_ = 0;
};

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

/// The end that we read does not block.
bool open_pipe(Pipe& out) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  out = {ends[0], ends[1]};
  return ::fcntl(out.read_end, F_SETFL, O_NONBLOCK) == 0;
}

void close_pipe(const Pipe& pipe) {
  if (pipe.read_end >= 0) ::close(pipe.read_end);
  if (pipe.write_end >= 0) ::close(pipe.write_end);
}

tl::expected<std::unique_ptr<Child>, std::string> spawn(const Connection& connection, const ExecSettings& exec) {
  std::vector<std::string> words{exec.command};
  words.insert(words.end(), exec.arguments.begin(), exec.arguments.end());
  std::vector<std::string> variables = environment_of(connection, exec);

  Pipe output;
  Pipe errors;
  if (!open_pipe(output) || !open_pipe(errors)) {
    const std::string why = std::strerror(errno);
    close_pipe(output);
    close_pipe(errors);
    return tl::unexpected(why);
  }
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors.write_end, STDERR_FILENO);
  // Whatever else is open in this process is none of its business.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
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
  if (error != 0) {
    close_pipe(output);
    close_pipe(errors);
    return tl::unexpected<std::string>(std::strerror(error));
  }
  ::close(output.write_end);
  ::close(errors.write_end);
  return std::make_unique<Child>(pid, output.read_end, errors.read_end);
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
  const std::string hint = exec.install_hint.empty() ? "" : "; " + exec.install_hint;
  const auto end = Clock::now() + time_limit;
  auto child = spawn(connection, exec);
  if (!child) return fail(ErrorKind::denied, what + " cannot be started: " + child.error() + hint);
  const auto ended = (*child)->wait(end, stop);
  if (!ended) return fail(ErrorKind::denied, what + " gave no credentials: " + ended.error());
  if (ended->by_signal || ended->code != 0) {
    const std::string how = (ended->by_signal ? "signal " : "exit status ") + std::to_string(ended->code);
    return fail(ErrorKind::denied, what + " gave no credentials: " + how + ", allowed: 0" + hint);
  }
  return parse_exec_credential(ended->output, exec.api_version, what);
}

}  // namespace hindsight::connectors::kubernetes
