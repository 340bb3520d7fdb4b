#include "page/server/past_states.hpp"

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "operations/logging.hpp"
#include "page/server/freed_memory.hpp"
#include "page/server/quiet_thread.hpp"
#include "page/server/state_bytes.hpp"
#include "replay/snapshots.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::page {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// So many records are folded rather than a state made anew.
constexpr replay::Position near_by = 4 * PastStates::window;
/// On a way of so many records, a third of a second, snapshots are remembered at most at so many places.
constexpr replay::Position long_way = 100'000, stops_max = 4;
/// Nobody came back to a state for so long: another may take its place, although it is only a guess that it will be needed.
constexpr seconds idle_time{5};
/// The newest state follows the log for so long after somebody looked.
constexpr seconds interest{120};
constexpr milliseconds follow_pause{500};
constexpr milliseconds look_again_after{50};
/// A state is as large as before until it has folded so many more records.
constexpr std::uint64_t measured_after = 2'000;

/// Where a state at `at` would start that is made anew; 0: from the beginning, or the log does not say, which the fold then tells.
replay::Position newest_snapshot(const PastSource& source, replay::Position at) {
  const auto all = replay::snapshots_of(source.log(), source.domain());
  if (!all) return 0;
  for (const auto& one : *all)
    if (one.position <= at) return one.position;
  return 0;
}

}  // namespace

PastStates::PastStates(PastStatesOptions options) : options_(std::move(options)), thread_([this] { work(); }) {}

PastStates::~PastStates() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<PastSource> PastStates::source(std::shared_ptr<const events::Log> log, std::string domain) const {
  return std::make_shared<PastSource>(std::move(log), std::move(domain), memory_);
}

Result<Json> PastStates::look(const SourcePtr& source, Position at, const std::function<bool()>& is_over, const Use& use) {
  QuietTurns::Turn turn(options_.turns);  // whoever holds a state takes it, and nobody waits for a state who has it
  const auto held = hold(source, at, is_over);
  const auto too_late = [&] {
    return fail(ErrorKind::unavailable, "the state after record " + std::to_string(at) +
                                            " is not there yet; ask again: what has been folded on the way to it is kept");
  };
  if (!held || !turn.take(is_over)) return too_late();
  Slot& slot = held->slot();
  Result<Json> out = Json();
  slot.home.run([&] {
    const auto before = slot.state().folded();
    const auto there = go_and_remember(slot, at, turn, [&] { return !is_over(); });
    if (!there) {
      out = tl::unexpected(there.error());
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      ++statistics_.looks;
      statistics_.folded += slot.past->folded() - before;
      looked_ = Clock::now();
      wish_.emplace(source, at);
    }
    out = *there ? use(source->log(), *slot.past) : too_late();
  });
  return out;
}

/// False: `go_on` said so. What cannot be folded leaves no state behind.
Result<bool> PastStates::go_and_remember(Slot& slot, Position at, QuietTurns::Turn& turn, const std::function<bool()>& go_on) const {
  if (auto begun = begin(slot, at); !begun) return tl::unexpected(begun.error());
  for (const auto stop : stops(slot, at)) {
    auto here = go(slot, stop, turn, go_on);
    if (!here || !*here) return here;
    remember(slot);
  }
  return go(slot, at, turn, go_on);
}

// ---- the state of a slot ----------------------------------------------------------------------------------------------------------

PastStates::Slot::Slot(bool quiet)
    : home([quiet] {
        name_this_thread("page-state");
        if (quiet) be_quiet();
      }) {}

replay::Past& PastStates::Slot::state() {
  if (!past) past = std::make_unique<replay::Past>(of->log(), of->domain(), replay::PastOptions{.one_at_a_time = true});
  return *past;
}

PastStates::Ending PastStates::Slot::let_go() {
  Ending ending;
  if (past) try {
      auto gone = std::make_shared<std::pair<SourcePtr, std::unique_ptr<replay::Past>>>(of, nullptr);
      ending = std::make_shared<std::binary_semaphore>(0);
      gone->second = std::move(past);
      home.post([gone = std::move(gone), ending]() mutable {
        gone->second.reset();  // before its log
        gone.reset();
        return_freed_memory();
        ending->release();
      });
    } catch (const std::bad_alloc&) {  // it goes here
      past.reset();
      ending.reset();
    }
  of = nullptr;
  at = 0;
  bytes = 0;
  measured_at = 0;
  return ending;
}

// ---- who gets which state ---------------------------------------------------------------------------------------------------------

