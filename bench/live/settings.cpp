#include "bench/live/settings.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace hindsight::bench {
namespace {

constexpr const char* allowed =
    "--input baseline|large-scale, --scale S and --in-flight N (above 0); or, in place of --input, --scale and --serial-owner: --jobs N "
    "(above 0), with it --slots S (above 0), with --slots either --runs SECONDS (above 0) or --waiting, and --one-by-one M (above 0), "
    "with --jobs or alone; --hindsight FILE, --keep FOLDER, --definitions FOLDER, --run ARGUMENT (of 'hindsight run'; again for each), "
    "--serial-owner, --no-bare, --bare-only, --check";

tl::unexpected<Error> refuse(const std::string& found) {
  return fail(ErrorKind::invalid, "found " + found + "; allowed: " + std::string(allowed));
}

/// A whole number above 0.
bool read_count(const std::string& text, std::size_t& into) {
  char* end = nullptr;
  into = std::strtoul(text.c_str(), &end, 10);
  return *end == '\0' && text.front() != '-' && into > 0;
}

bool read_number(const std::string& text, double& into) {
  char* end = nullptr;
  into = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(into) && into > 0;
}

/// `value` is not empty. False: the option is not known, or not with this value.
bool take(Settings& out, std::string_view option, const std::string& value) {
  if (option == "--input") {
    out.input = value;
    return value == "baseline" || value == "large-scale";
  }
  if (option == "--scale") return read_number(value, out.scale);
  if (option == "--in-flight") return read_count(value, out.in_flight);
  if (option == "--jobs") return read_count(value, out.jobs.count);
  if (option == "--slots") return read_count(value, out.jobs.slots);
  if (option == "--one-by-one") return read_count(value, out.jobs.one_by_one);
  if (option == "--runs") {
    double seconds = 0;
    if (!read_number(value, seconds) || seconds > 3600) return false;
    out.jobs.runs = std::chrono::milliseconds(std::lround(seconds * 1000));
    return true;
  }
  if (option == "--run") {
    out.more.push_back(value);
    return true;
  }
  std::string* text = option == "--hindsight"     ? &out.program
                      : option == "--keep"        ? &out.keep
                      : option == "--definitions" ? &out.definitions
                                                  : nullptr;
  if (text != nullptr) *text = value;
  return text != nullptr;
}

}  // namespace

Result<Settings> read_options(int argc, char** argv) {
  Settings out;
  bool of_workloads = false, has_runs = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option.starts_with("--benchmark_")) continue;  // ./dev bench may pass these to every benchmark.
    bool* flag = option == "--no-bare"        ? &out.with_bare
                 : option == "--bare-only"    ? &out.with_load
                 : option == "--check"        ? &out.check
                 : option == "--serial-owner" ? &out.serial_owner
                 : option == "--waiting"      ? &out.jobs.waiting
                                              : nullptr;
    of_workloads = of_workloads || option == "--input" || option == "--scale" || option == "--serial-owner";
    has_runs = has_runs || option == "--runs";
    if (flag != nullptr) {
      *flag = flag != &out.with_bare && flag != &out.with_load;
      continue;
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    if (value.empty() || !take(out, option, value)) return refuse(std::string(option) + " " + value);
  }
  if (out.jobs.any() && of_workloads) return refuse("--jobs or --one-by-one beside --input, --scale or --serial-owner");
  if (out.jobs.slots > 0 && out.jobs.count == 0) return refuse("--slots without --jobs");
  if (out.jobs.waiting && out.jobs.slots == 0) return refuse("--waiting without --slots");
  if (!out.with_load && (out.jobs.slots > 0 || out.jobs.one_by_one > 0)) return refuse("--bare-only beside --slots or --one-by-one");
  if (has_runs && out.jobs.slots == 0) return refuse("--runs without --slots");
  if (has_runs && out.jobs.waiting) return refuse("--runs beside --waiting");
  return out;
}

}  // namespace hindsight::bench
