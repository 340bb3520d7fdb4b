#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/session.hpp"

namespace hindsight::cli {

/// Takes back what stands in the last line of the terminal.
inline constexpr std::string_view clear_line = "\r\x1b[K";

/// A bar on standard error while something takes long: only on a terminal, only after a moment, gone when it is done.
///
///     ProgressBar bar(session, "folding");
///     past.go_to(..., bar.callback());
class ProgressBar {
 public:
  ProgressBar(const Session& session, std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::uint64_t done, std::uint64_t total);
  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> callback() {
    return [this](std::uint64_t done, std::uint64_t total) { show(done, total); };
  }
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  const Session& session_;
  std::string what_;
  Clock::time_point start_;
  Clock::time_point shown_at_;
  bool visible_ = false;
};

/// Seconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hindsight::cli