std::optional<PastStates::Held> PastStates::hold(const SourcePtr& source, Position at, const std::function<bool()>& is_over) {
  struct Waiting {
    explicit Waiting(std::size_t& number) : number_(++number) {}
    ~Waiting() { --number_; }
    std::size_t& number_;
  };
  const Position snapshot = newest_snapshot(*source, at);
  std::unique_lock lock(mutex_);
  Slot* slot = nullptr;
  {
    const Waiting waiting(waiting_);
    while ((slot = choose(source, at, snapshot)) == nullptr && !is_over()) changed_.wait_for(lock, look_again_after);
  }
  if (slot == nullptr) return std::nullopt;
  take(*slot, source, at);
  return Held(*this, *slot);
}

/// Where snapshots are remembered on the way to `at`. On a long one some, so that it is not as long for who looks at another moment. And
/// one a little behind `at`, if there is no room for a second state that stays there, or the next step back is as long as the whole way.
/// Whoever holds the slot asks.
std::vector<PastStates::Position> PastStates::stops(const Slot& slot, Position at) const {
  std::vector<Position> out;
  const Position from = slot.past->position();
  if (at < from + 2 * window) return out;
  const Position behind = (at - 1) / window * window;
  if (at - from >= long_way) {
    const Position each = ((at - from) / stops_max + window) / window * window;
    for (Position stop = (from / each + 1) * each; stop + window <= behind; stop += each) out.push_back(stop);
  }
  const std::lock_guard lock(mutex_);
  const bool known = largest_ != 0;  // else the first of all is on its way
  const bool others_stay = known && options_.states_max >= 3 && counted(2 * largest_, largest_) <= options_.states_bytes_max;
  if (!others_stay && behind >= from + 2 * window) out.push_back(behind);
  return out;
}

/// `snapshot`: where a new one would start from. Null: it is better to wait, or there is nothing else. The mutex is held.
PastStates::Slot* PastStates::choose(const SourcePtr& source, Position at, Position snapshot) {
  Slot *nearest = nullptr, *nearest_busy = nullptr;
  for (const auto& one : slots_) {
    if (one->of != source || one->at > at || one->forgotten) continue;
    Slot*& best = one->busy ? nearest_busy : nearest;
    if (best == nullptr || one->at > best->at) best = one.get();
  }
  if (nearest != nullptr && at - nearest->at <= near_by) return nearest;
  if (nearest_busy != nullptr && at - nearest_busy->at <= near_by) return nullptr;
  // Somebody may be where the nearest is; it goes on from there only where another one would have a long way.
  const Position anew = at - snapshot + window;
  const bool nearest_is_shorter = nearest != nullptr && at - nearest->at < anew;
  if (nearest_is_shorter && anew > 4 * near_by) return nearest;
  if (Slot* fresh = new_slot(source)) return fresh;
  if (nearest_is_shorter) return nearest;
  return to_replace(source, false);
}

/// About what all states take. The mutex is held.
std::size_t PastStates::bytes_of_all() const {
  std::size_t out = 0;
  for (const auto& one : slots_) out += one->bytes;
  return out;
}

/// What `states_bytes_max` is for, of states that take `all`.
std::size_t PastStates::counted(std::size_t all, std::size_t largest) const { return options_.quiet ? all : all - largest; }

/// Another state of a source is about as large as its largest. The mutex is held.
bool PastStates::has_room(const SourcePtr& source) const {
  std::size_t another = 0, all = 0, largest = 0;
  for (const auto& one : slots_) {
    all += one->bytes;
    largest = std::max(largest, one->bytes);
    if (one->of == source) another = std::max(another, one->bytes);
  }
  return all == 0 || counted(all + another, largest) <= options_.states_bytes_max;
}

/// Null: there are as many as may be. The mutex is held.
PastStates::Slot* PastStates::new_slot(const SourcePtr& source) {
  if (!has_room(source)) return nullptr;
  if (const auto empty = std::ranges::find_if(slots_, [](const auto& one) { return !one->busy && !one->of; }); empty != slots_.end())
    return empty->get();
  if (slots_.size() >= std::max<std::size_t>(1, options_.states_max)) return nullptr;
  try {
    slots_.push_back(std::make_unique<Slot>(options_.quiet));
  } catch (const std::system_error&) {  // no thread for another one
    return nullptr;
  }
  return slots_.back().get();
}

/// Of its source, and of several at the same place the first. The mutex is held.
bool PastStates::is_newest(const Slot& slot) const {
  return std::none_of(slots_.begin(), slots_.end(), [&](const auto& one) {
    return one.get() != &slot && one->of == slot.of && (one->at > slot.at || (one->at == slot.at && one.get() < &slot));
  });
}

/// Another one is a little behind it. The mutex is held.
bool PastStates::is_redundant(const Slot& slot) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const auto& one) {
    return one.get() != &slot && one->of == slot.of && one->at <= slot.at && slot.at - one->at <= near_by &&
           (one->at < slot.at || one.get() < &slot);
  });
}

