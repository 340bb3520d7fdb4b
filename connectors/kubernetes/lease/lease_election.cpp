#include "connectors/kubernetes/lease/lease_election.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "connectors/kubernetes/text_of.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using nlohmann::json;

std::int64_t whole_seconds(Duration duration) { return (duration.micros + 999'999) / 1'000'000; }

Duration plus(Duration a, Duration b) { return {a.micros + b.micros}; }

std::int64_t number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

Result<LeaseSettings> checked(LeaseSettings settings) {
  const std::string what = "leaderElection: ";
  if (settings.identity.empty()) return fail(ErrorKind::invalid, what + "identity: found nothing, allowed: a name that no other copy has");
  if (settings.name.empty()) return fail(ErrorKind::invalid, what + "resourceName: found nothing, allowed: the name of a Lease");
  if (settings.namespace_.empty()) return fail(ErrorKind::invalid, what + "resourceNamespace: found nothing, allowed: a namespace");
  if (settings.retry_period.micros <= 0) return fail(ErrorKind::invalid, what + "retryPeriod: found 0 or less, allowed: more than 0");
  if (settings.renew_deadline <= settings.retry_period) {
    return fail(ErrorKind::invalid, what + "renewDeadline: found no more than retryPeriod, allowed: more than retryPeriod");
  }
  if (settings.lease_duration <= settings.renew_deadline) {
    return fail(ErrorKind::invalid, what + "leaseDuration: found no more than renewDeadline, allowed: more than renewDeadline");
  }
  return settings;
}

bool LeaseElection::leads(Duration monotonic) const { return renewed_at_ && monotonic < plus(*renewed_at_, settings_.renew_deadline); }

bool LeaseElection::is_free(Duration monotonic) const { return holder_.empty() || plus(observed_at_, their_duration_) <= monotonic; }

std::optional<LeaseElection::Request> LeaseElection::next(Duration monotonic, Time wall) {
  if (renewed_at_ && !leads(monotonic)) {
    renewed_at_.reset();  // Nobody may rely on us any more, even if the lease still carries our name.
    known_ = false;
  }
  if (awaiting_ || monotonic < due_) return std::nullopt;
  awaiting_ = true;
  sent_at_ = monotonic;
  if (!known_) return Request{Request::Verb::get, {}};
  return change(wall);
}

LeaseElection::Request LeaseElection::change(Time wall) const {
  const std::string now = format_rfc3339_micro(wall);
  json body = {{"spec",
                {{"holderIdentity", settings_.identity},
                 {"leaseDurationSeconds", whole_seconds(settings_.lease_duration)},
                 {"renewTime", now},
                 {"acquireTime", is_ours() && !acquire_time_.empty() ? acquire_time_ : now},
                 {"leaseTransitions", transitions_ + (exists_ && !is_ours() ? 1 : 0)}}}};
  if (exists_) {
    body["metadata"] = {{"resourceVersion", resource_version_}};
    return {Request::Verb::merge_patch, body.dump()};
  }
  body["apiVersion"] = "coordination.k8s.io/v1";
  body["kind"] = "Lease";
  body["metadata"] = {{"name", settings_.name}, {"namespace", settings_.namespace_}};
  return {Request::Verb::create, body.dump()};
}

void LeaseElection::answer(Duration monotonic, int http_status, std::string_view body, int retry_after_seconds) {
  awaiting_ = false;
  const bool was_change = known_;
  if (http_status == 200 || http_status == 201) {
    take_lease(monotonic, body);
    if (was_change) {
      renewed_at_ = sent_at_;  // When it was sent: others count from a later moment.
      due_ = plus(sent_at_, settings_.retry_period);
      return;
    }
    if (!is_ours()) renewed_at_.reset();
    known_ = is_ours() || is_free(monotonic);
    due_ = known_ ? monotonic : plus(monotonic, settings_.retry_period);
    return;
  }
  if (http_status == 404 && !was_change) {
    known_ = true;
    exists_ = false;
    holder_.clear();
    transitions_ = 0;
    due_ = monotonic;
    return;
  }
  // Somebody was faster, or there was no useful answer: look again. A leader in doubt looks at once.
  known_ = false;
  const bool in_doubt = renewed_at_ && (http_status == 409 || http_status == 404);
  // An answer that stayed away has cost more than the retry period already.
  const Duration asked{std::min(Duration::seconds(retry_after_seconds).micros, settings_.renew_deadline.micros / 2)};
  due_ = in_doubt ? monotonic : std::max(plus(monotonic, asked), plus(sent_at_, settings_.retry_period));
}

void LeaseElection::take_lease(Duration monotonic, std::string_view body) {
  const json lease = json::parse(body, nullptr, false);
  const json metadata = lease.is_object() && lease.contains("metadata") ? lease["metadata"] : json::object();
  const json spec = lease.is_object() && lease.contains("spec") ? lease["spec"] : json::object();
  exists_ = true;
  resource_version_ = text_of(metadata, "resourceVersion");
  holder_ = text_of(spec, "holderIdentity");
  acquire_time_ = text_of(spec, "acquireTime");
  transitions_ = number_of(spec, "leaseTransitions");
  const std::int64_t seconds =
      std::min<std::int64_t>(number_of(spec, "leaseDurationSeconds"), 1'000'000'000);  // What the API allows, about.
  their_duration_ = seconds > 0 ? Duration::seconds(seconds) : settings_.lease_duration;
  std::string observed = holder_ + "\n" + text_of(spec, "renewTime");
  if (observed != observed_) {
    observed_ = std::move(observed);
    observed_at_ = monotonic;
  }
}

std::optional<LeaseElection::Request> LeaseElection::release(Time wall) {
  renewed_at_.reset();
  if (!exists_ || !is_ours()) return std::nullopt;
  const std::string now = format_rfc3339_micro(wall);
  const json body = {{"metadata", {{"resourceVersion", resource_version_}}},
                     {"spec", {{"holderIdentity", ""}, {"leaseDurationSeconds", 1}, {"renewTime", now}, {"acquireTime", now}}}};
  known_ = false;
  return Request{Request::Verb::merge_patch, body.dump()};
}

}  // namespace hindsight::connectors::kubernetes
