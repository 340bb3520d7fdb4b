#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "admission/model/intents.hpp"
#include "connectors/bridge/large_writes.hpp"
#include "connectors/bridge/message_pace.hpp"
#include "connectors/bridge/namespace_turns.hpp"
#include "connectors/bridge/node_usage.hpp"
#include "connectors/bridge/status_budget.hpp"
#include "connectors/cluster.hpp"
#include "connectors/jobs/job_integration.hpp"
#include "connectors/json/pod_defaults.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "events/record.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::connectors {

/// The newest known text of each object, as the mirror keeps it. As long as somebody holds a text, whoever looks up the same version of the
/// object gets the same pointer; afterwards perhaps another one to the same text. A bridge that remembers many objects remembers hashes.
class Mirror {
 public:
  using ObjectText = std::shared_ptr<const std::string>;
  virtual ~Mirror() = default;
  /// Null: not seen (or gone).
  [[nodiscard]] virtual ObjectText find(const ResourceType& type, std::string_view namespace_, std::string_view name) const = 0;
  [[nodiscard]] virtual ObjectText find_by_uid(std::string_view uid) const = 0;
  /// The answer to a write of ours, so that the next plan starts from it.
  virtual void offer(const ResourceType& type, std::string object) = 0;
};

struct BridgeOptions {
  PlanSettings plans;
  /// Kinds whose first list must be complete before MirrorSynced is said.
  std::vector<const ResourceType*> synced_kinds;
  /// Writes at the same time that only tell readers something: why a Workload waits, what a queue counts. On a calm server that is no
  /// limit; on a busy one such writes give way to those that let work go on, and of what changes faster than it can be told only the last
  /// is written.
  std::size_t reports_in_flight_max = 2;
  /// While other writes are under way, one of these goes after so many of those; and one after each call of `retry`.
  std::size_t writes_for_each_report = 16;
  /// Of large bodies that are under way; others wait without one (large_writes.hpp).
  std::size_t large_bodies_bytes_max = std::size_t{32} << 20;
  /// A write that changes nothing but the message that says why a Workload waits comes at least so long after the last write to its status;
  /// until then it is postponed, and of several messages the last is written (bridge_postponed.cpp). 0: each is written, as Kueue does.
  Duration message_interval;
  /// Where messages are postponed, the first status of a Workload that waits is, too, for so long after it was wanted: an admission that
  /// comes meanwhile is one write with it. Somebody who reads the status of one that waits does not notice.
  Duration opening_time = Duration::millis(100);
  /// The status of a queue is written now and then only where many change (status_budget.hpp); needs `now`.
  bool spares_queue_statuses = false;
  /// Tells the time, for `message_interval`; empty: nothing is postponed.
  std::function<Time()> now;
  /// Something that a person should know: an object that cannot be read, a write that was refused.
  std::function<void(const std::string&)> notice = [](const std::string&) {};
  /// No write is under way any more of an object that departed, and what these writes made was emitted.
  std::function<void()> departed = [] {};
  /// What pods use of nodes is told by `tell_usage` alone, and of every node once, so that a log learns what has gone; else with each pod.
  bool gathers_usage = false;
  /// Runs work on the bridge's thread behind all that waits there: for what is much, and is done in pieces. Empty: it is done at once.
  std::function<void(std::function<void()>)> later;
};

/// Does the intent leave alone whether the Workload is admitted, exists and may run? Then it tells readers why it waits.
[[nodiscard]] bool leaves_waiting(const admission::WorkloadIntent& intent);
/// The same of an intent and the Workload as it is: nothing but readers waits for what is to be written.
[[nodiscard]] bool only_tells(const admission::WorkloadIntent& intent, const Json& workload);

