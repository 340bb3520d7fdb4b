// Whose clock certificates go by: a machine that is a day off makes none that the API server finds not begun, or over.
#include "runtime/certificate_keeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "operations/self_signed.hpp"

namespace hindsight::runtime {
namespace {

constexpr Duration day = Duration::seconds(86'400);

Time machine_time() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

/// Shows what is saved in it.
class SeenStore final : public CertificateStore {
 public:
  explicit SeenStore(std::atomic<std::int64_t>& begin) : begin_(begin) {}
  Result<operations::SelfSigned> load() override { return kept_; }
  Result<void> save(const operations::SelfSigned& certificates) override {
    kept_ = certificates;
    begin_ = operations::read_certificate(certificates.serving.certificate)->not_before.micros;
    return {};
  }

 private:
  operations::SelfSigned kept_;
  std::atomic<std::int64_t>& begin_;
};

TEST(CertificateKeeper, GoesByTheClockThatCountsAndNotByTheMachines) {
  std::atomic<std::int64_t> begin = 0, now = (machine_time() - day).micros;
  CertificateKeeperOptions options;
  options.what = "webhooks";
  options.registered = "webhooks are registered";
  options.identity = std::make_shared<operations::TlsIdentity>(operations::TlsSettings{});
  options.store = std::make_unique<SeenStore>(begin);
  options.wish = server_wish("hindsight", "kueue-system", Duration::seconds(10 * 86'400));
  options.wish.lifetime = Duration::seconds(20);  // looked after every second
  options.spread = [](const std::string&) { return Result<void>(); };
  options.now = [&now] { return Time{now}; };
  const CertificateKeeper keeper(std::move(options));
  const auto begins_within_a_minute_of = [&](Time t) {
    for (int i = 0; i < 30'000; ++i) {
      if (begin >= (t - Duration::seconds(60)).micros && begin <= t.micros) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  };
  EXPECT_TRUE(begins_within_a_minute_of(Time{now}));
  // What the API server said meanwhile: the one that was made is not begun there, and is made anew.
  now = (machine_time() - Duration{2 * day.micros}).micros;
  EXPECT_TRUE(begins_within_a_minute_of(Time{now}));
}

}  // namespace
}  // namespace hindsight::runtime
