#include "bench/live/server_usage.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hindsight::bench {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

double cpu_seconds_of(const fs::path& process) {
  const std::string stat = text_of(process / "stat");
  if (stat.find(") ") == std::string::npos) return 0;
  std::istringstream fields(stat.substr(stat.rfind(") ") + 2));  // of proc(5), from the third on; the 14th and 15th are meant
  std::string passed_over;
  for (int i = 3; i < 14; ++i) fields >> passed_over;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double megabytes_max_of(const fs::path& process) {
  std::ifstream in(process / "status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

}  // namespace

ServerUsage server_usage(const std::string& program, const std::string& folder) {
  const std::string name = "/" + fs::path(folder).filename().string() + "/";
  ServerUsage out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::string comm;
    if (!std::getline(std::ifstream(entry.path() / "comm"), comm) || comm != program) continue;
    if (text_of(entry.path() / "cmdline").find(name) == std::string::npos) continue;
    out.cpu_seconds += cpu_seconds_of(entry.path());
    out.megabytes_max += megabytes_max_of(entry.path());
  }
  return out;
}

}  // namespace hindsight::bench
