#include "runtime/cluster_link.hpp"

#include <chrono>
#include <condition_variable>
#include <stdexcept>

#include "connectors/jobs/template_mutability.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/objects/pod_use.hpp"
#include "connectors/objects/resource_types.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {

using connectors::kubernetes::Flow;

namespace {

namespace t = connectors::types;

constexpr auto tick_time = std::chrono::milliseconds(100);
constexpr unsigned ticks_of_a_retry = 10;

}  // namespace

/// Answers come on the client's thread; the bridge wants them on its own.
class ClusterLink::PostingCluster final : public connectors::Cluster {
 public:
  PostingCluster(connectors::Cluster& cluster, TaskQueue& tasks, bool reads_only)
      : cluster_(cluster), tasks_(tasks), reads_only_(reads_only) {}
  void submit(connectors::Write write, std::function<void(connectors::WriteAnswer)> done) override {
    // Nobody wants anything of a cluster that is only looked at. Were there a way that is not known, it would end here.
    if (reads_only_) throw std::logic_error("a write to a cluster that is only observed");
    cluster_.submit(std::move(write), [this, done = std::move(done)](connectors::WriteAnswer answer) {
      tasks_.post([done, answer = std::move(answer)]() mutable { done(std::move(answer)); });
    });
  }
  [[nodiscard]] std::size_t writes_at_once() const override { return cluster_.writes_at_once(); }
  [[nodiscard]] std::uint32_t write_limit() const override { return cluster_.write_limit(); }

 private:
  connectors::Cluster& cluster_;
  TaskQueue& tasks_;
  const bool reads_only_;
};

class ClusterLink::StoreMirror final : public connectors::Mirror {
 public:
  explicit StoreMirror(connectors::kubernetes::MirrorStore& store) : store_(store) {}
  [[nodiscard]] ObjectText find(const connectors::ResourceType& type, std::string_view namespace_, std::string_view name) const override {
    return store_.find(type, namespace_, name);
  }
  [[nodiscard]] ObjectText find_by_uid(std::string_view uid) const override { return store_.find_by_uid(uid); }
  void offer(const connectors::ResourceType& type, std::string object) override { store_.offer(type, std::move(object)); }

 private:
  connectors::kubernetes::MirrorStore& store_;
};

ClusterLink::ClusterLink(connectors::kubernetes::KubernetesCluster& cluster, std::function<void(const std::string&)> notice,
                         connectors::PlanSettings plans, bool topologies, Duration message_interval, bool reads_only)
    : cluster_(cluster),
      notice_(std::move(notice)),
      topologies_(topologies),
      mirror_(std::make_unique<StoreMirror>(cluster.mirror())),
      posting_(std::make_unique<PostingCluster>(cluster, tasks_, reads_only)) {
  connectors::BridgeOptions options;
  options.plans = std::move(plans);
  options.synced_kinds = topologies ? connectors::watched_resource_types : connectors::watched_without_nodes;
  options.gathers_usage = topologies;
  options.notice = notice_;
  options.message_interval = message_interval;
  options.spares_queue_statuses = true;
  options.now = [] {  // a clock that nobody sets
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return Time{std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
  };
  options.departed = [this] {
    if (domains_ != nullptr && !stopping_) domains_->departed();
  };
  options.later = [this](std::function<void()> work) { tasks_.post(std::move(work)); };
  bridge_ = std::make_unique<connectors::Bridge>(
      *posting_, *mirror_, [this](const Observation& o) { on_emit(o); }, std::move(options));
}

ClusterLink::~ClusterLink() { stop(); }

void ClusterLink::start(ClusterDomains& domains, const std::string& configuration) {
  domains_ = &domains;
  if (!configuration.empty()) tasks_.post([this, configuration] { domains_->observe(ConfigurationObserved{configuration}); });
  ask_for_version();
  for (const auto* type : topologies_ ? connectors::watched_resource_types : connectors::watched_without_nodes) watch(*type);
  retries_ = std::jthread([this](const std::stop_token& stop) {
    name_this_thread("retries");
    std::mutex m;
    std::condition_variable_any cv;
    std::unique_lock lock(m);
    for (unsigned round = 1; !cv.wait_for(lock, stop, tick_time, [] { return false; }) && !stop.stop_requested(); ++round) tick(round);
  });
}

void ClusterLink::watch(const connectors::ResourceType& type) {
  connectors::kubernetes::ReflectorOptions options;
  options.is_optional = connectors::may_be_missing(type) || &type == &t::pod;
  if (&type == &t::node) options.keep_text = false;  // nothing is written to nodes, and they are large
  if (&type == &t::pod) {
    if (topologies_)
      options.keeps_text = connectors::seems_to_have_pod_set;
    else
      options.label_selector = connectors::keys::pod_set;  // those that a start has stamped
  }
  cluster_.watch(
      type,
      [this](const connectors::WatchEvent& event) {
        auto text = std::make_shared<std::string>(event.object);
        backlog_.add(text->size());
        const auto waiting = tasks_.post([this, kind = event.type, resource = event.resource, text] {
          bridge_->on_watch({kind, resource, *text});
          usage_waits_ = bridge_->usage_waits();
          backlog_.remove(text->size());
          go_on_watching();
        });
        return backlog_.pauses(waiting) ? Flow::pause : Flow::more;
      },
      options);
}

/// Ten times a second what pods use is told, and what was postponed is written if it is due; what waits for a retry has its turn once.
void ClusterLink::tick(unsigned round) {
  if (usage_waits_.exchange(false)) tasks_.post([this] { bridge_->tell_usage(); });
  if (round % ticks_of_a_retry != 0) {
    tasks_.post([this] { bridge_->write_postponed(); });
    return;
  }
  tasks_.post([this] {
    go_on_watching();
    bridge_->retry();
    writes_ = bridge_->writes();
    conflicts_ = bridge_->conflicts();
    outstanding_ = bridge_->outstanding();
  });
}

/// MR-52: an older API server lets less be changed. Without an answer it counts as a newer one, whose refusals do no harm.
void ClusterLink::ask_for_version() {
  cluster_.get_path("/version", [this](connectors::kubernetes::HttpAnswer answer) {
    tasks_.post([this, answer = std::move(answer)] {
      const auto mutability = connectors::template_mutability_of(answer.body);
      if (answer.status == 200 && mutability) return bridge_->use(*mutability);
      notice_("the version of the API server is not known: " +
              (answer.status == 200 ? mutability.error().message : "status " + std::to_string(answer.status)));
    });
  });
}

void ClusterLink::go_on_watching() {
  if (backlog_.goes_on(tasks_.size())) cluster_.resume();
}

void ClusterLink::stop() {
  stopping_ = true;
  retries_.request_stop();
  if (retries_.joinable()) retries_.join();
  tasks_.stop();
}

void ClusterLink::want(std::vector<admission::Intent> intents) {
  auto shared = std::make_shared<std::vector<admission::Intent>>(std::move(intents));
  tasks_.post([this, shared] { bridge_->want(std::move(*shared)); });
}

void ClusterLink::on_emit(const Observation& o) {
  if (stopping_) return;
  if (std::holds_alternative<MirrorSynced>(o)) return domains_->synced(*mirror_, [this] { synced_ = true; });
  domains_->observe(o);
}

ClusterLink::Figures ClusterLink::figures() const { return {writes_, conflicts_, outstanding_, tasks_.size()}; }

}  // namespace hindsight::runtime
