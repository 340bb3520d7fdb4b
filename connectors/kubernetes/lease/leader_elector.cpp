#include "connectors/kubernetes/lease/leader_elector.hpp"

#include <ctime>
#include <utility>

#include "connectors/kubernetes/api_path.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// Part of the retry period after which we look at the clock again, to stand down in time when answers stay away.
constexpr std::int64_t looks_per_period = 8;

/// A Lease has a few hundred bytes, and whatever its writers have put into its annotations.
constexpr std::size_t lease_bytes_max = std::size_t{1} << 20U;

/// Goes on while the machine sleeps, in which time others may have taken the lease. std::chrono::steady_clock stands still then.
Duration monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return {static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000};
}

Time wall_now() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

std::chrono::milliseconds milliseconds(Duration duration) { return std::chrono::milliseconds(duration.micros / 1000); }

}  // namespace

LeaderElector::LeaderElector(HttpClient& http, LeaseSettings settings, std::function<void(bool)> on_change, OnNotice on_notice)
    : http_(http), election_(std::move(settings)), on_change_(std::move(on_change)), on_notice_(std::move(on_notice)) {}

void LeaderElector::tick() {
  timer_ = 0;
  if (resigned_) return;
  if (const auto request = election_.next(monotonic_now(), wall_now())) {
    send(*request, [this, verb = request->verb](const HttpAnswer& answer) {
      note_refusal(verb, answer);
      election_.answer(monotonic_now(), answer.status, answer.body, answer.retry_after_seconds);
      tell();
      http_.loop().cancel(timer_);
      tick();
    });
  }
  tell();
  if (resigned_) return;  // By on_change.
  const auto look = milliseconds(Duration{election_.settings().retry_period.micros / looks_per_period});
  const auto until_due = milliseconds(Duration{election_.due().micros - monotonic_now().micros});
  // While an answer is awaited the due time lies in the past.
  const auto delay = until_due.count() > 0 ? std::min(until_due, look) : look;
  timer_ = http_.loop().after(std::max(delay, std::chrono::milliseconds(1)), [this] { tick(); });
}

void LeaderElector::send(const LeaseElection::Request& request, HttpClient::OnAnswer on_answer) {
  const LeaseSettings& settings = election_.settings();
  HttpRequest out;
  out.lane = HttpRequest::Lane::urgent;
  out.time_limit = milliseconds(Duration{settings.renew_deadline.micros / 2});
  out.body_bytes_max = lease_bytes_max;
  out.path = object_path(lease_type, settings.namespace_, settings.name);
  switch (request.verb) {
    case LeaseElection::Request::Verb::get:
      break;
    case LeaseElection::Request::Verb::create:
      out.method = HttpRequest::Method::post;
      out.content = HttpRequest::Content::json;
      out.path = collection_path(lease_type, settings.namespace_);
      break;
    case LeaseElection::Request::Verb::merge_patch:
      out.method = HttpRequest::Method::patch;
      out.content = HttpRequest::Content::merge_patch;
      break;
  }
  if (!request.body.empty()) out.body = std::make_shared<const std::string>(request.body);
  request_ = http_.send(std::move(out), std::move(on_answer));
}

void LeaderElector::note_refusal(LeaseElection::Request::Verb verb, const HttpAnswer& answer) {
  using Verb = LeaseElection::Request::Verb;
  const bool absent = answer.status == 404 && verb == Verb::get;  // it is made next
  if (answer.status < 300 || answer.status >= 500) {
    refused_ = refused_ && (answer.status < 200 || answer.status >= 300);
    return;
  }
  if (absent || answer.status == 401 || answer.status == 409 || answer.status == 429) return;  // told elsewhere, or everyday
  if (answer.status == 404 && verb == Verb::create && !made_namespace_) {
    make_namespace();
    return;
  }
  if (std::exchange(refused_, true) || !on_notice_) return;
  const LeaseSettings& settings = election_.settings();
  on_notice_(
      {Notice::Kind::lease_refused, nullptr,
       "the lease " + settings.namespace_ + "/" + settings.name + " cannot be had: found status " + std::to_string(answer.status) +
           (answer.status == 404 ? " (its namespace does not exist)" : "") +
           "; nothing is done until it can. Allowed: --lease-namespace with a namespace where leases may be written, or --no-lease"});
}

/// A cluster on which nothing was installed has no such namespace.
void LeaderElector::make_namespace() {
  made_namespace_ = true;
  HttpRequest out;
  out.lane = HttpRequest::Lane::urgent;
  out.method = HttpRequest::Method::post;
  out.content = HttpRequest::Content::json;
  out.path = "/api/v1/namespaces";
  out.body = std::make_shared<const std::string>(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" +
                                                 election_.settings().namespace_ + R"("}})");
  (void)http_.send(std::move(out), [](const HttpAnswer&) {});  // the next try of the lease shows whether there is one now
}

bool LeaderElector::may_act() const { return leads_ && !resigned_ && election_.leads(monotonic_now()); }

void LeaderElector::tell() {
  const bool now = !resigned_ && election_.leads(monotonic_now());
  if (std::exchange(leads_, now) != now) on_change_(now);
}

void LeaderElector::resign(const std::function<void()>& done) {
  stop();
  release(2, done);
}

void LeaderElector::stop() {
  resigned_ = true;
  http_.cancel(request_);
  http_.loop().cancel(timer_);
  tell();
}

void LeaderElector::release(int tries_left, const std::function<void()>& done) {
  const auto request = election_.release(wall_now());
  if (!request || tries_left == 0) {
    done();
    return;
  }
  send(*request, [this, tries_left, done](const HttpAnswer& answer) {
    if (answer.status != 409) {
      done();
      return;
    }
    // A renewal was on its way when we stopped; what it wrote is still ours to release.
    send({LeaseElection::Request::Verb::get, {}}, [this, tries_left, done](const HttpAnswer& lease) {
      if (lease.status != 200) {
        done();
        return;
      }
      election_.answer(monotonic_now(), lease.status, lease.body);
      release(tries_left - 1, done);
    });
  });
}

}  // namespace hindsight::connectors::kubernetes
