#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/domain_tails.hpp"
#include "events/log.hpp"
#include "events/sqlite/database.hpp"
#include "events/sqlite/room.hpp"

namespace hindsight::events::sqlite {

/// When an append counts as done.
enum class Durability {
  fsync,   ///< When the disk has it: survives loss of power.
  normal,  ///< When the system has it: survives the death of the process; loss of power may cost the newest records.
  off,     ///< As normal, and loss of power may damage the file. For measurements and throw-away logs.
};

/// Writes a log file, one transaction for each group of appends. Not thread-safe.
class Writer {
 public:
  /// What one caller of append asked for, and what came of it.
  struct Request {
    std::span<const EncodedRecord> records;
    std::optional<Position> expected;
    Result<Position> outcome;
  };

  /// Opens the log, or makes an empty file one. `limit`: bytes in use beyond which nothing is appended; 0: none. Errors: invalid (not a
  /// log), unsupported (newer format), corrupt, denied, unavailable (the disk is full), io.
  [[nodiscard]] static Result<Writer> open(const std::string& path, Durability durability, std::uint64_t limit = 0);

  /// Carries out the requests in their order in one transaction and fills in their outcomes. A request that conflicts fails
  /// alone; when the transaction fails, or the log is full, all fail. After an error of the disk other than "full" every later request
  /// fails: what the disk holds is unknown until the log is opened again.
  void append(std::span<Request> group);

  /// Notes that the records up to the cut are forgotten; remove_before removes them. Errors: invalid (it is not behind the last cut and in
  /// the log, or names no domain), io.
  [[nodiscard]] Result<void> cut(const DomainsAt& cut);
  /// Removes some of the records before the cut; false: there were none left. In steps, so that appends need not wait for long.
  [[nodiscard]] Result<bool> remove_before_cut();
  /// Gives some pages that nothing uses back to the disk; false: there were none left beyond what new records will soon need, or the file
  /// is of the kind that keeps its pages (docs/log-format.md). In steps, as above.
  [[nodiscard]] Result<bool> give_back();
  /// As Log::begin_behind.
  [[nodiscard]] Result<void> begin_behind(const DomainsAt& cut, std::span<const QuarantinedRecord> quarantined);

  /// As in Log.
  [[nodiscard]] Result<void> put_checkpoint(const evidence::Checkpoint& checkpoint);
  [[nodiscard]] Result<void> drop_checkpoint(Position position);

  [[nodiscard]] Position last() const { return last_; }
  [[nodiscard]] std::vector<DomainTail> domains() const { return tails_.list(); }
  [[nodiscard]] Durability durability() const { return durability_; }

  // ---- for what stands beside the records and is written over the same connection ----

  /// What a commit waits for. The write-ahead log is written and recovered from its beginning to its end, so a commit that the disk
  /// has tells that it has all earlier ones.
  enum class Sync {
    as_appends,     ///< As the durability of the log says.
    with_the_next,  ///< At most for the system; the next commit that waits for the disk takes it along.
  };

  [[nodiscard]] Database& database() { return database_; }
  /// The error that keeps the log from being written, if there is one.
  [[nodiscard]] Result<void> usable() const;
  /// Runs a statement of its database as a transaction of its own. An error counts as one of `append` does.
  [[nodiscard]] Result<void> run_alone(Statement& statement, Sync sync);

 private:
  Writer(std::string path, Database database, Durability durability, std::uint64_t limit)
      : path_(std::move(path)), database_(std::move(database)), durability_(durability), room_(path_, limit) {}
  [[nodiscard]] Result<void> prepare();
  [[nodiscard]] Result<void> load();
  [[nodiscard]] tl::unexpected<Error> failure(const Error& error) const;

  /// Takes the request's records into the tails, or says why not.
  [[nodiscard]] Result<void> admit(const Request& request);
  [[nodiscard]] Result<void> insert(const EncodedRecord& record);
  [[nodiscard]] Result<std::int64_t> domain_id(std::string_view domain);
  [[nodiscard]] Result<void> write_tails();
  [[nodiscard]] Result<void> write_group(std::span<Request> group);
  /// Runs `work` in one transaction; an error undoes it.
  [[nodiscard]] Result<void> in_transaction(const std::function<Result<void>()>& work);
  /// Remembers an error after which nothing may be written any more.
  void note(const Error& error);

  std::string path_;
  Database database_;
  Durability durability_ = Durability::fsync;
  Room room_;
  Statement begin_;
  Statement commit_;
  Statement insert_;
  Statement insert_domain_;
  Statement update_domain_;
  Statement insert_mark_;

  Statement first_;
  Statement remove_;

  Position cut_ = 0;   // records up to it are forgotten
  Position last_ = 0;  // of the log, with what the open transaction has added
  Time latest_;        // over all records up to last_
  DomainTails tails_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<std::string> new_domains_;  // of the open transaction
  std::optional<Error> broken_;           // why the log must be opened again
};

}  // namespace hindsight::events::sqlite
