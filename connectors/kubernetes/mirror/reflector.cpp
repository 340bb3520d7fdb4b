#include "connectors/kubernetes/mirror/reflector.hpp"

#include <utility>

#include "connectors/kubernetes/api_path.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// The client gives up on a watch that the server should have ended so long ago.
constexpr auto watch_grace = std::chrono::seconds(30);
/// A watch that ends sooner without a single event counts as a failure, or it would be opened again in a tight loop.
constexpr auto watch_shortest = std::chrono::seconds(1);
constexpr unsigned bad_watches_max = 3;
/// Answers in a row that say a kind does not exist before its known objects count as deleted.
constexpr unsigned absent_answers_min = 4;

}  // namespace

Reflector::Reflector(HttpClient& http, MirrorStore& store, const ResourceType& type, ReflectorOptions options, WatchSink sink,
                     OnNotice on_notice, Random random)
    : http_(http),
      store_(store),
      kind_(store.open(type, options.keep_text, options.keeps_text)),
      type_(type),
      options_(std::move(options)),
      sink_(std::move(sink)),
      on_notice_(std::move(on_notice)),
      random_(std::move(random)),
      steps_(options_.page_size),
      decoder_(options_.line_bytes_max) {}

void Reflector::start() {
  if (phase_ == Phase::idle) list();
}

void Reflector::stop() {
  http_.cancel(request_);
  http_.loop().cancel(timer_);
  http_.loop().cancel(silence_timer_);
  phase_ = Phase::idle;
}

void Reflector::resume() {
  if (!paused_) return;
  paused_ = false;
  if (phase_ == Phase::delivering) {
    deliver_page();
  } else if (phase_ == Phase::watching) {
    deliver_lines();
    if (phase_ == Phase::watching && !paused_) http_.resume(request_);
  }
}

// ---------------------------------------------------------------- list

void Reflector::list() {
  store_.begin_list(kind_);
  steps_.begin();
  continue_token_.clear();
  request_page();
}

void Reflector::request_page() {
  phase_ = Phase::listing;
  std::string query = "limit=" + std::to_string(steps_.size());
  if (!continue_token_.empty()) query += "&continue=" + escape(continue_token_);
  HttpRequest request;
  request.path = path(query);
  request.time_limit = options_.page_time_limit;
  request.body_bytes_max = options_.page_bytes_max;
  ++statistics_.pages;
  request_ = http_.send(std::move(request), [this](HttpAnswer answer) { take_page(std::move(answer)); });
}

void Reflector::take_page(HttpAnswer answer) {
  request_ = 0;
  if (answer.status != 200) {
    page_failed(answer);
    return;
  }
  page_body_ = std::move(answer.body);
  pad(page_body_);
  auto page = page_reader_.read_list_page(page_body_);
  if (!page || (!page->continue_token.empty() && page->continue_token == continue_token_)) {
    complain(Notice::Kind::list_refused,
             "cannot read the list of " + what() + ": " + (page ? "a page that leads back to itself" : page.error().message));
    forget_page();
    answer.status = 502;  // As if something between us and the server had spoiled it.
    page_failed(answer);
    return;
  }
  page_failures_ = 0;
  steps_.came();
  page_ = *std::move(page);
  page_position_ = 0;
  new_on_page_ = 0;
  phase_ = Phase::delivering;
  deliver_page();
}

/// A page can be many megabytes.
void Reflector::forget_page() {
  page_ = {};
  page_body_ = {};
  page_reader_.rest();
}

void Reflector::deliver_page() {
  while (page_position_ < page_.items.size()) {
    if (paused_) return;
    emit_observed(page_.items[page_position_++]);
    if (phase_ != Phase::delivering) return;  // The sink stopped us.
  }
  if (!page_.continue_token.empty()) {
    continue_token_ = page_.continue_token;  // It lies in the body.
    forget_page();
    if (const std::string why = steps_.endless(new_on_page_); !why.empty()) {
      ++statistics_.failures;
      complain(Notice::Kind::list_refused, "cannot read the list of " + what() + " to its end: " + why + "; it begins anew after a pause");
      retry_after_failure(0, &Reflector::list);
      return;
    }
    request_page();
    return;
  }
  if (!page_body_.empty()) end_list();
  deliver_vanished();
}

void Reflector::end_list() {
  resource_version_ = page_.resource_version;
  vanished_ = store_.end_list(kind_, resource_version_);
  forget_page();
  ++statistics_.lists;
  steps_.complete();
  absent_answers_ = 0;
  bad_watches_ = 0;
  failures_ = 0;
  all_is_well();
  if (std::exchange(relisting_, false)) {
    on_notice_({Notice::Kind::relisted, &type_,
                "listed " + what() + " again, because the watch was too old; " + std::to_string(vanished_.size()) + " had gone meanwhile"});
  }
}

void Reflector::deliver_vanished() {
  while (!vanished_.empty()) {
    if (paused_) return;
    const KeptText text = std::move(vanished_.back());
    vanished_.pop_back();
    emit(WatchEvent::Type::deleted, *text.get());
    if (phase_ != Phase::delivering) return;
  }
  if (paused_) return;
  say_synced();
  if (phase_ == Phase::delivering) watch();
}

