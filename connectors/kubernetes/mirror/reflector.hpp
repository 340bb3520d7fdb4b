#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "connectors/cluster.hpp"
#include "connectors/kubernetes/backoff.hpp"
#include "connectors/kubernetes/http/http_client.hpp"
#include "connectors/kubernetes/mirror/list_steps.hpp"
#include "connectors/kubernetes/mirror/mirror_store.hpp"
#include "connectors/kubernetes/mirror/watch_decoder.hpp"
#include "connectors/kubernetes/notice.hpp"

namespace hindsight::connectors::kubernetes {

/// Takes watch events. To say `pause` means: this one is taken, hold the rest back until resume. A few more may follow.
using WatchSink = std::function<Flow(const WatchEvent&)>;

struct ReflectorOptions {
  std::string namespace_;      ///< Empty: all.
  std::string label_selector;  ///< As in the API.
  std::string field_selector;
  /// A kind whose CRD may be missing: it counts as synced (empty) when the server does not know it, and is tried again slowly.
  bool is_optional = false;
  bool keep_text = true;                                ///< Whether the mirror keeps the objects' texts,
  std::function<bool(std::string_view)> keeps_text;     ///< and of which objects, by their text; empty: of all.
  int page_size = 500;                                  ///< Of the first page; see ListSteps.
  std::size_t page_bytes_max = std::size_t{64} << 20U;  ///< Larger pages are asked for in smaller steps.
  std::chrono::milliseconds page_time_limit = std::chrono::seconds(60);
  std::chrono::seconds watch_time_limit = std::chrono::seconds(300);  ///< Asked of the server, times 1 to 2.
  /// A watch that brings no line for so long is opened again: an API server says something every minute (bookmarks), so what is silent is
  /// rather a connection that leads nowhere.
  std::chrono::milliseconds watch_silence_max = std::chrono::seconds(180);
  std::chrono::milliseconds absent_retry = std::chrono::seconds(60);  ///< For kinds that the server does not know.
  Backoff backoff;
  std::size_t line_bytes_max = WatchDecoder::default_line_bytes_max;
};

struct ReflectorStatistics {
  std::uint64_t lists = 0;           ///< Complete ones.
  std::uint64_t pages = 0;           ///< Asked for, as often as it was.
  std::uint64_t watches = 0;         ///< Opened.
  std::uint64_t silent_watches = 0;  ///< Given up because nothing came.
  std::uint64_t events = 0;          ///< Given to the sink.
  std::uint64_t failures = 0;
};

/// Keeps the mirror of one kind: list, watch, resume where the watch broke off, list again when that point is too old. The
/// sink sees every object that it must know of, each deletion included, also of objects that came or went while no
/// connection stood. Lives on the client's loop thread; all functions are called there.
class Reflector {
 public:
  Reflector(HttpClient& http, MirrorStore& store, const ResourceType& type, ReflectorOptions options, WatchSink sink, OnNotice on_notice,
            Random random);
  ~Reflector() { stop(); }
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  void stop();
  /// Goes on after the sink said pause.
  void resume();

  [[nodiscard]] const ResourceType& type() const { return type_; }
  [[nodiscard]] bool is_synced() const { return synced_; }
  /// The last list or watch failed, and no later one has been of use so far. An optional kind that is not there is no failure.
  [[nodiscard]] bool is_failing() const {
    const bool absent = options_.is_optional && trouble_ == Notice::Kind::kind_absent;
    return (failures_ != 0 || page_failures_ != 0) && !absent;
  }
  [[nodiscard]] const ReflectorStatistics& statistics() const { return statistics_; }

 private:
  enum class Phase : std::uint8_t { idle, listing, delivering, watching, waiting };

  void list();
  void request_page();
  void take_page(HttpAnswer answer);
  void page_failed(const HttpAnswer& answer);
  void deliver_page();
  void forget_page();
  void end_list();
  void deliver_vanished();
  void say_synced();

  void watch();
  Flow take_bytes(std::string_view bytes);
  void deliver_lines();
  void take_line(const WatchLine& line);
  void end_watch(const HttpAnswer& answer);
  void listen_for_silence();
  void relist();
  void break_watch(const std::string& why, bool is_too_old);
  void doubt_version(int retry_after_seconds);

  void emit(WatchEvent::Type event, std::string_view text);
  void emit_observed(const ObjectView& object);
  void kind_absent();
  void retry(std::chrono::milliseconds delay, void (Reflector::*step)());
  void retry_after_failure(int retry_after_seconds, void (Reflector::*step)());
  void complain(Notice::Kind kind, const std::string& message);
  void all_is_well();
  [[nodiscard]] std::string path(const std::string& query) const;
  [[nodiscard]] std::string what() const;

  HttpClient& http_;
  MirrorStore& store_;
  MirrorStore::Kind& kind_;
  const ResourceType& type_;
  ReflectorOptions options_;
  WatchSink sink_;
  OnNotice on_notice_;
  Random random_;

  Phase phase_ = Phase::idle;
  HttpClient::RequestId request_ = 0;
  Loop::TimerId timer_ = 0;
  bool paused_ = false;
  bool synced_ = false;
  bool relisting_ = false;    ///< Because a watch was too old.
  unsigned failures_ = 0;     ///< In a row.
  unsigned bad_watches_ = 0;  ///< In a row, that broke by what they said; then the resource version is not trusted any more.
  unsigned absent_answers_ = 0;
  std::optional<Notice::Kind> trouble_;

  ListSteps steps_;
  std::string continue_token_;  ///< Of the page that is asked for; empty: the first.
  unsigned page_failures_ = 0;  ///< In a row, of this page.

  std::string resource_version_;  ///< Where the next watch begins.
  std::string page_body_;
  ListPage page_;
  std::size_t page_position_ = 0;
  std::size_t new_on_page_ = 0;  ///< Objects of this page that stood on none before.
  ObjectReader page_reader_;
  std::vector<KeptText> vanished_;

  WatchDecoder decoder_;
  bool watch_gave_events_ = false;
  Loop::Clock::time_point watch_began_{};
  Loop::Clock::time_point last_line_{};
  Loop::TimerId silence_timer_ = 0;

  ReflectorStatistics statistics_;
};

}  // namespace hindsight::connectors::kubernetes
