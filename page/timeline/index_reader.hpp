#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "page/server/quiet_turns.hpp"
#include "page/timeline/index_file.hpp"
#include "page/timeline/indexed.hpp"
#include "page/timeline/object_index.hpp"
#include "page/timeline/row_maker.hpp"
#include "page/timeline/timeline_index.hpp"
#include "replay/past.hpp"

namespace hindsight::page {

/// The thread of an index, and what it has come to know.
class TimelineIndex::Reader {
 public:
  Reader(const events::Log& log, std::string domain, TimelineOptions options);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const events::Log& log() const { return log_; }
  [[nodiscard]] const TimelineOptions& options() const { return options_; }
  [[nodiscard]] std::shared_ptr<const timeline::Indexed> now() const;
  [[nodiscard]] bool has_state() const { return has_state_; }
  /// Narrower rows of these records would be good to have; the newest wish counts. False: there will be none that are narrower.
  [[nodiscard]] bool wish(events::Position from, events::Position to);

 private:
  using Clock = std::chrono::steady_clock;
  struct Wish {
    events::Position from = 0, to = 0;
    friend bool operator==(const Wish&, const Wish&) = default;
  };
  /// Rows for a wish.
  struct Detail {
    events::Position begin = 0, end = 0;
    std::uint64_t width = 1;
  };
  /// A fold, and what it makes.
  struct Fold {
    replay::Past& past;
    timeline::RowMaker& rows;
    timeline::ObjectIndexMaker& objects;
  };
  /// Why a fold ends.
  enum class End { stopped, begin_anew, rested };

  static constexpr std::size_t details_max = 8;

  void run();
  [[nodiscard]] Result<void> begin(replay::Past& past) const;
  [[nodiscard]] End read_all();
  [[nodiscard]] std::optional<timeline::KeptIndex> take_kept(const std::set<std::uint64_t>& set_aside, events::Position last);
  [[nodiscard]] End go_on_from(const timeline::KeptIndex& kept);
  void look_on(const Fold& fold);
  [[nodiscard]] End follow(const Fold& fold);
  [[nodiscard]] End wait_behind(const Fold& fold, const Error& error);
  void keep(const Fold& fold);
  void notice(const std::string& text) const {
    if (options_.notice) options_.notice(text);
  }
  [[nodiscard]] Result<bool> others_set_aside() const;
  void make_coarse(events::Position begin, events::Position end);
  [[nodiscard]] std::optional<Detail> plan(const timeline::Indexed& known, const Wish& wish) const;
  void make_detail(const Wish& wish);
  void serve_wish();
  [[nodiscard]] std::optional<Wish> take_wish();
  /// False: it is to end.
  bool pause(Duration time);
  /// On the thread of the index: others may go first, and whether it is to go on then.
  [[nodiscard]] bool goes_on() const {
    turn_.pass_on();
    return !stop_.load(std::memory_order_relaxed);
  }
  template <class Change>
  void publish(Change change);
  void tell();

  const events::Log& log_;
  const std::string domain_;
  const TimelineOptions options_;
  mutable QuietTurns::Turn turn_{options_.turns};  ///< Of the thread.
  std::set<std::uint64_t> set_aside_;              ///< As the fold knows them.
  bool set_aside_changed_ = false;                 ///< A record said so of one that this fold has counted.
  bool asked_for_kept_ = false;                    ///< The file was looked at, and is not again.
  bool cannot_keep_ = false;                       ///< It could not be written.
  events::Position kept_to_ = 0;                   ///< As far as the file goes.
  Clock::time_point kept_at_;
  std::optional<Clock::duration> took_;        ///< From the beginning to the end of the log; nothing: it has not been there yet.
  std::optional<timeline::KeptIndex> rested_;  ///< Where the log came to rest, and the state was let go of.
  std::atomic<bool> has_state_{false};

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<const timeline::Indexed> now_ = std::make_shared<const timeline::Indexed>();  ///< Guarded by mutex_, as the next.
  std::optional<Wish> wish_;
  std::optional<Wish> refused_;  ///< It could not be carried out, and is not tried again at once.
  std::atomic<bool> stop_{false};
  std::thread thread_;  ///< Last: it needs all others.
};

}  // namespace hindsight::page
