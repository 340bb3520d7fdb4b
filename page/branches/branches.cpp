#include "page/branches/branches.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <utility>

#include "page/server/freed_memory.hpp"
#include "page/server/quiet_thread.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::page {

using projections::Json;

namespace {

/// Progress is told so often at most.
constexpr std::chrono::milliseconds progress_told_every{250};

/// One that nobody has had before: an address of a branch is never that of another one, in this process or the next.
std::string new_branch_id() {
  std::random_device device;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%08x%08x", device(), device());
  return text.data();
}

}  // namespace

struct Branches::Branch {
  enum class State : std::uint8_t { waiting, running, done, failed, cancelled };

  // Of its beginning; they stay.
  std::string id, domain;
  BranchRequest request;
  Time from_time;

  // Under the mutex of all branches.
  State state = State::waiting;
  std::string message;
  std::vector<std::string> notices;
  std::shared_ptr<const Json> result;
  std::shared_ptr<events::Log> log;  ///< Null: it is not done, or has none.
  events::Position latest = 0;
  Time latest_time;

  // Of the play.
  std::atomic<bool> cancelled = false;
  std::atomic<std::uint64_t> position = 0, of = 0;

  [[nodiscard]] bool ended() const { return state != State::waiting && state != State::running; }
};

namespace {

const char* name_of_state(int state) {
  static constexpr std::array<const char*, 5> names{"waiting", "running", "done", "failed", "cancelled"};
  return names[static_cast<std::size_t>(state)];
}

/// This process may be the one that decides, and a bug that only a branch meets is no reason for it to end.
Result<PlayedBranch> play_guarded(const events::Log& log, const std::string& domain, const BranchRequest& request, const BranchPlay& how) {
  try {
    return play_branch(log, domain, request, how);
  } catch (const std::exception& bug) {
    return fail(ErrorKind::corrupt, std::string("the branch cannot be played: ") + bug.what());
  }
}

Json place_of_branch(events::Position position, Time time) {
  Json out{{"position", position}};
  if (time.micros > 0) out["time"] = format_rfc3339_micro(time);
  return out;
}

/// Of the record at this position; never: there is none.
Result<Time> time_in_log(const events::Log& log, events::Position position) {
  if (position == 0) return Time::never();
  events::RecordBatch batch;
  if (auto ok = log.read(position, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  return batch.empty() ? Time::never() : batch[0].time;
}

}  // namespace

Result<std::unique_ptr<Branches>> Branches::open(const events::Log& log, BranchesOptions options) {
  auto folder = BranchesFolder::make(options.folder);
  if (!folder) return tl::unexpected(folder.error());
  return std::unique_ptr<Branches>(new Branches(log, std::move(options), std::move(*folder)));
}

Branches::Branches(const events::Log& log, BranchesOptions options, BranchesFolder folder)
    : log_(log), options_(std::move(options)), folder_(std::move(folder)), player_([this](const std::stop_token& stop) { run(stop); }) {}

Branches::~Branches() {
  player_.request_stop();
  changed_.notify_all();
  if (player_.joinable()) player_.join();
}

// ---- what is asked for ------------------------------------------------------------------------------------------------------------

Result<Json> Branches::create(const std::string& domain, std::string_view body) {
  auto request = parse_branch_request(body);
  if (!request) return tl::unexpected(request.error());
  const auto first = log_.first();
  if (!first) return tl::unexpected(first.error());
  const auto last = log_.last();
  if (!last) return tl::unexpected(last.error());
  const events::Position begin = *first - 1;
  for (const auto& [field, position] : {std::pair{"from", request->from}, std::pair{"until", request->until.value_or(*last)}})
    if (position < begin || position > *last)
      return fail(ErrorKind::invalid, std::string(field) + ": found record " + std::to_string(position) +
                                          "; allowed: " + std::to_string(begin) + " to " + std::to_string(*last) + ", what log " +
                                          std::string(log_.name()) + " keeps");
  const auto time = time_in_log(log_, request->from > begin ? request->from : 0);
  if (!time) return tl::unexpected(time.error());
  auto branch = std::make_shared<Branch>();
  branch->id = new_branch_id();
  branch->domain = domain;
  branch->request = std::move(*request);
  branch->from_time = *time;
  Json out;
  {
    const std::lock_guard lock(mutex_);
    if (branches_.size() >= options_.kept_max)
      return fail(ErrorKind::conflict, "there are " + std::to_string(branches_.size()) + " branches; allowed: at most " +
                                           std::to_string(options_.kept_max) + ", so throw one away first");
    branches_.push_back(branch);
    out = told(*branch, false);
  }
  changed_.notify_all();
  tell(branch);
  return out;
}

Json Branches::list() const {
  const std::lock_guard lock(mutex_);
  Json out = Json::array();
  for (const auto& branch : branches_) out.push_back(told(*branch, false));
  return out;
}

Result<Json> Branches::get(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto branch = find(id);
  if (!branch) return tl::unexpected(branch.error());
  return told(**branch, true);
}

Result<Json> Branches::cancel(std::string_view id) {
  std::shared_ptr<Branch> branch;
  Json out;
  {
    const std::lock_guard lock(mutex_);
    const auto found = find(id);
    if (!found) return tl::unexpected(found.error());
    branch = *found;
    if (branch->ended()) return told(*branch, false);
    branch->cancelled = true;
    branch->state = Branch::State::cancelled;
    out = told(*branch, false);
  }
  tell(branch);
  return out;
}

Result<void> Branches::remove(std::string_view id) {
  std::shared_ptr<Branch> branch;
  {
    const std::lock_guard lock(mutex_);
    const auto found = find(id);
    if (!found) return tl::unexpected(found.error());
    branch = *found;
    branch->cancelled = true;
    if (!branch->ended()) branch->state = Branch::State::cancelled;
    std::erase(branches_, branch);
  }
  return {};  // a log that nobody looks at goes here, without the lock
}

Result<std::shared_ptr<const events::Log>> Branches::log_of(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto branch = find(id);
  if (!branch) return tl::unexpected(branch.error());
  if ((*branch)->log != nullptr) return std::shared_ptr<const events::Log>((*branch)->log);
  const std::string which = "branch " + printable((*branch)->request.name);
  if ((*branch)->state == Branch::State::done)
    return fail(ErrorKind::conflict, which + " has no log to look at, because log " + std::string(log_.name()) +
                                         " has forgotten its beginning; its result tells what differs");
  return fail(ErrorKind::conflict, which + " is " + name_of_state(static_cast<int>((*branch)->state)) + "; allowed: one that is done");
}

Result<std::string> Branches::domain_of(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto branch = find(id);
  if (!branch) return tl::unexpected(branch.error());
  return (*branch)->domain;
}

/// With the lock held.
Result<std::shared_ptr<Branches::Branch>> Branches::find(std::string_view id) const {
  const auto it = std::find_if(branches_.begin(), branches_.end(), [&](const auto& b) { return b->id == id; });
  if (it == branches_.end())
    return fail(ErrorKind::not_found,
                "there is no branch " + printable(cut_text(id, 64)) + "; it was thrown away, or its process has ended");
  return *it;
}

/// With the lock held.
Json Branches::told(const Branch& branch, bool with_result) const {
  Json edits = Json::array();
  for (const auto& edit : branch.request.edits) edits.push_back(to_json(edit));
  Json out{{"id", branch.id},
           {"name", branch.request.name},
           {"domain", branch.domain},
           {"from", place_of_branch(branch.request.from, branch.from_time)},
           {"state", name_of_state(static_cast<int>(branch.state))},
           {"progress", {{"position", branch.position.load()}, {"of", branch.of.load()}}}};
  if (branch.request.until) out["until"] = *branch.request.until;
  if (!branch.message.empty()) out["message"] = valid_utf8(branch.message);
  out["edits"] = std::move(edits);
  if (branch.state != Branch::State::done) return out;
  if (branch.log != nullptr) out["latest"] = place_of_branch(branch.latest, branch.latest_time);
  out["notices"] = branch.notices;
  if (with_result && branch.result != nullptr) out["result"] = *branch.result;
  return out;
}

void Branches::tell(const std::shared_ptr<Branch>& branch) const {
  if (!options_.on_change) return;
  Json json;
  {
    const std::lock_guard lock(mutex_);
    json = told(*branch, false);
  }
  options_.on_change(json);
}

// ---- the thread that plays --------------------------------------------------------------------------------------------------------

void Branches::run(const std::stop_token& stop) {
  name_this_thread("branches");
  if (options_.quiet) be_quiet();
  const auto waits = [](const std::shared_ptr<Branch>& b) { return b->state == Branch::State::waiting; };
  while (!stop.stop_requested()) {
    std::shared_ptr<Branch> next;
    {
      std::unique_lock lock(mutex_);
      const auto any = [&] { return std::any_of(branches_.begin(), branches_.end(), waits); };
      if (!changed_.wait(lock, stop, any)) return;
      next = *std::find_if(branches_.begin(), branches_.end(), waits);
      next->state = Branch::State::running;
    }
    tell(next);
    play(next, stop);
    return_freed_memory();
    tell(next);
  }
}

void Branches::play(const std::shared_ptr<Branch>& branch, const std::stop_token& stop) {
  const auto deadline = std::chrono::steady_clock::now() + options_.time_max;
  auto told_at = std::chrono::steady_clock::now();
  QuietTurns::Turn turn(options_.turns);
  BranchPlay how;
  how.read_manifests = options_.read_manifests;
  const auto is_over = [&] { return branch->cancelled || stop.stop_requested() || std::chrono::steady_clock::now() > deadline; };
  how.is_over = [&] {  // asked before each read of the log, on this thread
    turn.pass_on();
    return is_over();
  };
  how.progress = [&](std::uint64_t done, std::uint64_t of) {
    branch->position = done;
    branch->of = of;
    if (const auto now = std::chrono::steady_clock::now(); now - told_at >= progress_told_every) {
      told_at = now;
      tell(branch);
    }
  };
  const auto trimmed = log_.trimmed();
  std::shared_ptr<events::Log> log;
  Result<PlayedBranch> played = fail(ErrorKind::io, "it was not played");
  if (!trimmed) {
    played = tl::unexpected(trimmed.error());
  } else {
    std::optional<Error> no_log;
    if (!*trimmed) {  // else it would be a log without a beginning
      if (auto made = folder_.make_log(branch->id, options_.bytes_max); made)
        log = std::move(*made);
      else
        no_log = made.error();
    }
    how.out = log.get();
    (void)turn.take(is_over);
    played = no_log ? Result<PlayedBranch>(tl::unexpected(*no_log)) : play_guarded(log_, branch->domain, branch->request, how);
  }
  events::Position latest = 0;
  if (played && log != nullptr) {
    if (const auto end = log->last(); end)
      latest = *end;
    else
      played = tl::unexpected(end.error());
  }
  if (!played) log.reset();  // its file is gone by the time that anybody is told
  const std::lock_guard lock(mutex_);
  if (branch->state != Branch::State::running) return;  // it was cancelled meanwhile
  if (played) {
    branch->state = Branch::State::done;
    branch->result = std::move(played->result);
    branch->notices = std::move(played->notices);
    if (log == nullptr)
      branch->notices.emplace_back("The log has forgotten its beginning, so the branch has no log of its own to look at.");
    branch->latest = latest;
    branch->latest_time = played->end;
    branch->log = std::move(log);
    return;
  }
  branch->state = stop.stop_requested() ? Branch::State::cancelled : Branch::State::failed;
  branch->message = std::chrono::steady_clock::now() > deadline && played.error().kind == ErrorKind::unavailable
                        ? "it took longer than " + std::to_string(options_.time_max.count()) + " seconds, which is the longest that one may"
                        : played.error().message;
}

}  // namespace hindsight::page