void Reflector::say_synced() {
  if (std::exchange(synced_, true)) return;
  emit(WatchEvent::Type::synced, {});
}

void Reflector::page_failed(const HttpAnswer& answer) {
  ++statistics_.failures;
  if (answer.status == 404) {
    kind_absent();
    return;
  }
  if (answer.failure == HttpAnswer::Failure::too_large) {
    complain(Notice::Kind::list_refused, "cannot list " + what() + ": " + answer.error + "; asking for less at a time");
  } else if (answer.status != 0 && answer.status != 401 && answer.status != 410) {  // Of the first two the HTTP client has told.
    complain(Notice::Kind::list_refused, "cannot list " + what() + ": found status " + std::to_string(answer.status) + ": " +
                                             read_status(answer.body).message + "; allowed: permission to list and watch");
  }
  if (steps_.failed(answer, continue_token_.empty()) == ListSteps::Step::again) {
    retry(wait_before_retry(options_.backoff, ++page_failures_, answer.retry_after_seconds, random_), &Reflector::request_page);
    return;
  }
  page_failures_ = 0;
  retry_after_failure(answer.retry_after_seconds, &Reflector::list);
}

void Reflector::kind_absent() {
  // It may be a server that is just starting; objects are not given up for that.
  if (store_.count(type_) > 0 && ++absent_answers_ < absent_answers_min) {
    retry(options_.backoff.after(absent_answers_ + 2, random_), &Reflector::list);
    return;
  }
  complain(Notice::Kind::kind_absent,
           "the API server does not know " + what() + " (is its CRD installed?); looking again every minute or so");
  ++failures_;
  phase_ = Phase::delivering;
  vanished_ = store_.end_list(kind_, {});
  // Few, and rarely any: not worth a pause.
  for (const KeptText& text : std::exchange(vanished_, {})) emit(WatchEvent::Type::deleted, *text.get());
  if (options_.is_optional && phase_ == Phase::delivering) say_synced();
  if (phase_ == Phase::delivering) retry(Backoff::spread(options_.absent_retry, random_), &Reflector::list);
}

// ---------------------------------------------------------------- watch

void Reflector::watch() {
  phase_ = Phase::watching;
  decoder_.reset();
  watch_gave_events_ = false;
  watch_began_ = Loop::Clock::now();
  const auto time_limit = std::chrono::seconds(
      static_cast<std::chrono::seconds::rep>(static_cast<double>(options_.watch_time_limit.count()) * (1.0 + random_())));
  HttpRequest request;
  request.path = path("watch=1&allowWatchBookmarks=true&resourceVersion=" + escape(resource_version_) +
                      "&timeoutSeconds=" + std::to_string(time_limit.count()));
  request.time_limit = time_limit + watch_grace;
  ++statistics_.watches;
  last_line_ = watch_began_;
  listen_for_silence();
  request_ = http_.stream(
      std::move(request), [this](std::string_view bytes) { return take_bytes(bytes); },
      [this](const HttpAnswer& answer) { end_watch(answer); });
}

Flow Reflector::take_bytes(std::string_view bytes) {
  decoder_.feed(bytes);
  deliver_lines();
  return paused_ ? Flow::pause : Flow::more;
}

void Reflector::deliver_lines() {
  while (!paused_ && phase_ == Phase::watching) {
    const auto line = decoder_.next();
    if (!line) {
      break_watch(line.error().message, false);
      return;
    }
    if (!*line) return;
    take_line(**line);
  }
}

/// Complete lines count, not bytes: of a line that comes drop by drop nothing is known either.
void Reflector::listen_for_silence() {
  http_.loop().cancel(std::exchange(silence_timer_, 0));
  if (phase_ != Phase::watching) return;
  const auto now = Loop::Clock::now();
  if (paused_) last_line_ = now;  // We are the silent ones.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(last_line_ + options_.watch_silence_max - now);
  if (left.count() > 0) {
    silence_timer_ = http_.loop().after(left, [this] { listen_for_silence(); });
    return;
  }
  http_.cancel(request_);
  request_ = 0;
  ++statistics_.silent_watches;
  retry(std::chrono::milliseconds(0), &Reflector::watch);
}

void Reflector::take_line(const WatchLine& line) {
  last_line_ = Loop::Clock::now();
  if (!watch_gave_events_ && line.type != WatchLine::Type::error) {
    watch_gave_events_ = true;
    failures_ = 0;
    bad_watches_ = 0;
    all_is_well();
  }
  const std::string version(line.object.resource_version);
  switch (line.type) {
    case WatchLine::Type::error:
      break_watch("status " + std::to_string(line.status_code) + ": " + line.status_message, line.status_code == 410);
      return;
    case WatchLine::Type::bookmark:
      break;
    case WatchLine::Type::added:
    case WatchLine::Type::modified:
      emit_observed(line.object);
      break;
    case WatchLine::Type::deleted: {
      std::string text;
      copy_without_managed_fields(line.object, text);
      store_.remove(kind_, line.object);
      emit(WatchEvent::Type::deleted, text);
      break;
    }
  }
  if (!version.empty()) resource_version_ = version;
}

