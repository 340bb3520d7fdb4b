#include "whatif/many_player.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "whatif/placement.hpp"

namespace hindsight::whatif {

PlayReport together(const std::vector<DomainReport>& reports) {
  PlayReport out;
  const auto put = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (const auto& [domain, r] : reports) {
    out.records += r.records;
    out.decisions += r.decisions;
    out.recorded += r.recorded;
    out.same += r.same;
    out.others += r.others;
    out.modelled += r.modelled;
    out.timed += r.timed;
    put(out.left, r.left);
    put(out.contested, r.contested);
    put(out.notices, r.notices);
    out.estimated.insert(r.estimated.begin(), r.estimated.end());
    out.endless.insert(r.endless.begin(), r.endless.end());
    out.silent_checks.insert(r.silent_checks.begin(), r.silent_checks.end());
    out.without_pods.insert(r.without_pods.begin(), r.without_pods.end());
    out.begin = std::max(out.begin, r.begin);
    out.end = std::max(out.end, r.end);
    if (reports.size() == 1) out.state_hash = r.state_hash;
  }
  if (reports.size() > 1)  // they begin with their times
    for (auto* list : {&out.left, &out.contested}) std::ranges::stable_sort(*list);
  return out;
}

ManyPlayer::ManyPlayer(const events::Log& log, std::vector<std::string> domains, const Responses& responses, ManyOptions options)
    : log_(log), domains_(std::move(domains)), responses_(responses), options_(std::move(options)) {}

Result<std::vector<DomainReport>> ManyPlayer::play(const Changes& changes) {
  if (auto ok = start(changes); !ok) return tl::unexpected(ok.error());
  if (auto ok = players_.size() == 1 ? play_alone() : play_in_turns(); !ok) return tl::unexpected(ok.error());
  if (result_)
    if (auto ok = result_->flush(); !ok) return tl::unexpected(ok.error());
  std::vector<DomainReport> out;
  for (std::size_t i = 0; i < players_.size(); ++i) {
    auto report = players_[i]->finish();
    if (!report) return tl::unexpected(report.error());
    out.push_back({domains_[i], std::move(*report)});
  }
  return out;
}

Result<void> ManyPlayer::play_alone() {
  for (;;) {
    const auto more = players_.front()->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
  }
}

/// Whoever is first in time plays next, so that one that moves has left before it arrives, and the result is in order.
Result<void> ManyPlayer::play_in_turns() {
  std::set<std::pair<Player::Next, std::size_t>> agenda;
  const auto enter = [&](std::size_t i) {
    if (const auto next = players_[i]->next()) agenda.emplace(*next, i);
  };
  for (std::size_t i = 0; i < players_.size(); ++i) enter(i);
  while (!agenda.empty()) {
    const std::size_t i = agenda.begin()->second;
    agenda.erase(agenda.begin());
    if (auto more = players_[i]->step(); !more) return tl::unexpected(more.error());
    enter(i);
  }
  return {};
}

Result<void> ManyPlayer::start(const Changes& changes) {
  players_.clear();
  std::optional<Time> end;
  if (domains_.size() > 1) {
    const auto last = time_of_last();
    if (!last) return tl::unexpected(last.error());
    end = *last;
  }
  std::vector<DomainState> states;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    PlayOptions options = options_of(i);
    options.end = end;
    players_.push_back(std::make_unique<Player>(log_, domains_[i], responses_, Changes{}, std::move(options)));
    if (auto ok = players_[i]->fold(); !ok) return ok;
    states.push_back({domains_[i], &players_[i]->driver()});
  }
  auto parts = placed(changes, states);
  if (!parts) return tl::unexpected(parts.error());
  if (options_.out != nullptr) {
    result_.emplace(*options_.out);
    if (auto ok = result_->copy(log_, domains_, options_.from); !ok) return ok;
  }
  for (std::size_t i = 0; i < players_.size(); ++i) {
    players_[i]->change(std::move((*parts)[i]));
    if (auto ok = players_[i]->start(); !ok) return ok;
  }
  return {};
}

PlayOptions ManyPlayer::options_of(std::size_t index) {
  PlayOptions out{.from = options_.from, .until = options_.until, .model_all = options_.model_all, .beyond = options_.beyond};
  if (options_.on_begin) out.on_begin = [this, index](const admission::LoopDriver& driver) { options_.on_begin(domains_[index], driver); };
  out.on_record = options_.on_record;
  out.on_encoded = [this](const events::EncodedRecord& record) { return result_ ? result_->add(record) : Result<void>{}; };
  out.on_departed = [this](const std::string& domain, Departed departed) {
    const auto it = std::ranges::find(domains_, domain);
    if (it != domains_.end()) players_[static_cast<std::size_t>(it - domains_.begin())]->expect(std::move(departed));
  };
  // They go on side by side: how far the first has come is how far all have.
  if (index == 0) out.progress = options_.progress;
  return out;
}

/// Of the records that are played; nothing: there are none.
Result<std::optional<Time>> ManyPlayer::time_of_last() const {
  const auto last = log_.last();
  if (!last) return tl::unexpected(last.error());
  const Position at = std::min(*last, options_.until);
  if (at == 0 || at <= options_.from) return std::optional<Time>();
  events::RecordBatch batch;
  if (auto ok = log_.read(at, {}, batch); !ok) return tl::unexpected(ok.error());
  if (batch.empty()) return std::optional<Time>();
  return std::optional(batch[0].time);
}

}  // namespace hindsight::whatif
