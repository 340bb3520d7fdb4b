#include "runtime/certificate_keeper.hpp"

#include <algorithm>
#include <chrono>

#include "operations/logging.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {
namespace {

using operations::LogLevel;
using std::chrono::milliseconds;

constexpr milliseconds pause_after_failure{1000};
/// What goes on failing in the same way is tried less often: it may be an API server that has too much to do.
constexpr milliseconds longest_pause_after_failure{10'000};
constexpr milliseconds longest_pause{30'000};
/// An API server hears of changed configurations by a watch.
constexpr milliseconds spreading{2000};

}  // namespace

CertificateKeeper::CertificateKeeper(CertificateKeeperOptions options) : options_(std::move(options)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
}

CertificateKeeper::~CertificateKeeper() { stop(); }

void CertificateKeeper::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

operations::HealthCondition CertificateKeeper::condition() const {
  const std::lock_guard lock(mutex_);
  return {options_.what, good_, detail_};
}

Time CertificateKeeper::until() const {
  const std::lock_guard lock(mutex_);
  return until_;
}

void CertificateKeeper::keep(const std::stop_token& stop) {
  name_this_thread("certificates");
  std::string failure;
  milliseconds failure_pause{0};
  while (!stop.stop_requested()) {
    const auto outcome = look_after_all(stop);
    tell(outcome);
    const bool same = !outcome && outcome.error().message == failure;
    failure = outcome ? std::string() : outcome.error().message;
    failure_pause = same ? std::min(failure_pause * 2, longest_pause_after_failure) : pause_after_failure;
    // Often enough to see a certificate age, whatever its life.
    const milliseconds life(options_.wish.lifetime.micros / 1000);
    const milliseconds pause = outcome ? std::clamp(life / 20, pause_after_failure, longest_pause) : failure_pause;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
  }
}

Result<operations::SelfSigned> CertificateKeeper::present_certificates() {
  auto stored = options_.store->load();
  if (!stored) return stored;
  if (!options_.makes_certificates) {
    if (stored->serving.certificate.empty() || stored->serving.key.empty())
      return fail(ErrorKind::not_found, options_.folder + ": found no tls.crt and tls.key; allowed: both, PEM");
    return stored;
  }
  // What was thrown away is made anew, but what others still show is believed a while longer.
  if (stored->authorities.empty()) stored->authorities = shown_.authorities;
  auto fresh = operations::keep_fresh(*stored, options_.wish, options_.now());
  if (!fresh || *fresh == *stored) return fresh;
  if (auto saved = options_.store->save(*fresh); !saved) return tl::unexpected(saved.error());
  operations::log(LogLevel::info, "made certificates",
                  {{"for", options_.what}, {"until", format_rfc3339(operations::read_certificate(fresh->serving.certificate)->not_after)}});
  return fresh;
}

/// One round: certificates, whom to trust, what to show.
Result<void> CertificateKeeper::look_after_all(const std::stop_token& stop) {
  auto certificates = present_certificates();
  if (!certificates) return tl::unexpected(certificates.error());
  const auto show = [&] {
    auto shown = options_.identity->use(certificates->serving.certificate, certificates->serving.key);
    if (shown) {
      const auto facts = operations::read_certificate(certificates->serving.certificate);
      const std::lock_guard lock(mutex_);
      until_ = facts ? facts->not_after : Time::never();
    }
    return shown;
  };
  const bool first = shown_.serving.certificate.empty();
  if (first)
    if (auto shown = show(); !shown) return shown;
  if (auto done = options_.spread(certificates->authorities); !done) {
    // An old certificate serves nobody any more: the new one cannot be worse.
    const auto facts = operations::read_certificate(shown_.serving.certificate);
    if (!facts || facts->not_after <= options_.now()) (void)show();
    return done;
  }
  const bool new_trust = std::exchange(spread_, certificates->authorities) != certificates->authorities;
  if (!first && !(shown_ == *certificates)) {
    if (new_trust) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, spreading, [] { return false; });
    }
    if (auto shown = show(); !shown) return shown;
    operations::log(LogLevel::info, options_.what + ": a new certificate is shown");
  }
  shown_ = std::move(*certificates);
  return {};
}

/// Says what changed, once.
void CertificateKeeper::tell(const Result<void>& outcome) {
  std::string detail;
  if (outcome)
    detail = "registered, certificate until " +
             format_rfc3339(operations::read_certificate(shown_.serving.certificate).value_or(operations::CertificateFacts{}).not_after);
  else
    detail = outcome.error().message;
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    news = good_ != outcome.has_value() || (!outcome && detail_ != detail);
    good_ = outcome.has_value();
    detail_ = detail;
  }
  if (!news) return;
  if (outcome)
    operations::log(LogLevel::info, options_.registered);
  else
    operations::log(LogLevel::warning, options_.what + ": " + detail);
}

}  // namespace hindsight::runtime
