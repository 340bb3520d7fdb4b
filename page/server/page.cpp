#include "page/server/page.hpp"

#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operations/logging.hpp"
#include "page/server/log_routes.hpp"
#include "page/timeline/index_file.hpp"
#include "page/timeline/steps.hpp"
#include "page/timeline/timeline_answer.hpp"
#include "page/timeline/timeline_index.hpp"
#include "page/views/indexed_hour.hpp"

namespace hindsight::page {
namespace {

/// Each index has a state of its own, and reads the whole log once.
constexpr std::size_t timelines_max = 8;

std::vector<ViewRoute> with_steps(std::vector<ViewRoute> out) {
  auto steps = step_views();
  out.insert(out.end(), std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
  return out;
}

}  // namespace

/// The indexes of the domains that somebody looks at, made when he first does.
class Page::Timelines {
 public:
  Timelines(std::shared_ptr<const events::Log> log, std::shared_ptr<LiveEvents> live, KeptIndexes kept, std::string release,
            std::size_t objects_bytes_max, std::shared_ptr<QuietTurns> turns)
      : log_(std::move(log)),
        live_(std::move(live)),
        kept_(std::move(kept)),
        release_(std::move(release)),
        objects_bytes_max_(objects_bytes_max),
        turns_(std::move(turns)) {}

  [[nodiscard]] ApiRoute route() {
    return {.path = "timeline",
            .handler = [this](const ApiCall& call) { return answer(call); },
            .summary = "The whole history in columns: what waited, ran, was used, and what happened",
            .parameters =
                [] {
                  std::vector<std::string> out(timeline_parameters.begin(), timeline_parameters.end());
                  out.emplace_back("domain");
                  return out;
                }()};
  }
  /// Of the domain that somebody looks at; null: there is none, as of a branch, whose log is another one.
  [[nodiscard]] std::shared_ptr<const TimelineIndex> of_look(const Look& look) { return of_domain(look.log, look.past.domain_name()); }
  [[nodiscard]] std::shared_ptr<const TimelineIndex> of_domain(const events::Log& log, const std::string& domain) {
    if (log.name() != log_->name()) return nullptr;
    const auto index = index_of(domain);
    return index ? *index : nullptr;
  }
  /// For the only domain that there is, before anybody asks.
  void begin() {
    const auto domains = log_->domains();
    if (domains && domains->size() == 1) (void)index_of(domains->front().domain);
  }
  void stop() {
    std::map<std::string, std::shared_ptr<TimelineIndex>> gone;  // they end after the lock does
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    gone.swap(indexes_);
  }

 private:
  Result<Json> answer(const ApiCall& call) {
    const auto domain = domain_of(*log_, call.parameters);
    if (!domain) return tl::unexpected(domain.error());
    const auto index = index_of(*domain);
    if (!index) return tl::unexpected(index.error());
    auto out = timeline_answer(**index, call.parameters);
    // What happened then is told; to whom it happened is for those who may know.
    if (out && !call.audience.sees_all() && out->contains("marks"))
      for (auto& mark : (*out)["marks"]) mark["text"] = "";
    return out;
  }

  Result<std::shared_ptr<TimelineIndex>> index_of(const std::string& domain) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(ErrorKind::unavailable, "timeline: the page ends");
    if (const auto it = indexes_.find(domain); it != indexes_.end()) return it->second;
    if (indexes_.size() >= timelines_max)
      return fail(ErrorKind::unavailable, "timeline: found " + std::to_string(timelines_max) +
                                              " domains whose history is read already; allowed: " + std::to_string(timelines_max) +
                                              " until this process is started again");
    TimelineOptions options;
    options.grew = [live = live_, domain](events::Position scanned_to, events::Position of) {
      const Json said{{"scannedTo", scanned_to}, {"of", of}, {"domain", domain}};
      live->tell("index", said.dump(-1, ' ', false, Json::error_handler_t::replace), true, false);
    };
    if (kept_.wanted) options.keep_in = timeline::index_file_path(log_->name(), domain, kept_.folder, kept_.always_in_folder);
    options.release = release_;
    options.objects_bytes_max = objects_bytes_max_;
    options.turns = turns_;
    options.notice = [](const std::string& text) { operations::log(operations::LogLevel::warning, text); };
    return indexes_[domain] = TimelineIndex::start(*log_, domain, std::move(options));
  }

  const std::shared_ptr<const events::Log> log_;
  const std::shared_ptr<LiveEvents> live_;
  const KeptIndexes kept_;
  const std::string release_;
  const std::size_t objects_bytes_max_;
  const std::shared_ptr<QuietTurns> turns_;
  std::mutex mutex_;  ///< Guards all below.
  std::map<std::string, std::shared_ptr<TimelineIndex>> indexes_;
  bool stopped_ = false;
};

std::vector<ViewRoute> all_views() { return with_steps(views()); }

Result<std::unique_ptr<Page>> Page::start(PageOptions options) {
  std::unique_ptr<Page> page(new Page());
  // One for who looks, one for the indexes, one for who waits for its end.
  std::array<std::shared_ptr<const events::Log>, 3> readers;
  for (auto& reader : readers) {
    auto opened = options.open();
    if (!opened) return tl::unexpected(opened.error());
    reader = std::move(*opened);
  }
  page->log_ = readers[0];
  page->live_ = std::make_shared<LiveEvents>(readers[2]);
  page->timelines_ = std::make_shared<Timelines>(readers[1], page->live_, options.kept, options.server.release, options.objects_bytes_max,
                                                 options.server.states.turns);
  auto& server = options.server;
  if (server.views.empty()) {
    const auto index_of = [timelines = page->timelines_](const Look& look) { return timelines->of_look(look); };
    server.views = with_steps(views_with(indexed_hour(index_of)));
  }
  server.objects_of = [timelines = page->timelines_](const events::Log& log, const std::string& domain) {
    const auto index = timelines->of_domain(log, domain);
    return index ? index->objects() : nullptr;
  };
  std::optional<BranchService> branches;
  if (options.branches) {
    auto made =
        options.branches(page->log_, [live = page->live_](const std::string& branch) { live->tell("branch", branch, false, true); });
    if (made)
      branches = std::move(*made);
    else
      operations::log(operations::LogLevel::warning, "the page is without what-if branches", {{"error", made.error().message}});
  }
  for (auto& route : log_routes(page->log_, {.release = server.release, .live = options.live, .can_branch = branches.has_value()}))
    server.routes.push_back(std::move(route));
  server.routes.push_back(page->timelines_->route());
  if (branches) {
    for (auto& route : branches->routes) server.routes.push_back(std::move(route));
    server.branch_logs = std::move(branches->logs);
    page->branches_ = std::move(branches->held);
  }
  auto started = PageServer::start(page->log_, page->live_, std::move(server));
  if (!started) return tl::unexpected(started.error());
  page->server_ = std::move(*started);
  page->timelines_->begin();
  return page;
}

Page::~Page() { stop(); }

void Page::stop() {
  if (server_) server_->stop();
  if (timelines_) timelines_->stop();
  branches_.reset();
}

}  // namespace hindsight::page
