#include "runtime/space_report.hpp"

#include "vocabulary/amount.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {
namespace {

/// An empty log and what a transaction needs; less would be full before it began.
constexpr Amount limit_min = Amount{1} << 20;
/// A disk that answers is faster, however busy it is.
constexpr std::chrono::seconds disk_patience{10};

}  // namespace

operations::HealthCondition space_condition(const events::LogSpace& space) {
  if (space.full()) return {"disk", false, "full: " + space.text() + "; nothing is decided until there is room"};
  return {"disk", true, (space.nearly_full() ? "nearly full: " : "") + space.text()};
}

// ---- looking --------------------------------------------------------------------------------------------------------------------------

SpaceWatch::SpaceWatch(Look look, std::chrono::milliseconds pause, Now now) : look_(std::move(look)), pause_(pause), now_(std::move(now)) {
  look_once();
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

SpaceWatch::~SpaceWatch() {
  thread_.request_stop();
  thread_.join();
}

void SpaceWatch::watch(const std::stop_token& stop) {
  name_this_thread("space");
  for (std::unique_lock lock(mutex_); !never_.wait_for(lock, stop, pause_, [&] { return stop.stop_requested(); });) {
    lock.unlock();
    look_once();
    lock.lock();
  }
}

void SpaceWatch::look_once() {
  {
    const std::lock_guard lock(mutex_);
    looks_since_ = now_();
  }
  auto space = look_();
  const std::lock_guard lock(mutex_);
  looks_since_.reset();
  latest_ = space ? *space : std::nullopt;
}

std::optional<events::LogSpace> SpaceWatch::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::optional<operations::HealthCondition> SpaceWatch::condition() const {
  const std::lock_guard lock(mutex_);
  if (!latest_) return std::nullopt;
  auto out = space_condition(*latest_);
  const auto waits = looks_since_ ? now_() - *looks_since_ : std::chrono::steady_clock::duration::zero();
  if (waits < disk_patience) return out;
  out.ok = false;
  out.detail =
      "no answer for " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waits).count()) + " s; before that " + out.detail;
  return out;
}

// ---- telling --------------------------------------------------------------------------------------------------------------------------

void add_space_metrics(MetricsText& out, const events::LogSpace& space) {
  out.add("hindsight_log_used_bytes", space.used);
  out.add("hindsight_log_files_bytes", space.files);
  if (space.limit != 0) out.add("hindsight_log_limit_bytes", space.limit);
  if (space.disk != 0) out.add("hindsight_log_disk_free_bytes", space.disk_free);
  out.add("hindsight_log_full", space.full() ? 1 : 0);
}

Result<std::uint64_t> parse_log_limit(const std::string& text) {
  if (text.empty()) return 0;
  const auto bytes = parse_quantity(text, "memory");
  if (!bytes || *bytes < limit_min)
    return fail(ErrorKind::invalid, "--log-limit: found \"" + text + "\"; allowed: a quantity of at least 1Mi, as 8Gi");
  return static_cast<std::uint64_t>(*bytes);
}

}  // namespace hindsight::runtime
