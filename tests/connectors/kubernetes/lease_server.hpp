#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "connectors/kubernetes/lease/lease_election.hpp"

namespace hindsight::connectors::kubernetes::testing {

inline Duration seconds(double n) { return {static_cast<std::int64_t>(n * 1e6)}; }
inline Duration operator+(Duration a, Duration b) { return {a.micros + b.micros}; }

/// The API server's part: one Lease with optimistic concurrency.
class LeaseServer {
 public:
  struct Answer {
    int status = 0;
    std::string body;
  };
  using Verb = LeaseElection::Request::Verb;
  Answer handle(const LeaseElection::Request& request) {
    if (request.verb == Verb::get) return exists_ ? Answer{200, lease_.dump()} : Answer{404, "{}"};
    const auto body = nlohmann::json::parse(request.body);
    if (request.verb == Verb::create) {
      if (exists_) return {409, "{}"};
      exists_ = true;
      lease_ = body;
    } else {
      if (!exists_) return {404, "{}"};
      if (body["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"]) return {409, "{}"};
      lease_.merge_patch(body);
    }
    lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
    return {request.verb == Verb::create ? 201 : 200, lease_.dump()};
  }
  void remove() { exists_ = false; }
  [[nodiscard]] const nlohmann::json& lease() const { return lease_; }
  [[nodiscard]] std::string holder() const { return exists_ ? lease_["spec"]["holderIdentity"].get<std::string>() : ""; }

 private:
  bool exists_ = false;
  nlohmann::json lease_;
  int version_ = 0;
};

inline LeaseSettings settings(const std::string& identity) {
  LeaseSettings out;
  out.namespace_ = "ns";
  out.name = "lease";
  out.identity = identity;
  return out;
}

}  // namespace hindsight::connectors::kubernetes::testing
