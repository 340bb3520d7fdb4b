#include "runtime/story.hpp"

namespace hindsight::runtime {
namespace {

std::string name_of(const WorkloadRef& w) { return std::string(w.namespace_) + "/" + std::string(w.name); }

std::string text(Text t) { return std::string(t); }

struct Teller {
  std::vector<std::string>& out;

  void say(const std::string& who, const std::string& what) const { out.push_back(who + "  " + what); }

  void operator()(const WorkloadRequested& e) const {
    say(text(e.job.namespace_) + "/" + text(e.name), "queued in " + text(e.queue_name) + " for " + text(e.job.kind) + " " +
                                                         text(e.job.name) + ", priority " + std::to_string(e.priority));
  }
  void operator()(const QuotaReserved& e) const {
    std::string flavors;
    for (const auto& a : e.assignments)
      for (const auto& f : a.flavors) {
        const std::string one = text(f.resource) + ": " + text(f.flavor);
        if (flavors.find(one) == std::string::npos) flavors += (flavors.empty() ? "" : ", ") + one;
      }
    say(name_of(e.workload), "quota reserved in " + text(e.cluster_queue) + " (" + flavors + ")" +
                                 (e.borrowing_level > 0 ? ", borrowing" : "") + (e.admitted ? ", admitted" : ", waits for its checks"));
  }
  void operator()(const EntryRequeued& e) const {
    if (!e.write_status) return;
    say(name_of(e.workload), "waits: " + text(e.reason) + ": " + text(e.message) +
                                 (e.bulk_parked > 0 ? " (and " + std::to_string(e.bulk_parked) + " like it)" : ""));
  }
  void operator()(const WorkloadPreempted& e) const {
    say(name_of(e.workload), "preempted for " + name_of(e.preemptor) + " (" + text(e.reason) + ")");
  }
  void operator()(const WorkloadEvicted& e) const {
    say(name_of(e.workload), "evicted: " + text(e.reason) + (e.cause.empty() ? "" : " due to " + text(e.cause)) + ": " + text(e.message));
  }
  void operator()(const ReservationCleared& e) const { say(name_of(e.workload), "quota released"); }
  void operator()(const WorkloadAdmitted& e) const { say(name_of(e.workload), "admitted"); }
  void operator()(const WorkloadFinished& e) const { say(name_of(e.workload), "finished: " + text(e.reason)); }
  void operator()(const WorkloadDeactivated& e) const { say(name_of(e.workload), "deactivated"); }
  void operator()(const WorkloadRemoved& e) const { say(name_of(e.workload), "removed: " + text(e.message)); }
  template <class E>
  void operator()(const E&) const {}
};

}  // namespace

std::vector<std::string> story_of(const RecordView& record) {
  std::vector<std::string> out;
  if (const auto* d = std::get_if<Decisions>(&record.body))
    for (const auto& e : d->events) std::visit(Teller{out}, e);
  return out;
}

}  // namespace hindsight::runtime
