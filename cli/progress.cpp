#include "cli/progress.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/output.hpp"

namespace hindsight::cli {
namespace {

constexpr auto quiet_time = std::chrono::milliseconds(300);
constexpr auto frame_time = std::chrono::milliseconds(100);
constexpr std::size_t bar_width = 30;

}  // namespace

ProgressBar::ProgressBar(const Session& session, std::string what) : session_(session), what_(std::move(what)), start_(Clock::now()) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::show(std::uint64_t done, std::uint64_t total) {
  if (!session_.err_is_terminal || total == 0) return;
  const auto now = Clock::now();
  if (now - start_ < quiet_time || now - shown_at_ < frame_time) return;
  shown_at_ = now;
  visible_ = true;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto full = static_cast<std::size_t>(part * static_cast<double>(bar_width));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(done) / seconds);
  session_.err << clear_line << what_ << " [" << std::string(full, '=') << std::string(bar_width - full, ' ') << "] "
               << static_cast<int>(part * 100) << "% of " << with_commas(total) << ", " << with_commas(rate) << "/s" << std::flush;
}

void ProgressBar::clear() {
  if (visible_) session_.err << clear_line << std::flush;
  visible_ = false;
}

}  // namespace hindsight::cli
