#pragma once

#include <string>
#include <vector>

#include "connectors/kubernetes/auth/connection.hpp"

namespace hindsight::connectors::kubernetes::bench {

/// A request that writes: where and what.
struct BareWrite {
  std::string path;
  std::string body;
  bool creates = false;  ///< POST; else a merge patch.
};

/// Sends writes as fast as plain libcurl can: one HTTP/2 connection, `in_flight` transfers at a time, handles reused, nothing read from the
/// answers but their status. Returns how many got status 200 or 201.
class BareLoop {
 public:
  BareLoop(const Connection& connection, std::size_t in_flight);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  std::size_t send(const std::vector<BareWrite>& writes);

 private:
  struct State;
  State* state_;
};

}  // namespace hindsight::connectors::kubernetes::bench
