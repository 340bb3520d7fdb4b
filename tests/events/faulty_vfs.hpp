#pragma once

// A disk that fails on demand: while a FaultyDisk lives, SQLite opens files through it.

#include <sqlite3.h>

#include <atomic>

namespace hindsight::test {

/// Which operation fails, and how.
enum class DiskFault { full, write_error, sync_error };

class FaultyDisk {
 public:
  FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  ~FaultyDisk();

  /// From the `after`-th write (or sync, by kind) from now on, counted from 0, every one fails.
  void fail(DiskFault fault, int after);
  void heal();
  /// Whether a fault has struck since fail().
  [[nodiscard]] bool struck() const;
};

}  // namespace hindsight::test