/// The state that is missed least: what the present is looked at with goes last, and what another one is near to goes first; else the one
/// that was not used for longest. The mutex is held.
PastStates::Slot* PastStates::to_replace(const SourcePtr& source, bool only_idle) {
  const bool room = has_room(source);  // else an empty one is no help
  const auto now = Clock::now();
  Slot* least = nullptr;
  std::pair<int, Clock::time_point> least_key;
  for (const auto& one : slots_) {
    if (one->busy || (!one->of && !room)) continue;
    // At a past moment the newest is as good as any: of who steps back it is where he was before.
    const bool newest = one->of && is_newest(*one) && one->of->is_present(one->at), redundant = one->of && is_redundant(*one);
    if (only_idle && (newest || (!redundant && one->of && now - one->used < idle_time))) continue;
    const std::pair key{!one->of ? 0 : newest ? 3 : redundant ? 1 : 2, one->used};
    if (least != nullptr && !(key < least_key)) continue;
    least = one.get();
    least_key = key;
  }
  return least;
}

/// The mutex is held.
void PastStates::take(Slot& slot, const SourcePtr& source, Position at) {
  slot.busy = true;
  slot.at = at;
  slot.used = Clock::now();
  if (slot.of == source) return;
  (void)slot.let_go();
  slot.of = source;
  slot.at = at;
}

void PastStates::give_back(Slot& slot) {
  std::size_t bytes = 0;
  const bool grew = slot.past && (slot.measured_at == 0 || slot.past->folded() - slot.measured_at > measured_after);
  if (grew) bytes = estimated_bytes(slot.past->driver());
  std::vector<Ending> endings;
  {
    const std::lock_guard lock(mutex_);
    slot.busy = false;
    if (slot.forgotten || !slot.past) {
      slot.forgotten = false;
      endings.push_back(slot.let_go());
    } else {
      slot.at = slot.past->position();
      if (grew) {
        slot.bytes = bytes;
        largest_ = std::max(largest_, bytes);
        slot.measured_at = std::max<std::uint64_t>(1, slot.past->folded());
      }
      let_go_of_too_many(endings);
    }
    changed_.notify_all();
  }
  // Whoever holds a slot has a turn; their end takes its time of it, or it would be beside those that have one.
  for (const auto& ending : endings)
    if (ending) ending->acquire();
}

/// The state that is missed least goes, as long as all together take too much. The last one stays. The mutex is held.
void PastStates::let_go_of_too_many(std::vector<Ending>& endings) {
  const auto too_much = [this] {
    std::size_t largest = 0;
    for (const auto& one : slots_) largest = std::max(largest, one->bytes);
    return counted(bytes_of_all(), largest) > options_.states_bytes_max;
  };
  while (too_much()) {
    const auto full = std::ranges::count_if(slots_, [](const auto& one) { return one->of != nullptr; });
    if (full < 2) return;
    Slot* least = to_replace(nullptr, false);
    if (least == nullptr || !least->of) return;
    endings.push_back(least->let_go());
  }
}

/// On the slot's thread. False: `go_on` said so. What cannot be folded leaves no state behind.
Result<bool> PastStates::go(Slot& slot, Position at, QuietTurns::Turn& turn, const std::function<bool()>& go_on) {
  auto& past = slot.state();
  if (past.position() == at && at != 0) return go_on();
  auto there = past.go_to(at, [&] {
    turn.pass_on();
    return go_on();
  });
  if (!there) slot.past = nullptr;
  return there;
}

/// To where a long way to `at` begins: the newest snapshot that is of use, if one saves folding. Those that it has passed by are of another
/// version, or damaged, and nobody reads them again. What cannot be folded leaves no state behind.
Result<void> PastStates::begin(Slot& slot, Position at) {
  auto& past = slot.state();
  const Position here = past.position() <= at ? past.position() : 0;
  if (at - here <= near_by) return {};
  auto& log = slot.of->log_to_remember();
  const auto listed = replay::snapshots_of(log, slot.of->domain());
  const auto there = past.go_to(at, [asked = false]() mutable { return !std::exchange(asked, true); });
  if (!there) {
    slot.past = nullptr;
    return tl::unexpected(there.error());
  }
  if (!listed) return {};
  for (const auto& one : *listed)
    if (one.position <= at && one.position > std::max(here, past.started_from())) log.hide(one.position, one.domain);
  return {};
}

void PastStates::forget(const SourcePtr& source) {
  const std::lock_guard lock(mutex_);
  for (const auto& one : slots_) {
    if (one->of != source) continue;
    if (one->busy)
      one->forgotten = true;
    else
      (void)one->let_go();
  }
  if (wish_ && wish_->first == source) wish_.reset();
}

