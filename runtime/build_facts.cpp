#include "runtime/build_facts.hpp"

#include "runtime/release.hpp"

namespace hindsight::runtime {
namespace {

#if defined(__x86_64__)
constexpr const char* platform = "linux/amd64";
#elif defined(__aarch64__)
constexpr const char* platform = "linux/arm64";
#else
constexpr const char* platform = "linux/unknown";
#endif

}  // namespace

std::map<std::string, std::string> build_facts() {
  return {{"git_version", release},
          {"git_commit", HINDSIGHT_COMMIT},
          {"build_date", HINDSIGHT_COMMIT_DATE},  // of the commit, so that equal sources give equal binaries
          {"go_version", "none"},                 // the label stands for those who join on it: there is no Go in this
          {"compiler", "g++ " __VERSION__},
          {"platform", platform}};
}

}  // namespace hindsight::runtime
