#include "tests/support/cluster_fixture.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace hindsight::testing {
namespace {

namespace fs = std::filesystem;

/// Tests run in the root of the repository (see hindsight_test), so this is the entry point that people use.
constexpr const char* dev = "./dev";
constexpr std::string_view folder_prefix = "cluster-of-";

std::string shell_quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Runs a shell command; true for exit status 0. Both of its outputs go to `output`.
bool run(const std::string& line, std::string& output) {
  FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return false;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

fs::path parent_folder() {
  const char* build = std::getenv("HINDSIGHT_BUILD_DIR");
  return fs::absolute(fs::path(build != nullptr ? build : "build") / "test-clusters");
}

/// Stops the clusters of test processes that have been killed.
void sweep(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(folder_prefix)) continue;
    const std::string digits = name.substr(folder_prefix.size(), name.find('-', folder_prefix.size()) - folder_prefix.size());
    int pid = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), pid).ec != std::errc{} || ::kill(pid, 0) == 0) continue;
    std::string output;
    if (run(std::string(dev) + " cluster down --dir " + shell_quoted(entry.path().string()), output)) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

LocalCluster::LocalCluster(const Options& options) {
  const fs::path parent = parent_folder();
  fs::create_directories(parent);
  sweep(parent);
  static int number = 0;
  folder_ = (parent / (std::string(folder_prefix) + std::to_string(::getpid()) + "-" + std::to_string(++number))).string();
  std::vector<std::string> words = {"up"};
  if (options.with_nodes) {
    words.insert(words.end(), {"--nodes", std::to_string(options.nodes)});
  } else {
    words.insert(words.end(), {"--no-kwok", "--no-scheduler", "--no-controller-manager"});
  }
  words.insert(words.end(), options.more.begin(), options.more.end());
  std::string output;
  if (!command(words, &output)) failure_ = "./dev cluster up failed:\n" + output;
}

LocalCluster::~LocalCluster() {
  std::string output;
  if (command({"down"}, &output)) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  } else {
    std::fprintf(stderr, "./dev cluster down --dir %s failed:\n%s\n", folder_.c_str(), output.c_str());
  }
}

bool LocalCluster::command(const std::vector<std::string>& words, std::string* output) {
  std::string line = std::string(dev) + " cluster " + words.front() + " --dir " + shell_quoted(folder_);
  for (std::size_t i = 1; i < words.size(); ++i) line += " " + shell_quoted(words[i]);
  std::string text;
  const bool done = run(line, text);
  if (!done) std::fprintf(stderr, "%s: %s\n", line.c_str(), text.c_str());
  if (output != nullptr) *output = text;
  return done;
}

bool LocalCluster::kubectl(const std::vector<std::string>& words, std::string* output) {
  std::vector<std::string> all = {"kubectl", "--"};
  all.insert(all.end(), words.begin(), words.end());
  return command(all, output);
}

}  // namespace hindsight::testing