PastStatesStatistics PastStates::statistics() const {
  const std::lock_guard lock(mutex_);
  auto out = statistics_;
  out.bytes = bytes_of_all();
  out.states = static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const auto& one) { return one->of != nullptr; }));
  return out;
}

// ---- in advance -------------------------------------------------------------------------------------------------------------------

void PastStates::work() {
  name_this_thread("page-states");
  if (options_.quiet) be_quiet();
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const auto wish = std::exchange(wish_, std::nullopt);
    const bool interested = Clock::now() - looked_ < interest;
    lock.unlock();
    try {
      if (wish) make_spare(wish->first, wish->second);
      if (interested) follow_logs();
    } catch (const std::exception& e) {  // no memory for another state: each way is as long as without it
      operations::log(operations::LogLevel::debug, "no state was made in advance", {{"error", e.what()}});
    }
    lock.lock();
    changed_.wait_for(lock, follow_pause, [this] { return ending_ || wish_; });
  }
}

/// Brings the newest state of each log to its end, so that whoever looks at the present need not.
void PastStates::follow_logs() {
  std::vector<SourcePtr> sources;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& one : slots_)
      if (one->of && std::find(sources.begin(), sources.end(), one->of) == sources.end()) sources.push_back(one->of);
  }
  for (const auto& source : sources) {
    const auto last = source->log().last();
    if (!last) continue;
    QuietTurns::Turn turn(options_.turns);
    std::optional<Held> held;
    {
      const std::lock_guard lock(mutex_);
      const auto newest = std::find_if(slots_.begin(), slots_.end(), [&](const auto& one) { return one->of == source && is_newest(*one); });
      if (newest == slots_.end() || (*newest)->busy || (*newest)->forgotten) continue;
      // One at a past moment is where somebody looks; it does not run away from him.
      const bool follows = source->is_present((*newest)->at) && (*newest)->at < *last;
      source->see_end(*last);
      if (!follows) continue;
      const auto used = (*newest)->used;
      take(**newest, source, *last);
      (*newest)->used = used;
      held.emplace(*this, **newest);
    }
    const auto goes_on = [this] {
      const std::lock_guard lock(mutex_);
      return !ending_ && waiting_ == 0;
    };
    if (turn.take([&] { return !goes_on(); })) held->slot().home.run([&] { (void)go(held->slot(), *last, turn, goes_on); });
  }
}

/// A state at the beginning of the window that lies before a moment, if there is room for one and none near enough.
void PastStates::make_spare(const SourcePtr& source, Position looked_at) {
  if (looked_at == 0 || options_.states_max < 3) return;
  const Position target = (looked_at - 1) / window * window;
  // Whoever follows the present goes on and on; once he steps back, there is one that is not far.
  const Position near_enough = source->is_present(looked_at) ? looked_at - std::min(looked_at, near_by) : target;
  const auto beginning = source->log().first();
  if (!beginning || target < *beginning) return;
  QuietTurns::Turn turn(options_.turns);
  std::optional<Held> held;
  {
    const std::lock_guard lock(mutex_);
    const bool there = std::any_of(slots_.begin(), slots_.end(),
                                   [&](const auto& one) { return one->of == source && one->at >= near_enough && one->at < looked_at; });
    if (there) return;
    Slot* slot = new_slot(source);
    if (slot == nullptr) slot = to_replace(source, true);
    if (slot == nullptr) return;
    take(*slot, source, target);
    held.emplace(*this, *slot);
  }
  const auto goes_on = [this] {
    const std::lock_guard lock(mutex_);
    return !ending_;
  };
  if (!turn.take([&] { return !goes_on(); })) return;
  bool made = false;
  held->slot().home.run([&] {
    const auto there = go(held->slot(), target, turn, goes_on);
    made = there && *there;
    if (made) remember(held->slot());
  });
  if (!made) return;
  const std::lock_guard lock(mutex_);
  ++statistics_.spares;
}

/// Keeps a snapshot of the state, by which the next one behind is there at once.
void PastStates::remember(const Slot& slot) const {
  auto& log = slot.of->log_to_remember();
  const Position at = slot.past->position();
  const auto known = replay::snapshots_of(log, slot.of->domain());
  if (!known || std::any_of(known->begin(), known->end(), [&](const auto& one) { return one.position == at; })) return;
  const auto snapshot = replay::encode_state(slot.past->driver().entities(), slot.of->domain(), at, options_.release);
  (void)log.put_snapshot(snapshot.meta, snapshot.bytes);
}

}  // namespace hindsight::page