/// Carries facts in and wishes out. For every object at most one write is under way; after its answer the newest intents are compared
/// again with the newest text, until there is no difference (rule 5). A conflict waits for a version that the mirror did not have when
/// the write was made. What is refused, or taken without becoming what is wanted, is tried ever more rarely (bridge_refusals.cpp).
///
/// What cannot be read, or fails in any other way, concerns its own object only: that one is set aside (ObjectQuarantined), and nothing is
/// written to it that would start it, until it comes in a version that can be read.
class Bridge {
 public:
  /// Takes an observation; its views are valid during the call only.
  using Emit = std::function<void(const Observation&)>;

  Bridge(Cluster& cluster, Mirror& mirror, Emit emit, BridgeOptions options);
  ~Bridge();

  void on_watch(const WatchEvent& event);
  void want(std::vector<admission::Intent> intents);
  /// Of which release the API server is, for what is written from now on.
  void use(TemplateMutability mutability) { options_.plans.template_mutability = mutability; }
  /// What was wanted of this object so far is wanted no more: another domain has it now, and says what that one wants. A write that is
  /// under way is not followed by another; what it makes is emitted when it is answered, without waiting for the mirror.
  void forget(std::string_view uid);
  /// Such a write is under way: whoever has the object now cannot know yet what it is.
  [[nodiscard]] bool departing() const { return !departing_.empty(); }
  /// Tries again what waits after a conflict, a failure or a refusal, and tells how many writes the cluster does well with at a time, also
  /// where that has not changed (vocabulary/write_limit_news.hpp); called about once a second.
  void retry();
  /// Writes the messages that were postponed and may be written by now, or all of them, and statuses of queues for which it is time;
  /// `retry` does that too, without "all".
  void write_postponed(bool all = false);
  /// When the next of them may be written; never: none is postponed.
  [[nodiscard]] Time next_postponed() const { return postponed_.empty() ? Time::never() : postponed_.begin()->first; }
  /// Tells what pods use of nodes, as far as it has changed; to be called about every tenth of a second with `gathers_usage`.
  void tell_usage();
  /// There is something to tell.
  [[nodiscard]] bool usage_waits() const { return listed_ && usage_.waits(); }
  /// After how many calls of `retry` something that waits, after a refusal for instance, has its turn; 0: nothing waits for that.
  [[nodiscard]] std::uint32_t retries_until_next() const;
  /// Gives up what is wanted of objects that the mirror has not had at so many calls in a row; `retry` calls it, with many.
  void drop_absent(std::uint32_t retries);

