#include "whatif/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <variant>

#include "events/record.hpp"
#include "projections/format.hpp"
#include "projections/history_words.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/state_hash.hpp"
#include "whatif/course.hpp"

namespace hindsight::whatif {
namespace {

Duration distance(Time a, Time b) { return a < b ? b - a : a - b; }

/// Of which object an event speaks: kind, namespace, name. Empty: of none.
struct EventObject {
  std::string_view kind, namespace_, name;
};

EventObject object_of(const Event& e) {
  return std::visit(
      [](const auto& event) {
        EventObject out;
        if constexpr (requires { event.workload; }) {
          out = {"Workload", event.workload.namespace_, event.workload.name};
        } else if constexpr (requires { event.job; }) {
          out = {event.job.kind, event.job.namespace_, event.job.name};
        }
        return out;
      },
      e);
}

/// The same for decisions that mean the same for the same object of the same domain.
std::optional<std::uint64_t> agreement_key(const RecordView& record, const Event& e) {
  const auto essence = essence_of(e);
  if (!essence) return std::nullopt;
  StateHash h;
  h.add(*essence);
  h.add(record.envelope.domain);
  h.add(object_of(e).namespace_);
  return h.value();
}

std::string decision_text(const Event& e) {
  const EventObject object = object_of(e);
  std::string out;
  if (!object.name.empty()) out = std::string(object.kind) + " " + std::string(object.namespace_) + "/" + std::string(object.name) + ": ";
  return out + projections::words_for(e, false).text;
}

std::string percent(double share) {
  std::array<char, 16> text{};
  // All of them is said of all of them only.
  std::snprintf(text.data(), text.size(), "%.1f", share < 1 ? std::min(share * 100, 99.9) : 100.0);
  return text.data();
}

std::string span_text(Duration d) {
  if (d.micros == 0) return "0s";
  if (d < Duration::seconds(10)) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3gs", static_cast<double>(d.micros) / 1e6);
    return text.data();
  }
  return projections::human_duration(d);
}

}  // namespace

double Agreement::Counts::share() const {
  const std::uint64_t both = same + moved, all = recorded + made - both;
  return all == 0 ? 1 : static_cast<double>(both) / static_cast<double>(all);
}

void Agreement::recorded(events::Position position, const RecordView& record) {
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr) return;
  for (const Event& e : d->events)
    if (const auto key = agreement_key(record, e)) {
      recorded_.push_back({*key, position, record.envelope.time});
      sorted_ = false;
    }
}

void Agreement::sort() {
  if (std::exchange(sorted_, true)) return;
  std::ranges::stable_sort(recorded_, {}, [](const Recorded& r) { return std::tuple(r.key, r.position); });
}

void Agreement::made(const RecordView& record, Time until) {
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr || record.envelope.time > until) return;
  sort();
  const Time now = record.envelope.time;
  for (const Event& e : d->events) {
    const auto key = agreement_key(record, e);
    if (!key) continue;
    ++made_;
    auto it = std::ranges::lower_bound(recorded_, *key, {}, &Recorded::key);
    const auto is_like_it = [&] { return it != recorded_.end() && it->key == *key; };
    while (is_like_it() && (it->met || distance(it->when, now) > Course::patience)) ++it;
    if (is_like_it()) {
      it->met = true;
      ++same_;
    } else {
      unmet_.push_back({*key, now, unmet_.size() < listed_max ? decision_text(e) : std::string()});
    }
  }
}

/// What was made at another time on the other side, and what on one side only.
struct Agreement::Pairing {
  std::vector<std::pair<const Recorded*, const Made*>> pairs;
};

Agreement::Pairing Agreement::pair_up() const {
  std::vector<const Recorded*> left;
  for (const auto& r : recorded_)
    if (!r.met) left.push_back(&r);
  // Before the first `made` nothing is sorted yet.
  std::ranges::stable_sort(left, {}, [](const Recorded* r) { return std::tuple(r->key, r->position); });
  std::vector<const Made*> here;
  for (const auto& m : unmet_) here.push_back(&m);
  std::ranges::stable_sort(here, {}, [](const Made* m) { return m->key; });
  Pairing out;
  auto r = left.begin();
  auto m = here.begin();
  while (r != left.end() || m != here.end()) {
    if (m == here.end() || (r != left.end() && (*r)->key < (*m)->key))
      out.pairs.emplace_back(*r++, nullptr);
    else if (r == left.end() || (*m)->key < (*r)->key)
      out.pairs.emplace_back(nullptr, *m++);
    else
      out.pairs.emplace_back(*r++, *m++);
  }
  return out;
}

Agreement::Counts Agreement::counts() const {
  Counts out{recorded_.size(), made_, same_};
  for (const auto& [r, m] : pair_up().pairs) out.moved += r != nullptr && m != nullptr ? 1 : 0;
  return out;
}