void Reflector::break_watch(const std::string& why, bool is_too_old) {
  http_.cancel(request_);
  request_ = 0;
  ++statistics_.failures;
  if (is_too_old) {
    relist();
    return;
  }
  complain(Notice::Kind::list_refused, "the watch of " + what() + " broke: " + why);
  doubt_version(0);
}

/// At once, but not in a tight loop should the server find every version too old.
void Reflector::relist() {
  relisting_ = true;
  if (failures_++ == 0) {
    retry(std::chrono::milliseconds(0), &Reflector::list);
  } else {
    retry_after_failure(0, &Reflector::list);
  }
}

/// Tries the watch again; after a few times in a row it may be the version that is wrong.
void Reflector::doubt_version(int retry_after_seconds) {
  if (++bad_watches_ >= bad_watches_max) {
    relisting_ = true;
    retry_after_failure(retry_after_seconds, &Reflector::list);
  } else {
    retry_after_failure(retry_after_seconds, &Reflector::watch);
  }
}

void Reflector::end_watch(const HttpAnswer& answer) {
  request_ = 0;
  if (answer.status == 200) {
    const bool was_short = !watch_gave_events_ && Loop::Clock::now() - watch_began_ < watch_shortest;
    if (was_short) {
      retry_after_failure(0, &Reflector::watch);
    } else {
      // Not from inside the callback of the old one, so that a server that ends each watch at once cannot nest us.
      retry(std::chrono::milliseconds(0), &Reflector::watch);
    }
    return;
  }
  if (answer.status == 410) {
    break_watch("410 Gone", true);
    return;
  }
  ++statistics_.failures;
  if (answer.status == 404) {  // Its CRD was removed.
    retry_after_failure(answer.retry_after_seconds, &Reflector::list);
    return;
  }
  if (answer.failure == HttpAnswer::Failure::too_large) {
    complain(Notice::Kind::list_refused, "cannot watch " + what() + ": " + answer.error);
  } else if (answer.status != 0 && answer.status != 401) {
    complain(Notice::Kind::list_refused,
             "cannot watch " + what() + ": found status " + std::to_string(answer.status) + ": " + read_status(answer.body).message);
  }
  // What an API server says of a version that it cannot read, or that lies ahead of it (its data were restored from an older state).
  if (answer.status == 400 || answer.status == 504) {
    doubt_version(answer.retry_after_seconds);
  } else {
    retry_after_failure(answer.retry_after_seconds, &Reflector::watch);
  }
}

// ---------------------------------------------------------------- both

void Reflector::emit(WatchEvent::Type event, std::string_view text) {
  ++statistics_.events;
  if (sink_({event, &type_, text}) == Flow::pause) paused_ = true;
}

void Reflector::emit_observed(const ObjectView& object) {
  const MirrorStore::Observed observed = store_.observe(kind_, object);
  if (observed.is_first_of_list) ++new_on_page_;
  switch (observed.change) {
    case MirrorStore::Change::none:
      return;
    case MirrorStore::Change::added:
      emit(WatchEvent::Type::added, *observed.text);
      return;
    case MirrorStore::Change::modified:
      emit(WatchEvent::Type::modified, *observed.text);
      return;
    case MirrorStore::Change::replaced:
      emit(WatchEvent::Type::deleted, *observed.previous);
      emit(WatchEvent::Type::added, *observed.text);
      return;
  }
}

void Reflector::retry(std::chrono::milliseconds delay, void (Reflector::*step)()) {
  phase_ = Phase::waiting;
  http_.loop().cancel(timer_);
  timer_ = http_.loop().after(delay, [this, step] {
    timer_ = 0;
    (this->*step)();
  });
}

void Reflector::retry_after_failure(int retry_after_seconds, void (Reflector::*step)()) {
  ++failures_;
  retry(wait_before_retry(options_.backoff, failures_, retry_after_seconds, random_), step);
}

void Reflector::complain(Notice::Kind kind, const std::string& message) {
  if (trouble_ == kind || http_.is_settling()) return;
  trouble_ = kind;
  on_notice_({kind, &type_, message});
}

void Reflector::all_is_well() {
  if (!trouble_) return;
  trouble_.reset();
  on_notice_({Notice::Kind::list_complete, &type_, what() + " can be listed and watched again"});
}

std::string Reflector::path(const std::string& query) const {
  std::string out = collection_path(type_, options_.namespace_) + "?" + query;
  if (!options_.label_selector.empty()) out += "&labelSelector=" + escape(options_.label_selector);
  if (!options_.field_selector.empty()) out += "&fieldSelector=" + escape(options_.field_selector);
  return out;
}

std::string Reflector::what() const {
  std::string out(type_.plural);
  if (!type_.group.empty()) out += "." + std::string(type_.group);
  return out + "/" + std::string(type_.version);
}

}  // namespace hindsight::connectors::kubernetes
