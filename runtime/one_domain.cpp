#include "runtime/one_domain.hpp"

#include "connectors/bridge/absent_objects.hpp"

namespace hindsight::runtime {

Result<std::unique_ptr<OneDomain>> OneDomain::start(events::Log& log, actors::NodeOptions options, LiveProjectionsOptions look_on,
                                                    Post post) {
  std::unique_ptr<OneDomain> out(new OneDomain());
  out->domain_ = options.domain;
  out->post_ = std::move(post);
  out->snapshots_ = std::make_unique<NodeSnapshots>(log, options.on_notice);
  out->snapshots_->attach(options);
  auto node = actors::Node::start(log, std::move(options));
  if (!node) return tl::unexpected(node.error());
  out->node_ = std::move(*node);
  look_on.domain = out->domain_;
  if (const auto last = log.last()) look_on.begin = *last;
  out->projections_ = std::make_unique<LiveProjections>(log, std::move(look_on));
  return out;
}

void OneDomain::observe(const Observation& o) {
  const auto* limit = std::get_if<WriteLimitObserved>(&o);
  if (limit == nullptr || write_limit_.is_news(limit->writes)) node_->observe_and_wait(o);
}

void OneDomain::synced(const connectors::Mirror& mirror, std::function<void()> done) {
  node_->call([this, &mirror, done = std::move(done)](admission::Entities& entities) {
    auto absent = std::make_shared<std::vector<connectors::AbsentObject>>(connectors::find_absent(entities, mirror));
    post_([this, absent, done] {
      for (const auto& gone : *absent) node_->observe_and_wait(gone.view());
      node_->observe_and_wait(MirrorSynced{});
      node_->call([this, done](admission::Entities&) {
        node_->allow_decisions();  // and the node tells what the whole state wants
        done();
      });
    });
  });
}

}  // namespace hindsight::runtime