Result<std::vector<DecisionDifference>> Agreement::differences(const events::Log& log) const {
  auto pairs = pair_up().pairs;
  const auto when = [](const auto& p) { return p.first == nullptr ? p.second->when : p.first->when; };
  const auto where = [](const auto& p) { return p.first == nullptr ? std::numeric_limits<events::Position>::max() : p.first->position; };
  std::ranges::stable_sort(pairs, {}, [&](const auto& p) { return std::tuple(when(p), where(p)); });
  if (pairs.size() > listed_max) pairs.resize(listed_max);
  std::vector<DecisionDifference> out;
  events::RecordBatch batch;
  events::RecordReader reader;
  for (const auto& [r, m] : pairs) {
    DecisionDifference d;
    d.was = r == nullptr ? Time::never() : r->when;
    d.here = m == nullptr ? Time::never() : m->when;
    if (r != nullptr) d.position = r->position;
    if (m != nullptr) d.text = m->text;
    if (d.text.empty() && r != nullptr) {
      if (auto ok = log.read(r->position, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
      if (batch.empty() || batch[0].offset != r->position)
        return fail(ErrorKind::corrupt, "record " + std::to_string(r->position) + " is gone");
      const auto record = reader.read(batch[0].bytes);
      if (!record) return tl::unexpected(record.error());
      if (const auto* decisions = std::get_if<Decisions>(&(*record)->body))
        for (const Event& e : decisions->events)
          if (d.text.empty() && agreement_key(**record, e) == r->key) d.text = decision_text(e);
    }
    out.push_back(std::move(d));
  }
  return out;
}

StartError start_error_of(const Comparison& c) {
  StartError out;
  std::vector<std::int64_t> off;
  std::int64_t sum = 0;
  const auto& was = c.was.fates();
  const auto& here = c.would_be.fates();
  for (const auto& [key, fate] : was) {
    if (fate.had_started) continue;
    const auto it = here.find(key);
    const Time started = it == here.end() ? Time::never() : it->second.started;
    if (fate.started.is_set() && started.is_set()) {
      off.push_back(distance(fate.started, started).micros);
      sum += off.back();
    } else if (fate.started.is_set()) {
      ++out.only_recorded;
    } else if (started.is_set() && started <= c.was.ended()) {
      ++out.only_here;
    }
  }
  for (const auto& [key, fate] : here)
    if (!was.contains(key) && fate.started.is_set() && fate.started <= c.was.ended()) ++out.only_here;
  out.both = off.size();
  if (off.empty()) return out;
  std::ranges::sort(off);
  out.mean = {sum / static_cast<std::int64_t>(off.size())};
  out.p95 = {off[(off.size() * 95 + 99) / 100 - 1]};  // nearest rank
  out.max = {off.back()};
  return out;
}

std::string to_text(const Agreement::Counts& c, const StartError& e) {
  return "How far the model is off: of " + std::to_string(c.recorded) + " decisions on record that the world answers, " +
         std::to_string(c.same + c.moved) + " are made here, " + std::to_string(c.moved) + " of them at another time, and " +
         std::to_string(c.only_here()) + " others are; " + percent(c.share()) + " % of all are made on both sides\nStart times of " +
         projections::counted(e.both, "workload") + " with a start on both sides: off by " + span_text(e.mean) +
         " on average, 95 of 100 by at most " + span_text(e.p95) + ", all by at most " + span_text(e.max) +
         "; with a start on record only: " + std::to_string(e.only_recorded) + ", here only: " + std::to_string(e.only_here) + "\n";
}

projections::Json to_json(const Agreement::Counts& c, const StartError& e) {
  const auto seconds = [](Duration d) { return static_cast<double>(d.micros) / 1e6; };
  return {{"decisions",
           {{"recorded", c.recorded},
            {"madeHere", c.made},
            {"sameTime", c.same},
            {"otherTime", c.moved},
            {"onlyRecorded", c.only_recorded()},
            {"onlyHere", c.only_here()},
            {"share", c.share()}}},
          {"starts",
           {{"both", e.both},
            {"onlyRecorded", e.only_recorded},
            {"onlyHere", e.only_here},
            {"meanSeconds", seconds(e.mean)},
            {"p95Seconds", seconds(e.p95)},
            {"maxSeconds", seconds(e.max)}}}};
}

std::string to_text(const std::vector<DecisionDifference>& differences, const Agreement::Counts& c) {
  std::string out;
  for (const auto& d : differences) {
    out += format_rfc3339_micro(d.was.is_set() ? d.was : d.here) + "  ";
    if (!d.was.is_set())
      out += "made here only: ";
    else
      out += "record " + std::to_string(d.position) + ", " +
             (d.here.is_set() ? "made at " + format_rfc3339_micro(d.here) + " here: " : std::string("not made here: "));
    out += printable(d.text) + "\n";
  }
  const std::uint64_t all = c.only_recorded() + c.moved + c.only_here();
  if (differences.size() < all) out += "and " + std::to_string(all - differences.size()) + " more\n";
  return out + "Of " + std::to_string(c.recorded) + " decisions on record that the world answers, " + std::to_string(c.only_recorded()) +
         " are not made again, " + std::to_string(c.moved) + " are made at another time, and " + std::to_string(c.only_here()) +
         " others are made\n";
}

}  // namespace hindsight::whatif
