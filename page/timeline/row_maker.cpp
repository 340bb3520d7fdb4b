#include "page/timeline/row_maker.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page::timeline {
namespace {

/// Shorter ones are no news: a restart takes as long.
constexpr Duration silence_min = Duration::seconds(1);
constexpr std::size_t mark_text_max = 160;

/// Of what is in no namespace its name; else only its kind, which tells nobody anything.
std::string object_words(std::string_view kind, Text namespace_, Text name) {
  std::string out(kind);
  if (namespace_.empty() && !name.empty() && kind != "Namespace") out += " " + std::string(name);
  return out;
}

/// What a record changed that did change the configuration.
std::string change_words(const Observation& o) {
  return std::visit(
      [](const auto& e) -> std::string {
        using T = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<T, ObjectDeleted>) {
          return object_words(events::api_name(e.kind), e.namespace_, e.name) + " is gone";
        } else if constexpr (std::is_same_v<T, ConfigurationObserved>) {
          return "The settings of the controller changed";
        } else if constexpr (requires { e.meta; }) {
          std::string_view kind = events::Fields<T>::table;
          if (constexpr std::string_view observed = "Observed"; kind.ends_with(observed)) kind.remove_suffix(observed.size());
          return object_words(kind, e.meta.namespace_, e.meta.name) + " is new or changed";
        } else {
          return "The configuration changed";
        }
      },
      o);
}

std::string refusal_words(const WriteRefused& e) {
  return "The API server refused to write " + object_words(events::api_name(e.kind), e.namespace_, e.name) + ": HTTP " +
         std::to_string(e.http_status);
}

std::string quarantine_words(const ObjectQuarantined& e) {
  return object_words(e.api_kind.empty() ? events::api_name(e.kind) : std::string_view(e.api_kind), e.namespace_, e.name) +
         " was set aside";
}

}  // namespace

RowMaker::RowMaker(Position begin, std::uint64_t width, std::size_t rows_max) : begin_(begin), width_(width), rows_max_(rows_max) {}

RowMaker::RowMaker(const Series& made, std::size_t rows_max) : RowMaker(made.begin, made.width, rows_max) {
  sampler_.know(made.pairs);
  silences_ = made.silences;
  decider_seen_ = made.decider_seen;
  for (const auto& block : made.blocks)
    for (const Row& row : *block) {
      open_.push_back(row);
      if (open_.size() == block_rows) blocks_.push_back(std::make_shared<const Block>(std::exchange(open_, Block())));
    }
  if (open_.empty() && !blocks_.empty()) {
    open_ = *blocks_.back();
    blocks_.pop_back();
  }
  if (open_.empty()) return;
  row_ = std::move(open_.back());  // more may come into it
  open_.pop_back();
}

void RowMaker::look_on(replay::Past& past) {
  begin(past.driver());
  past.look_on([this, &past](Position at, const RecordView& record) { before(at, record, past.driver()); },
               [this, &past](Position at, const RecordView& record) { after(at, record, past.driver()); });
}

void RowMaker::before(Position at, const RecordView& record, const StateView& state) {
  if (row_.last != 0 && number(row_.last) != number(at)) close(state, at);
  counts_ = state.domain().counts(record.envelope);
  epoch_before_ = state.domain().epoch();
}

void RowMaker::after(Position at, const RecordView& record, const StateView& state) {
  if (row_.last == 0) row_.first = at;
  row_.last = at;
  row_.time = state.domain().now();
  waits_.after(record, state);
  if (!counts_) return;
  note_owner(record, state);
  if (const auto* decisions = std::get_if<Decisions>(&record.body)) {
    if (state.domain().took_decision()) count(*decisions, at);
    return;
  }
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return;
  if (state.domain().context().configured == state.domain().sequence()) mark(MarkKind::configuration, at, change_words(*o));
  if (const auto* refused = std::get_if<WriteRefused>(o)) mark(MarkKind::refusal, at, refusal_words(*refused));
  if (const auto* aside = std::get_if<ObjectQuarantined>(o); aside != nullptr && !aside->lifted)
    mark(MarkKind::quarantine, at, quarantine_words(*aside));
  if (const auto* record_aside = std::get_if<RecordQuarantined>(o))
    mark(MarkKind::quarantine, at, "Record " + std::to_string(record_aside->position) + " was set aside");
}

