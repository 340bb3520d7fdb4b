// A load on a real API server with Hindsight, and a bare loop of the same writes before and after it: one input of Kueue's performance
// test, or Jobs.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/live/job_run.hpp"
#include "bench/live/settings.hpp"
#include "bench/live/workload_run.hpp"

namespace hindsight::bench {
namespace {

int complain(const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

int run(const Settings& settings) {
  std::string folder = settings.keep;
  if (folder.empty()) {
    folder = (std::filesystem::temp_directory_path() / "hindsight-live-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return complain({ErrorKind::io, folder + " cannot be made"});
  } else {
    std::filesystem::create_directories(folder);
  }
  const auto sound = settings.jobs.any() ? run_jobs(settings, folder) : run_workloads(settings, folder);
  if (!sound) return complain(sound.error());
  if (settings.keep.empty()) std::filesystem::remove_all(folder);
  return *sound ? 0 : 1;
}

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  const auto settings = hindsight::bench::read_options(argc, argv);
  if (!settings) {
    std::fprintf(stderr, "error: %s\n", settings.error().message.c_str());
    return 2;
  }
  return hindsight::bench::run(*settings);
}
