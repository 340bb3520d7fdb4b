#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admission/model/intents.hpp"
#include "tests/explorer/api_server.hpp"
#include "tests/explorer/random.hpp"

namespace hindsight::explorer {

/// A model of the applier: holds the newest intent for each object and makes the API server follow it some time later. A write needs
/// that the watcher has been told of the newest version (its precondition); a lost write is tried again.
class Applier {
 public:
  void take(std::vector<admission::Intent> intents);
  [[nodiscard]] bool idle() const { return waiting_.empty(); }
  /// Jobs, by uid, that are being started: the write may reach the server any time now.
  [[nodiscard]] std::vector<std::string> being_started() const {
    std::vector<std::string> out;
    for (const auto& [uid, start] : starts_) out.push_back(uid);
    return out;
  }
  /// For messages: what waits.
  [[nodiscard]] std::string waiting() const {
    std::string out;
    for (const auto& [key, intent] : waiting_) out += " " + key;
    return out;
  }
  /// Tries one of the waiting intents.
  void step(ApiServer& server, Random& random, bool faults);
  /// The write for this Workload was refused for good.
  void refused(const std::string& workload_uid) { waiting_.erase("workload/" + workload_uid); }
  /// A restart: whatever was not written is forgotten.
  void forget() {
    waiting_.clear();
    starts_.clear();
  }
  /// Options that could not be made since the last call, because somebody else's Workload has the name (8691 CA-6).
  [[nodiscard]] std::vector<admission::OptionCreateIntent> take_refusals() { return std::exchange(refusals_, {}); }
  /// What was wanted of this object is another domain's matter now.
  void forget(const std::string& uid) {
    for (const char* kind : {"workload/", "create/", "revise/", "job/", "pod/"}) waiting_.erase(kind + uid);
    starts_.erase(uid);
  }

 private:
  [[nodiscard]] static std::string key_of(const admission::Intent& intent);
  static bool write(ApiServer& server, const admission::WorkloadIntent& i);
  static bool write(ApiServer& server, const admission::WorkloadCreateIntent& i);
  static bool write(ApiServer& server, const admission::WorkloadReviseIntent& i);
  static bool write(ApiServer& server, const admission::JobIntent& i);
  bool write(ApiServer& server, const admission::OptionCreateIntent& i);
  // Nobody reads these back here: no object of the model shows a queue's status, waits with its end for a finalizer, or is prebuilt.
  static bool write(ApiServer&, const admission::QueueStatusIntent&) { return true; }
  static bool write(ApiServer&, const admission::FinalizerIntent&) { return true; }
  static bool write(ApiServer&, const admission::QuarantineIntent&) { return true; }
  static bool write(ApiServer&, const admission::WorkloadAdoptIntent&) { return true; }
  static bool write(ApiServer&, const admission::PodReleaseIntent&) { return true; }
  static bool write(ApiServer&, const admission::PodFailIntent&) { return true; }

  std::map<std::string, admission::Intent> waiting_;  ///< By object and kind of intent.
  std::vector<admission::OptionCreateIntent> refusals_;
  /// Starts on their way, by uid of the job, with the version that they need.
  std::map<std::string, std::pair<admission::JobIntent, std::uint64_t>> starts_;
};

}  // namespace hindsight::explorer
