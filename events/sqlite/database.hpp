#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace hindsight::events::sqlite {

/// A prepared statement. Parameters count from 1, columns from 0, as SQLite has it. What a column gives lives until the next
/// step() or reset(). 64-bit numbers are stored as SQLite's signed integers, bit for bit.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* raw) : raw_(raw) {}

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::uint64_t value) { return bind(index, static_cast<std::int64_t>(value)); }
  /// Text and bytes have to live until reset().
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::span<const std::byte> bytes);

  /// True: there is a row. After an error or the last row the statement is reset.
  [[nodiscard]] Result<bool> step();
  /// For statements without rows: runs it to its end and resets it.
  [[nodiscard]] Result<void> run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::uint64_t number(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::span<const std::byte> bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* raw) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> raw_;
};

/// Resets a statement at the end of a scope, so that it holds no read lock.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(Statement& statement) : statement_(statement) {}
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;
  ~ResetAtEnd() { statement_.reset(); }

 private:
  Statement& statement_;
};

/// One connection. Used by one thread at a time.
class Database {
 public:
  enum class Mode { read_write, read_only, immutable };

  Database() = default;
  /// The file must exist; to be written its name must have no symbolic link in it. Errors, here and below: denied, io, corrupt (not a
  /// database), unavailable (locked, or the disk is full: trying again may help).
  [[nodiscard]] static Result<Database> open(const std::string& path, Mode mode);

  [[nodiscard]] Result<void> execute(const char* sql);
  [[nodiscard]] Result<Statement> prepare(const char* sql);
  /// The first column of the first row; 0 when there is none.
  [[nodiscard]] Result<std::int64_t> query_integer(const char* sql);
  [[nodiscard]] Result<std::string> query_text(const char* sql);

  /// Ends an open transaction without its changes; nothing when there is none (some errors end it by themselves).
  void roll_back();
  [[nodiscard]] std::int64_t last_insert_id() const;

 private:
  struct Close {
    void operator()(sqlite3* raw) const;
  };
  std::unique_ptr<sqlite3, Close> raw_;
};

/// One view of the file for the statements of a scope; they have to be reset or gone before it ends.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database) : database_(database), begun_(database.execute("BEGIN")) {}
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  ~ReadTransaction() { database_.roll_back(); }

  [[nodiscard]] const Result<void>& begun() const { return begun_; }

 private:
  Database& database_;
  Result<void> begun_;
};

}  // namespace hindsight::events::sqlite