  /// Intents that the world does not show yet, but for messages that are postponed.
  [[nodiscard]] std::size_t outstanding() const { return wants_.size() - postponed_.size(); }
  /// Workloads of which a newer message is to be written when its time has come.
  [[nodiscard]] std::size_t postponed() const { return postponed_.size(); }
  /// Entries of all tables that grow with the objects of the cluster.
  [[nodiscard]] std::size_t entries() const {
    return wants_.size() + busy_.size() + own_versions_.size() + departing_.size() + reports_.size() + refusals_.size() +
           keys_by_uid_.size() + counts_by_owner_.size() + clusters_of_jobs_.size() + pending_.size() + passes_.size() + told_.size() +
           set_aside_.size() + made_.size() + usage_.entries() + postponed_.size() + pace_.size() + large_.size() + statuses_.size() +
           urgent_.size() + ready_.size();
  }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }
  [[nodiscard]] bool synced() const { return synced_; }

 private:
  /// Where a want waits until others were answered.
  enum class Turn : std::uint8_t {
    none,
    ready,   ///< ready_: for one of the writes that the cluster takes at a time.
    urgent,  ///< urgent_: the same, before all those.
    large,   ///< large_: for room.
    spared   ///< statuses_: for the budget of the statuses of queues.
  };
  /// One object's newest intent.
  struct Want {
    admission::Intent intent;
    bool in_flight = false;
    bool waiting = false;       ///< After a conflict: for the mirror, or the next retry.
    std::uint64_t version = 0;  ///< Rises with every new intent.
    std::uint64_t content = 0;  ///< Hash of what the intent asks for.
    std::uint32_t rounds = 0;   ///< Writes that were taken since something else was wanted; a guard against writing in circles.
    bool queued = false;        ///< In reports_.
    Turn turn = Turn::none;     ///< Where it waits beside that.
    bool forgotten = false;     ///< It is only there for the answer to come.
    bool checked = false;       ///< Plan::check has been answered.
    std::uint32_t absent = 0;   ///< At so many retries in a row the mirror did not have the object.
    /// It only rewords why its Workload waits, and is in postponed_; never: it is not postponed. What it was found to be, it is as long as
    /// the object and all that is wanted beside messages are the same.
    Time postponed_until = Time::never();
    std::uint64_t postponed_beside = 0;               ///< hash_beside_messages
    std::weak_ptr<const std::string> postponed_over;  ///< The object's text.
    Time opens_at = Time::never();  ///< When the first status is written, whatever it says then; never: none was wanted yet.
  };
  using Wants = std::map<std::string, Want>;
  /// What the API server refused for good, or took without becoming what is wanted, is still wanted as long as the state says so: it is
  /// tried again after one call of `retry`, then after two, four and so on up to an hour, or when it has changed.
  struct Refusal {
    static constexpr std::uint32_t changes_max = 8;
    std::uint32_t times = 0;
    std::uint32_t retries_to_wait = 0;
    std::uint64_t wanted = 0;                                 ///< Content of what was refused,
    std::uint64_t seen = 0;                                   ///< and hash of the objects that it was planned from,
    std::array<std::weak_ptr<const std::string>, 2> objects;  ///< which need no second look while they are these.
    std::uint64_t told = 0;                                   ///< Hash of the answer that was told last, and of what it was about.
    std::uint64_t decision = 0;                               ///< Sequence of the decision behind what was refused last.
    std::uint32_t tellings = 0;                               ///< So often the same answer was told of the same decision.
    std::uint32_t changes_left = changes_max;                 ///< So often something else that is wanted is tried at once.
    bool hurried = false;                                     ///< It was tried at once since the last call of `retry`.
    bool shortened = false;                                   ///< The wait is not the whole one.
  };
  using Objects = std::array<Mirror::ObjectText, 2>;
  /// Pending Workloads of a namespace that are read again, in the order of their uids, because what is added to their pods has changed.
  struct Pass {
    std::string next;                   ///< Behind which one it goes on; empty: at the beginning.
    std::string mention;                ///< Only those whose text has this; empty: all.
    bool due = true;                    ///< There is something to read.
    bool again = false;                 ///< It changed once more meanwhile: from the beginning when the end is reached.
    std::size_t told = 0;               ///< How many were told anew.
    std::uint32_t retries_to_wait = 0;  ///< After one that told many.

    [[nodiscard]] bool is_ready() const { return due && retries_to_wait == 0; }
  };
  struct Plan {
    std::vector<Write> writes;
    std::optional<Error> error;
    bool not_yet = false;     ///< What it needs is not in the mirror.
    bool only_tells = false;  ///< See BridgeOptions::reports_in_flight_max.
    bool rewords = false;     ///< See BridgeOptions::message_interval.
    bool opens = false;       ///< The first that the status of a waiting Workload says; see BridgeOptions::opening_time.
    /// Only where nothing else is to be written: changes nothing, and is taken only if the mirror has the newest of the object. Comes
    /// before it is said that no start is under way.
    std::optional<Write> check;
  };

  struct Planner;  // bridge_plan.cpp

  /// What has to be known of a write when its answer comes.
  struct Sent {
    std::uint64_t version = 0;  ///< Of the want.
    std::uint64_t wanted = 0;   ///< Its content.
    const ResourceType* type = nullptr;
    Write::Verb verb = Write::Verb::merge_patch;
    std::string namespace_, name;
    std::uint64_t seen = 0;  ///< Of the mirror's text of the object when the write was made: hash_of_text.
    bool only_tells = false;
    bool checks = false;          ///< It is Plan::check.
    std::string workload_uid;     ///< Of the Workload whose own intent was written, on the condition that nobody else had; else empty.
    bool leaves_waiting = false;  ///< The status of this Workload was written, and it waits.
  };

  /// An object about which something failed: until it is seen in another version, or read another way, it is not tried again.
  struct SetAside {
    QuarantineStage stage = QuarantineStage::read;
    std::string reason;
    std::uint64_t seen = 0;  ///< With another stage than `read`: hash_of_text of what it failed about.
    const ResourceType* type = nullptr;
    std::uint64_t told = 0;  ///< Hash of what was told, but for the version.
  };

  void take(const WatchEvent& event);
  void take_deleted(const WatchEvent& event);
  void tell(const Observation& o);
  void as_last_resort(std::string_view about, const std::function<void()>& work) noexcept;
  void say_synced();
  void tell_write_limit();
  void set_aside(const ResourceType& type, std::string_view text, QuarantineStage stage, std::string_view reason);
  void failed(const std::string& key, std::string_view what) noexcept;
  void tell_again(std::string_view uid);
  void lift(const ResourceType& type, const ObjectMeta& meta);
  [[nodiscard]] bool is_held_back(const admission::Intent& intent) const;
  void observe_one(const ResourceType& type, std::string_view text);
  void see_node(const NodeObserved& node);
  [[nodiscard]] bool see_usage(const ResourceType& type, std::string_view text);
  void reobserve_job(std::string_view namespace_, std::string_view uid, std::uint64_t start_settled = 0);
  /// What reading a job may look up beside it.
  [[nodiscard]] JobContext job_context(List<PodSetCount> workload_counts) const;
  void note_cluster(const JobObserved& cluster);
  void on_defaults(const WatchEvent& event);
  void defaults_changed(const std::string& namespace_, std::string_view mention);
  [[nodiscard]] bool is_to_read_again() const;
  void read_again();
  void read_some_again();
  void read_pending(const std::string& namespace_, const std::string& uid, Pass& pass, const std::string& text);
  void end_pass(const std::string& namespace_);
  void note_pending(const WorkloadObserved& w);
  void note_settled(std::string_view namespace_, std::string_view uid);
  [[nodiscard]] std::string forget_workload(const ObjectDeleted& gone, std::string_view text);
  void forget_refusals(const std::string& uid);
  [[nodiscard]] bool is_news(Observation o);
  void advance(const std::string& key);
  void go_on(const std::string& key);
  [[nodiscard]] Plan plan(const admission::Intent& intent) const;
  void send(const std::string& key, Want& want, Plan plan);
  void answered(const std::string& key, const Sent& sent, WriteAnswer answer);
  void see_departed(const Sent& sent, bool written);
  [[nodiscard]] bool overtaken(const admission::WorkloadIntent& intent, std::uint64_t version) const;
  [[nodiscard]] bool reports_wait() const;
  void send_reports();
  void wait_for_turn(const std::string& key, Want& want);
  void send_ready();
  void send_large();
  void send_statuses();
  [[nodiscard]] bool spares(const admission::Intent& intent) const;
  void take_turn(const std::string& key);
  [[nodiscard]] bool paces_messages() const { return options_.message_interval.micros > 0 && options_.now != nullptr; }
  [[nodiscard]] bool stays_postponed(const Want& want) const;
  [[nodiscard]] bool postpone(const std::string& key, Want& want, bool opens);
  void end_postponement(const std::string& key, Want& want);
  void refused(const std::string& key, int status, std::string_view why);
  Refusal& back_off(const std::string& key, const admission::Intent& intent, std::uint64_t wanted);
  [[nodiscard]] bool backs_off(const std::string& key) const;
  void look_for_change(const std::string& key, const Want& want);
  void wait_on();
  [[nodiscard]] bool is_to_be_told(const admission::Intent& intent, Refusal& refusal, int status, std::string_view message) const;
  [[nodiscard]] bool is_unwritten_reservation(const admission::Intent& intent) const;
  [[nodiscard]] Objects objects_of(const admission::Intent& intent) const;
  [[nodiscard]] static std::uint64_t hash_of(const Objects& objects);
  /// Tells versions apart without holding a text, of which each can have megabytes; of null 0.
  [[nodiscard]] static std::uint64_t hash_of_text(const Mirror::ObjectText& text);
  [[nodiscard]] static bool tells_only(const admission::Intent& intent, const Mirror::ObjectText& object);
  void wake(std::string_view uid);
  void wake_want(const std::string& key);
  void forget_want(const std::string& key);
  void drop_want(Wants::iterator want);
  void look_no_more(const admission::Intent& intent, const std::string& key);
  [[nodiscard]] bool is_absent(const admission::Intent& intent) const;

  Cluster& cluster_;
  Mirror& mirror_;
  Emit emit_;
  BridgeOptions options_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< Answers that come after our end are dropped.

  Wants wants_;
  /// Objects with a write under way → keys of other wants about them, which are compared again when it is answered. Written at the same
  /// time, all but one would come back as conflicts.
  std::unordered_map<std::string, std::vector<std::string>> busy_;
  /// Uids of Workloads → the version that our last write made of what its intent had seen, until an intent has seen that.
  std::unordered_map<std::string, std::uint64_t> own_versions_;
  std::unordered_set<std::string> departing_;  ///< Keys of wants that were forgotten with a write under way.
  NamespaceTurns reports_;                     ///< Wants whose write only tells, and waits for its turn.
  LargeWrites large_{options_.large_bodies_bytes_max};
  NamespaceTurns urgent_, ready_;  ///< Wants that wait for a write of the cluster; what gives quota back goes first.
  std::size_t urgent_in_a_row_ = 0;
  NamespaceTurns statuses_;  ///< Of queues, that wait for `budget_`.
  StatusBudget budget_;
  MessagePace pace_{options_.message_interval};
  std::set<std::pair<Time, std::string>> postponed_;  ///< By Want::postponed_until; keys of these wants.
  std::size_t reports_in_flight_ = 0, others_in_flight_ = 0;
  std::size_t others_since_report_ = 0;                                    ///< Other writes that were answered since a report was sent.
  std::map<std::string, Refusal> refusals_;                                ///< By key of the want.
  std::unordered_map<std::string, std::vector<std::string>> keys_by_uid_;  ///< Object → wants that look at it.
  std::unordered_map<std::string, std::vector<std::pair<std::string, std::int32_t>>>
      counts_by_owner_;  ///< Namespace and uid of a job → counts of its Workload.
  /// Uid of a RayCluster that a RayJob made → uid of the job and the generation that was seen: the job's size follows from it (EJ-131).
  std::unordered_map<std::string, std::pair<std::string, std::int64_t>> clusters_of_jobs_;
  NodeUsage usage_;
  ClusterDefaults defaults_;  ///< Of the LimitRanges and RuntimeClasses seen; part of every request that is observed (BA-43).
  /// Namespace → uids of Workloads without admission → hash of what was told of them that follows from `defaults_`.
  std::map<std::string, std::map<std::string, std::uint64_t>, std::less<>> pending_;
  std::map<std::string, Pass> passes_;                   ///< By namespace.
  std::string last_pass_;                                ///< Namespace that had the last turn.
  bool reading_again_ = false;                           ///< The next piece is on its way (BridgeOptions::later).
  std::unordered_map<std::string, std::uint64_t> told_;  ///< Uid of a queue, node or pod → hash of what was told of it, but its version.
  /// Keys of Workloads that we made, or are about to, and that the watch has not shown.
  std::unordered_set<std::string> made_;
  std::unordered_map<std::string, SetAside> set_aside_;  ///< By uid.
  QuarantineStage stage_ = QuarantineStage::plan;        ///< What is being done for a want.
  events::Encoder encoder_;
  std::unordered_set<std::string> kinds_to_sync_;
  bool listed_ = false;  ///< All lists are complete; said when what follows from them has been told.
  bool synced_ = false;
  std::uint64_t writes_ = 0, conflicts_ = 0;
};

}  // namespace hindsight::connectors
