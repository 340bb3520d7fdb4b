#include "bench/live/controller_process.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

namespace hindsight::bench {

namespace {

constexpr auto ready_wait_max = std::chrono::seconds(120);
constexpr auto stop_wait_max = std::chrono::seconds(60);

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::size_t append(char* data, std::size_t /*one*/, std::size_t size, void* text) {
  static_cast<std::string*>(text)->append(data, size);
  return size;
}

/// The body of a 200 answer; empty: none came.
std::string get(std::uint16_t port, const std::string& path) {
  std::string body;
  long status = 0;
  CURL* easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, ("http://127.0.0.1:" + std::to_string(port) + path).c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 10L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  const bool done = curl_easy_perform(easy) == CURLE_OK;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_cleanup(easy);
  return done && status == 200 ? body : std::string();
}

/// The port of "HTTP listens address=127.0.0.1:PORT"; 0: not said yet.
std::uint16_t port_in(const std::string& said) {
  const auto line = said.find("HTTP listens");
  if (line == std::string::npos) return 0;
  constexpr std::string_view host = "127.0.0.1:";
  const auto at = said.find(host, line);
  if (at == std::string::npos) return 0;
  std::uint16_t port = 0;
  std::from_chars(said.data() + at + host.size(), said.data() + said.size(), port);
  return port;
}

/// The number after "KEY:" in /proc/PID/status.
double status_number(pid_t pid, const std::string& key) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1));
  return 0;
}

}  // namespace

Result<std::unique_ptr<ControllerProcess>> ControllerProcess::start(const std::string& program, const std::string& kubeconfig,
                                                                    const std::string& folder, const std::vector<std::string>& more) {
  std::unique_ptr<ControllerProcess> process(new ControllerProcess);
  process->output_ = folder + "/hindsight.out";
  const std::string log = "sqlite:" + folder + "/hindsight.db";
  std::vector<std::string> words{program, "run", "--kubeconfig", kubeconfig, "--log", log, "--no-lease"};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  process->pid_ = ::fork();
  if (process->pid_ == 0) {
    const int out = ::open(process->output_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + ready_wait_max;
  while (std::chrono::steady_clock::now() < deadline && ::waitpid(process->pid_, nullptr, WNOHANG) == 0) {
    process->port_ = port_in(text_of(process->output_));
    if (process->port_ != 0 && process->wait_until_ready()) return process;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const std::string said = text_of(process->output_);
  return tl::unexpected(Error{ErrorKind::unavailable, program + " was not ready within " + std::to_string(ready_wait_max.count()) +
                                                          " s; it said: " + said.substr(said.size() > 2000 ? said.size() - 2000 : 0)});
}

bool ControllerProcess::wait_until_ready() const { return !get(port_, "/readyz").empty(); }

ControllerProcess::~ControllerProcess() { (void)stop(); }

Result<std::uint64_t> ControllerProcess::metric(const std::string& name) const {
  std::istringstream body(get(port_, "/metrics"));
  for (std::string line; std::getline(body, line);)
    if (line.starts_with(name + " ")) return static_cast<std::uint64_t>(std::stod(line.substr(name.size() + 1)));
  return tl::unexpected(Error{ErrorKind::not_found, "/metrics: found no " + name});
}

double ControllerProcess::cpu_seconds() const {
  const std::string stat = text_of("/proc/" + std::to_string(pid_) + "/stat");
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string field;
  double ticks = 0;
  for (int i = 1; fields >> field; ++i)  // The state is the first after the name; user and system time are twelfth and thirteenth.
    if (i == 12 || i == 13) ticks += std::stod(field);
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double ControllerProcess::megabytes_max() const { return status_number(pid_, "VmHWM") / 1024; }

double ControllerProcess::megabytes_now() const { return status_number(pid_, "VmRSS") / 1024; }

bool ControllerProcess::stop() {
  if (pid_ == 0) return true;
  ::kill(pid_, SIGTERM);
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + stop_wait_max;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (ended == 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  pid_ = 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hindsight::bench