/// An owner is seen by what it writes in its epoch. Connectors that are processes of their own write in none.
void RowMaker::note_owner(const RecordView& record, const StateView& state) {
  const Time now = state.domain().now();
  if (const auto* started = std::get_if<EpochStarted>(&record.body); started != nullptr && record.envelope.epoch > epoch_before_) {
    if (decider_seen_.is_set() && now - decider_seen_ >= silence_min) {
      if (silences_.size() == silences_max) {  // half of them, the longest, tell the same
        std::ranges::nth_element(silences_, silences_.begin() + silences_max / 2, std::greater{},
                                 [](const Silence& s) { return s.to - s.from; });
        silences_.resize(silences_max / 2);
        std::ranges::sort(silences_, {}, &Silence::from);
      }
      silences_.push_back({decider_seen_, now});
    }
    mark(MarkKind::epoch, row_.last, "Epoch " + std::to_string(record.envelope.epoch) + " began: " + std::string(started->writer));
  }
  if (record.envelope.epoch != 0) decider_seen_ = now;
}

void RowMaker::count(const Decisions& decisions, Position at) {
  ++row_.decisions;
  for (const Event& event : decisions.events) {
    if (const auto* reserved = std::get_if<QuotaReserved>(&event)) {
      if (reserved->admitted) ++row_.admitted;
    } else if (std::holds_alternative<WorkloadAdmitted>(event)) {
      ++row_.admitted;
    } else if (const auto* preempted = std::get_if<WorkloadPreempted>(&event)) {
      ++row_.evicted;
      mark(MarkKind::eviction, at, "A Workload was preempted: " + std::string(preempted->reason));
    } else if (const auto* evicted = std::get_if<WorkloadEvicted>(&event)) {
      ++row_.evicted;
      mark(MarkKind::eviction, at, "A Workload was evicted: " + std::string(evicted->reason));
    }
  }
}

void RowMaker::mark(MarkKind kind, Position at, std::string text) {
  const auto known = std::ranges::find(row_.marks, kind, &Mark::kind);
  if (known != row_.marks.end())
    ++known->count;  // the first is told
  else
    add_mark(row_.marks, {kind, 1, at, row_.time, cut_message(printable(valid_utf8(text)), mark_text_max)});
}

void RowMaker::sample(const StateView& state, Row& row) {
  sampler_.sample(state, row);
  const Time since = waits_.since(state);
  row.waits_since = since.is_set() ? since.micros : no_waiter;
}

void RowMaker::close(const StateView& state, Position next) {
  sample(state, row_);
  open_.push_back(std::exchange(row_, Row()));
  if (blocks_.size() * block_rows + open_.size() > rows_max_) widen(next);
  if (open_.size() >= block_rows) {
    blocks_.push_back(std::make_shared<const Block>(std::exchange(open_, Block())));
    open_.reserve(block_rows);
  }
}

/// The last row may have room for the record at `next` now, and is in progress again. Series that were given out keep their rows.
void RowMaker::widen(Position next) {
  width_ *= 2;
  Block all;
  const auto take = [&](Row row) {
    if (!all.empty() && number(all.back().last) == number(row.last))
      append(all.back(), std::move(row));
    else
      all.push_back(std::move(row));
  };
  for (const auto& block : blocks_)
    for (const Row& row : *block) take(row);
  for (Row& row : open_) take(std::move(row));
  if (number(all.back().last) == number(next)) {
    row_ = std::move(all.back());
    all.pop_back();
  }
  blocks_.clear();
  auto from = std::make_move_iterator(all.begin());
  const auto end = std::make_move_iterator(all.end());
  for (; end - from >= std::ptrdiff_t{block_rows}; from += block_rows)
    blocks_.push_back(std::make_shared<const Block>(from, from + block_rows));
  open_.assign(from, end);
}

std::shared_ptr<const Series> RowMaker::series(Position end, const StateView& state) {
  auto out = std::make_shared<Series>();
  out->blocks = blocks_;
  Block last = open_;
  if (row_.last != 0) {
    last.push_back(row_);
    sample(state, last.back());
  }
  if (!last.empty()) out->blocks.push_back(std::make_shared<const Block>(std::move(last)));
  out->pairs = sampler_.pairs();
  out->silences = silences_;
  out->decider_seen = decider_seen_;
  out->begin = begin_;
  out->end = end;
  out->width = width_;
  return out;
}

}  // namespace hindsight::page::timeline
