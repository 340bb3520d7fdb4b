#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

extern char** environ;

namespace hindsight::test {
namespace {

std::vector<std::string> environment_of(const ProgramOptions& options) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry(*e);
    const std::string name = entry.substr(0, entry.find('='));
    if (name != "HINDSIGHT_LOG" && name != "KUBECONFIG" && options.environment.count(name) == 0) out.push_back(entry);
  }
  for (const auto& [name, value] : options.environment) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  // Everything that needs memory comes before the fork: this process has threads.
  std::vector<std::string> words{HINDSIGHT_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_of(options);
  const auto argv = pointers(words);
  const auto envp = pointers(variables);
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    // What this process was given by its own maker would count against limits.
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
    for (const int number : options.closed) close(number);
    if (options.file_size_max) {
      const rlimit limit{*options.file_size_max, *options.file_size_max};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (options.descriptors_max) {
      const rlimit limit{*options.descriptors_max, *options.descriptors_max};
      setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (const auto& [resource, value] : options.limits) {
      rlimit limit{};
      getrlimit(static_cast<__rlimit_resource>(resource), &limit);
      limit.rlim_cur = value;
      setrlimit(static_cast<__rlimit_resource>(resource), &limit);
    }
    if (options.user && (setgid(*options.user) != 0 || setuid(*options.user) != 0)) _exit(126);
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(127);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  out_reader_ = std::thread([this, d = out[0]] { collect(d, out_); });
  err_reader_ = std::thread([this, d = err[0]] { collect(d, err_); });
}

Program::~Program() {
  if (!status_) {
    signal(SIGKILL);
    (void)wait();
  }
}

void Program::signal(int number) const {
  if (!status_) kill(pid_, number);
}

void Program::collect(int descriptor, std::string& into) {
  std::array<char, 8192> buffer{};
  for (;;) {
    const auto n = read(descriptor, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    const std::lock_guard lock(mutex_);
    if (n <= 0) {
      --open_;
      close(descriptor);
      changed_.notify_all();
      return;
    }
    into.append(buffer.data(), static_cast<std::size_t>(n));
    changed_.notify_all();
  }
}

bool Program::wait_for(const std::string& part, std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  const auto found = [&] { return out_.find(part) != std::string::npos || err_.find(part) != std::string::npos; };
  changed_.wait_for(lock, limit, [&] { return found() || open_ == 0; });
  return found();
}

std::string Program::said() const {
  const std::lock_guard lock(mutex_);
  return out_ + err_;
}

Outcome Program::wait(std::chrono::seconds limit) {
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [&] { return open_ == 0; })) kill(pid_, SIGKILL);
  }
  if (!status_) {
    int raw = 0;
    while (waitpid(pid_, &raw, 0) < 0 && errno == EINTR) {}
    status_ = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
    out_reader_.join();
    err_reader_.join();
  }
  return {*status_, out_, err_};
}

Outcome hindsight(const std::vector<std::string>& arguments, const ProgramOptions& options) { return Program(arguments, options).wait(); }

}  // namespace hindsight::test
